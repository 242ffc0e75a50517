/**
 * Where a conversation's messages go: its thread, which is made from the message that began it when
 * the first answer is posted; or the channel, as replies to that message, where no thread can be
 * made (topics/threads).
 */

import type { Clock } from '../../src/base/clock.ts';
import { BotError, isBotError } from '../../src/base/errors.ts';
import type { Log } from '../../src/base/log.ts';
import { firstWords } from '../../src/base/text.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import { noThread } from '../../src/surface/inbound.ts';
import type { Directory } from './directory.ts';
import { discordNumberOf, isDiscordNumber } from './errors.ts';
import { directSpace, directThread } from './inbound.ts';
import { createKept } from './kept.ts';
import { anyAnswer, type CallDiscord } from './rest.ts';

export interface Place {
  /** The channel or thread that REST calls name. */
  readonly channelId: string;
  /** The message that is answered, where there is no thread. */
  readonly replyTo: string | null;
}

export interface Places {
  /** Where the conversation is now; makes nothing. */
  now(conversation: Conversation): Promise<Place>;
  /** Where to post; makes the thread when there is none. */
  forPost(conversation: Conversation, title: string | undefined): Promise<Place>;
  /** The channel that holds a message of the conversation. */
  channelOfMessage(conversation: Conversation, messageId: string): Promise<string>;
  /** A message was just said at top level: it has no thread yet. */
  noteTopLevel(messageId: string): void;
}

const mostNameUnits = 100;
/** Missing access or permissions, cap of active threads, a kind of channel without threads. */
const noThreadHere = [50001, 50013, 50024, 160006];
const threadExists = 160004;
const unknownMessage = 10008;
const missingPermissions = 50013;

export function createPlaces(deps: {
  readonly call: CallDiscord;
  readonly clock: Clock;
  readonly log: Log;
  readonly directory: Directory;
}): Places {
  const { call, directory } = deps;
  const options = { mostEntries: 10_000, mostAgeMs: 24 * 3_600_000 };
  const known = createKept<'thread' | 'replies' | 'none'>(deps.clock, options);
  const making = new Map<string, Promise<Place>>();

  const inThread = ({ thread }: Conversation): Place => ({ channelId: thread, replyTo: null });
  const inChannel = ({ channel, thread }: Conversation): Place => ({
    channelId: channel,
    replyTo: thread,
  });
  const whole = ({ space, channel, thread }: Conversation): Place | null =>
    space === directSpace || thread === directThread || thread === noThread
      ? { channelId: channel, replyTo: null }
      : null;

  const look = async (conversation: Conversation): Promise<'thread' | 'replies' | 'none'> => {
    const { thread } = conversation;
    const before = known.get(thread);
    if (before === 'thread' || before === 'replies') return before;
    if (directory.peek(thread)?.isThread === true) return 'thread';
    if (before === 'none') return 'none';
    const found = await directory.channel(thread);
    const state = found === null ? 'none' : 'thread';
    known.set(thread, state);
    return state;
  };

  const make = async (conversation: Conversation, title: string | undefined): Promise<Place> => {
    const { channel, thread } = conversation;
    try {
      await call('POST', `/channels/${channel}/messages/${thread}/threads`, {
        schema: anyAnswer,
        body: {
          name: firstWords(title ?? '', mostNameUnits) || 'Conversation',
          auto_archive_duration: directory.autoArchiveMinutes(channel),
        },
      });
    } catch (error) {
      const number = discordNumberOf(error);
      if (number !== null && noThreadHere.includes(number)) {
        deps.log.info('discord_thread_not_made', { channel, discordCode: number });
        known.set(thread, 'replies');
        return inChannel(conversation);
      }
      if (number === unknownMessage) {
        throw new BotError('surface_gone', 'The message that began this thread was deleted.', {
          facts: { channel, discordCode: unknownMessage },
          cause: error,
        });
      }
      if (number !== threadExists) throw error;
    }
    known.set(thread, 'thread');
    return inThread(conversation);
  };

  const now: Places['now'] = async (conversation) => {
    const place = whole(conversation);
    if (place !== null) return place;
    const state = await look(conversation);
    return state === 'thread' ? inThread(conversation) : inChannel(conversation);
  };

  return {
    now,
    forPost: async (conversation, title) => {
      const place = whole(conversation);
      if (place !== null) return place;
      const state = await look(conversation);
      if (state === 'thread') return inThread(conversation);
      if (state === 'replies') return inChannel(conversation);
      // Two posts at the same time make one thread.
      const { thread } = conversation;
      const running = making.get(thread) ?? make(conversation, title);
      making.set(thread, running);
      try {
        return await running;
      } finally {
        making.delete(thread);
      }
    },
    channelOfMessage: async (conversation, messageId) => {
      // The message that began the thread stands in the channel; that of a forum post in the post.
      const isStarter = messageId === conversation.thread;
      if (isStarter && !directory.isForum(conversation.channel)) return conversation.channel;
      return (await now(conversation)).channelId;
    },
    noteTopLevel: (messageId) => known.set(messageId, 'none'),
  };
}

/** An archived thread takes no edits: it is opened again, which a locked one refuses. */
export async function withOpenThread<Result>(
  call: CallDiscord,
  channelId: string,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!isBotError(error) || !isDiscordNumber(error, 50083, 160005)) throw error;
    try {
      const body = { archived: false };
      await call('PATCH', `/channels/${channelId}`, { schema: anyAnswer, body });
    } catch (refusal) {
      // Locked: the first refusal says why.
      throw isDiscordNumber(refusal, missingPermissions) ? error : refusal;
    }
    return await act();
  }
}
