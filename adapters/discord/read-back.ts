/** Reading messages of a channel or a thread, page by page. */

import { z } from 'zod';
import { isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import { noThread } from '../../src/surface/inbound.ts';
import type { HistoryMessage } from '../../src/surface/outbound.ts';
import type { Directory } from './directory.ts';
import { withoutZeroWidth } from './from-discord.ts';
import { directSpace, type Inbound, isSaid } from './inbound.ts';
import type { Members } from './members.ts';
import type { Place, Places } from './places.ts';
import type { CallDiscord } from './rest.ts';
import { isNewer, messageSchema, type WireMessage } from './wire.ts';

export interface ReadBack {
  /** Newest first, from the end of the channel. */
  newest(channelId: string, guildId: string | null): AsyncGenerator<WireMessage>;
  /** Oldest first, from right after a message. */
  after(channelId: string, guildId: string | null, afterId: string): AsyncGenerator<WireMessage>;
  history(conversation: Conversation, most: number): Promise<readonly HistoryMessage[]>;
  /** The newest of the conversation's channel, without its threads, oldest first. */
  channelHistory(conversation: Conversation, most: number): Promise<readonly HistoryMessage[]>;
}

/** resources/message: 1 to 100 a call. */
const pageSize = 100;
/** 20,000 messages: more is no conversation. */
const mostPages = 200;

export function createReadBack(deps: {
  readonly call: CallDiscord;
  readonly log: Log;
  readonly directory: Directory;
  readonly inbound: Inbound;
  readonly members: Members;
  readonly places: Places;
}): ReadBack {
  const { call, log, inbound } = deps;

  const parsed = (raw: unknown, guildId: string | null): WireMessage[] => {
    const message = messageSchema.safeParse(raw);
    if (!message.success) {
      log.warn('discord_message_unreadable');
      return [];
    }
    // REST leaves the guild out.
    return [guildId === null ? message.data : { ...message.data, guild_id: guildId }];
  };

  const page = async (
    channelId: string,
    guildId: string | null,
    query: Readonly<Record<string, string>>,
  ): Promise<{ readonly messages: WireMessage[]; readonly isLast: boolean }> => {
    const raw = await call('GET', `/channels/${channelId}/messages`, {
      schema: z.array(z.unknown()),
      query: { limit: String(pageSize), ...query },
    });
    const messages = raw.flatMap((one) => parsed(one, guildId));
    messages.sort((a, b) => (isNewer(b.id, a.id) ? -1 : 1));
    return { messages, isLast: raw.length < pageSize };
  };

  const newest: ReadBack['newest'] = async function* readNewest(channelId, guildId) {
    let before: string | undefined;
    for (let count = 0; count < mostPages; count += 1) {
      const { messages, isLast } = await page(
        channelId,
        guildId,
        before === undefined ? {} : { before },
      );
      yield* messages.toReversed();
      before = messages[0]?.id;
      if (isLast || before === undefined) return;
    }
  };

  const after: ReadBack['after'] = async function* readAfter(channelId, guildId, afterId) {
    let last = afterId;
    for (let count = 0; count < mostPages; count += 1) {
      const { messages, isLast } = await page(channelId, guildId, { after: last });
      yield* messages;
      last = messages.at(-1)?.id ?? last;
      if (isLast || messages.length === 0) return;
    }
  };

  const one = async (channelId: string, guildId: string | null, id: string) => {
    try {
      const raw = await call('GET', `/channels/${channelId}/messages/${id}`, {
        schema: z.unknown(),
      });
      return parsed(raw, guildId)[0] ?? null;
    } catch (error) {
      // Deleted, or not ours to read: the thread is told without it.
      if (!isBotError(error, 'message_gone', 'surface_gone')) throw error;
      log.debug('discord_starter_missing', errorFacts(error));
      return null;
    }
  };

  /** The newest of a conversation, oldest first. */
  const newestOf = async (
    { space, thread }: Conversation,
    { channelId, replyTo }: Place,
    most: number,
  ): Promise<WireMessage[]> => {
    const found: WireMessage[] = [];
    for await (const message of newest(channelId, space === directSpace ? null : space)) {
      if (found.length >= most) break;
      // Without a thread only the answers to the first message belong to the conversation.
      if (replyTo !== null && !isNewer(message.id, thread)) break;
      const belongs = replyTo === null || message.message_reference?.message_id === thread;
      if (belongs && isSaid(message)) found.push(message);
    }
    return found.reverse();
  };

  const toHistory = (message: WireMessage): HistoryMessage => {
    const authorIsSelf = inbound.isSelf(message);
    const text = inbound.textOf(message).trim();
    return {
      messageId: message.id,
      author: deps.members.nameOf(message.guild_id ?? null, message.author),
      authorIsSelf,
      text: authorIsSelf ? withoutZeroWidth(text) : text,
      at: Date.parse(message.timestamp),
    };
  };

  const history: ReadBack['history'] = async (conversation, most) => {
    const { space, channel, thread } = conversation;
    if (thread === noThread || most < 1) return [];
    const place = await deps.places.now(conversation);
    // The first message of a forum post stands in the post itself.
    const hasStarter = space !== directSpace && !deps.directory.isForum(channel);
    const starter = hasStarter ? await one(channel, space, thread) : null;
    const found = await newestOf(conversation, place, starter === null ? most : most - 1);
    const others = found.filter((message) => message.id !== starter?.id);
    return [...(starter === null ? [] : [starter]), ...others].map(toHistory);
  };

  const channelHistory: ReadBack['channelHistory'] = async (conversation, most) => {
    const { space, channel } = conversation;
    if (space === directSpace) return await history(conversation, most);
    // A forum has posts, and nothing beside them.
    if (most < 1 || deps.directory.isForum(channel)) return [];
    const place: Place = { channelId: channel, replyTo: null };
    return (await newestOf(conversation, place, most)).map(toHistory);
  };

  return { newest, after, history, channelHistory };
}
