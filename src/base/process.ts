/**
 * The one place that starts child processes. A child gets an exact environment (nothing is
 * inherited), no standard input, and a process group of its own, so that it ends with everything it
 * started: SIGTERM to the group, SIGKILL to what is left, all within 2 s.
 */

import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { createBoundedText } from './bounded-text.ts';
import type { Clock } from './clock.ts';
import { BotError } from './errors.ts';

/** What is open in the child at file descriptors 3, 4, … */
export type Channel =
  /** The child reads this text to its end. */
  | { readonly kind: 'gives'; readonly text: string }
  /** What the child writes there is kept up to a bound; the rest is read and dropped. */
  | { readonly kind: 'takes'; readonly mostChars: number; onText?(text: string): void };

export interface ProcessRequest {
  /** Absolute path, or a name that is looked up in PATH of `env`. */
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute path. */
  readonly cwd: string;
  /** Exactly what the child gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Standard output and standard error as they arrive. */
  onOutput?(text: string): void;
  /** UTF-16 units of output that are kept: its beginning and its end. */
  readonly mostOutputChars: number;
  /** UTF-16 units after which the child is ended: it would only keep this process busy. */
  readonly mostReadChars?: number;
  readonly channels?: readonly Channel[];
}

export interface ProcessEnd {
  readonly how: 'exited' | 'timed_out' | 'stopped' | 'too_much_output';
  /** 128 + number where a signal ended it. */
  readonly exitCode: number;
  /** Standard output and standard error, in the order in which they arrived. */
  readonly output: string;
  readonly isCut: boolean;
  /** What came at each channel that takes, in their order. */
  readonly taken: readonly string[];
}

/** Time to end by itself after SIGTERM. */
const graceMs = 1500;
/** After SIGKILL nothing more can be done: what is dying (or is dead, but not yet noticed by its
 * new parent) is waited for no longer than this. */
const mostDyingMs = 60;
/** Most time for output that comes after the leader's end. */
const mostDrainMs = 400;
/** How long a descendant that holds the output open may keep silent after the leader's end. */
const mostSilenceMs = 150;
const lookEveryMs = 20;
const defaultMostReadChars = 256 * 1024 * 1024;

/** Resolves when the child and all of its group are gone. Rejects with tool_failed when it cannot
 * be started. */
export async function spawnProcess(
  { clock }: { readonly clock: Clock },
  request: ProcessRequest,
): Promise<ProcessEnd> {
  const { channels = [], mostReadChars = defaultMostReadChars } = request;
  if (request.signal.aborted) return stoppedBefore(channels);
  const child = start(request, channels);
  const pid = await started(child, request.command);

  const output = createBoundedText(request.mostOutputChars);
  let lastOutput = clock.now();
  let how: ProcessEnd['how'] = 'exited';
  const ending = createEnding(clock, pid, child);
  const end = (why: ProcessEnd['how']): void => {
    if (how === 'exited' && !ending.hasExited()) how = why;
    ending.begin();
  };
  const onText = (text: string): void => {
    lastOutput = clock.now();
    output.append(text);
    request.onOutput?.(text);
    if (output.length > mostReadChars) end('too_much_output');
  };
  const streams = [readText(child.stdout, onText), readText(child.stderr, onText)];
  const taken = serveChannels(child, channels);

  const cancelTimer = clock.setTimer(request.timeoutMs, () => end('timed_out'));
  const onAbort = (): void => end('stopped');
  request.signal.addEventListener('abort', onAbort, { once: true });
  if (request.signal.aborted) onAbort();
  try {
    const exitCode = await ending.exited;
    if (how === 'exited') await drained(clock, streams, () => clock.now() - lastOutput);
    await ending.finish(how === 'exited');
    await drained(clock, streams, () => mostSilenceMs);
    return { how, exitCode, output: output.read(), isCut: output.isCut, taken: taken() };
  } finally {
    cancelTimer();
    request.signal.removeEventListener('abort', onAbort);
    for (const stream of child.stdio) stream?.destroy();
  }
}

function start(request: ProcessRequest, channels: readonly Channel[]): ChildProcess {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', ...channels.map(() => 'pipe' as const)];
  const { command, args, cwd, env } = request;
  return spawn(command, args, { cwd, env: { ...env }, stdio, detached: true, shell: false });
}

function started(child: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', (thrown) => {
      const sentence = `${command} could not be started: ${thrown.message}`;
      reject(new BotError('tool_failed', sentence, { cause: thrown }));
    });
    if (child.pid !== undefined) resolve(child.pid);
  });
}

function stoppedBefore(channels: readonly Channel[]): ProcessEnd {
  const taken = channels.flatMap(({ kind }) => (kind === 'takes' ? [''] : []));
  return {
    how: 'stopped',
    exitCode: 128 + os.constants.signals.SIGTERM,
    output: '',
    isCut: false,
    taken,
  };
}

