/**
 * What a platform gives to the contract suite of adapters and surfaces (surface.ts): its real
 * adapter connected to an emulator, and ways to act as people and to look at what they see.
 */

import type { Conversation } from '../../src/messages/conversation.ts';
import type { PersonId } from '../../src/messages/people.ts';
import type { Adapter } from '../../src/surface/adapter.ts';
import type { InboundEvent, InboundMessage } from '../../src/surface/inbound.ts';
import type { OutboundMessage } from '../../src/surface/outbound.ts';
import type { PostOptions } from '../../src/surface/surface.ts';
import { until } from '../support/until.ts';

interface ShownMessage {
  readonly messageId: string;
  /** What people read: texts, small lines and labels of controls. */
  readonly text: string;
  /** Who it notifies: person ids, or `everyone` for any broadcast. */
  readonly notified: readonly string[];
  /** Files it brings, as somebody who saves them gets them. */
  readonly files: readonly { readonly name: string; readonly content: Uint8Array }[];
}

export interface Said {
  readonly messageId: string;
  readonly conversation: Conversation;
}

export interface SurfaceHarness {
  /** Started. */
  readonly adapter: Adapter;
  /** What was stored, in order. */
  readonly events: readonly InboundEvent[];
  /** Storing rejects from now on, or works again. */
  failStoring(on: boolean): void;
  /** Who speaks and clicks, and somebody else of the same place. */
  readonly person: { readonly id: PersonId; readonly name: string };
  readonly other: { readonly id: PersonId; readonly name: string };
  /** The person says something: at top level of the common channel, or in a conversation. */
  say(
    text: string,
    options?: {
      readonly mention?: boolean;
      readonly in?: Conversation;
      readonly file?: {
        readonly name: string;
        readonly mediaType: string;
        readonly content: string;
      };
    },
  ): Promise<Said>;
  /** The person writes to the bot alone. Never called where the gap `direct` is named. */
  sayDirect(text: string): Promise<Said>;
  /** The other person says something to the person, in a conversation. Never called where the gap
   * `others` is named. */
  sayToPerson(text: string, conversation: Conversation): Promise<Said>;
  edit(messageId: string, text: string): Promise<void>;
  remove(messageId: string): Promise<void>;
  /** The same message is delivered again. */
  redeliver(messageId: string): Promise<void>;
  click(messageId: string, label: string): Promise<void>;
  /** The person puts an emoji on a message: one of ❌ and 👍. */
  react(messageId: string, emoji: string): Promise<void>;
  choose(messageId: string, labels: readonly string[], submitLabel: string): Promise<void>;
  /** Fills the form that is open for the person. */
  fillForm(text: string): Promise<void>;
  /** The bot's messages in a conversation, oldest first. */
  shown(conversation: Conversation): Promise<readonly ShownMessage[]>;
  /** Emoji of the bot on a message. */
  reactionsOn(messageId: string): Promise<readonly string[]>;
  /** A file of so many bytes is too large here; one byte less is not. */
  readonly leastRefusedFileBytes: number;
  /** Lines that only the person sees. */
  privateLines(): Promise<readonly string[]>;
  /** Breaks the next call of this kind. `answer_lost`: it takes effect, but nobody hears of it. */
  breakNext(
    call: 'post' | 'edit' | 'upload' | 'react',
    how: 'rate_limited' | 'server_error' | 'answer_lost' | 'uneditable',
  ): void;
  close(): Promise<void>;
}

/** What a platform does not have; each names a part of the suite that is left out. */
export interface SurfaceGaps {
  /** Events that could not be stored are sent again by the platform. */
  readonly redelivery?: true;
  /** Calls can be refused or lost: not where the surface is in our own process. */
  readonly failures?: true;
  /** Direct messages. */
  readonly direct?: true;
  /** A message that is too long for the platform is refused. */
  readonly length?: true;
  /** Files that come with messages. */
  readonly files?: true;
  /** More than one person. */
  readonly others?: true;
  /** The same message can be delivered more than once. */
  readonly repeats?: true;
}

/** Seconds in the answers of `breakNext(…, 'rate_limited')`. */
export const contractRetryAfterSeconds = 7;

/** One fact of the contract. */
export interface SurfaceCase {
  readonly name: string;
  /** Left out where the platform names this gap. */
  readonly needs?: keyof SurfaceGaps;
  run(harness: SurfaceHarness): Promise<void>;
}

export function markdown(
  text: string,
  mentionable: OutboundMessage['mentionable'] = [],
): OutboundMessage {
  return { blocks: [{ kind: 'markdown', text }], mentionable };
}

export function key(name: string): PostOptions {
  return { key: name, maybePosted: false };
}

/** The message as the adapter told it. */
export async function heard(harness: SurfaceHarness, messageId: string): Promise<InboundMessage> {
  const find = (): InboundMessage | undefined =>
    harness.events.find(
      (event): event is InboundMessage => event.kind === 'message' && event.messageId === messageId,
    );
  await until(() => find() !== undefined);
  const found = find();
  if (found === undefined) throw new Error('The message did not come.');
  return found;
}

/** The first event of a kind. */
export async function eventOf<Kind extends InboundEvent['kind']>(
  harness: SurfaceHarness,
  kind: Kind,
): Promise<Extract<InboundEvent, { kind: Kind }>> {
  const isKind = (event: InboundEvent): event is Extract<InboundEvent, { kind: Kind }> =>
    event.kind === kind;
  await until(() => harness.events.some(isKind));
  const found = harness.events.find(isKind);
  if (found === undefined) throw new Error(`No ${kind} came.`);
  return found;
}

/** The person mentions the bot at top level: "hello". */
export async function mentioned(harness: SurfaceHarness): Promise<InboundMessage> {
  const said = await harness.say('hello', { mention: true });
  return await heard(harness, said.messageId);
}

export function keyOf(event: InboundEvent): string {
  return event.kind === 'gap' ? 'gap' : event.eventKey;
}
