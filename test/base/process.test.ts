/** Child processes end with all that they started. Real time: processes know no other. */

import { access, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import {
  isGroupAlive,
  type ProcessRequest,
  runBriefly,
  signalGroup,
  spawnProcess,
} from '../../src/base/process.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };

async function setUp() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'deckhand-process-'));
  folders.push(folder);
  const run = (script: string, more: Partial<ProcessRequest> = {}) =>
    spawnProcess(
      { clock },
      {
        command: 'sh',
        args: ['-c', script],
        cwd: folder,
        env,
        signal: new AbortController().signal,
        timeoutMs: 10_000,
        mostOutputChars: 10_000,
        ...more,
      },
    );
  const exists = (name: string): Promise<boolean> =>
    access(path.join(folder, name)).then(
      () => true,
      () => false,
    );
  return { folder, run, exists };
}

/** The group of a script that begins with `echo $$`. */
const groupOf = (output: string): number => Number(/^\d+/u.exec(output)?.[0]);

describe('a process', () => {
  it('gives its output, both streams, and its exit code', async () => {
    const { run } = await setUp();
    const end = await run('echo out; echo err >&2; exit 3');
    expect(end).toMatchObject({ how: 'exited', exitCode: 3, isCut: false, taken: [] });
    expect(end.output.split('\n').sort()).toEqual(['', 'err', 'out']);
    expect((await run('kill -9 $$')).exitCode).toBe(137);
  });

  it('inherits nothing: no variable, no input', async () => {
    const { run } = await setUp();
    process.env['DEMO_API_TOKEN'] = 'value-of-the-bot';
    const { output } = await run('/usr/bin/env; cat; echo end', { env: { ...env, ONLY: 'this' } });
    delete process.env['DEMO_API_TOKEN'];
    expect(output).toContain('ONLY=this');
    expect(output).not.toContain('DEMO_API_TOKEN');
    expect(output).toMatch(/end\n$/u);
  });

  it('that cannot be started is an error with its name', async () => {
    const { run } = await setUp();
    await expect(run('', { command: '/no/such/program' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('/no/such/program'),
    });
  });

  it('leads a group of its own', async () => {
    const { run } = await setUp();
    const { output } = await run('echo $$; ps -o pgid= -p $$');
    const [pid, group] = output.trim().split(/\s+/u);
    expect(group).toBe(pid);
    expect(Number(group)).not.toBe(process.pid);
  });

  it('decodes a character that comes in two reads', async () => {
    const { run } = await setUp();
    const seen: string[] = [];
    const end = await run("printf '\\346\\227'; sleep 0.2; printf '\\245!'", {
      onOutput: (text) => seen.push(text),
    });
    expect(end.output).toBe('日!');
    expect(seen.join('')).toBe('日!');
  });

  it.each([
    [9_999, false],
    [10_000, false],
    [10_001, true],
  ])('keeps the beginning and the end of %i characters (cut: %s)', async (chars, isCut) => {
    const { run } = await setUp();
    const end = await run(`head -c ${chars} /dev/zero | tr '\\0' x`);
    expect(end.isCut).toBe(isCut);
    expect(end.output.length).toBe(
      isCut ? 10_000 + '\n[… 1 characters left out …]\n'.length : chars,
    );
  });

  it('that never stops writing fills no memory and is ended', async () => {
    const { run } = await setUp();
    const before = process.memoryUsage().rss;
    const end = await run('yes', { mostReadChars: 20_000_000 });
    expect(end).toMatchObject({ how: 'too_much_output', isCut: true });
    expect(end.output.length).toBeLessThan(10_100);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  it('talks over further descriptors', async () => {
    const { run } = await setUp();
    const end = await run('cat <&4; printf reported >&3; head -c 100 /dev/zero >&5', {
      channels: [
        { kind: 'takes', mostChars: 100 },
        { kind: 'gives', text: 'given 日' },
        { kind: 'takes', mostChars: 10 },
      ],
    });
    expect(end).toMatchObject({ output: 'given 日', taken: ['reported', '\0'.repeat(10)] });
    const deaf = await run('exit 0', {
      channels: [{ kind: 'gives', text: 'x'.repeat(1_000_000) }],
    });
    expect(deaf.how).toBe('exited');
  });

  it('that was stopped before it began is not begun', async () => {
    const { run, exists } = await setUp();
    const end = await run('touch marker', { signal: AbortSignal.abort() });
    expect(end.how).toBe('stopped');
    expect(await exists('marker')).toBe(false);
  });
});

describe('the end of a process', () => {
  it('B079: takes its whole group at a timeout, and leaves the bot alone', async () => {
    const { run, exists } = await setUp();
    const begun = Date.now();
    const end = await run('echo $$; sh -c "sleep 1.5; touch marker"', { timeoutMs: 300 });
    expect(end.how).toBe('timed_out');
    expect(Date.now() - begun).toBeLessThan(2300);
    const group = groupOf(end.output);
    expect(group).toBeGreaterThan(1);
    expect(isGroupAlive(group)).toBe(false);
    await wait(1600);
    expect(await exists('marker')).toBe(false);
  });

  it('takes its whole group at a stop', async () => {
    const { run, exists } = await setUp();
    const controller = new AbortController();
    const end = await run('echo $$; (sleep 1; touch marker) & sleep 30', {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    expect(end).toMatchObject({ how: 'stopped', exitCode: 143 });
    expect(isGroupAlive(groupOf(end.output))).toBe(false);
    await wait(1100);
    expect(await exists('marker')).toBe(false);
  });

  it('comes by SIGKILL within 2 s to what ignores SIGTERM', async () => {
    const { run } = await setUp();
    const begun = Date.now();
    const end = await run(`trap '' TERM; echo $$; while :; do sleep 0.1; done`, { timeoutMs: 200 });
    expect(end).toMatchObject({ how: 'timed_out', exitCode: 137 });
    expect(Date.now() - begun).toBeLessThan(2400);
    expect(isGroupAlive(groupOf(end.output))).toBe(false);
  });

  it('gives time to end properly', async () => {
    const { run, exists } = await setUp();
    const end = await run(
      `trap 'sleep 0.2; touch tidied; exit 5' TERM; echo $$; while :; do sleep 0.05; done`,
      { timeoutMs: 200 },
    );
    expect(end).toMatchObject({ how: 'timed_out', exitCode: 5 });
    expect(await exists('tidied')).toBe(true);
  });

  it('takes descendants that outlive the leader', async () => {
    const { run, exists } = await setUp();
    const end = await run(
      'echo $$; (sleep 0.6; touch marker) & (sleep 0.6; touch quiet) >/dev/null 2>&1 &',
    );
    expect(end).toMatchObject({ how: 'exited', exitCode: 0 });
    expect(isGroupAlive(groupOf(end.output))).toBe(false);
    await wait(700);
    expect(await exists('marker')).toBe(false);
    expect(await exists('quiet')).toBe(false);
  });

  it('is never that of the bot, nor of everything', () => {
    for (const pid of [process.pid, 0, 1, -1, -process.pid, 1.5, Number.NaN]) {
      expect(signalGroup(pid, 'SIGKILL')).toBe(false);
    }
  });
});

describe('a short command', () => {
  it('tells its exit code and output', () => {
    expect(runBriefly('sh', ['-c', 'echo a; exit 2'], env)).toEqual({ exitCode: 2, output: 'a\n' });
    expect(runBriefly('/no/such/program', [], env).exitCode).toBeUndefined();
    expect(runBriefly('sleep', ['5'], env, 100).exitCode).toBeUndefined();
  });
});
