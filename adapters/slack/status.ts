/**
 * The sign that the bot is at work. An agent app sets its session's status; an older one the
 * assistant's line; where neither is there the first refusal is remembered and nothing is shown.
 */

import { z } from 'zod';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { slackWordOf } from './errors.ts';
import type { CallSlack } from './web-api.ts';

export interface StatusSigns {
  /** Never fails. */
  show(
    place: { readonly channel: string; readonly thread: string },
    working: boolean,
  ): Promise<void>;
}

/** Refusals that mean "not for this app", whatever the thread. */
const notForUs = new Set([
  'unknown_method',
  'method_not_supported',
  'missing_scope',
  'not_allowed_token_type',
  'no_permission',
  'access_denied',
  'not_an_agent',
  'app_not_agent',
  'not_agent_app',
  'agent_not_enabled',
  'feature_not_enabled',
  'team_not_eligible',
  'access_limited',
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
          return;
        } catch (error) {
          const word = slackWordOf(error);
          if (word === null || !notForUs.has(word)) {
            log.debug('slack_status_lost', errorFacts(error));
            return;
          }
          unavailable.add(way);
          log.info('slack_status_unavailable', { method: way, word });
        }
      }
    },
  };
}
