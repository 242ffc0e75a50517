/** The store that ends with the process: for tests, and for trying things out. */

import { type Backend, createBackedStore, type StoreDeps } from './backend.ts';
import { expiryOf, type TextStore } from './keyed.ts';
import type { IndexEntry, Store } from './store.ts';

export function createMemoryStore(deps: StoreDeps): Store {
  const { clock } = deps;
  const texts = new Map<string, { readonly text: string; readonly expiresMs: number }>();
  const indexes = new Map<string, Map<string, number>>();

  const textOf = (key: string): string | undefined => {
    const kept = texts.get(key);
    return kept && kept.expiresMs > clock.now() ? kept.text : undefined;
  };
  const keep = (key: string, text: string, ttlMs: number | undefined): void => {
    const expiresMs = ttlMs === undefined ? Number.POSITIVE_INFINITY : expiryOf(clock, ttlMs);
    texts.set(key, { text, expiresMs });
  };
  const addToIndex = ({ index, member, score }: IndexEntry): void => {
    const members = indexes.get(index) ?? new Map<string, number>();
    indexes.set(index, members.set(member, score));
  };

  const textStore: TextStore = {
    get: async (key) => textOf(key),
    getMany: async (keys) => keys.map(textOf),
    set: async (key, text, ttlMs) => keep(key, text, ttlMs),
    setMany: async (entries) => {
      for (const { key, value, ttl } of entries) keep(key, value, ttl);
    },
    delete: async (key) => texts.delete(key),
    clear: async () => texts.clear(),
  };

  const backend: Backend = {
    name: 'memory',
    texts: textStore,
    claim: async ({ key, text, expiresMs, indexed }) => {
      if (textOf(key) !== undefined) return false;
      texts.set(key, { text, expiresMs });
      for (const entry of indexed) addToIndex(entry);
      return true;
    },
    addToIndex: async (entry) => addToIndex(entry),
    removeFromIndex: async (index, member) => {
      const members = indexes.get(index);
      members?.delete(member);
      if (members?.size === 0) indexes.delete(index);
    },
    settleInIndex: async (index, member, { below, to }) => {
      const members = indexes.get(index);
      const score = members?.get(member);
      if (!members || score === undefined || score >= below) return;
      if (to === null) members.delete(member);
      else members.set(member, to);
      if (members.size === 0) indexes.delete(index);
    },
    rangeOfIndex: async (index, { upTo = Number.POSITIVE_INFINITY, most }) =>
      [...(indexes.get(index) ?? [])]
        .map(([member, score]) => ({ member, score }))
        .filter(({ score }) => score <= upTo)
        .sort((a, b) => a.score - b.score || compareBytes(a.member, b.member))
        .slice(0, most),
    check: async () => undefined,
    sweep: async (nowMs) => {
      for (const [key, { expiresMs }] of texts) if (expiresMs <= nowMs) texts.delete(key);
    },
    close: async () => {
      texts.clear();
      indexes.clear();
    },
  };
  return createBackedStore(deps, backend, 'deckhand');
}

/** The order that databases give text: by its bytes, not by its UTF-16 units. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
