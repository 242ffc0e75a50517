/** Bash: runs a shell command in the conversation's workspace, by the executor of the settings. */

import { z } from 'zod';
import { throwIfAborted } from '../../base/abort.ts';
import { hashOf } from '../../base/canonical.ts';
import type { Clock } from '../../base/clock.ts';
import { cutToUnits } from '../../base/text.ts';
import type { Assessment, Tool, ToolContext, ToolOutcome, ToolScene } from '../contract.ts';
import type { AssessShell } from '../shell/assessment.ts';
import type { Executor, ShellResult } from '../shell/executor.ts';
import type { Jobs } from '../shell/jobs.ts';
import type { Sessions } from '../shell/sessions.ts';
import { cutMiddle, mostResultChars, textOutcome } from '../text-result.ts';

export const mostTimeoutMs = 600_000;

const input = z.strictObject({
  command: z.string().min(1).describe('The command, as it would be typed into bash.'),
  timeoutMs: z
    .int()
    .min(1000)
    .max(mostTimeoutMs)
    .optional()
    .describe('Milliseconds after which it is ended; at most 600000.'),
  background: z
    .boolean()
    .optional()
    .describe('Returns at once with a job id; read it with BashOutput, end it with KillBash.'),
  description: z.string().max(200).optional().describe('What it is for, in a few words.'),
});
type Input = z.infer<typeof input>;

export interface BashDeps {
  readonly clock: Clock;
  readonly executor: Executor;
  readonly sessions: Sessions;
  readonly jobs: Jobs;
  readonly assess: AssessShell;
  /** Of a command whose call names none. */
  readonly timeoutMs: number;
}

/** So that the shell's own end, which can tell more, comes before the scheduler's. */
const marginMs = 5000;
const startMs = 15_000;
const progressEveryMs = 5000;
const mostProgressUnits = 200;

export function createBashTool(deps: BashDeps): Tool<Input> {
  const { executor, sessions } = deps;
  const shellOf = ({ conversationKey, workspace }: ToolScene): Shell => {
    const startFolder = executor.startFolder(workspace);
    const { cwd, env } = sessions.get(conversationKey) ?? { cwd: startFolder, env: {} };
    const carried = Object.keys(env);
    return { cwd, env, carried, isFresh: cwd === startFolder && carried.length === 0 };
  };
  const assess = async (command: string, scene: ToolScene): Promise<Assessment> => {
    const { cwd, env, carried, isFresh } = shellOf(scene);
    const assessment = await deps.assess(command, scene, { cwd, carried });
    return isFresh ? assessment : { ...assessment, state: hashOf([cwd, env]) };
  };
  return {
    name: 'Bash',
    description: describeTool(executor, deps.timeoutMs),
    input,
    category: 'core',
    concurrency: async ({ command, background }, scene) =>
      !background && (await assess(command, scene)).isReadOnly ? 'always' : 'never',
    isReadOnly: false,
    needsApproval: true,
    timeoutMs: ({ timeoutMs = deps.timeoutMs, background }) =>
      background ? startMs : timeoutMs + marginMs,
    describe: ({ command }) =>
      command ? `Running \`${oneLine(command).replaceAll('`', "'")}\`` : 'Running a command',
    assess: ({ command }, scene) => assess(command, scene),
    preview: ({ command }, scene) => ({ language: 'sh', text: placed(command, shellOf(scene)) }),
    invoke: (call, context) =>
      call.background ? inBackground(deps, call, context) : inForeground(deps, call, context),
  };
}

interface Shell {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Names of what earlier commands exported. */
  readonly carried: readonly string[];
  /** As it is at the beginning. */
  readonly isFresh: boolean;
}

/** The command under a comment that says where it runs, when that is not where shells begin. */
function placed(command: string, { cwd, carried, isFresh }: Shell): string {
  if (isFresh) return command;
  // As JSON: no name of a folder gets out of the comment.
  const exported = carried.length > 0 ? `, with ${carried.join(', ')} exported before` : '';
  return `# in ${JSON.stringify(cwd)}${exported}\n${command}`;
}

