/** A Discord thread as a surface. Nothing here waits for a rate limit or tries a second time. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { PostedMessage } from '../../src/surface/outbound.ts';
import { isReactionEmoji, type ReactionSign } from '../../src/surface/reactions.ts';
import type { PostOptions, Surface } from '../../src/surface/surface.ts';
import type { Download } from './download.ts';
import { type DrawnMessage, drawMessage, suppressEmbeds } from './draw.ts';
import { isDiscordNumber } from './errors.ts';
import { fileMessageOf } from './file-message.ts';
import { directSpace, type Inbound } from './inbound.ts';
import type { LimitsBook } from './limits-book.ts';
import { type Place, type Places, withOpenThread } from './places.ts';
import type { PrivateLine } from './private-line.ts';
import type { ReadBack } from './read-back.ts';
import { anyAnswer, type CallDiscord, type OutgoingFile } from './rest.ts';

export interface SurfaceDeps {
  readonly call: CallDiscord;
  readonly log: Log;
  readonly inbound: Inbound;
  readonly places: Places;
  readonly read: ReadBack;
  readonly whisper: PrivateLine;
  readonly download: Download;
  readonly limits: LimitsBook;
}

/** An hourglass. */
const waitingEmoji = '⏳';
/** Taking away a reaction that is not there (topics/opcodes-and-status-codes). */
const unknownEmoji = 10014;
/** resources/message: nonce. */
const mostNonceChars = 25;
/** Messages looked through for an earlier post of the same key. */
const mostSearched = 50;

const postedSchema = z.object({ id: z.string() });

/** A post's key as the nonce by which Discord and we know it again. */
export function nonceOf(key: string): string {
  if (key.length <= mostNonceChars) return key;
  return createHash('sha256').update(key).digest('base64url').slice(0, mostNonceChars);
}

export function createSurface(
  deps: SurfaceDeps,
  conversation: Conversation,
  title: string | undefined,
): Surface {
  const { call, log, places } = deps;
  const guildId = conversation.space === directSpace ? null : conversation.space;
  /** Where the last call went: budgets are told by channel. */
  let lastChannelId: string | null = null;

  const channelOf = async (messageId: string): Promise<string> => {
    lastChannelId = await places.channelOfMessage(conversation, messageId);
    return lastChannelId;
  };

  const findPosted = async (channelId: string, nonce: string): Promise<PostedMessage | null> => {
    let count = 0;
    for await (const message of deps.read.newest(channelId, guildId)) {
      if (deps.inbound.isSelf(message) && String(message.nonce ?? '') === nonce) {
        return { messageId: message.id };
      }
      count += 1;
      if (count >= mostSearched) break;
    }
    return null;
  };

  const send = async (
    place: Place,
    nonce: string,
    { body, file }: Outgoing,
  ): Promise<PostedMessage> => {
    const posted = await call('POST', `/channels/${place.channelId}/messages`, {
      schema: postedSchema,
      body: {
        ...body,
        nonce,
        enforce_nonce: true,
        ...(place.replyTo === null
          ? {}
          : { message_reference: { message_id: place.replyTo, fail_if_not_exists: false } }),
      },
      ...(file === undefined ? {} : { file }),
    });
    return { messageId: posted.id };
  };

  const postOnce = async (
    outgoing: Outgoing,
    { key, maybePosted }: PostOptions,
  ): Promise<PostedMessage> => {
    const place = await places.forPost(conversation, title);
    lastChannelId = place.channelId;
    const nonce = nonceOf(key);
    const earlier = maybePosted ? await findPosted(place.channelId, nonce) : null;
    if (earlier !== null) return earlier;
    return await withOpenThread(call, place.channelId, () => send(place, nonce, outgoing));
  };

  const react = async (messageId: string, sign: ReactionSign, on: boolean): Promise<boolean> => {
    const emoji = sign === 'waiting' ? waitingEmoji : sign.emoji;
    if (!isReactionEmoji(emoji)) return false;
    try {
      const channelId = await places.channelOfMessage(conversation, messageId);
      const message = `/channels/${channelId}/messages/${messageId}` as const;
      const route = `${message}/reactions/${encodeURIComponent(emoji)}/@me` as const;
      await call(on ? 'PUT' : 'DELETE', route, { schema: anyAnswer });
      return true;
    } catch (error) {
      if (!on && isDiscordNumber(error, unknownEmoji)) return true;
      log.debug('discord_reaction_lost', errorFacts(error));
      return false;
    }
  };

  return {
    post: async (message, options) =>
      await postOnce({ body: bodyOf(drawMessage(message)) }, options),
    upload: async (file, options) => await postOnce(fileMessageOf(file), options),
    edit: async (messageId, message) => {
      const drawn = drawMessage(message);
      const channelId = await channelOf(messageId);
      await withOpenThread(call, channelId, () =>
        call('PATCH', `/channels/${channelId}/messages/${messageId}`, {
          schema: anyAnswer,
          body: bodyOf(drawn),
        }),
      );
    },
    remove: async (messageId) => {
      try {
        const channelId = await channelOf(messageId);
        await withOpenThread(call, channelId, () =>
          call('DELETE', `/channels/${channelId}/messages/${messageId}`, { schema: anyAnswer }),
        );
      } catch (error) {
        if (!isBotError(error, 'message_gone')) throw error;
      }
    },
    status: async (state) => {
      // The sign goes out by itself after 10 s, or with the next message.
      if (state === 'idle') return true;
      try {
        const { channelId } = await places.now(conversation);
        await call('POST', `/channels/${channelId}/typing`, { schema: anyAnswer });
        return true;
      } catch (error) {
        log.debug('discord_typing_lost', errorFacts(error));
        return false;
      }
    },
    react,
    history: (most) => deps.read.history(conversation, most),
    channelHistory: (most) => deps.read.channelHistory(conversation, most),
    whisper: (person, markdown, interactionId) =>
      deps.whisper(conversation, person.replace(/^discord:/u, ''), markdown, interactionId),
    download: deps.download,
    budgetOf: (kind) => (lastChannelId === null ? null : deps.limits.of(kind, lastChannelId)),
  };
}

/** What is posted, but for its place and its nonce. */
interface Outgoing {
  readonly body: Readonly<Record<string, unknown>>;
  readonly file?: OutgoingFile;
}

/** Of every post and edit. An edit without components would keep the old ones. */
function bodyOf(drawn: DrawnMessage): Readonly<Record<string, unknown>> {
  return {
    content: drawn.content,
    components: drawn.components,
    allowed_mentions: drawn.allowedMentions,
    flags: suppressEmbeds,
  };
}
