/** Executors of tests, with low limits. */

import { systemClock as clock } from '../../../src/base/clock.ts';
import { createBubblewrapExecutor } from '../../../src/tools/shell/bubblewrap.ts';
import type { Executor } from '../../../src/tools/shell/executor.ts';
import { createHostExecutor } from '../../../src/tools/shell/host.ts';
import { createVirtualExecutor } from '../../../src/tools/shell/virtual.ts';

const environment = { HANDED_OVER: 'on purpose' };

export const virtualOf = (hosts: readonly string[] = []): Executor =>
  createVirtualExecutor({ clock }, { environment, hosts, mostMemoryMb: 128, mostFileMb: 1 });

export const hostOf = (): Executor =>
  createHostExecutor(
    { clock },
    {
      environment: { PATH: '/usr/local/bin:/usr/bin:/bin', ...environment },
      acceptHostRisk: true,
      mostMemoryMb: 512,
      mostFileMb: 1,
    },
  );

export const bubblewrapOf = (): Executor =>
  createBubblewrapExecutor(
    { clock, isRoot: process.getuid?.() === 0 },
    { environment, network: false, mostMemoryMb: 512, mostFileMb: 1, mostProcesses: 40 },
  );
