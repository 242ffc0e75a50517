/**
 * What Discord's answers say of its buckets (topics/rate-limits): the headers of the last answer to
 * each kind of call in each channel.
 */

import type { Clock } from '../../src/base/clock.ts';
import type { BudgetState, CallKind } from '../../src/surface/calls.ts';
import { createKept } from './kept.ts';

export interface LimitsBook {
  /** Reads an answer's headers. */
  note(method: string, url: string, headers: { get(name: string): string | null }): void;
  /** Null where nothing is known, or the window is over. */
  of(kind: CallKind, channelId: string): BudgetState | null;
}

interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

const kept = { mostEntries: 2_000, mostAgeMs: 10 * 60_000 };
const messages = /\/channels\/(\d+)\/messages(\/\d+)?(?:\?|$)/u;

export function createLimitsBook(clock: Clock): LimitsBook {
  const windows = createKept<Window>(clock, kept);
  return {
    note: (method, url, headers) => {
      const [, channelId, messageId] = messages.exec(url) ?? [];
      const kind = kindOf(method, messageId !== undefined);
      const told = ['limit', 'remaining', 'reset-after'].map((name) =>
        Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
      );
      const [limit = Number.NaN, remaining = Number.NaN, resetAfter = Number.NaN] = told;
      if (channelId === undefined || kind === null || !told.every(Number.isFinite)) return;
      const resetAt = clock.now() + Math.ceil(resetAfter * 1000);
      windows.set(`${kind} ${channelId}`, { limit, remaining, resetAt });
    },
    of: (kind, channelId) => {
      const name = kind === 'upload' ? 'post' : kind;
      const window = windows.get(`${name} ${channelId}`);
      const resetAfterMs = (window?.resetAt ?? 0) - clock.now();
      if (window === undefined || resetAfterMs <= 0) return null;
      return { limit: window.limit, remaining: window.remaining, resetAfterMs };
    },
  };
}

function kindOf(method: string, isOfMessage: boolean): CallKind | null {
  if (method === 'POST' && !isOfMessage) return 'post';
  if (method === 'PATCH' && isOfMessage) return 'edit';
  return method === 'DELETE' && isOfMessage ? 'remove' : null;
}
