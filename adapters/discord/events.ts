/**
 * The gateway's dispatches. Messages of one channel are told in order, each after the one before is
 * stored. Discord does not send again what could not be stored: it is tried again here, and then
 * reported as a gap, so that it is read back.
 */

import { type Clock, sleep } from '../../src/base/clock.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { OnEvent } from '../../src/surface/adapter.ts';
import type { StoredEvent } from '../../src/surface/inbound.ts';
import type { Inbound } from './inbound.ts';
import type { Interactions } from './interactions.ts';
import type { Places } from './places.ts';
import { bulkDeletionSchema, deletionSchema, messageSchema, reactionSchema } from './wire.ts';

export interface Events {
  handle(type: string, raw: unknown): void;
  /** Messages may have been missed since then (ms since the epoch). */
  gap(since: number): void;
  /** Nothing is told from now on. */
  stop(): void;
}

const retriesMs = [500, 2_000, 5_000, 15_000];
const mostGapRetryMs = 60_000;

export function createEvents(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly inbound: Inbound;
  readonly interactions: Interactions;
  readonly places: Places;
  readonly onEvent: OnEvent;
}): Events {
  const { clock, log, inbound } = deps;
  const stopped = new AbortController();
  /** The last work of each channel. */
  const lines = new Map<string, Promise<void>>();
  /** Since when, of a gap that is not told yet. */
  let untoldSince: number | null = null;
  let isTelling = false;

  const tell = async (translate: () => Promise<StoredEvent | null>): Promise<void> => {
    const since = clock.now();
    for (let attempt = 0; !stopped.signal.aborted; attempt += 1) {
      try {
        const event = await translate();
        if (event === null || stopped.signal.aborted) return;
        if (event.kind === 'message' && event.place === 'channel') {
          deps.places.noteTopLevel(event.messageId);
        }
        await deps.onEvent(event);
        return;
      } catch (error) {
        const waitMs = retriesMs[attempt];
        log.error('discord_event_unstored', { attempt: attempt + 1, ...errorFacts(error) });
        if (waitMs === undefined) {
          gap(since);
          return;
        }
        await pause(waitMs);
      }
    }
  };

  /** Waits, or less when everything stops. */
  const pause = async (delayMs: number): Promise<void> => {
    await sleep(clock, delayMs, stopped.signal).catch(() => undefined);
  };

  const inLine = (channelId: string, translate: () => Promise<StoredEvent | null>): void => {
    const work = (lines.get(channelId) ?? Promise.resolve()).then(() => tell(translate));
    lines.set(channelId, work);
    void work.finally(() => {
      if (lines.get(channelId) === work) lines.delete(channelId);
    });
  };

  const reportGap = async (): Promise<void> => {
    isTelling = true;
    for (
      let waitMs = 1_000;
      untoldSince !== null && !stopped.signal.aborted;
      waitMs = Math.min(2 * waitMs, mostGapRetryMs)
    ) {
      const since = untoldSince;
      untoldSince = null;
      try {
        await deps.onEvent({ kind: 'gap', adapter: 'discord', since });
      } catch (error) {
        untoldSince = Math.min(since, untoldSince ?? since);
        log.error('discord_gap_unhandled', errorFacts(error));
        await pause(waitMs);
      }
    }
    isTelling = false;
  };

  const gap = (since: number): void => {
    log.info('discord_gap');
    untoldSince = Math.min(since, untoldSince ?? since);
    if (!isTelling) void reportGap();
  };

  const onMessage = (type: string, raw: unknown): void => {
    const message = messageSchema.safeParse(raw);
    if (!message.success) {
      log.warn('discord_message_unreadable', { type });
      return;
    }
    const { data } = message;
    inLine(data.channel_id, () =>
      type === 'MESSAGE_CREATE' ? inbound.messageOf(data) : inbound.editOf(data),
    );
  };

  const onDeletion = (raw: unknown): void => {
    const deletion = deletionSchema.safeParse(raw);
    if (deletion.success) {
      inLine(deletion.data.channel_id, () => inbound.deletionOf(deletion.data));
    }
  };

  const onReaction = (raw: unknown): void => {
    const reaction = reactionSchema.safeParse(raw);
    if (reaction.success) {
      const at = clock.now();
      inLine(reaction.data.channel_id, () => inbound.reactionOf(reaction.data, at));
    }
  };

  return {
    handle: (type, raw) => {
      if (stopped.signal.aborted) return;
      switch (type) {
        case 'MESSAGE_CREATE':
        case 'MESSAGE_UPDATE':
          onMessage(type, raw);
          return;
        case 'MESSAGE_DELETE':
          onDeletion(raw);
          return;
        case 'MESSAGE_REACTION_ADD':
          onReaction(raw);
          return;
        case 'MESSAGE_DELETE_BULK': {
          const bulk = bulkDeletionSchema.safeParse(raw);
          for (const id of bulk.data?.ids ?? []) onDeletion({ ...bulk.data, id });
          return;
        }
        case 'INTERACTION_CREATE':
          deps.interactions
            .handle(raw)
            .catch((error: unknown) => log.error('discord_interaction_failed', errorFacts(error)));
      }
    },
    gap,
    stop: () => stopped.abort(),
  };
}
