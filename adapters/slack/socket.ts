/**
 * Keeps the Socket Mode connection. The client's own reconnecting is off: it waits 5 s even when
 * Slack announced the change, and a failed attempt of it is a rejection that nobody handles and
 * that ends the process. Here a lost connection is opened again with growing waits, and a loss that
 * was not announced is reported as a gap.
 */

import type { SocketModeClient } from '@slack/socket-mode';
import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import { BotError, isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { slackErrorOf } from './errors.ts';

export interface Socket {
  /** Resolves when Slack has greeted us; rejects when the first attempt fails. */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Since when the connection is lost; null while it stands. */
  lostSince(): number | null;
}

const firstWaitMs = 1_000;
const mostWaitMs = 30_000;
/** From the attempt to Slack's greeting. */
const mostGreetingMs = 20_000;
/** A change that Slack announced loses nothing unless it takes longer than this. */
const mostQuietMs = 5_000;
const mostCloseMs = 3_000;

const envelopeSchema = z.union([
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('disconnect'), reason: z.string().optional() }),
  z.object({
    type: z.literal('events_api'),
    payload: z.object({ event: z.object({ type: z.string() }) }),
  }),
  z.object({ type: z.enum(['interactive', 'slash_commands']), payload: z.looseObject({}) }),
]);

export function createSocket(deps: {
  readonly client: SocketModeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Messages may have been swallowed. */
  onGap(): void;
}): Socket {
  const { client, clock, log } = deps;
  let phase: 'idle' | 'opening' | 'open' | 'lost' | 'closed' = 'idle';
  let since: number | null = clock.now();
  let isAnnounced = false;
  let failures = 0;
  let cancelRetry = (): void => undefined;

  guardMessages(client, log, () => {
    isAnnounced = true;
  });

  const attempt = async (): Promise<void> => {
    const cancel = clock.setTimer(mostGreetingMs, () => {
      void client.disconnect();
    });
    try {
      await client.start();
    } catch (error) {
      throw error === undefined
        ? new BotError('surface_unavailable', 'Slack closed the socket before its greeting.')
        : slackErrorOf(error, 'apps.connections.open');
    } finally {
      cancel();
    }
  };

  const opened = (): void => {
    const lostFor = since === null ? 0 : clock.now() - since;
    const isGap = phase === 'lost' && (!isAnnounced || lostFor > mostQuietMs);
    phase = 'open';
    since = null;
    isAnnounced = false;
    failures = 0;
    if (isGap) deps.onGap();
  };

  const reopen = async (): Promise<void> => {
    try {
      await attempt();
      // `close` may have been called meanwhile; the client connects all the same.
      if (isClosed()) await client.disconnect();
      else {
        opened();
        log.info('slack_socket_reopened');
      }
    } catch (error) {
      if (isClosed()) return;
      failures += 1;
      log.warn('slack_socket_failed', { failures, ...errorFacts(error) });
      const wait = Math.min(mostWaitMs, firstWaitMs * 2 ** Math.min(failures, 10));
      const asked = isBotError(error, 'rate_limited') ? (error.retryAfterMs ?? 0) : 0;
      retryAfter(Math.max(wait, asked));
    }
  };

  const isClosed = (): boolean => phase === 'closed';

  const retryAfter = (waitMs: number): void => {
    cancelRetry();
    cancelRetry = clock.setTimer(waitMs, () => {
      void reopen();
    });
  };

  client.on('disconnected', () => {
    if (phase !== 'open') return;
    phase = 'lost';
    since = clock.now();
    log.info('slack_socket_lost', { announced: isAnnounced });
    if (isAnnounced) void reopen();
    else retryAfter(firstWaitMs);
  });

  return {
    open: async () => {
      phase = 'opening';
      await attempt();
      opened();
    },
    close: async () => {
      phase = 'closed';
      cancelRetry();
      await bounded(clock, client.disconnect(), mostCloseMs);
    },
    lostSince: () => since,
  };
}

/** Waits for the work, but not longer: during an outage the client's disconnect never ends. */
function bounded(clock: Clock, work: Promise<unknown>, mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(mostMs, resolve);
    const end = (): void => {
      cancel();
      resolve();
    };
    work.then(end, end);
  });
}

/** Passes on only messages the client can read: a strange one would be an unhandled rejection. */
function guardMessages(client: SocketModeClient, log: Log, onAnnounced: () => void): void {
  const readers = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: unknown) => {
    const envelope = envelopeOf(data);
    if (envelope === null) {
      log.debug('slack_envelope_ignored');
      return;
    }
    if (envelope.type === 'disconnect') onAnnounced();
    for (const reader of readers) reader(data, isBinary);
  });
}

function envelopeOf(data: unknown): z.infer<typeof envelopeSchema> | null {
  if (typeof data !== 'string') return null;
  try {
    const raw: unknown = JSON.parse(data);
    return envelopeSchema.safeParse(raw).data ?? null;
  } catch {
    return null;
  }
}
