/** A clock that tests move. Timers fire in order of time; promises settle between them. */

import { setImmediate as settle } from 'node:timers/promises';
import type { Clock } from '../../src/base/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on, firing due timers one by one and letting promises settle after each. */
  advance(byMs: number): Promise<void>;
  /** Lets everything that needs no time happen. */
  settle(): Promise<void>;
  /** Number of timers that wait. */
  readonly pending: number;
}

export function createFakeClock(startMs = 1_700_000_000_000): FakeClock {
  let now = startMs;
  let order = 0;
  const timers = new Map<number, { at: number; run: () => void }>();
  const settleAll = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await settle();
  };
  const nextDue = (until: number): [number, { at: number; run: () => void }] | undefined =>
    [...timers]
      .filter(([, timer]) => timer.at <= until)
      .sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
  return {
    now: () => now,
    setTimer: (delayMs, run) => {
      order += 1;
      const id = order;
      timers.set(id, { at: now + Math.max(0, delayMs), run });
      return () => timers.delete(id);
    },
    advance: async (byMs) => {
      const until = now + byMs;
      await settleAll();
      for (let due = nextDue(until); due; due = nextDue(until)) {
        const [id, timer] = due;
        timers.delete(id);
        now = Math.max(now, timer.at);
        timer.run();
        await settleAll();
      }
      now = until;
      await settleAll();
    },
    settle: settleAll,
    get pending() {
      return timers.size;
    },
  };
}
