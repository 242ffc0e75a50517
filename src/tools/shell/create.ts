/** The executor that the settings choose, and what is wrong with that choice here. */

import type { Clock } from '../../base/clock.ts';
import { BotError } from '../../base/errors.ts';
import type { BashSettings } from '../settings.ts';
import { bubblewrapProblem, createBubblewrapExecutor } from './bubblewrap.ts';
import { allowedEnvironment } from './environment.ts';
import type { Executor } from './executor.ts';
import { createHostExecutor, hostRiskProblem } from './host.ts';
import { createVirtualExecutor } from './virtual.ts';

export interface ExecutorDeps {
  readonly clock: Clock;
  /** The bot's own environment: an allow list of it is passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the bot runs as root, whose processes the kernel does not count. */
  readonly isRoot: boolean;
}

const virtualMemoryMb = 256;
const realMemoryMb = 2048;

/** Throws config_invalid for settings that `executorProblem` objects to. */
export function createExecutor(deps: ExecutorDeps, settings: BashSettings): Executor {
  const mismatch = settingsProblem(settings);
  if (mismatch) throw new BotError('config_invalid', mismatch.text);
  const { clock, isRoot } = deps;
  const { PATH: searchPath, ...allowed } = allowedEnvironment(deps.environment);
  const environment = { ...allowed, ...settings.environment };
  const { mostFileMb, mostProcesses, acceptHostRisk, network } = settings;
  switch (settings.executor) {
    case 'virtual': {
      const hosts = typeof network === 'boolean' ? [] : network;
      const mostMemoryMb = settings.mostMemoryMb ?? virtualMemoryMb;
      return createVirtualExecutor({ clock }, { environment, hosts, mostMemoryMb, mostFileMb });
    }
    case 'bubblewrap': {
      const mostMemoryMb = settings.mostMemoryMb ?? realMemoryMb;
      return createBubblewrapExecutor(
        { clock, isRoot },
        { environment, network: network === true, mostMemoryMb, mostFileMb, mostProcesses },
      );
    }
    case 'host': {
      const mostMemoryMb = settings.mostMemoryMb ?? realMemoryMb;
      const withPath = {
        ...(searchPath === undefined ? {} : { PATH: searchPath }),
        ...environment,
      };
      return createHostExecutor(
        { clock },
        { environment: withPath, acceptHostRisk, mostMemoryMb, mostFileMb },
      );
    }
  }
}

export interface ExecutorProblem {
  /** The setting of `tools.bash` it is about. */
  readonly key: keyof BashSettings;
  readonly text: string;
}

/** Why the chosen executor cannot be used as it is set, with what to do. */
export function executorProblem(
  settings: BashSettings,
  lookAtBubblewrap: () => string | undefined = bubblewrapProblem,
): ExecutorProblem | undefined {
  const mismatch = settingsProblem(settings);
  if (mismatch || settings.executor !== 'bubblewrap') return mismatch;
  const text = lookAtBubblewrap();
  return text === undefined ? undefined : { key: 'executor', text };
}

function settingsProblem({
  executor,
  network,
  acceptHostRisk,
}: BashSettings): ExecutorProblem | undefined {
  switch (executor) {
    case 'virtual':
      if (network !== true) return undefined;
      return {
        key: 'network',
        text: 'the virtual shell needs a list of hosts, like [api.example.com], or false',
      };
    case 'bubblewrap':
      if (typeof network === 'boolean') return undefined;
      return {
        key: 'network',
        text: 'bubblewrap cannot tell hosts apart: set true (the whole network, this machine’s own services included) or false, or use the virtual shell',
      };
    case 'host':
      if (!acceptHostRisk) return { key: 'executor', text: hostRiskProblem };
      if (typeof network === 'boolean') return undefined;
      return {
        key: 'network',
        text: 'the host shell always has the machine’s network: leave this out, or use the virtual shell',
      };
  }
}
