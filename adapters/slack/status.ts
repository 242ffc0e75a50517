/**
 * The sign that the bot is at work. An agent app sets its session's status; an older one the
 * assistant's line. Whatever word refuses the one, the other is tried; a refusal that is not about
 * the place is remembered for the process.
 */

import { z } from 'zod';
import { isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { slackWordOf } from './errors.ts';
import type { CallSlack } from './web-api.ts';

export interface StatusSigns {
  /** Never rejects: false when Slack could not be asked. */
  show(
    place: { readonly channel: string; readonly thread: string },
    working: boolean,
  ): Promise<boolean>;
}

/** Refusals of this thread, which say nothing about the next one. */
const aboutPlace = new Set([
  'channel_not_found',
  'not_in_channel',
  'is_archived',
  'thread_not_found',
  'message_not_found',
  'user_not_in_channel',
]);

type Way = 'agents.sessions.setStatus' | 'assistant.threads.setStatus';
const ways: readonly Way[] = ['agents.sessions.setStatus', 'assistant.threads.setStatus'];

export function createStatusSigns(deps: {
  readonly call: CallSlack;
  readonly log: Log;
}): StatusSigns {
  const { call, log } = deps;
  const unavailable = new Set<Way>();

  const argsOf = (
    way: Way,
    place: { readonly channel: string; readonly thread: string },
    working: boolean,
  ): Record<string, string> => {
    const common = { channel_id: place.channel, thread_ts: place.thread };
    return way === 'agents.sessions.setStatus'
      ? { ...common, status: working ? 'processing' : 'active' }
      : { ...common, status: working ? 'is working…' : '' };
  };

  return {
    show: async (place, working) => {
      for (const way of ways) {
        if (unavailable.has(way)) continue;
        try {
          await call(way, argsOf(way, place, working), z.unknown());
          return true;
        } catch (error) {
          const word = slackWordOf(error);
          // Too fast or out: the same way is there again later.
          if (word === null || isBotError(error, 'rate_limited', 'surface_unavailable')) {
            log.debug('slack_status_lost', errorFacts(error));
            return false;
          }
          if (aboutPlace.has(word)) {
            log.debug('slack_status_lost', { method: way, word });
            continue;
          }
          unavailable.add(way);
          log.info('slack_status_unavailable', { method: way, word });
        }
      }
      return true;
    },
  };
}
