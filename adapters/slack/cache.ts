/**
 * Facts that are looked up on Slack and kept a while. A look-up may not hold up an event (Slack
 * wants its acknowledgement inside 3 s): after a short wait, or when it fails, an older value or
 * nothing is given, and the answer still fills the cache when it comes.
 */

import type { Clock } from '../../src/base/clock.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';

export interface Cache<Value> {
  get(id: string): Promise<Value | null>;
}

export interface CacheOptions {
  readonly freshMs: number;
  /** How long a failed look-up is not tried again. */
  readonly failedMs: number;
  readonly mostWaitMs: number;
  readonly mostEntries: number;
}

export const cacheDefaults: CacheOptions = {
  freshMs: 10 * 60_000,
  failedMs: 60_000,
  mostWaitMs: 1_200,
  mostEntries: 5_000,
};

interface Entry<Value> {
  value: Value | null;
  /** Until when it is used without asking. */
  until: number;
  loading: Promise<void> | null;
}

export function createCache<Value>(
  deps: { readonly clock: Clock; readonly log: Log; load(id: string): Promise<Value> },
  options: CacheOptions = cacheDefaults,
): Cache<Value> {
  const { clock, log } = deps;
  const entries = new Map<string, Entry<Value>>();

  const load = async (id: string, entry: Entry<Value>): Promise<void> => {
    try {
      entry.value = await deps.load(id);
      entry.until = clock.now() + options.freshMs;
    } catch (error) {
      entry.until = clock.now() + options.failedMs;
      log.warn('slack_lookup_failed', { id, ...errorFacts(error) });
    } finally {
      entry.loading = null;
    }
  };

  const entryOf = (id: string): Entry<Value> => {
    const known = entries.get(id);
    if (known) return known;
    const entry: Entry<Value> = { value: null, until: 0, loading: null };
    entries.set(id, entry);
    const oldest = entries.keys().next();
    if (entries.size > options.mostEntries && oldest.done !== true) entries.delete(oldest.value);
    return entry;
  };

  return {
    get: async (id) => {
      const entry = entryOf(id);
      if (clock.now() < entry.until) return entry.value;
      entry.loading ??= load(id, entry);
      await atMost(clock, options.mostWaitMs, entry.loading);
      return entry.value;
    },
  };
}

/** Resolves with the work or after the time, whichever is first. `work` must not reject. */
function atMost(clock: Clock, mostMs: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(mostMs, resolve);
    void work.then(() => {
      cancel();
      resolve();
    });
  });
}