/** How a child is ended, with all of its group. */
function createEnding(clock: Clock, pid: number, child: ChildProcess) {
  let hasExited = false;
  let begunAt: number | undefined;
  let cancelKill = (): void => {};
  const exited = new Promise<number>((resolve) => {
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      if (hasExited) return;
      hasExited = true;
      resolve(code ?? 128 + (signal ? os.constants.signals[signal] : 0));
    };
    child.once('exit', onExit);
    if (child.exitCode !== null || child.signalCode !== null) {
      onExit(child.exitCode, child.signalCode);
    }
  });
  const kill = (): void => {
    signalGroup(pid, 'SIGKILL');
  };
  return {
    exited,
    hasExited: () => hasExited,
    /** Tells the group to end; what has not done so after the grace is killed. */
    begin: (): void => {
      if (begunAt !== undefined) return;
      begunAt = clock.now();
      signalGroup(pid, 'SIGTERM');
      cancelKill = clock.setTimer(graceMs, kill);
    },
    /** Ends what is left of the group after its leader; at once where nobody asked it to end. */
    finish: async (atOnce: boolean): Promise<void> => {
      const killAt = atOnce ? clock.now() : (begunAt ?? clock.now()) + graceMs;
      while (isGroupAlive(pid) && clock.now() < killAt) await pause(clock, lookEveryMs);
      cancelKill();
      const giveUpAt = clock.now() + mostDyingMs;
      kill();
      while (isGroupAlive(pid) && clock.now() < giveUpAt) await pause(clock, lookEveryMs);
    },
  };
}

/** False when there is no such group. Never this process, never everything. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === process.pid) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    return false; // ESRCH: it is gone
  }
}

/** Whether anything of the group still runs. The dead whom nobody has buried (in containers, whose
 * first process is no init, they stay) do not count, where /proc tells. */
export function isGroupAlive(pid: number): boolean {
  if (!signalGroup(pid, 0)) return false;
  const states = groupStates(pid);
  return states === undefined || states.some((state) => state !== 'Z' && state !== 'X');
}

function groupStates(group: number): readonly string[] | undefined {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name));
    return pids.flatMap((pid) => {
      const [state = '', _parent, pgrp] = statOf(pid);
      return Number(pgrp) === group ? [state] : [];
    });
  } catch {
    return undefined;
  }
}

/** State, parent and group; the name before them is in brackets and may hold anything. */
function statOf(pid: string): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
  } catch {
    return []; // it has just ended
  }
}

interface TextStream {
  readonly closed: Promise<void>;
  isClosed(): boolean;
}

/** Decodes UTF-8 also where a character came in two reads. */
function readText(stream: Readable | null, onText: (text: string) => void): TextStream {
  if (!stream) return { closed: Promise.resolve(), isClosed: () => true };
  let isClosed = false;
  stream.setEncoding('utf8');
  stream.on('data', onText);
  const closed = new Promise<void>((resolve) => {
    const end = (): void => {
      isClosed = true;
      resolve();
    };
    stream.once('close', end);
    stream.once('error', end);
  });
  return { closed, isClosed: () => isClosed };
}

/** Waits for the rest of the output; a descendant that holds it open but is silent ends the wait. */
async function drained(
  clock: Clock,
  streams: readonly TextStream[],
  silentForMs: () => number,
): Promise<void> {
  const all = Promise.all(streams.map(({ closed }) => closed));
  const isDone = (): boolean => streams.every((stream) => stream.isClosed());
  const until = clock.now() + mostDrainMs;
  do await Promise.race([all, pause(clock, lookEveryMs)]);
  while (!isDone() && silentForMs() < mostSilenceMs && clock.now() < until);
}

function serveChannels(child: ChildProcess, channels: readonly Channel[]): () => string[] {
  const texts = channels.flatMap((channel, index) => {
    const stream: Readable | Writable | null | undefined = child.stdio[index + 3];
    // A child that ends without reading breaks the pipe: its end tells enough.
    stream?.on('error', () => {});
    if (channel.kind === 'gives') {
      if (stream && 'end' in stream) stream.end(channel.text);
      return [];
    }
    let text = '';
    if (stream && 'setEncoding' in stream) {
      readText(stream, (more) => {
        text += more.slice(0, channel.mostChars - text.length);
        channel.onText?.(text);
      });
    }
    return [() => text];
  });
  return () => texts.map((read) => read());
}

function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(delayMs, resolve);
  });
}

/**
 * Runs a short command and waits for it, the whole process with it: for checks at the start only.
 * Its exit code and output; undefined exit code: it could not be started or did not end in time.
 */
export function runBriefly(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  timeoutMs = 3000,
): { readonly exitCode: number | undefined; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  return { exitCode: status ?? undefined, output: `${stdout ?? ''}${stderr ?? ''}` };
}
