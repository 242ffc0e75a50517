/**
 * Slack's word that it keeps events of this app back (over 30,000 an hour in a workspace), once for
 * each minute in which it does: https://docs.slack.dev/reference/events/app_rate_limited. What was
 * dropped never comes again, so it is read back: at once, and when that minute is over.
 */

import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import type { Log } from '../../src/base/log.ts';

export interface RateLimited {
  received(body: unknown): void;
  close(): void;
}

const bodySchema = z.object({
  /** Start of the minute, in seconds since the epoch. */
  minute_rate_limited: z.number().optional().catch(undefined),
});

const minuteMs = 60_000;

export function createRateLimited(deps: {
  readonly clock: Clock;
  readonly log: Log;
  /** Messages may have been swallowed since then (ms since the epoch). */
  onGap(since: number): void;
}): RateLimited {
  const { clock, log } = deps;
  let cancel = (): void => undefined;
  /** Start of the minute that is not over. */
  let runningSince: number | null = null;
  return {
    received: (body) => {
      const minute = bodySchema.safeParse(body).data?.minute_rate_limited;
      const start = Math.min(clock.now(), minute === undefined ? Infinity : minute * 1000);
      const leftMs = Math.min(minuteMs, Math.max(0, start + minuteMs - clock.now()));
      log.warn('slack_events_limited', { leftMs });
      cancel();
      deps.onGap(runningSince ?? start);
      runningSince = leftMs > 0 ? start : null;
      if (leftMs > 0) {
        cancel = clock.setTimer(leftMs, () => {
          runningSince = null;
          deps.onGap(start);
        });
      }
    },
    close: () => cancel(),
  };
}
