/**
 * A line that one person sees: the private answer to an interaction, else a direct message. Where
 * direct messages are closed the thread gets a line that says so, without the content.
 */

import { z } from 'zod';
import { isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import { splitMarkdown } from '../../src/surface/markdown/split.ts';
import { drawMessage, drawnLengthOf, suppressEmbeds } from './draw.ts';
import { isDiscordNumber } from './errors.ts';
import { directSpace } from './inbound.ts';
import type { InteractionBook } from './interaction-book.ts';
import type { Places } from './places.ts';
import { anyAnswer, type CallDiscord } from './rest.ts';

export type PrivateLine = (
  conversation: Conversation,
  userId: string,
  markdown: string,
  interactionId?: string,
) => Promise<void>;

type Body = Readonly<Record<string, unknown>>;

/** 1 << 6: only the person of the interaction sees it. */
export const ephemeral = 64;
/** Closed, opened too fast, or no server in common. */
const directClosed = [50007, 40003, 50278];
const mostPartUnits = 1_900;
const openedSchema = z.object({ id: z.string() });

export function createPrivateLine(deps: {
  readonly call: CallDiscord;
  readonly log: Log;
  readonly book: InteractionBook;
  readonly places: Places;
}): PrivateLine {
  const { call, log } = deps;

  /** How many parts were shown; a token that ran out shows none of the rest. */
  const answer = async (parts: readonly Body[], interactionId: string): Promise<number> => {
    const kept = deps.book.get(interactionId);
    if (kept === null) return 0;
    const webhook = `/webhooks/${kept.applicationId}/${kept.token}` as const;
    let shown = 0;
    try {
      for (const part of parts) {
        if (kept.isWaiting) {
          await call('PATCH', `${webhook}/messages/@original`, {
            schema: anyAnswer,
            body: part,
            auth: false,
          });
          kept.isWaiting = false;
        } else {
          await call('POST', webhook, {
            schema: anyAnswer,
            body: { ...part, flags: ephemeral | suppressEmbeds },
            auth: false,
          });
        }
        shown += 1;
      }
    } catch (error) {
      if (isBotError(error, 'rate_limited', 'surface_unavailable') && shown === 0) throw error;
      log.info('discord_private_answer_failed', errorFacts(error));
    }
    return shown;
  };

  const sendDirect = async (parts: readonly Body[], userId: string): Promise<boolean> => {
    try {
      const opened = await call('POST', '/users/@me/channels', {
        schema: openedSchema,
        body: { recipient_id: userId },
      });
      for (const part of parts) {
        await call('POST', `/channels/${opened.id}/messages`, { schema: anyAnswer, body: part });
      }
      return true;
    } catch (error) {
      if (!isDiscordNumber(error, ...directClosed)) throw error;
      return false;
    }
  };

  const sayClosed = async (conversation: Conversation, userId: string): Promise<void> => {
    const { channelId, replyTo } = await deps.places.now(conversation);
    await call('POST', `/channels/${channelId}/messages`, {
      schema: anyAnswer,
      body: {
        content: `<@${userId}> I have a line for you alone, but I cannot send you direct messages. Please allow them for this server and ask again.`,
        allowed_mentions: { parse: [], users: [userId], replied_user: false },
        flags: suppressEmbeds,
        ...(replyTo === null
          ? {}
          : { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
      },
    });
  };

  return async (conversation, userId, markdown, interactionId) => {
    const parts = splitMarkdown(markdown, {
      mostLength: mostPartUnits,
      lengthOf: drawnLengthOf,
    }).map(partOf);
    const shown = interactionId === undefined ? 0 : await answer(parts, interactionId);
    const rest = parts.slice(shown);
    if (rest.length === 0) return;
    if (conversation.space === directSpace) {
      for (const part of rest) {
        await call('POST', `/channels/${conversation.channel}/messages`, {
          schema: anyAnswer,
          body: part,
        });
      }
      return;
    }
    if (!(await sendDirect(rest, userId))) await sayClosed(conversation, userId);
  };
}

function partOf(markdown: string): Body {
  const drawn = drawMessage({ blocks: [{ kind: 'markdown', text: markdown }], mentionable: [] });
  return {
    content: drawn.content,
    allowed_mentions: drawn.allowedMentions,
    flags: suppressEmbeds,
  };
}
