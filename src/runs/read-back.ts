/**
 * After a lost session or a restart: in each place used lately the messages after the last one seen
 * are read from the platform and taken in like any other. Intake recognises what it has.
 */

import { errorFacts, type Log } from '../base/log.ts';
import type { SeenPlaces } from '../conversations/conversations.ts';
import type { Adapter, OnEvent } from '../surface/adapter.ts';

/** Places looked at, newest activity first, and messages taken from each. */
const mostPlaces = 50;
const mostMessages = 100;
const dayMs = 24 * 3600 * 1000;

export interface ReadBack {
  ofAdapter(name: string): Promise<void>;
}

export function createReadBack(
  deps: {
    readonly log: Log;
    readonly now: () => number;
    readonly adapters: ReadonlyMap<string, Adapter>;
    readonly seen: SeenPlaces;
    readonly onEvent: OnEvent;
  },
  options: { readonly days: number },
): ReadBack {
  return {
    ofAdapter: async (name) => {
      const adapter = deps.adapters.get(name);
      if (!adapter || options.days === 0) return;
      const since = deps.now() - options.days * dayMs;
      const places = await deps.seen.used(name, since, mostPlaces + 1);
      if (places.length > mostPlaces)
        deps.log.warn('read_back_cut', { adapter: name, places: mostPlaces });
      let found = 0;
      for (const { place, messageId } of places.slice(0, mostPlaces)) {
        try {
          const missed = await adapter.messagesAfter(place, messageId, mostMessages);
          if (missed.length >= mostMessages) {
            deps.log.warn('read_back_cut', {
              adapter: name,
              channel: place.channel,
              messages: mostMessages,
            });
          }
          for (const message of missed) await deps.onEvent(message);
          found += missed.length;
        } catch (thrown) {
          deps.log.warn('place_not_read_back', {
            adapter: name,
            channel: place.channel,
            ...errorFacts(thrown),
          });
        }
      }
      deps.log.info('read_back', { adapter: name, places: places.length, messages: found });
    },
  };
}
