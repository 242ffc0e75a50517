/**
 * Facts that are looked up on Slack and kept a while. A look-up may not hold up an event (Slack
 * wants its acknowledgement inside 3 s): after a short wait, or when it fails, an older value or
 * nothing is given, and the answer still fills the cache when it comes. While Slack asks us to wait,
 * nothing is looked up.
 */

import type { Clock } from '../../src/base/clock.ts';
import { BotError, botErrorOf, isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';

export interface Cache<Value> {
  /** The value, the last known one, or null. Never rejects. */
  get(id: string): Promise<Value | null>;
  /** The value or the last known one; rejects with the reason where there is none. */
  known(id: string, mostWaitMs?: number): Promise<Value>;
}

export interface CacheOptions {
  readonly freshMs: number;
  /** How long a failed look-up is not tried again. */
  readonly failedMs: number;
  /** An answer older than this is not given any more, whatever fails. */
  readonly mostAgeMs: number;
  readonly mostWaitMs: number;
  readonly mostEntries: number;
}

export const cacheDefaults: CacheOptions = {
  freshMs: 10 * 60_000,
  failedMs: 60_000,
  mostAgeMs: 24 * 60 * 60_000,
  mostWaitMs: 1_200,
  mostEntries: 5_000,
};

interface Entry<Value> {
  known: { readonly value: Value; readonly at: number } | null;
  /** Until when Slack is not asked. */
  until: number;
  /** Why the last look-up failed. */
  failure: BotError | null;
  loading: Promise<void> | null;
}

export function createCache<Value>(
  deps: {
    readonly clock: Clock;
    readonly log: Log;
    load(id: string): Promise<Value>;
    /** How long this value is fresh; `freshMs` when left out. */
    readonly freshMsOf?: (value: Value) => number;
  },
  options: CacheOptions = cacheDefaults,
): Cache<Value> {
  const { clock, log } = deps;
  const entries = new Map<string, Entry<Value>>();
  let pause: { readonly until: number; readonly failure: BotError | null } = {
    until: 0,
    failure: null,
  };

  const load = async (id: string, entry: Entry<Value>): Promise<void> => {
    try {
      const value = await deps.load(id);
      entry.known = { value, at: clock.now() };
      entry.until = clock.now() + (deps.freshMsOf?.(value) ?? options.freshMs);
      entry.failure = null;
    } catch (error) {
      entry.until = clock.now() + options.failedMs;
      entry.failure = botErrorOf(error);
      if (isBotError(error, 'rate_limited')) {
        pause = {
          until: clock.now() + (error.retryAfterMs ?? options.failedMs),
          failure: entry.failure,
        };
      }
      log.warn('slack_lookup_failed', { id, ...errorFacts(error) });
    } finally {
      entry.loading = null;
    }
  };

  const entryOf = (id: string): Entry<Value> => {
    const known = entries.get(id);
    if (known) return known;
    const entry: Entry<Value> = { known: null, until: 0, failure: null, loading: null };
    entries.set(id, entry);
    const oldest = entries.keys().next();
    if (entries.size > options.mostEntries && oldest.done !== true) entries.delete(oldest.value);
    return entry;
  };

  const refreshed = async (id: string, mostWaitMs: number): Promise<Entry<Value>> => {
    const entry = entryOf(id);
    if (clock.now() < entry.until) return entry;
    if (entry.loading === null && clock.now() < pause.until) {
      return { ...entry, failure: pause.failure };
    }
    entry.loading ??= load(id, entry);
    await atMost(clock, mostWaitMs, entry.loading);
    return entry;
  };

  const currentOf = ({ known }: Entry<Value>): Value | null =>
    known !== null && clock.now() - known.at <= options.mostAgeMs ? known.value : null;

  return {
    get: async (id) => currentOf(await refreshed(id, options.mostWaitMs)),
    known: async (id, mostWaitMs = options.mostWaitMs) => {
      const entry = await refreshed(id, mostWaitMs);
      const value = currentOf(entry);
      if (value !== null) return value;
      throw (
        entry.failure ??
        new BotError('surface_unavailable', 'Slack did not answer a look-up in time.', {
          facts: { id, mostWaitMs },
        })
      );
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
