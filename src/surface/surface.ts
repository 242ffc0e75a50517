/** Where a conversation is shown, and what its platform can do. */

import type { Mentionable, PersonId } from '../messages/people.ts';
import type { BudgetState, CallBudget, CallKind } from './calls.ts';
import type { InboundFile } from './inbound.ts';
import type {
  Block,
  HistoryMessage,
  OutboundFile,
  OutboundMessage,
  PostedMessage,
} from './outbound.ts';
import type { ReactionSign } from './reactions.ts';

export interface PostOptions {
  /** Names this post for ever. The same key posts once. At most 40 characters of [a-z0-9_.]. */
  readonly key: string;
  /** An earlier post with this key may have succeeded (lost answer, crash): look before posting. */
  readonly maybePosted: boolean;
}

/**
 * All members throw a BotError: rate_limited (retryAfterMs), message_gone, message_uneditable,
 * message_too_long, message_refused, surface_gone, surface_unavailable. None of them waits for a
 * rate limit or tries again by itself, except that `post` never posts one key twice.
 */
export interface Surface {
  /** Posts into the thread; makes the thread first where the platform needs that. */
  post(message: OutboundMessage, options: PostOptions): Promise<PostedMessage>;
  edit(messageId: string, message: OutboundMessage): Promise<void>;
  /** Deleting what is already gone succeeds. */
  remove(messageId: string): Promise<void>;
  /** Shows that the bot is at work (Slack status, Discord typing), or takes it away. Must be
   * repeated every `capabilities.statusEveryMs`. Never rejects: false when the platform could not be
   * asked (it is logged); true also where it has no such sign. */
  status(state: 'working' | 'idle'): Promise<boolean>;
  /**
   * Puts a sign on a person's message (`waiting`: it was noted; otherwise one of `reactionEmojis`)
   * or takes it off. Never rejects: true when it is as wished, also when it was so before; false when
   * the platform refused it, could not be asked, or the emoji is not on the list.
   */
  react(messageId: string, sign: ReactionSign, on: boolean): Promise<boolean>;
  /** The thread's messages, oldest first, the newest `most`; the root or starter included. */
  history(most: number): Promise<readonly HistoryMessage[]>;
  /**
   * The newest `most` messages at top level of the conversation's channel, oldest first; what was
   * said in threads is not among them. In a direct message the same as `history`. Empty where a
   * channel has no top level (a Discord forum).
   */
  channelHistory(most: number): Promise<readonly HistoryMessage[]>;
  /** A line that only this person sees. With an interaction: its private answer. Without one, where
   * the platform has no private messages in channels: a direct message, else a short public line
   * without content. */
  whisper(person: PersonId, markdown: string, interactionId?: string): Promise<void>;
  /**
   * Posts a file into the thread. The same key posts once, as far as the platform lets us know: a
   * file whose answer was lost may come twice on Slack. A file that the platform does not take for
   * its size is message_too_long, one it does not take at all message_refused.
   */
  upload(file: OutboundFile, options: PostOptions): Promise<PostedMessage>;
  /** The bytes of a file that came with a message. */
  download(file: InboundFile, mostBytes: number): Promise<Uint8Array>;
  /** What the platform's last answer to such a call said of its budget; null before the first.
   * Absent: the platform tells nothing but refusals. */
  budgetOf?(kind: CallKind): BudgetState | null;
  /** Messages that grow by appending. Absent: there are none here; a reply edits its messages. */
  readonly stream?: MessageStream | undefined;
}

export interface StreamTask {
  /** Names the task in its message. */
  readonly id: string;
  readonly title: string;
  readonly state: 'pending' | 'running' | 'done' | 'failed';
}

/** What is appended: text as `drawn` gives it, and tasks that are new or changed. */
export interface StreamPiece {
  readonly text: string;
  readonly tasks: readonly StreamTask[];
}

export interface StreamOptions extends PostOptions {
  /** When the post was begun first, in ms since the epoch. */
  readonly begunAt: number;
  /** Whom the message answers. */
  readonly to: PersonId | undefined;
}

/**
 * A platform's own streaming (Slack: chat.startStream). What was appended stays; a message whose
 * stream has ended can be edited like any other. Errors as in a surface; message_uneditable: it does
 * not stream any more.
 */
export interface MessageStream {
  /** A stream that is older is ended before the platform ends it. */
  readonly mostAgeMs: number;
  /** The text that Markdown blocks have in a stream. */
  drawn(blocks: readonly Block[], mentionable: readonly Mentionable[]): string;
  /** Begins a message. Rejects with stream_unavailable where the platform allows none here. */
  start(piece: StreamPiece, options: StreamOptions): Promise<PostedMessage>;
  append(messageId: string, piece: StreamPiece): Promise<void>;
  /** Ends the stream; blocks of `foot` stand under the text. */
  stop(messageId: string, piece: StreamPiece, foot: OutboundMessage): Promise<void>;
}

export interface Capabilities {
  /** Most drawn length of one message. */
  readonly mostMessageLength: number;
  /** Length that this Markdown has when drawn, in the platform's unit. */
  lengthOf(markdown: string): number;
  /** What may be called how often; for each kind the narrowest first. */
  readonly budgets: readonly CallBudget[];
  /** A message older than this is not edited any more; the reply goes on in a new one. */
  readonly mostEditAgeMs: number;
  readonly statusEveryMs: number;
}
