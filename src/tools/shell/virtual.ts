/**
 * The virtual shell: a bash written in TypeScript over the workspace's files. It starts no process
 * and knows nothing of the host. It runs in a thread with a memory limit, which is terminated when
 * the command is stopped or out of time: the library itself only stops between statements.
 */

import type { Clock } from '../../base/clock.ts';
import { BotError } from '../../base/errors.ts';
import { createSpareWorkers, type WorkerEnd } from '../../base/workers/spare.ts';
import { carriedVariables, checkCommand, freshSession, type Variables } from './environment.ts';
import type { Executor, ShellRequest, ShellResult, ShellSession } from './executor.ts';
import { virtualCommands } from './virtual-commands.ts';
import { type VirtualAnswer, type VirtualTask, virtualAnswerSchema } from './virtual-task.ts';

export interface VirtualOptions {
  readonly environment: Variables;
  readonly mostMemoryMb: number;
  readonly mostFileMb: number;
  /** `api.example.com`, `api.example.com:8443`. Empty: no network. */
  readonly hosts: readonly string[];
}

const startFolder = '/workspace';
const workerModule = new URL(
  import.meta.url.endsWith('.ts') ? './virtual-worker.ts' : './virtual-worker.js',
  import.meta.url,
);

export function createVirtualExecutor(
  { clock }: { readonly clock: Clock },
  options: VirtualOptions,
): Executor {
  const { mostMemoryMb, mostFileMb, hosts } = options;
  const environment = { PATH: '/usr/bin:/bin', ...options.environment, HOME: startFolder };
  const workers = createSpareWorkers({ clock }, { module: workerModule, mostMemoryMb });
  const origins = hosts.flatMap((host) => [`https://${host}`, `http://${host}`]);
  return {
    name: 'virtual',
    description: describe(hosts),
    streams: false,
    startFolder: () => startFolder,
    run: async (request, signal) => {
      checkCommand(request.command);
      const session = request.session ?? freshSession(startFolder);
      const task: VirtualTask = {
        command: request.command,
        folder: request.workspace.folder,
        mounts: request.workspace.mounts.map(({ name, folder }) => ({ name, folder })),
        cwd: session.cwd,
        env: { ...environment, ...session.env },
        timeoutMs: request.timeoutMs,
        mostMemoryMb,
        mostFileMb,
        origins,
      };
      const end = await workers.run(task, request.timeoutMs, signal);
      return resultOf(end, session, environment, request);
    },
    close: () => workers.close(),
  };
}

function resultOf(
  end: WorkerEnd,
  session: ShellSession,
  own: Variables,
  request: ShellRequest,
): ShellResult {
  const nothing = { output: '', isCut: false, exitCode: 124, session, lostFolder: undefined };
  switch (end.kind) {
    case 'answered': {
      const answer = virtualAnswerSchema.parse(end.answer);
      request.onOutput?.(answer.output);
      return answered(answer, end.isLate, session, own);
    }
    case 'timed_out':
    case 'stopped':
    case 'out_of_memory':
      return { ...nothing, how: end.kind };
    case 'died':
      throw new BotError('tool_failed', `The virtual shell failed: ${end.message}`);
  }
}

function answered(
  answer: VirtualAnswer,
  isLate: boolean,
  session: ShellSession,
  own: Variables,
): ShellResult {
  const { output, isCut, exitCode, isFolderLost } = answer;
  const kept = isFolderLost ? { ...session, cwd: startFolder } : session;
  const after = answer.session;
  return {
    how: isLate ? 'timed_out' : 'exited',
    output,
    isCut,
    exitCode,
    session:
      after && !isLate ? { cwd: after.cwd, env: carriedVariables(after.exported, own) } : kept,
    lostFolder: isFolderLost ? session.cwd : undefined,
  };
}

function describe(hosts: readonly string[]): string {
  const network =
    hosts.length === 0
      ? 'There is no network.'
      : `curl reaches these hosts and no others: ${hosts.join(', ')}.`;
  return [
    'The shell is a simulated bash over the workspace’s files, not a machine.',
    `Its commands are: ${virtualCommands.join(' ')}${hosts.length === 0 ? '' : ' curl'}.`,
    'Nothing else exists: no git, node, npm, python, gcc, apt, ssh, docker, ps, kill or sudo, and nothing can be installed or started as a server.',
    network,
    'The workspace is /workspace, read-only folders are under /mnt; /tmp is empty at each call. Symbolic links are neither made nor followed.',
    '`&` does not put anything in the background. Output comes when the command has ended. The folder and exported variables are kept for the next call where the command runs to its end (not after `exit` or a failure under `set -e`).',
  ].join(' ');
}
