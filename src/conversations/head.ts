/** The head of a conversation: the small value that says what it is and where it stands. */

import { z } from 'zod';

export const headSchema = z.object({
  v: z.literal(1),
  /** First words of the first message; names a thread where one is made. */
  title: z.string(),
  /** The message that the title's words are from. */
  titleFrom: z.string(),
  channelName: z.string(),
  channelKind: z.enum(['public', 'private', 'direct']),
  createdAt: z.number(),
  lastAt: z.number(),
  /** People who spoke here: their `@Name` in the model's text becomes a mention. */
  people: z.array(z.object({ id: z.string(), name: z.string() })).readonly(),
  /** Number of the first entry the model may see. */
  contextFrom: z.number(),
  /** Runs since a person last spoke (bots answering bots are bounded). */
  botRuns: z.number(),
  /** The bot has left: only mentions are answered, and bring it back. */
  hasLeft: z.boolean().default(false),
});
export type Head = Readonly<z.infer<typeof headSchema>>;

export const mostPeople = 200;
