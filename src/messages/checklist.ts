/** The checklist that a reply shows while the bot works. */

import { z } from 'zod';

export const checklistItemSchema = z.object({
  /** One line, in the words of the task: "Compare the two logs". */
  text: z.string().min(1).max(200),
  state: z.enum(['pending', 'running', 'done']),
});
export type ChecklistItem = Readonly<z.infer<typeof checklistItemSchema>>;
