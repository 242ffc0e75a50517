/**
 * After a lost session or a restart: in each place used lately the messages after the last one seen
 * are read from the platform and taken in like any other. Intake recognises what it has. Where a
 * place begins is noted before the platform connects: what arrives live must not hide what was
 * missed before it.
 */

import type { Clock } from '../base/clock.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { Seen, SeenPlaces } from '../conversations/conversations.ts';
import type { Adapter, OnEvent } from '../surface/adapter.ts';
import type { Background } from './background.ts';

/** Places looked at, newest activity first, and messages taken from each. */
const mostPlaces = 50;
const mostMessages = 100;
const dayMs = 24 * 3600 * 1000;
/** A place that could not be read is tried again after this. */
const retryMs = 60_000;
const mostRetries = 5;

export interface ReadBack {
  /** Notes where each adapter's places stand; to be called before it connects. */
  prepare(): Promise<void>;
  /** `since` (ms since the epoch): before it nothing was missed; left out: the places as noted, or as
   * they stand now. */
  ofAdapter(name: string, since?: number): Promise<void>;
  /** No further tries. */
  stop(): void;
}

export interface ReadBackDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly background: Background;
  readonly adapters: ReadonlyMap<string, Adapter>;
  readonly seen: SeenPlaces;
  readonly onEvent: OnEvent;
}

export function createReadBack(deps: ReadBackDeps, options: { readonly days: number }): ReadBack {
  const { clock, log } = deps;
  const noted = new Map<string, readonly Seen[]>();
  const cancels = new Set<() => void>();

  const usedPlaces = async (name: string, asOf?: number): Promise<readonly Seen[]> => {
    const places = await deps.seen.used(name, {
      since: clock.now() - options.days * dayMs,
      most: mostPlaces + 1,
      ...(asOf !== undefined && { asOf }),
    });
    if (places.length > mostPlaces)
      log.warn('read_back_cut', { adapter: name, places: mostPlaces });
    return places.slice(0, mostPlaces);
  };

  const readPlace = async (adapter: Adapter, { place, messageId }: Seen): Promise<number> => {
    const missed = await adapter.messagesAfter(place, messageId, mostMessages);
    if (missed.length >= mostMessages) {
      const { channel } = place;
      log.warn('read_back_cut', { adapter: adapter.name, channel, messages: mostMessages });
    }
    for (const message of missed) await deps.onEvent(message);
    return missed.length;
  };

  const readPlaces = async (
    adapter: Adapter,
    places: readonly Seen[],
    tries: number,
  ): Promise<void> => {
    const failed: Seen[] = [];
    let messages = 0;
    for (const seen of places) {
      try {
        messages += await readPlace(adapter, seen);
      } catch (thrown) {
        failed.push(seen);
        const { channel } = seen.place;
        log.warn('place_not_read_back', { adapter: adapter.name, channel, ...errorFacts(thrown) });
      }
    }
    log.info('read_back', { adapter: adapter.name, places: places.length, messages });
    if (failed.length > 0 && tries < mostRetries) tryLater(adapter, failed, tries + 1);
  };

  const tryLater = (adapter: Adapter, places: readonly Seen[], tries: number): void => {
    const cancel = clock.setTimer(retryMs, () => {
      cancels.delete(cancel);
      deps.background.start('read_back', () => readPlaces(adapter, places, tries));
    });
    cancels.add(cancel);
  };

  return {
    prepare: async () => {
      for (const name of deps.adapters.keys()) noted.set(name, await usedPlaces(name));
    },
    ofAdapter: async (name, since) => {
      const adapter = deps.adapters.get(name);
      if (!adapter || options.days === 0) return;
      const places = noted.get(name) ?? (await usedPlaces(name, since));
      noted.delete(name);
      await readPlaces(adapter, places, 0);
    },
    stop: () => {
      for (const cancel of cancels) cancel();
    },
  };
}
