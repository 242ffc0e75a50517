/** React and LeaveThread: small signs to the people of the thread. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import type { Thread } from '../ports.ts';
import { textOutcome } from '../text-result.ts';

const reactInput = z.strictObject({
  emoji: z.string().min(1).max(16).describe('One emoji, like 👍 ✅ 👀 🎉 ❤️ 🚀.'),
  messageId: z
    .string()
    .optional()
    .describe('Id of a message, as ThreadRead shows it. Default: the newest message of a person.'),
});

export function createReactTool(thread: Thread): Tool<z.infer<typeof reactInput>> {
  return {
    name: 'React',
    description:
      'Puts an emoji on a message. Use it where a sign is enough and words would be noise: that something was seen, done or welcome.',
    input: reactInput,
    category: 'team',
    concurrency: 'always',
    isReadOnly: false,
    needsApproval: false,
    describe: ({ emoji }) => (emoji ? `Reacting with ${emoji}` : 'Reacting'),
    invoke: async ({ emoji, messageId }, { conversationKey }) => {
      const isThere = await thread.react(conversationKey, emoji, messageId);
      return isThere
        ? textOutcome(`${emoji} is on the message.`)
        : {
            kind: 'error',
            text: `${emoji} could not be put there: the message is gone, or the platform does not have the emoji. Leave it, or say it in words.`,
          };
    },
  };
}

const leaveInput = z.strictObject({
  reason: z.string().max(300).describe('Why; for the log.'),
});

export function createLeaveThreadTool(thread: Thread): Tool<z.infer<typeof leaveInput>> {
  return {
    name: 'LeaveThread',
    description:
      'Stops listening to this thread until somebody mentions you again. Use it when the people ask you to be quiet or say that they are done with you here.',
    input: leaveInput,
    category: 'team',
    concurrency: 'never',
    isReadOnly: false,
    needsApproval: false,
    describe: () => 'Leaving the thread',
    invoke: async (_input, { conversationKey }) => {
      await thread.leave(conversationKey);
      return textOutcome(
        'You no longer listen here; a mention brings you back. Say so in one short line.',
      );
    },
  };
}
