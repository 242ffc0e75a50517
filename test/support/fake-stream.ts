/** A platform's own streaming, kept by its contract: what was appended stays. */

import { BotError, type ErrorCode, isBotError } from '../../src/base/errors.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { MessageStream, StreamPiece } from '../../src/surface/surface.ts';
import type { ShownMessage } from './shown-message.ts';

export type StreamCall = 'stream_start' | 'stream_append' | 'stream_stop';

export interface FakeStreamDeps {
  readonly shown: ShownMessage[];
  readonly now: () => number;
  nextId(): string;
  /** Counts the call, and fails where a fault is planned. */
  act<T>(call: StreamCall, effect: () => T): T;
}

interface Growing {
  readonly startedAt: number;
  isOpen: boolean;
  text: string;
  readonly tasks: Map<string, string>;
}

/** As Slack's, but shorter: texts of 3,000 units, five minutes. */
const mostUnits = 3000;
const serverAgeMs = 300_000;
const mostAgeMs = 225_000;

export interface FakeStreams {
  of(conversation: Conversation): MessageStream;
  /** True while a message grows: it cannot be edited then. */
  isOpen(messageId: string): boolean;
  /** Tasks of a message with their states, in order. */
  tasks(messageId: string): readonly string[];
}

export function createFakeStreams(deps: FakeStreamDeps): FakeStreams {
  const growing = new Map<string, Growing>();

  const opened = (messageId: string): Growing => {
    if (!deps.shown.some((message) => message.messageId === messageId)) {
      throw refusal('message_gone');
    }
    const one = growing.get(messageId);
    if (one && deps.now() - one.startedAt >= serverAgeMs) one.isOpen = false;
    if (!one?.isOpen) throw refusal('message_uneditable');
    return one;
  };

  /** A stream that is said to have ended has; one whose end is refused takes no more either. */
  const actOn = (messageId: string, call: StreamCall, effect: () => void): void => {
    try {
      deps.act(call, effect);
    } catch (thrown) {
      const one = growing.get(messageId);
      const isOver =
        isBotError(thrown, 'message_uneditable') ||
        (call === 'stream_stop' && isBotError(thrown, 'message_refused'));
      if (one && isOver) one.isOpen = false;
      throw thrown;
    }
  };

  const grow = (one: Growing, { text, tasks }: StreamPiece): void => {
    if (one.text.length + text.length > mostUnits) throw refusal('message_too_long');
    one.text += text;
    for (const { id, title, state } of tasks) one.tasks.set(id, `${state}: ${title}`);
  };

  const show = (messageId: string, one: Growing, foot: ShownMessage['message']['blocks']): void => {
    const message = deps.shown.find((other) => other.messageId === messageId);
    if (!message) throw refusal('message_gone');
    const markdown = one.text === '' ? [] : [{ kind: 'markdown', text: one.text } as const];
    message.message = { blocks: [...markdown, ...foot], mentionable: [] };
    message.edits += 1;
  };

  return {
    isOpen: (messageId) => growing.get(messageId)?.isOpen === true,
    tasks: (messageId) => [...(growing.get(messageId)?.tasks.values() ?? [])],
    of: (conversation) => ({
      mostAgeMs,
      drawn: (blocks) =>
        blocks.map((block) => (block.kind === 'markdown' ? block.text : '')).join(''),
      start: async (piece, { key, maybePosted }) =>
        deps.act('stream_start', () => {
          const known = deps.shown.find((other) => other.key === key);
          if (known && !maybePosted) throw new Error(`key ${key} was posted twice`);
          if (known) return { messageId: known.messageId };
          const one: Growing = {
            ...{ startedAt: deps.now(), isOpen: true, text: '', tasks: new Map() },
          };
          grow(one, piece);
          const messageId = deps.nextId();
          growing.set(messageId, one);
          const { thread } = conversation;
          const message = { blocks: [], mentionable: [] };
          deps.shown.push({ messageId, key, thread, conversation, message, edits: 0 });
          show(messageId, one, []);
          return { messageId };
        }),
      append: async (messageId, piece) =>
        actOn(messageId, 'stream_append', () => {
          const one = opened(messageId);
          grow(one, piece);
          show(messageId, one, []);
        }),
      stop: async (messageId, piece, foot) =>
        actOn(messageId, 'stream_stop', () => {
          const one = opened(messageId);
          grow(one, piece);
          one.isOpen = false;
          show(messageId, one, foot.blocks);
        }),
    }),
  };
}

function refusal(code: ErrorCode): BotError {
  return new BotError(code, 'a refusal of the stream');
}
