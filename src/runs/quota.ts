/** How many runs a person started within the last hour, counted over restarts and processes. */

import type { Clock } from '../base/clock.ts';
import type { Store } from '../storage/store.ts';

export interface RunQuota {
  /**
   * Counts this run, once however often it is asked. Undefined: it may start; else the milliseconds
   * until it could, and it does not count.
   */
  take(person: string, runId: string, most: number): Promise<number | undefined>;
}

const hourMs = 3600 * 1000;
/** Old runs that are forgotten at once. */
const sweepSize = 500;

export function createRunQuota(deps: { readonly store: Store; readonly clock: Clock }): RunQuota {
  const { store, clock } = deps;
  return {
    take: async (person, runId, most) => {
      const index = `runs-of:${person}`;
      const now = clock.now();
      const before = await store.rangeOfIndex(index, { most: most + sweepSize });
      const isOld = ({ score }: { readonly score: number }): boolean => score <= now - hourMs;
      for (const { member } of before.filter(isOld)) await store.removeFromIndex(index, member);
      if (!before.some(({ member }) => member === runId)) {
        await store.addToIndex({ index, member: runId, score: now });
      }
      // Its place among all decides, so that two that start together cannot both be the last.
      const counted = await store.rangeOfIndex(index, { most: most + 1 });
      const place = counted.findIndex(({ member }) => member === runId);
      if (place >= 0 && place < most) return undefined;
      await store.removeFromIndex(index, runId);
      return (counted[0]?.score ?? now) + hourMs - now;
    },
  };
}
