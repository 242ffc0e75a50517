/**
 * The store contract: keyed values with optional life, sorted indexes, and one atomic claim. Every
 * backend (memory, SQLite, Redis, PostgreSQL) passes test/contract/store.ts.
 *
 * Values are JSON. A store that does not answer makes every member reject with `store_unavailable`
 * within 5 s; nothing is swallowed.
 */

export interface IndexEntry {
  /** Name of the index, like `inbox:slack:T1:C1:17.1`. */
  readonly index: string;
  readonly member: string;
  /** Sorts the index; a time in milliseconds mostly. */
  readonly score: number;
}

export interface WriteOptions {
  /** Life in milliseconds; for ever when left out. */
  readonly ttlMs?: number;
}

export interface Store {
  /** Undefined when absent or expired. */
  get(key: string): Promise<unknown>;
  /** In the order of the keys. */
  getMany(keys: readonly string[]): Promise<readonly unknown[]>;
  set(key: string, value: unknown, options?: WriteOptions): Promise<void>;
  /** All or none, in one transaction. */
  setMany(entries: readonly { readonly key: string; readonly value: unknown }[]): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Sets the value if the key is absent, together with index entries, in one transaction. True for
   * exactly one caller, over all processes; the others change nothing.
   */
  claim(
    key: string,
    value: unknown,
    options: { readonly ttlMs: number; readonly indexed?: readonly IndexEntry[] },
  ): Promise<boolean>;
  /** Adds a member or moves it to the new score. */
  addToIndex(entry: IndexEntry): Promise<void>;
  removeFromIndex(index: string, member: string): Promise<void>;
  /** Moves a member whose score is below `below` to the score `to`, or takes it out (null), in one
   * step: what was added meanwhile with a higher score stays. */
  settleInIndex(
    index: string,
    member: string,
    settled: { readonly below: number; readonly to: number | null },
  ): Promise<void>;
  /** Members with score at most `upTo` (default: all), lowest first, ties by member; at most `most`. */
  rangeOfIndex(
    index: string,
    options: { readonly upTo?: number; readonly most: number },
  ): Promise<readonly { readonly member: string; readonly score: number }[]>;
  /** Resolves when the store answers; rejects otherwise. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A store whose keys and indexes all begin with `prefix`. */
export function prefixedStore(store: Store, prefix: string): Store {
  const keyOf = (key: string): string => prefix + key;
  const indexedOf = (entry: IndexEntry): IndexEntry => ({ ...entry, index: prefix + entry.index });
  return {
    get: (key) => store.get(keyOf(key)),
    getMany: (keys) => store.getMany(keys.map(keyOf)),
    set: (key, value, options) => store.set(keyOf(key), value, options),
    setMany: (entries) =>
      store.setMany(entries.map(({ key, value }) => ({ key: keyOf(key), value }))),
    delete: (key) => store.delete(keyOf(key)),
    claim: (key, value, { ttlMs, indexed }) =>
      store.claim(keyOf(key), value, {
        ttlMs,
        ...(indexed ? { indexed: indexed.map(indexedOf) } : {}),
      }),
    addToIndex: (entry) => store.addToIndex(indexedOf(entry)),
    removeFromIndex: (index, member) => store.removeFromIndex(keyOf(index), member),
    settleInIndex: (index, member, settled) => store.settleInIndex(keyOf(index), member, settled),
    rangeOfIndex: (index, options) => store.rangeOfIndex(keyOf(index), options),
    check: () => store.check(),
    close: () => store.close(),
  };
}
