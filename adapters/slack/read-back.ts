/** Reading messages of a channel or a thread, page by page. */

import { z } from 'zod';
import type { Log } from '../../src/base/log.ts';
import type { HistoryMessage } from '../../src/surface/outbound.ts';
import { type Inbound, isSaid } from './inbound.ts';
import type { CallSlack } from './web-api.ts';
import { millisecondsOf, type SlackMessage, slackMessageSchema } from './wire.ts';

const pageSchema = z.object({
  messages: z.array(z.unknown()),
  has_more: z.boolean().optional(),
  response_metadata: z.object({ next_cursor: z.string().optional() }).optional(),
});

/** https://docs.slack.dev/reference/methods/conversations.replies: 200 or fewer are recommended. */
const pageSize = 200;
/** 20,000 messages: more is no conversation. */
const mostPages = 100;

export interface ReadPlace {
  readonly channel: string;
  /** Null: top level of the channel. */
  readonly thread: string | null;
}

export type ReadMessages = (
  place: ReadPlace,
  options: { readonly afterTs?: string; readonly mostPages?: number },
) => AsyncGenerator<SlackMessage>;

export function createReadMessages(deps: {
  readonly call: CallSlack;
  readonly log: Log;
}): ReadMessages {
  return async function* readMessages(place, options) {
    let cursor = '';
    for (let page = 0; page < (options.mostPages ?? mostPages); page += 1) {
      const answer = await deps.call(
        place.thread === null ? 'conversations.history' : 'conversations.replies',
        { ...argsOf(place, options.afterTs), ...(cursor === '' ? {} : { cursor }) },
        pageSchema,
      );
      for (const raw of answer.messages) {
        const parsed = slackMessageSchema.safeParse(raw);
        if (parsed.success) yield parsed.data;
        else deps.log.warn('slack_message_unreadable', { channel: place.channel });
      }
      cursor = answer.response_metadata?.next_cursor ?? '';
      if (cursor === '') return;
    }
  };
}

function argsOf(place: ReadPlace, afterTs: string | undefined): Record<string, unknown> {
  return {
    channel: place.channel,
    ...(place.thread === null ? {} : { ts: place.thread }),
    ...(afterTs === undefined ? {} : { oldest: afterTs }),
    limit: pageSize,
    include_all_metadata: true,
  };
}

/** The newest `most` messages of a thread, oldest first; the root is always among them. */
export async function readHistory(
  deps: { readonly read: ReadMessages; readonly inbound: Inbound },
  place: ReadPlace,
  most: number,
): Promise<readonly HistoryMessage[]> {
  const messages: SlackMessage[] = [];
  for await (const message of deps.read(place, {})) {
    messages.push(message);
    // The root stays at the front, the oldest reply gives way.
    if (messages.length > most) messages.splice(most === 1 ? 0 : 1, 1);
  }
  const words = messages.filter((message) => message.subtype !== 'tombstone');
  return await historyOf(deps.inbound, words);
}

/** The newest `most` messages of a channel that stand in no thread, oldest first. */
export async function readChannel(
  deps: { readonly read: ReadMessages; readonly inbound: Inbound },
  channel: string,
  most: number,
): Promise<readonly HistoryMessage[]> {
  if (most < 1) return [];
  const messages: SlackMessage[] = [];
  for await (const message of deps.read({ channel, thread: null }, {})) {
    const isTopLevel = message.thread_ts === undefined || message.thread_ts === message.ts;
    if (isTopLevel && isSaid(message)) messages.push(message);
    if (messages.length >= most) break;
  }
  return await historyOf(deps.inbound, messages.reverse());
}

function historyOf(
  inbound: Inbound,
  messages: readonly SlackMessage[],
): Promise<readonly HistoryMessage[]> {
  return Promise.all(
    messages.map(async (message) => ({
      messageId: message.ts,
      author: await authorName(inbound, message),
      authorIsSelf: inbound.isSelf(message, null),
      text: await inbound.textOf(message),
      at: millisecondsOf(message.ts),
    })),
  );
}

async function authorName(inbound: Inbound, message: SlackMessage): Promise<string> {
  const botName = message.username ?? message.bot_profile?.name;
  if (message.user === undefined) return botName ?? message.bot_id ?? 'unknown';
  return await inbound.nameOf(message.user, botName);
}
