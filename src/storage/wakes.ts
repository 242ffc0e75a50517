/**
 * When each conversation wants to be looked at next: one index, due time → conversation key. It
 * drives expiry, waiting and retries. A conversation has one due time; the earliest of its reasons
 * is for its owner to know.
 */

import type { IndexEntry, Store } from './store.ts';

export interface Wakes {
  /** Sets, or moves, the due time of a conversation. */
  schedule(conversationKey: string, dueMs: number): Promise<void>;
  /** Conversations due at `nowMs` or before, longest waiting first. They stay until cleared. */
  due(
    nowMs: number,
    most: number,
  ): Promise<readonly { readonly conversationKey: string; readonly dueMs: number }[]>;
  /** The conversation was looked at and wants nothing before `nextMs` (null: nothing at all). A
   * wake-up that came since the look began stays. */
  settle(conversationKey: string, lookedAtMs: number, nextMs: number | null): Promise<void>;
}

const index = 'wakes';

/** The wake-up as an index entry, for writing it in one transaction with what it is about. */
export function wakeEntryOf(conversationKey: string, dueMs: number): IndexEntry {
  return { index, member: conversationKey, score: dueMs };
}

export function createWakes(store: Store): Wakes {
  return {
    schedule: (conversationKey, dueMs) => store.addToIndex(wakeEntryOf(conversationKey, dueMs)),
    due: async (nowMs, most) => {
      const members = await store.rangeOfIndex(index, { upTo: nowMs, most });
      return members.map(({ member, score }) => ({ conversationKey: member, dueMs: score }));
    },
    settle: (conversationKey, lookedAtMs, nextMs) =>
      store.settleInIndex(index, conversationKey, { below: lookedAtMs, to: nextMs }),
  };
}
