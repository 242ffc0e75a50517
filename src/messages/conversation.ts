/**
 * What names a conversation: what the bot remembers as one dialogue. The key is
 * `adapter:space:channel:thread`; it is the same before and after the platform's thread exists.
 */

import { z } from 'zod';

export const conversationSchema = z.object({
  /** Name of the adapter: `slack`, `discord`, `web`. */
  adapter: z.string().min(1),
  /** Slack workspace id, Discord guild id, `direct` for a Discord direct message, `local`. */
  space: z.string().min(1),
  /** Channel id; for a Discord thread the id of its parent channel. */
  channel: z.string().min(1),
  /** Slack: ts of the root message. Discord: thread id (equals the id of the message it was made
   * from). `main` where the whole channel is one conversation (Discord direct messages). */
  thread: z.string().min(1),
});

export type Conversation = Readonly<z.infer<typeof conversationSchema>>;

/** `adapter:space:channel:thread`, each piece percent-encoded, so that it splits back exactly. */
export type ConversationKey = string;

export function conversationKeyOf(conversation: Conversation): ConversationKey {
  const { adapter, space, channel, thread } = conversation;
  return [adapter, space, channel, thread].map(encodeURIComponent).join(':');
}

/** The conversation of a key; throws a ZodError on a text that is no key. */
export function parseConversationKey(key: ConversationKey): Conversation {
  const [adapter, space, channel, thread] = key.split(':').map(decodeURIComponent);
  return conversationSchema.parse({ adapter, space, channel, thread });
}
