/** StaySilent: ends the turn without a word where the message was not meant for the bot. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';

const input = z.strictObject({
  reason: z.string().max(300).describe('Why nothing needs to be said; for the log.'),
});

export const staySilentTool: Tool<z.infer<typeof input>> = {
  name: 'StaySilent',
  description:
    'Ends your turn without writing anything. Only for thread messages that were not addressed to you and need nothing from you. Write no text before calling it.',
  input,
  category: 'core',
  concurrency: 'never',
  isReadOnly: true,
  needsApproval: false,
  describe: () => 'Reading along',
  invoke: async ({ reason }, { addressed }) =>
    addressed
      ? { kind: 'error', text: 'You were addressed: answer, in one line if that is enough.' }
      : { kind: 'silence', reason },
};
