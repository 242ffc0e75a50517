/** A Discord thread as a surface. Nothing here waits for a rate limit or tries a second time. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { PostedMessage } from '../../src/surface/outbound.ts';
import type { Surface } from '../../src/surface/surface.ts';
import type { Download } from './download.ts';
import { type DrawnMessage, drawMessage, suppressEmbeds } from './draw.ts';
import type { Inbound } from './inbound.ts';
import { directSpace } from './inbound.ts';
import { type Place, type Places, withOpenThread } from './places.ts';
import type { PrivateLine } from './private-line.ts';
import type { ReadBack } from './read-back.ts';
import { anyAnswer, type CallDiscord } from './rest.ts';

export interface SurfaceDeps {
  readonly call: CallDiscord;
  readonly log: Log;
  readonly inbound: Inbound;
  readonly places: Places;
  readonly read: ReadBack;
  readonly whisper: PrivateLine;
  readonly download: Download;
}

/** An hourglass. */
const waitingEmoji = encodeURIComponent('⏳');
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

  const send = async (place: Place, drawn: DrawnMessage, nonce: string): Promise<PostedMessage> => {
    const posted = await call('POST', `/channels/${place.channelId}/messages`, {
      schema: postedSchema,
      body: {
        ...bodyOf(drawn),
        nonce,
        enforce_nonce: true,
        ...(place.replyTo === null
          ? {}
          : { message_reference: { message_id: place.replyTo, fail_if_not_exists: false } }),
      },
    });
    return { messageId: posted.id };
  };

  return {
    post: async (message, { key, maybePosted }) => {
      const drawn = drawMessage(message);
      const place = await places.forPost(conversation, title);
      const nonce = nonceOf(key);
      const earlier = maybePosted ? await findPosted(place.channelId, nonce) : null;
      if (earlier !== null) return earlier;
      return await withOpenThread(call, place.channelId, () => send(place, drawn, nonce));
    },
    edit: async (messageId, message) => {
      const drawn = drawMessage(message);
      const channelId = await places.channelOfMessage(conversation, messageId);
      await withOpenThread(call, channelId, () =>
        call('PATCH', `/channels/${channelId}/messages/${messageId}`, {
          schema: anyAnswer,
          body: bodyOf(drawn),
        }),
      );
    },
    remove: async (messageId) => {
      try {
        const channelId = await places.channelOfMessage(conversation, messageId);
        await withOpenThread(call, channelId, () =>
          call('DELETE', `/channels/${channelId}/messages/${messageId}`, { schema: anyAnswer }),
        );
      } catch (error) {
        if (!isBotError(error, 'message_gone')) throw error;
      }
    },
    status: async (state) => {
      // The sign goes out by itself after 10 s, or with the next message.
      if (state === 'idle') return;
      try {
        const { channelId } = await places.now(conversation);
        await call('POST', `/channels/${channelId}/typing`, { schema: anyAnswer });
      } catch (error) {
        log.debug('discord_typing_lost', errorFacts(error));
      }
    },
    react: async (messageId, _sign, on) => {
      try {
        const channelId = await places.channelOfMessage(conversation, messageId);
        const route = `/channels/${channelId}/messages/${messageId}/reactions/${waitingEmoji}/@me`;
        await call(on ? 'PUT' : 'DELETE', `/${route.slice(1)}`, { schema: anyAnswer });
      } catch (error) {
        log.debug('discord_reaction_lost', errorFacts(error));
      }
    },
    history: (most) => deps.read.history(conversation, most),
    whisper: (person, markdown, interactionId) =>
      deps.whisper(conversation, person.replace(/^discord:/u, ''), markdown, interactionId),
    download: deps.download,
  };
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
