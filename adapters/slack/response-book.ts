/**
 * Addresses for private answers to interactions. An address takes 5 answers within 30 minutes
 * (https://docs.slack.dev/interactivity/handling-user-interaction) and is kept in memory only.
 */

import type { Clock } from '../../src/base/clock.ts';

export interface ResponseBook {
  keep(interactionId: string, url: string | undefined, thread: string): void;
  /** Takes one use of the address; null when it is unknown, old or used up. */
  take(interactionId: string): { readonly url: string; readonly thread: string } | null;
}

const mostAgeMs = 30 * 60_000;
const mostUses = 5;
const mostKept = 10_000;

export function createResponseBook(clock: Clock): ResponseBook {
  const kept = new Map<
    string,
    { readonly url: string; readonly thread: string; readonly until: number; uses: number }
  >();
  return {
    keep: (interactionId, url, thread) => {
      const now = clock.now();
      for (const [id, entry] of kept) {
        if (entry.until > now && kept.size < mostKept) break;
        kept.delete(id);
      }
      if (url !== undefined) {
        kept.set(interactionId, { url, thread, until: now + mostAgeMs, uses: 0 });
      }
    },
    take: (interactionId) => {
      const entry = kept.get(interactionId);
      if (entry === undefined) return null;
      if (clock.now() >= entry.until || entry.uses >= mostUses) {
        kept.delete(interactionId);
        return null;
      }
      entry.uses += 1;
      return { url: entry.url, thread: entry.thread };
    },
  };
}
