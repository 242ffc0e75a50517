/**
 * An answer that Slack has put into the channel because the thread's root is gone. It must not stay
 * there, where it answers nobody, so its removal is tried until it is done, a few times, waiting as
 * long as Slack asks.
 */

import { z } from 'zod';
import { type Clock, sleep } from '../../src/base/clock.ts';
import { isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { CallSlack } from './web-api.ts';

/** Resolves when the message is gone or was given up; a failure is logged. */
export type RemoveStray = (channel: string, ts: string) => Promise<void>;

const mostTries = 5;
const firstWaitMs = 1_000;

export function createRemoveStray(deps: {
  readonly call: CallSlack;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the adapter stops. */
  readonly signal: AbortSignal;
}): RemoveStray {
  const { call, clock, log, signal } = deps;

  /** How long to wait before the next try; null when there is nothing more to do. */
  const tried = async (channel: string, ts: string, number: number): Promise<number | null> => {
    try {
      await call('chat.delete', { channel, ts }, z.unknown());
      return null;
    } catch (error) {
      if (isBotError(error, 'message_gone')) return null;
      const isPassing = isBotError(error, 'rate_limited', 'surface_unavailable');
      if (isPassing && number < mostTries) {
        return Math.max(error.retryAfterMs ?? 0, firstWaitMs * 2 ** (number - 1));
      }
      log.error('slack_stray_left', { channel, ts, tries: number, ...errorFacts(error) });
      return null;
    }
  };

  return async (channel, ts) => {
    for (let number = 1; number <= mostTries; number += 1) {
      const waitMs = await tried(channel, ts, number);
      if (waitMs === null) return;
      log.info('slack_stray_waiting', { channel, ts, waitMs });
      try {
        await sleep(clock, waitMs, signal);
      } catch {
        // The adapter stops: the place is told as gone all the same.
        log.error('slack_stray_left', { channel, ts, tries: number });
        return;
      }
    }
  };
}
