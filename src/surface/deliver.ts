/** Patience with a platform: waits out rate limits, tries again after outages. */

import { type Clock, sleep } from '../base/clock.ts';
import { isBotError } from '../base/errors.ts';

const outageLadderMs = [500, 1000, 2000, 5000, 10_000, 20_000, 30_000];

/**
 * Makes a call until it succeeds. A rate limit is waited out in full; an outage is tried again, at
 * most seven times. Other errors are thrown at once. `attempt` counts from 1: from the second on, an
 * earlier attempt may have had its effect.
 */
export async function deliver<T>(
  clock: Clock,
  call: (attempt: number) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let outages = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(attempt);
    } catch (thrown) {
      if (isBotError(thrown, 'rate_limited')) {
        await sleep(clock, thrown.retryAfterMs ?? 1000, signal);
        continue;
      }
      const waitMs = outageLadderMs[outages];
      outages += 1;
      if (!isBotError(thrown, 'surface_unavailable') || waitMs === undefined) throw thrown;
      await sleep(clock, waitMs, signal);
    }
  }
}
