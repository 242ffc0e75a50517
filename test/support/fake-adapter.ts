/**
 * An adapter without a platform: keeps what is shown, tells what people are made to say. It stands
 * in for platforms by keeping their contract (test/contract/fake-surface.test.ts).
 */

import { BotError, type ErrorCode } from '../../src/base/errors.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { Author } from '../../src/messages/people.ts';
import type { Adapter, OnEvent } from '../../src/surface/adapter.ts';
import { safeFileName } from '../../src/surface/file-name.ts';
import type {
  InboundClick,
  InboundFile,
  InboundForm,
  InboundMessage,
} from '../../src/surface/inbound.ts';
import { type HistoryMessage, type OutboundMessage, thumbs } from '../../src/surface/outbound.ts';
import { isReactionEmoji } from '../../src/surface/reactions.ts';
import type { Surface } from '../../src/surface/surface.ts';
import { createFakeStreams, type FakeStreams, type StreamCall } from './fake-stream.ts';
import type { ShownMessage } from './shown-message.ts';

export interface FakeUpload {
  readonly key: string;
  readonly name: string;
  /** The content as UTF-8. */
  readonly text: string;
  readonly content: Uint8Array;
  readonly comment: string;
  readonly isNameUnique: boolean;
  readonly messageId: string;
  readonly thread: string;
}

/** What a person says; the rest of the event is filled in. */
export type Saying = Pick<
  InboundMessage,
  | 'conversation'
  | 'author'
  | 'messageId'
  | 'place'
  | 'text'
  | 'mentionsBot'
  | 'addressesOther'
  | 'files'
>;

/** Faults by call: the nth call of a kind from now on (1 is the next) fails so. */
export interface Fault {
  readonly call: 'post' | 'edit' | 'remove' | 'upload' | 'react' | 'download' | StreamCall;
  readonly nth: number;
  readonly code: ErrorCode;
  readonly retryAfterMs?: number;
  /** The call has its effect, only its answer is lost. */
  readonly afterEffect?: boolean;
}

export interface FakeAdapter extends Adapter {
  readonly shown: ShownMessage[];
  readonly whispers: { person: string; text: string }[];
  readonly reactions: string[];
  /** Files that were posted. */
  readonly uploads: FakeUpload[];
  /** Emoji that are on messages now. */
  readonly signs: Map<string, readonly string[]>;
  /** Members of user groups. */
  readonly groups: Map<string, readonly string[]>;
  readonly calls: string[];
  readonly statuses: string[];
  /** False: the platform does not take the sign. */
  statusWorks: boolean;
  history: HistoryMessage[];
  /** What stands in every channel before all that is said. */
  channelHistory: HistoryMessage[];
  missed: InboundMessage[];
  fail(fault: Fault): void;
  /** A person says something; lost where the adapter is stopped. */
  say(saying: Saying): Promise<void>;
  editSaid(messageId: string, text: string): Promise<void>;
  removeSaid(messageId: string): Promise<void>;
  /** Delivers a message again. */
  tellAgain(messageId: string): Promise<void>;
  /** A click or a filled form; a failure to store it is told to the person. */
  press(event: InboundClick | InboundForm): Promise<void>;
  /** Somebody puts an emoji on a message. */
  reactTo(messageId: string, emoji: string, author: Author): Promise<void>;
  addFile(file: {
    readonly name: string;
    readonly mediaType: string;
    readonly content: string | Uint8Array;
  }): InboundFile;
  /** Where a shown message stands. */
  conversationOf(messageId: string): Conversation;
  readonly streams: FakeStreams;
  /** Texts of a thread's messages as a reader sees them, in order. */
  texts(thread: string): readonly string[];
}

const mostFileBytes = 1_000_000;

