/** ExitPlanMode: shows the plan with Approve and Request changes; nothing is done before. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';

const input = z.strictObject({
  plan: z
    .string()
    .min(1)
    .max(20_000)
    .describe('The plan in Markdown: what will be changed, in which order, and how it is checked.'),
});

export const exitPlanModeTool: Tool<z.infer<typeof input>> = {
  name: 'ExitPlanMode',
  description:
    'Shows your plan to the people and waits until they approve it or request changes. Call it when you are in plan mode and the plan is complete, or when they asked for a plan first. While you plan, only what reads may run.',
  input,
  category: 'plan',
  concurrency: 'never',
  isReadOnly: true,
  needsApproval: false,
  describe: () => 'Showing the plan',
  invoke: async ({ plan }) => ({ kind: 'suspend', suspension: { kind: 'plan', plan } }),
};
