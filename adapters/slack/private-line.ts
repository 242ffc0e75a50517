/**
 * A line that one person sees: the private answer to an interaction, else an ephemeral message in
 * the thread, else a direct message.
 */

import { z } from 'zod';
import { isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { noThread } from '../../src/surface/inbound.ts';
import { drawMessage } from './draw.ts';
import type { ResponseBook } from './response-book.ts';
import type { Transport } from './transport.ts';
import type { CallSlack } from './web-api.ts';

export type PrivateLine = (
  place: { readonly channel: string; readonly thread: string },
  userId: string,
  markdown: string,
  interactionId?: string,
) => Promise<void>;

const openedSchema = z.object({ channel: z.object({ id: z.string() }) });
const answerTimeoutMs = 10_000;

export function createPrivateLine(deps: {
  readonly call: CallSlack;
  readonly log: Log;
  readonly transport: Transport;
  readonly book: ResponseBook;
}): PrivateLine {
  const { call, log } = deps;

  const answer = async (
    interactionId: string | undefined,
    drawn: Readonly<Record<string, unknown>>,
  ): Promise<boolean> => {
    const kept = interactionId === undefined ? null : deps.book.take(interactionId);
    if (kept === null) return false;
    try {
      const response = await deps.transport.fetch(kept.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          ...drawn,
          response_type: 'ephemeral',
          replace_original: false,
          ...(kept.thread === noThread ? {} : { thread_ts: kept.thread }),
        }),
        redirect: 'error',
        signal: AbortSignal.timeout(answerTimeoutMs),
      });
      if (response.status === 200) return true;
      log.info('slack_response_refused', { status: response.status });
    } catch (error) {
      log.info('slack_response_failed', errorFacts(error));
    }
    return false;
  };

  return async (place, userId, markdown, interactionId) => {
    const drawn = {
      ...drawMessage({ blocks: [{ kind: 'markdown', text: markdown }], mentionable: [] }),
    };
    if (await answer(interactionId, drawn)) return;
    try {
      await call(
        'chat.postEphemeral',
        {
          ...drawn,
          channel: place.channel,
          user: userId,
          ...(place.thread === noThread ? {} : { thread_ts: place.thread }),
        },
        z.unknown(),
      );
    } catch (error) {
      // Not in the channel (any more): a direct message reaches the person all the same.
      if (!isBotError(error, 'surface_gone', 'message_refused')) throw error;
      const opened = await call('conversations.open', { users: userId }, openedSchema);
      await call('chat.postMessage', { ...drawn, channel: opened.channel.id }, z.unknown());
    }
  };
}
