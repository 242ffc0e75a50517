/**
 * Keeps the Socket Mode connection. The client's own reconnecting is off: it waits 5 s even when
 * Slack announced the change, and a failed attempt of it is a rejection that nobody handles and
 * that ends the process. Here a lost connection is opened again with growing waits, and a loss that
 * was not announced is reported as a gap. A greeting alone is no success: Slack may greet and turn us
 * away at once, and whoever comes back at once then comes back for ever.
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
  /** Slack has said that Socket Mode is off for the app, and nothing has held since. */
  isSwitchedOff(): boolean;
}

export const switchedOffCure = 'switch on Socket Mode under "Socket Mode" of the app\'s settings';

const firstWaitMs = 1_000;
const mostWaitMs = 30_000;
/** A connection that lived longer stood; one that did not counts as a failed attempt. */
const leastLifeMs = 10_000;
/** From the attempt to Slack's greeting. */
const mostGreetingMs = 20_000;
/** A change that Slack announced loses nothing unless it takes longer than this. */
const mostQuietMs = 5_000;
const mostCloseMs = 3_000;

const envelopeSchema = z.union([
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('disconnect'), reason: z.string().optional() }),
  z.looseObject({
    type: z.literal('events_api'),
    payload: z.looseObject({ type: z.literal('app_rate_limited') }),
  }),
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
  /** Messages may have been swallowed since then (ms since the epoch). */
  onGap(since: number): void;
}): Socket {
  const { client, clock, log } = deps;
  let phase: 'idle' | 'opening' | 'open' | 'lost' | 'closed' = 'idle';
  let since: number | null = clock.now();
  let openedAt = 0;
  /** Why Slack wants this connection closed; null where it has said nothing. */
  let announced: string | null = null;
  /** Whether the last loss was announced. */
  let wasAnnounced = false;
  let isSwitchedOff = false;
  /** Attempts in a row that brought no connection that stood. */
  let failures = 0;
  let cancelRetry = (): void => undefined;

  guardMessages(client, log, (reason) => {
    announced = reason;
  });

  const hasStood = (): boolean => phase === 'open' && clock.now() - openedAt >= leastLifeMs;

  /** One step of the ladder: 1, 2, 4 … 30 s. */
  const nextWaitMs = (): number => {
    const wait = Math.min(mostWaitMs, firstWaitMs * 2 ** Math.min(failures, 10));
    failures += 1;
    return wait;
  };

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
    const lostAt = since ?? clock.now();
    const isGap = phase === 'lost' && (!wasAnnounced || clock.now() - lostAt > mostQuietMs);
    phase = 'open';
    since = null;
    openedAt = clock.now();
    announced = null;
    if (isGap) deps.onGap(lostAt);
  };

  const reopen = async (): Promise<void> => {
    try {
      await attempt();
      // `close` may have been called meanwhile; the client connects all the same.
      if (isClosed()) await client.disconnect();
      else log.info('slack_socket_reopened');
    } catch (error) {
      if (isClosed()) return;
      const wait = nextWaitMs();
      log.warn('slack_socket_failed', { failures, ...errorFacts(error) });
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

  // By events and not after `start`: the loss may follow the greeting at once.
  client.on('connected', () => {
    if (!isClosed()) opened();
  });
  client.on('disconnected', () => {
    if (phase !== 'open') return;
    const stood = hasStood();
    phase = 'lost';
    since = clock.now();
    wasAnnounced = announced !== null;
    if (stood || wasAnnounced) isSwitchedOff = announced === 'link_disabled';
    if (stood) failures = 0;
    log.info('slack_socket_lost', { announced, stood });
    if (isSwitchedOff) log.error('slack_socket_mode_off', { cure: switchedOffCure });
    if (stood && wasAnnounced && !isSwitchedOff) void reopen();
    else retryAfter(nextWaitMs());
  });

  return {
    open: async () => {
      phase = 'opening';
      await attempt();
    },
    close: async () => {
      phase = 'closed';
      cancelRetry();
      await bounded(clock, client.disconnect(), mostCloseMs);
    },
    lostSince: () => since,
    isSwitchedOff: () => isSwitchedOff && !hasStood(),
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
function guardMessages(
  client: SocketModeClient,
  log: Log,
  onAnnounced: (reason: string) => void,
): void {
  const readers = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: unknown) => {
    const envelope = envelopeOf(data);
    if (envelope === null) {
      log.debug('slack_envelope_ignored');
      return;
    }
    if (envelope.type === 'disconnect') onAnnounced(envelope.reason ?? 'none');
    for (const reader of readers) reader(readable(envelope, data), isBinary);
  });
}

/** Slack's word that it keeps events back holds no event, and the client would look for one. */
function readable(envelope: z.infer<typeof envelopeSchema>, data: unknown): unknown {
  if (envelope.type !== 'events_api' || !('type' in envelope.payload)) return data;
  const payload = { ...envelope.payload, event: { type: envelope.payload.type } };
  return JSON.stringify({ ...envelope, payload });
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
