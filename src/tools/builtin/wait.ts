/** Wait: the run sleeps until a time, or until somebody writes; it holds no worker meanwhile. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';

const mostMinutes = 60;
const mostDays = 7;

const input = z
  .strictObject({
    minutes: z
      .number()
      .positive()
      .max(mostMinutes)
      .optional()
      .describe(`How long, at most ${mostMinutes} minutes.`),
    until: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(`Or a time, like 2026-11-30T14:00:00Z, at most ${mostDays} days from now.`),
  })
  .refine(({ minutes, until }) => (minutes === undefined) !== (until === undefined), {
    message: 'give either minutes or until',
  });

export function createWaitTool(deps: { readonly now: () => number }): Tool<z.infer<typeof input>> {
  return {
    name: 'Wait',
    description:
      'Sleeps for some minutes, or until a time, then lets you go on. Use it when something outside needs time; a message of the people wakes you earlier. Costs nothing while it waits.',
    input,
    category: 'core',
    concurrency: 'never',
    isReadOnly: true,
    needsApproval: false,
    describe: ({ minutes, until }) =>
      until === undefined ? `Waiting${minutes ? ` ${minutes} min` : ''}` : `Waiting until ${until}`,
    invoke: async ({ minutes = 0, until }) => {
      const now = deps.now();
      const untilMs = until === undefined ? now + Math.ceil(minutes * 60_000) : Date.parse(until);
      if (untilMs <= now) {
        const text = `${until} is over: it is ${new Date(now).toISOString()} now. Go on without waiting.`;
        return { kind: 'error', text };
      }
      if (untilMs > now + mostDays * 24 * 3600 * 1000) {
        return {
          kind: 'error',
          text: `That is more than ${mostDays} days away. Wait less, or tell the people when to ask again.`,
        };
      }
      return { kind: 'suspend', suspension: { kind: 'wait', untilMs } };
    },
  };
}
