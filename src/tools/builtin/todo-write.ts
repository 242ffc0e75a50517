/** TodoWrite: the checklist that the reply shows while the bot works. */

import { z } from 'zod';
import { checklistItemSchema } from '../../messages/checklist.ts';
import type { Tool } from '../contract.ts';
import { isRecord, parsedJson } from '../raw-input.ts';
import { textOutcome } from '../text-result.ts';

const input = z.strictObject({
  items: z
    .array(
      z.strictObject({
        text: checklistItemSchema.shape.text.describe('One line: "Compare the two logs".'),
        state: checklistItemSchema.shape.state,
      }),
    )
    .max(30)
    .describe('The whole list, in order; it takes the place of the one before. Empty: no list.'),
});

export const todoWriteTool: Tool<z.infer<typeof input>> = {
  name: 'TodoWrite',
  description:
    'Shows the people a checklist of your work and keeps it up to date. Use it for work of three or more steps: write it at the beginning, and again whenever a step begins or is done. Exactly one item is running while you work.',
  input,
  category: 'task',
  concurrency: 'always',
  isReadOnly: true,
  needsApproval: false,
  prepare: (raw) =>
    isRecord(raw) && typeof raw['items'] === 'string'
      ? { ...raw, items: parsedJson(raw['items']) }
      : raw,
  describe: () => 'Updating the checklist',
  invoke: async ({ items }, context) => {
    context.checklist(items);
    const left = items.filter(({ state }) => state !== 'done').length;
    if (items.length === 0) return textOutcome('The people see no checklist any more.');
    const count = items.length === 1 ? '1 item' : `${items.length} items`;
    return textOutcome(`The people see the checklist: ${count}, ${left} left.`);
  },
};
