/** An adapter without a platform: keeps what is shown, tells what it is told to tell. */

import { BotError, type ErrorCode } from '../../src/base/errors.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { Adapter, OnEvent } from '../../src/surface/adapter.ts';
import type { InboundMessage } from '../../src/surface/inbound.ts';
import type { HistoryMessage, OutboundMessage } from '../../src/surface/outbound.ts';
import type { Surface } from '../../src/surface/surface.ts';

export interface ShownMessage {
  readonly messageId: string;
  readonly key: string;
  readonly thread: string;
  message: OutboundMessage;
  edits: number;
}

/** Faults by call: the nth call of a kind from now on (1 is the next) fails so. */
export interface Fault {
  readonly call: 'post' | 'edit' | 'remove';
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
  readonly calls: string[];
  readonly statuses: string[];
  history: HistoryMessage[];
  missed: InboundMessage[];
  fail(fault: Fault): void;
  /** Texts of a thread's messages as a reader sees them, in order. */
  texts(thread: string): readonly string[];
}

export function createFakeAdapter(
  options: { readonly name?: string; readonly mostMessageLength?: number } = {},
): FakeAdapter {
  const { name = 'web', mostMessageLength = 2000 } = options;
  const shown: ShownMessage[] = [];
  const faults: { fault: Fault; left: number }[] = [];
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

  const surfaceOf = (conversation: Conversation): Surface => ({
    post: async (message, { key, maybePosted }) =>
      act('post', () => {
        const known = shown.find((other) => other.key === key);
        if (known && !maybePosted) throw new Error(`key ${key} was posted twice`);
        if (known) return { messageId: known.messageId };
        ids += 1;
        const messageId = `m${ids}`;
        shown.push({ messageId, key, thread: conversation.thread, message, edits: 0 });
        return { messageId };
      }),
    edit: async (messageId, message) =>
      act('edit', () => {
        const known = shown.find((other) => other.messageId === messageId);
        if (!known) throw new BotError('message_gone', 'there is no such message');
        known.message = message;
        known.edits += 1;
      }),
    remove: async (messageId) =>
      act('remove', () => {
        const index = shown.findIndex((other) => other.messageId === messageId);
        if (index >= 0) shown.splice(index, 1);
      }),
    status: async (state) => {
      fake.statuses.push(state);
    },
    react: async (messageId, sign, on) => {
      fake.reactions.push(`${on ? '+' : '-'}${sign}:${messageId}`);
    },
    history: async (most) => fake.history.slice(-most),
    whisper: async (person, text) => {
      fake.whispers.push({ person, text });
    },
    download: async () => new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]),
  });

  const fake: FakeAdapter = {
    name,
    capabilities: {
      mostMessageLength,
      lengthOf: (markdown) => markdown.length,
      editBudget: { edits: 40, windowMs: 60_000, scope: 'space' },
      mostEditAgeMs: 50 * 60_000,
      statusEveryMs: 8000,
    },
    routes: [],
    start: async (_onEvent: OnEvent) => {},
    stop: async () => {},
    state: () => ({ connected: true, detail: 'fake' }),
    spaces: () => [{ id: 'local', name: 'Local' }],
    surfaceOf,
    messagesAfter: async () => fake.missed,
    shown,
    whispers: [],
    reactions: [],
    calls: [],
    statuses: [],
    history: [],
    missed: [],
    fail: (fault) => {
      faults.push({ fault, left: fault.nth });
    },
    texts: (thread) =>
      shown.filter((other) => other.thread === thread).map(({ message }) => textOfMessage(message)),
  };
  return fake;
}

/** What a reader sees of a message, controls as [label]. */
export function textOfMessage({ blocks }: OutboundMessage): string {
  return blocks
    .map((block) => {
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
      }
    })
    .join('\n');
}
