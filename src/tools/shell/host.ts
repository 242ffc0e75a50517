/**
 * Commands run on the bot's own machine, as the bot's own user, with its files and its network: no
 * sandbox at all, and what a command puts into a session of its own (setsid) outlives it. Only for
 * those who accept that in the settings.
 */

import type { Clock } from '../../base/clock.ts';
import { BotError } from '../../base/errors.ts';
import { spawnProcess } from '../../base/process.ts';
import { gitReadingEnvironment } from './analysis/git-repository.ts';
import { checkCommand, freshSession, type Variables } from './environment.ts';
import { type Executor, mostOutputChars } from './executor.ts';
import { shellArguments, shellChannels, shellResult } from './real-shell.ts';

export interface HostOptions {
  /** What of the bot's environment may be seen, and what the operator hands over. */
  readonly environment: Variables;
  readonly acceptHostRisk: boolean;
  readonly mostMemoryMb: number | undefined;
  readonly mostFileMb: number;
}

/** Throws config_invalid unless the risk was accepted. */
export function createHostExecutor(
  { clock }: { readonly clock: Clock },
  { environment, acceptHostRisk, mostMemoryMb, mostFileMb }: HostOptions,
): Executor {
  if (!acceptHostRisk) throw new BotError('config_invalid', hostRiskProblem);
  const limits = { mostMemoryMb, mostFileMb, mostProcesses: undefined };
  return {
    name: 'host',
    description: [
      'The shell is a real bash on the machine that the bot runs on, without a sandbox: be careful.',
      'It starts in the workspace’s folder, which is also HOME; which programs there are depends on the machine.',
      'The folder and exported variables are kept for the next call.',
    ].join(' '),
    streams: true,
    startFolder: ({ folder }) => folder,
    run: async (request, signal) => {
      const { command, workspace, timeoutMs } = request;
      checkCommand(command);
      const { folder } = workspace;
      const session = request.session ?? freshSession(folder);
      const own = { TERM: 'dumb', ...gitReadingEnvironment, ...environment, HOME: folder };
      const end = await spawnProcess(
        { clock },
        {
          command: 'bash',
          args: shellArguments(command, session, limits),
          cwd: folder,
          env: own,
          signal,
          timeoutMs,
          mostOutputChars,
          onOutput: (text) => request.onOutput?.(text),
          channels: shellChannels(session),
        },
      );
      return shellResult(end, session, folder, own);
    },
    close: async () => {},
  };
}

export const hostRiskProblem =
  'host runs commands on this machine with all rights of the bot. Set tools.bash.acceptHostRisk: true if that is meant, or use bubblewrap or virtual.';
