/** Limits that hold from the start, so that a mistake costs little. */

import { z } from 'zod';

export const limitSettings = z.strictObject({
  /** Runs that one person may start within an hour. */
  runsPerPersonHour: z.int().min(1).max(100_000).default(30),
  /** Steps (one model call and its tools) that a run may make. */
  stepsPerRun: z.int().min(1).max(500).default(25),
  /** US dollars; only what is known of a cost counts. Default: no limit. */
  usdPerRun: z.number().positive().exactOptional(),
  /** Over all conversations, from midnight to midnight UTC. Default: no limit. */
  usdPerDay: z.number().positive().exactOptional(),
});
export type LimitSettings = Readonly<z.infer<typeof limitSettings>>;
