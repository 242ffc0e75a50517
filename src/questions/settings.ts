/** Settings of questions. */

import { z } from 'zod';

export const questionSettings = z.strictObject({
  /** participants: everybody who spoke in the thread · asker: only who triggered the run. */
  answerers: z.enum(['participants', 'asker']).default('participants'),
  /** Days after which an open question expires. */
  expireDays: z.number().positive().max(90).default(7),
});
export type QuestionSettings = Readonly<z.infer<typeof questionSettings>>;
