/**
 * What platforms tell us. Adapters translate platform events into these; they know nothing of
 * models. Texts are Markdown with names resolved (`@Anna`, `#ops`), a leading mention of the bot
 * taken off.
 */

import { z } from 'zod';
import { conversationSchema } from '../messages/conversation.ts';
import { authorSchema } from '../messages/people.ts';

export const inboundFileSchema = z.object({
  id: z.string(),
  name: z.string(),
  mediaType: z.string(),
  bytes: z.number(),
  /** Platform address; only the adapter knows how to read it. */
  url: z.string(),
});
export type InboundFile = Readonly<z.infer<typeof inboundFileSchema>>;

const common = {
  /** Identity of the event on its platform, the same for every delivery of it, whatever the
   * connection: `slack:C1:1700.1`, `discord:99`. Used to recognise duplicates. */
  eventKey: z.string().min(1),
  conversation: conversationSchema,
  author: authorSchema,
  at: z.number(),
};

/** Where something was said, in words people know. */
const placeFields = {
  channelName: z.string(),
  /** private: not readable by everybody of the space. direct: one person and the bot. */
  channelKind: z.enum(['public', 'private', 'direct']),
  /** For direct messages whose conversation names no space (Discord): the spaces that the author
   * shares with the bot. */
  sharedSpaces: z.array(z.string()).readonly().exactOptional(),
};

export const inboundMessageSchema = z.object({
  ...common,
  ...placeFields,
  kind: z.literal('message'),
  messageId: z.string(),
  /** channel: top level, an answer would start a thread · thread · direct: a direct message. */
  place: z.enum(['channel', 'thread', 'direct']),
  text: z.string(),
  files: z.array(inboundFileSchema).readonly(),
  /** Detected on the raw event; a look-alike name is no mention. */
  mentionsBot: z.boolean(),
  /** It begins by mentioning somebody else, or answers somebody else's message. */
  addressesOther: z.boolean(),
});
export type InboundMessage = Readonly<z.infer<typeof inboundMessageSchema>>;

export const inboundEditSchema = z.object({
  ...common,
  kind: z.literal('message_edited'),
  messageId: z.string(),
  text: z.string(),
});
export type InboundEdit = Readonly<z.infer<typeof inboundEditSchema>>;

/** Platforms say only that a message went away; who did it is unknown. */
export const inboundDeletionSchema = z.object({
  eventKey: z.string().min(1),
  kind: z.literal('message_deleted'),
  conversation: conversationSchema,
  messageId: z.string(),
  at: z.number(),
});
export type InboundDeletion = Readonly<z.infer<typeof inboundDeletionSchema>>;

/** A button, or a choice that was submitted. Already acknowledged to the platform. */
export const inboundClickSchema = z.object({
  ...common,
  kind: z.literal('click'),
  controlId: z.string(),
  /** Chosen values of a choice, the thumb of a feedback; empty for a button. */
  values: z.array(z.string()).readonly(),
  /** The message that carries the control. */
  cardId: z.string(),
  /** Handle for a private answer; good for minutes, only in the process that received it. */
  interactionId: z.string(),
});
export type InboundClick = Readonly<z.infer<typeof inboundClickSchema>>;

/** A submitted form (modal) that a control `form.<id>` opened. */
export const inboundFormSchema = z.object({
  ...common,
  kind: z.literal('form'),
  /** The control's id, `form.` included. */
  controlId: z.string(),
  text: z.string(),
  cardId: z.string(),
  interactionId: z.string(),
});
export type InboundForm = Readonly<z.infer<typeof inboundFormSchema>>;

/** A slash command. In a channel outside any thread the conversation's thread is `none`. */
export const inboundCommandSchema = z.object({
  ...common,
  ...placeFields,
  kind: z.literal('command'),
  /** What follows the command's name: `stop`, `status`, `config model`. */
  text: z.string(),
  interactionId: z.string(),
});
export type InboundCommand = Readonly<z.infer<typeof inboundCommandSchema>>;

/**
 * Somebody put an emoji on a message. Not every platform tells the message's thread: who knows the
 * message finds its conversation.
 */
export const inboundReactionSchema = z.object({
  eventKey: z.string().min(1),
  kind: z.literal('reaction'),
  place: z.object({ adapter: z.string(), space: z.string(), channel: z.string() }),
  author: authorSchema,
  at: z.number(),
  messageId: z.string(),
  /** The emoji itself: `❌`. */
  emoji: z.string(),
});
export type InboundReaction = Readonly<z.infer<typeof inboundReactionSchema>>;

/** Events that are stored before the adapter goes on. */
export const storedEventSchema = z.discriminatedUnion('kind', [
  inboundMessageSchema,
  inboundEditSchema,
  inboundDeletionSchema,
  inboundClickSchema,
  inboundFormSchema,
  inboundCommandSchema,
  inboundReactionSchema,
]);
export type StoredEvent = Readonly<z.infer<typeof storedEventSchema>>;

export type InboundEvent =
  | StoredEvent
  /** Messages may have been swallowed since then (ms since the epoch; left out: since the last one
   * that came in): read back. */
  | { readonly kind: 'gap'; readonly adapter: string; readonly since?: number };

/** `thread` of a command's conversation when it was given outside any thread. */
export const noThread = 'none';