function describeTool({ description }: Executor, timeoutMs: number): string {
  return [
    'Runs a shell command in the workspace and returns its output and exit code.',
    description,
    'There is no standard input: what asks questions must be given its answers as arguments.',
    `A command is ended after ${timeoutMs / 1000} s unless timeoutMs says otherwise; with background: true it may run for 30 minutes.`,
    'To read, write and search files use FileRead, FileWrite, FileEdit, Glob and Grep instead.',
  ].join(' ');
}

async function inForeground(
  deps: BashDeps,
  { command, timeoutMs = deps.timeoutMs }: Input,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { executor, sessions, clock } = deps;
  const { workspace, conversationKey, signal } = context;
  const session = sessions.get(conversationKey);
  const endProgress = executor.streams ? undefined : tellElapsed(clock, context);
  const lastLine = createLastLine();
  try {
    const result = await executor.run(
      {
        command,
        workspace,
        session,
        timeoutMs,
        onOutput: (text) => {
          const line = lastLine(text);
          if (line !== '') context.progress(line);
        },
      },
      signal,
    );
    sessions.set(conversationKey, result.session);
    return outcomeOf(result, executor.startFolder(workspace), timeoutMs, signal);
  } finally {
    endProgress?.();
  }
}

async function inBackground(
  { executor, sessions, jobs }: BashDeps,
  { command }: Input,
  { workspace, conversationKey, runSignal }: ToolContext,
): Promise<ToolOutcome> {
  const request = { command, workspace, session: sessions.get(conversationKey) };
  const jobId = jobs.start(conversationKey, request, runSignal);
  const when = executor.streams ? '' : ' Its output comes when it has ended.';
  return textOutcome(
    `Started in the background as ${jobId}.${when} Read it with BashOutput, end it with KillBash.`,
  );
}

/** Says how long it has been running; the returned function ends that. */
function tellElapsed(clock: Clock, context: ToolContext): () => void {
  const begun = clock.now();
  let cancel = (): void => {};
  const wait = (): void => {
    cancel = clock.setTimer(progressEveryMs, () => {
      context.progress(`running for ${Math.round((clock.now() - begun) / 1000)} s`);
      wait();
    });
  };
  wait();
  return () => cancel();
}

/** The last line with something on it of what has come so far. */
function createLastLine(): (text: string) => string {
  let open = '';
  return (text) => {
    const lines = (open + text).split(/\r\n|\r|\n/u);
    open = (lines.at(-1) ?? '').slice(-2 * mostProgressUnits);
    const line = lines.findLast((one) => one.trim() !== '') ?? '';
    return cutToUnits(line.trim(), mostProgressUnits);
  };
}

function outcomeOf(
  result: ShellResult,
  startFolder: string,
  timeoutMs: number,
  signal: AbortSignal,
): ToolOutcome {
  const { how, exitCode, lostFolder } = result;
  const output = result.output.trimEnd();
  const failed = (why: string): ToolOutcome => ({
    kind: 'error',
    text: [...(output === '' ? [] : [cutMiddle(output, mostResultChars)]), why].join('\n'),
  });
  if (lostFolder !== undefined) {
    return failed(
      `The folder ${lostFolder} of this shell no longer exists, so the command was not run. The shell is in ${startFolder} now: run it again if it is right there.`,
    );
  }
  switch (how) {
    case 'exited': {
      const code = exitCode === 0 ? [] : [`(exit code ${exitCode})`];
      const said = output === '' ? ['(no output)'] : [output];
      return textOutcome([...said, ...code].join('\n'));
    }
    case 'timed_out':
      return failed(
        `(It did not end within ${timeoutMs / 1000} s and was ended with all that it had started. Make it do less, give it a larger timeoutMs (at most ${mostTimeoutMs}), or run it with background: true.)`,
      );
    case 'stopped':
      throwIfAborted(signal);
      return failed('(It was stopped.)');
    case 'out_of_memory':
      return failed('(It needed too much memory and was ended. Work on the data in parts.)');
    case 'too_much_output':
      return failed(
        '(It wrote too much and was ended. Write to a file, or keep what is needed with grep, head or tail.)',
      );
    case 'too_many_processes':
      return failed('(It started too many processes and was ended.)');
  }
}

function oneLine(command: string): string {
  return cutToUnits(command.replace(/\s+/gu, ' ').trim(), 120);
}
