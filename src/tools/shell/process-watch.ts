/** Counts the processes of a sandbox from outside, where the kernel's own limit does not hold. */

import { readdir } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';

export interface ProcessWatch {
  /** Takes what bubblewrap writes about the sandbox (`--info-fd`), as often as more of it came. */
  inform(information: string): void;
  /** The sandbox is set up: before, its /proc is still the host's. */
  begin(): void;
  isOver(): boolean;
  end(): void;
}

const lookEveryMs = 50;

/** Calls `onOver` once when there are more than `most` processes. Undefined: it does not look. */
export function watchProcesses(
  clock: Clock,
  most: number | undefined,
  onOver: () => void,
): ProcessWatch {
  let isEnded = false;
  let isOver = false;
  let isReady = false;
  let isBegun = false;
  let pid = 0;
  let cancel = (): void => {};
  const look = async (mostProcesses: number): Promise<void> => {
    const count = await countProcesses(pid);
    if (isEnded || count === undefined) return;
    if (count > mostProcesses) {
      isOver = true;
      onOver();
      return;
    }
    cancel = clock.setTimer(lookEveryMs, () => void look(mostProcesses));
  };
  const lookIfReady = (): void => {
    if (isBegun || !isReady || pid <= 1 || most === undefined) return;
    isBegun = true;
    void look(most);
  };
  return {
    inform: (information) => {
      pid = Number(/"child-pid":\s*(\d+)/u.exec(information)?.[1] ?? 0);
      lookIfReady();
    },
    begin: () => {
      isReady = true;
      lookIfReady();
    },
    isOver: () => isOver,
    end: () => {
      isEnded = true;
      cancel();
    },
  };
}

/** The sandbox's own /proc, seen through its first process. Undefined when that is gone. */
async function countProcesses(pid: number): Promise<number | undefined> {
  try {
    const names = await readdir(`/proc/${pid}/root/proc`);
    return names.filter((name) => /^\d+$/u.test(name)).length;
  } catch {
    return undefined;
  }
}
