/**
 * A platform inside the process: its limits, the time its calls take, and what people can read after
 * each. What is sent is drawn by the real adapters.
 */

import { drawMessage as drawDiscord } from '../../../adapters/discord/draw.ts';
import { drawMessage as drawSlack } from '../../../adapters/slack/draw.ts';
import { createMessageStream, createStreaming } from '../../../adapters/slack/stream.ts';
import type { CallSlack } from '../../../adapters/slack/web-api.ts';
import { type Clock, sleep } from '../../../src/base/clock.ts';
import { BotError } from '../../../src/base/errors.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { Conversation } from '../../../src/messages/conversation.ts';
import type { BudgetState, CallKind } from '../../../src/surface/calls.ts';
import type { OutboundMessage } from '../../../src/surface/outbound.ts';
import type { Surface } from '../../../src/surface/surface.ts';
import { type BenchPlatform, onewayMs, scopeOf } from './platforms.ts';

interface Message {
  text: string;
  isOpen: boolean;
}

export interface Simulated {
  surfaceOf(conversation: Conversation): Surface;
  /** Calls made, and those that were refused as too many. */
  readonly calls: number;
  readonly refusals: number;
}

export function createSimulated(
  clock: Clock,
  platform: BenchPlatform,
  /** The messages of a thread as people read them now. */
  onSeen: (thread: string, messages: readonly Message[]) => void,
): Simulated {
  const made = new Map<string, number[]>();
  let calls = 0;
  let refusals = 0;
  let ids = 0;

  const limitsOf = (kind: CallKind, place: Conversation) =>
    platform.limits
      .filter((limit) => limit.calls.includes(kind))
      .map((limit) => {
        const name = `${limit.calls.join()}/${scopeOf(limit, place)}`;
        const known = made.get(name) ?? [];
        const from = clock.now() - limit.windowMs;
        // Discord's windows begin with their first call; Slack looks back.
        const isOver = platform.isDiscord && (known[0] ?? 0) <= from;
        const times = isOver ? [] : platform.isDiscord ? known : known.filter((at) => at > from);
        made.set(name, times);
        return { limit, times };
      });

  const make = async <T>(kind: CallKind, place: Conversation, effect: () => T): Promise<T> => {
    calls += 1;
    await sleep(clock, onewayMs);
    const limits = limitsOf(kind, place);
    const over = limits.find(({ limit, times }) => times.length >= limit.most);
    if (over) {
      refusals += 1;
      const oldest = over.times[0] ?? 0;
      await sleep(clock, onewayMs);
      throw new BotError('rate_limited', 'too many', {
        retryAfterMs: oldest + over.limit.windowMs - clock.now(),
      });
    }
    for (const { times } of limits) times.push(clock.now());
    const result = effect();
    await sleep(clock, onewayMs);
    return result;
  };

  /** What Discord tells with each answer. */
  const budgetOf = (kind: CallKind, place: Conversation): BudgetState | null => {
    const [narrowest] = limitsOf(kind, place);
    const oldest = narrowest?.times[0];
    if (!platform.isDiscord || !narrowest || oldest === undefined) return null;
    const { most, windowMs } = narrowest.limit;
    return {
      limit: most,
      remaining: most - narrowest.times.length,
      resetAfterMs: oldest + windowMs - clock.now(),
    };
  };

  const textOf = (message: OutboundMessage): string =>
    platform.isDiscord
      ? drawDiscord(message).content
      : drawSlack(message)
          .blocks.map((block) => (block.type === 'markdown' ? block.text : ''))
          .join('\n\n');

  const surfaceOf = (conversation: Conversation): Surface => {
    const messages = new Map<string, Message>();
    const seen = (): void => onSeen(conversation.thread, [...messages.values()]);
    const add = (text: string, isOpen: boolean): string => {
      ids += 1;
      messages.set(String(ids), { text, isOpen });
      seen();
      return String(ids);
    };
    const change = (messageId: string, change: (message: Message) => void): void => {
      const message = messages.get(messageId);
      if (!message) throw new BotError('message_gone', 'no such message');
      change(message);
      seen();
    };
    const call: CallSlack = async (method, args, answer) => {
      const kind = kinds[method];
      if (!kind) throw new Error(`${method} is not simulated`);
      const ts = await make(kind, conversation, () => {
        const text = appendedBy(args['chunks']);
        if (kind === 'stream_start') return add(text, true);
        change(String(args['ts']), (message) => {
          message.text += text;
          message.isOpen = kind !== 'stream_stop';
        });
        return '';
      });
      return answer.parse({ ts });
    };
    const streaming = createStreaming({ log: silentLog }, 'native');
    return {
      post: (message) => {
        const text = textOf(message);
        return make('post', conversation, () => ({ messageId: add(text, false) }));
      },
      edit: (messageId, message) => {
        const text = textOf(message);
        return make('edit', conversation, () =>
          change(messageId, (known) => {
            known.text = text;
          }),
        );
      },
      remove: (messageId) =>
        make('remove', conversation, () => {
          messages.delete(messageId);
          seen();
        }),
      status: async () => true,
      react: async () => true,
      history: async () => [],
      channelHistory: async () => [],
      whisper: async () => {},
      upload: async () => {
        throw new Error('nothing is uploaded here');
      },
      download: async () => {
        throw new Error('nothing is downloaded here');
      },
      budgetOf: (kind) => budgetOf(kind, conversation),
      ...(platform.streams
        ? {
            stream: createMessageStream(
              { call, streaming, findOwn: async () => null },
              conversation,
            ),
          }
        : {}),
    };
  };

  return {
    surfaceOf,
    get calls() {
      return calls;
    },
    get refusals() {
      return refusals;
    },
  };
}

const kinds: Readonly<Record<string, CallKind>> = {
  'chat.startStream': 'stream_start',
  'chat.appendStream': 'stream_append',
  'chat.stopStream': 'stream_stop',
};

function appendedBy(chunks: unknown): string {
  if (!Array.isArray(chunks)) return '';
  return chunks
    .map((chunk: unknown) =>
      typeof chunk === 'object' && chunk !== null && 'text' in chunk ? String(chunk.text) : '',
    )
    .join('');
}
