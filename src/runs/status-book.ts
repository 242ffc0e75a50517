/**
 * The platform's sign that the bot is at work never stays behind: where it is on is stored, what
 * could not be taken away is tried again, and what an earlier life left is swept at the start. (A
 * session of Slack shows it for up to an hour.)
 */

import type { Clock } from '../base/clock.ts';
import { errorFacts, type Log } from '../base/log.ts';
import {
  type Conversation,
  type ConversationKey,
  parseConversationKey,
} from '../messages/conversation.ts';
import type { Store } from '../storage/store.ts';
import type { Surface } from '../surface/surface.ts';

export interface StatusBook {
  /** The surface, its sign kept in the book. */
  kept(key: ConversationKey, surface: Surface): Surface;
  /** Takes away the signs that no run of this life will. */
  sweep(isAtWork: (key: ConversationKey) => Promise<boolean>): Promise<void>;
  /** Ends what waits. */
  stop(): void;
}

const index = 'working';
const retryMs = [5_000, 30_000, 120_000];
const mostSwept = 1_000;

export function createStatusBook(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly surfaceOf: (conversation: Conversation) => Surface;
}): StatusBook {
  const { store, clock, log } = deps;
  const on = new Set<ConversationKey>();
  const timers = new Set<() => void>();

  /** A sign is never worth a run: what cannot be stored is logged. */
  const noted = async (key: ConversationKey, isOn: boolean): Promise<void> => {
    try {
      if (isOn) await store.addToIndex({ index, member: key, score: clock.now() });
      else await store.removeFromIndex(index, key);
    } catch (thrown) {
      log.warn('status_not_noted', { conversation: key, ...errorFacts(thrown) });
    }
  };

  const later = (delayMs: number, act: () => Promise<unknown>): void => {
    const cancel = clock.setTimer(delayMs, () => {
      timers.delete(cancel);
      act().catch((thrown: unknown) => log.warn('status_not_taken_away', errorFacts(thrown)));
    });
    timers.add(cancel);
  };

  const takeAway = async (
    key: ConversationKey,
    surface: Surface,
    attempt = 0,
  ): Promise<boolean> => {
    // Another run has begun meanwhile.
    if (on.has(key)) return true;
    const isGone = await surface.status('idle');
    if (isGone) {
      await noted(key, false);
      return true;
    }
    const delayMs = retryMs[attempt];
    if (delayMs !== undefined) later(delayMs, () => takeAway(key, surface, attempt + 1));
    return false;
  };

  return {
    kept: (key, surface) => ({
      ...surface,
      status: async (state) => {
        if (state === 'idle') {
          on.delete(key);
          return await takeAway(key, surface);
        }
        const isNew = !on.has(key);
        on.add(key);
        if (isNew) await noted(key, true);
        return on.has(key) ? await surface.status('working') : false;
      },
    }),
    sweep: async (isAtWork) => {
      for (const { member: key } of await store.rangeOfIndex(index, { most: mostSwept })) {
        if (on.has(key) || (await isAtWork(key))) continue;
        await takeAway(key, deps.surfaceOf(parseConversationKey(key)));
      }
    },
    stop: () => {
      for (const cancel of timers) cancel();
    },
  };
}
