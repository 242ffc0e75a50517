/**
 * Entries of the transcript: append-only, one stored value each. `v` is the schema's version.
 * A deletion by a person is the one rewrite: the entry becomes a tombstone.
 */

import { z } from 'zod';
import { assistantPartSchema, originSchema, toolResultSchema, userPartSchema } from './parts.ts';
import { authorSchema } from './people.ts';
import { usageSchema } from './usage.ts';

const common = { v: z.literal(1), /** Milliseconds since the epoch. */ at: z.number() };

export const entrySchema = z.discriminatedUnion('kind', [
  z.object({
    ...common,
    kind: z.literal('user_message'),
    /** The platform's id of the message; unique in the conversation. */
    messageId: z.string(),
    author: authorSchema,
    parts: z.array(userPartSchema).readonly(),
    /** Whether it addressed the bot; where it did not, the model may choose silence. */
    addressed: z.boolean(),
  }),
  /** What was said in the thread before the bot came to it, read once from the platform. */
  z.object({
    ...common,
    kind: z.literal('history'),
    messages: z
      .array(
        z.object({
          messageId: z.string(),
          author: z.string(),
          text: z.string(),
          at: z.number(),
        }),
      )
      .readonly(),
  }),
  z.object({
    ...common,
    kind: z.literal('assistant_message'),
    runId: z.string(),
    step: z.number(),
    parts: z.array(assistantPartSchema).readonly(),
    stop: z.string(),
    origin: originSchema,
    usage: usageSchema.exactOptional(),
  }),
  /**
   * A call that changes something began while its message still streamed: what had come of the
   * message by then. It counts where the message itself was never stored (a crash).
   */
  z.object({
    ...common,
    kind: z.literal('calls_begun'),
    runId: z.string(),
    step: z.number(),
    parts: z.array(assistantPartSchema).readonly(),
    origin: originSchema,
  }),
  /** Results of calls of the assistant message before it; a step may have several of these. */
  z.object({
    ...common,
    kind: z.literal('tool_results'),
    runId: z.string(),
    step: z.number(),
    results: z.array(toolResultSchema).readonly(),
    /** Typed lines whose words the results repeat: they go when a line is deleted. */
    answers: z
      .object({ questionId: z.string(), messageIds: z.array(z.string()).readonly() })
      .exactOptional(),
  }),
  /** A fact for the model, not said by anybody: "Anna edited her message to: …". */
  z.object({ ...common, kind: z.literal('note'), text: z.string(), about: z.string() }),
  /** `new` was said: the model sees nothing before this. */
  z.object({ ...common, kind: z.literal('fresh_start'), by: z.string() }),
  /** A message that a person deleted. Its words are gone. */
  z.object({
    ...common,
    kind: z.literal('tombstone'),
    messageId: z.string(),
    deletedAt: z.number(),
  }),
]);

export type Entry = Readonly<z.infer<typeof entrySchema>>;
export type EntryOf<K extends Entry['kind']> = Extract<Entry, { kind: K }>;

/** An entry with its number in the transcript, from 1. */
export interface NumberedEntry {
  readonly number: number;
  readonly entry: Entry;
}