export function createFakeAdapter(
  options: {
    readonly name?: string;
    readonly mostMessageLength?: number;
    /** Messages can grow by appending; needs the time. */
    readonly streamsAt?: () => number;
  } = {},
): FakeAdapter {
  const { name = 'web', mostMessageLength = 2000 } = options;
  const shown: ShownMessage[] = [];
  const faults: { fault: Fault; left: number }[] = [];
  /** What people said through `say`, and what is shown, in one order. */
  const order: string[] = [];
  const said: InboundMessage[] = [];
  const files = new Map<string, Uint8Array>();
  let tell: OnEvent | null = null;
  let ids = 0;

  const act = <T>(call: Fault['call'], effect: () => T): T => {
    fake.calls.push(call);
    const due = faults.filter(({ fault }) => fault.call === call);
    for (const entry of due) entry.left -= 1;
    const hit = due.find(({ left }) => left === 0);
    const error =
      hit &&
      new BotError(
        hit.fault.code,
        'a fault of the test',
        hit.fault.retryAfterMs === undefined ? {} : { retryAfterMs: hit.fault.retryAfterMs },
      );
    if (error && !hit.fault.afterEffect) throw error;
    const result = effect();
    if (error) throw error;
    return result;
  };

  const { streamsAt } = options;
  const streams = createFakeStreams({
    ...{ shown, act, now: streamsAt ?? (() => 0) },
    nextId: () => {
      ids += 1;
      order.push(`m${ids}`);
      return `m${ids}`;
    },
  });

  const surfaceOf = (conversation: Conversation): Surface => ({
    ...(streamsAt ? { stream: streams.of(conversation) } : {}),
    post: async (message, { key, maybePosted }) =>
      act('post', () => {
        checkLength(message);
        const known = shown.find((other) => other.key === key);
        if (known && !maybePosted) throw new Error(`key ${key} was posted twice`);
        if (known) return { messageId: known.messageId };
        ids += 1;
        const messageId = `m${ids}`;
        const { thread } = conversation;
        shown.push({ messageId, key, thread, conversation, message, edits: 0 });
        order.push(messageId);
        return { messageId };
      }),
    edit: async (messageId, message) =>
      act('edit', () => {
        checkLength(message);
        const known = shown.find((other) => other.messageId === messageId);
        if (!known) throw new BotError('message_gone', 'there is no such message');
        if (streams.isOpen(messageId)) throw new Error('a message was edited while it grew');
        known.message = message;
        known.edits += 1;
      }),
    remove: async (messageId) =>
      act('remove', () => {
        const index = shown.findIndex((other) => other.messageId === messageId);
        if (index >= 0) shown.splice(index, 1);
        const file = fake.uploads.findIndex((other) => other.messageId === messageId);
        if (file >= 0) fake.uploads.splice(file, 1);
      }),
    status: async (state) => {
      fake.statuses.push(state);
      return fake.statusWorks;
    },
    react: async (messageId, sign, on) => {
      const name = sign === 'waiting' ? sign : sign.emoji;
      fake.reactions.push(`${on ? '+' : '-'}${name}:${messageId}`);
      if (sign === 'waiting') return true;
      if (!isReactionEmoji(name) || !order.includes(messageId)) return false;
      try {
        return act('react', () => {
          const others = (fake.signs.get(messageId) ?? []).filter((other) => other !== name);
          fake.signs.set(messageId, on ? [...others, name] : others);
          return true;
        });
      } catch {
        return false;
      }
    },
    history: async (most) => [...fake.history, ...historyOf(conversation)].slice(-most),
    channelHistory: async (most) =>
      [...fake.channelHistory, ...channelHistoryOf(conversation)].slice(-most),
    upload: async (file, { key, maybePosted }) =>
      act('upload', () => {
        const bytes = file.content.byteLength;
        if (bytes > mostFileBytes) throw new BotError('message_too_long', 'the file is too large');
        const known = fake.uploads.find((other) => other.key === key);
        if (known && !maybePosted) throw new Error(`file ${key} was posted twice`);
        if (known) return { messageId: known.messageId };
        const { content, comment = '', isNameUnique = false } = file;
        const fileName = safeFileName(file.name);
        ids += 1;
        const messageId = `m${ids}`;
        const text = Buffer.from(content).toString();
        const { thread } = conversation;
        order.push(messageId);
        const sent = { name: fileName, text, comment, content, isNameUnique };
        fake.uploads.push({ key, ...sent, messageId, thread });
        return { messageId };
      }),
    whisper: async (person, text) => {
      fake.whispers.push({ person, text });
    },
    download: async ({ id, name: fileName }, mostBytes) =>
      act('download', () => {
        const bytes = files.get(id) ?? new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]);
        if (bytes.length > mostBytes)
          throw new BotError('message_too_long', `${fileName} is too large`);
        return bytes;
      }),
  });

  const checkLength = (message: OutboundMessage): void => {
    const texts = message.blocks.map((block) => (block.kind === 'markdown' ? block.text : ''));
    if (texts.join('').length > mostMessageLength)
      throw new BotError('message_too_long', 'this message is too long');
  };

  const channelHistoryOf = (conversation: Conversation): readonly HistoryMessage[] => {
    const { channel } = conversation;
    const inChannel = said.filter((message) => message.conversation.channel === channel);
    if (inChannel.some(({ place }) => place === 'direct')) return historyOf(conversation);
    return inChannel
      .filter((message) => message.place === 'channel')
      .map(({ messageId, author, text }) => ({
        ...{ messageId, author: author.name, authorIsSelf: false, text },
        at: order.indexOf(messageId),
      }));
  };

  const historyOf = ({ thread }: Conversation): readonly HistoryMessage[] => {
    const own = shown.map(({ messageId, message, ...rest }) => ({
      ...{ messageId, author: 'Deckhand', authorIsSelf: true, text: textOfMessage(message) },
      thread: rest.thread,
    }));
    const theirs = said.map(({ messageId, author, text, conversation }) => ({
      ...{ messageId, author: author.name, authorIsSelf: false, text },
      thread: conversation.thread,
    }));
    return [...theirs, ...own]
      .filter((message) => message.thread === thread)
      .map(({ thread: _thread, ...message }) => ({
        ...message,
        at: order.indexOf(message.messageId),
      }))
      .toSorted((one, other) => one.at - other.at);
  };

  const saidMessage = (messageId: string): InboundMessage => {
    const found = said.find((message) => message.messageId === messageId);
    if (!found) throw new Error(`nobody said ${messageId}`);
    return found;
  };

  const fake: FakeAdapter = {
    name,
    capabilities: {
      mostMessageLength,
      lengthOf: (markdown) => markdown.length,
      budgets: [
        { calls: ['edit'], per: 'space', most: 40, windowMs: 60_000, burst: 10, kept: 2 },
        { calls: ['post'], per: 'channel', most: 55, windowMs: 60_000, burst: 4, kept: 1 },
      ],
      mostEditAgeMs: 50 * 60_000,
      statusEveryMs: 8000,
    },
    routes: [],
    start: async (onEvent) => {
      tell = onEvent;
    },
    stop: async () => {
      tell = null;
    },
    state: () => ({ connected: tell !== null, detail: 'fake' }),
    spaces: () => [{ id: 'local', name: 'Local' }],
    surfaceOf,
    messagesAfter: async ({ channel, thread }, afterMessageId, most) => {
      const after = said.findIndex(({ messageId }) => messageId === afterMessageId);
      const later = said
        .slice(after + 1)
        .filter(({ conversation }) => conversation.channel === channel)
        .filter(({ conversation, place }) =>
          thread === null ? place !== 'thread' : conversation.thread === thread,
        );
      return [...fake.missed, ...later].slice(0, most);
    },
    shown,
    streams,
    whispers: [],
    reactions: [],
    uploads: [],
    signs: new Map(),
    groups: new Map(),
    groupMembers: async (group) => fake.groups.get(group) ?? [],
    calls: [],
    statuses: [],
    statusWorks: true,
    history: [],
    channelHistory: [],
    missed: [],
    fail: (fault) => {
      faults.push({ fault, left: fault.nth });
    },
    say: async (saying) => {
      const { channel } = saying.conversation;
      const message: InboundMessage = {
        ...saying,
        kind: 'message',
        eventKey: `${name}:${channel}:${saying.messageId}`,
        at: order.length,
        channelName: channel,
        channelKind: saying.place === 'direct' ? 'direct' : 'public',
      };
      said.push(message);
      order.push(message.messageId);
      await tell?.(message);
    },
    editSaid: async (messageId, text) => {
      const { eventKey, conversation, author, at } = saidMessage(messageId);
      ids += 1;
      const key = `${eventKey}:edit${ids}`;
      await tell?.({
        ...{ kind: 'message_edited', eventKey: key, conversation, author, at, messageId, text },
      });
    },
    removeSaid: async (messageId) => {
      const { eventKey, conversation, at } = saidMessage(messageId);
      const key = `${eventKey}:deleted`;
      await tell?.({ kind: 'message_deleted', eventKey: key, conversation, messageId, at });
    },
    tellAgain: async (messageId) => {
      await tell?.(saidMessage(messageId));
    },
    press: async (event) => {
      try {
        await tell?.(event);
      } catch {
        const text = 'This could not be saved; please try again.';
        fake.whispers.push({ person: event.author.id, text });
      }
    },
    reactTo: async (messageId, emoji, author) => {
      ids += 1;
      const at = order.length;
      const place = { adapter: name, space: 'local', channel: 'general' };
      const eventKey = `${name}:reaction${ids}`;
      await tell?.({ kind: 'reaction', eventKey, place, author, at, messageId, emoji });
    },
    addFile: ({ name: fileName, mediaType, content }) => {
      const bytes = Buffer.from(content);
      const id = `f${files.size + 1}`;
      files.set(id, bytes);
      return { id, name: fileName, mediaType, bytes: bytes.length, url: `fake:${id}` };
    },
    conversationOf: (messageId) => {
      const found = shown.find((other) => other.messageId === messageId);
      if (!found) throw new Error(`${messageId} is not shown`);
      return found.conversation;
    },
    texts: (thread) =>
      shown.filter((other) => other.thread === thread).map(({ message }) => textOfMessage(message)),
  };
  return fake;
}

/** What a reader sees of a message, controls as [label]. */
export function textOfMessage({ blocks }: OutboundMessage): string {
  return blocks
    .map(textOfBlock)
    .reduce((text, next) => (text === '' || text.endsWith('\n') ? text : `${text}\n`) + next, '');
}

function textOfBlock(block: OutboundMessage['blocks'][number]): string {
  switch (block.kind) {
    case 'markdown':
      return block.text;
    case 'activity':
      return `_${block.text}_`;
    case 'notice':
      return `> ${block.text}`;
    case 'buttons':
      return block.buttons.map(({ label }) => `[${label}]`).join(' ');
    case 'choice':
      return `${block.options.map(({ label }) => `( ) ${label}`).join(' ')} [${block.submitLabel}]`;
    case 'feedback':
      return thumbs.map(({ label }) => `[${label}]`).join(' ');
  }
}
