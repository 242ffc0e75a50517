/**
 * The one place where a Keyv is made. keyv hides failures of its store unless told otherwise, and
 * deletes an expired key while reading it, which can remove a value that was set meanwhile. So:
 * failures throw, errors are logged, stores bring their own getMany and setMany, and life is
 * decided by our clock in the stored form, where keyv does not see it.
 */

import { type DeserializedData, Keyv } from 'keyv';
import type { Clock } from '../base/clock.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { Store } from './store.ts';
import { parseStoredForm, storedFormOf } from './stored-form.ts';

/** What keyv needs of a store: text by key. Values are in the stored form. */
export interface TextStore {
  /** Set by keyv. */
  namespace?: string | undefined;
  get(key: string): Promise<string | undefined>;
  getMany(keys: string[]): Promise<(string | undefined)[]>;
  set(key: string, text: string, ttlMs?: number): Promise<unknown>;
  /** All or none. No key comes twice; keys come in one order for all callers. */
  setMany(entries: { key: string; value: string; ttl?: number }[]): Promise<unknown>;
  delete(key: string): Promise<boolean>;
  clear(): Promise<void>;
}

export type Keyed = Pick<Store, 'get' | 'getMany' | 'set' | 'setMany' | 'delete'>;

/** Keyed values over a store of text. `namespace` separates users of one Redis. */
export function createKeyed(
  deps: { readonly clock: Clock; readonly log: Log },
  texts: TextStore,
  namespace: string,
): Keyed {
  const { clock, log } = deps;
  const keyv = new Keyv<string>({
    store: texts,
    namespace,
    useKeyPrefix: false,
    throwOnErrors: true,
    serialize: ({ value }) => String(value),
    deserialize: <Value>(text: string) =>
      // keyv lets its caller name the type of the value; here it is unknown to everybody.
      parseStoredForm(text, clock.now()) as DeserializedData<Value> | undefined,
  });
  keyv.on('error', (error: unknown) => log.warn('store_error', errorFacts(error)));
  return {
    get: async (key) => {
      const value: unknown = await keyv.get<unknown>(key);
      return value;
    },
    getMany: async (keys) => (keys.length === 0 ? [] : await keyv.getMany<unknown>([...keys])),
    set: async (key, value, { ttlMs } = {}) => {
      const expiresMs = ttlMs === undefined ? undefined : expiryOf(clock, ttlMs);
      const life = ttlMs === undefined ? undefined : Math.ceil(ttlMs);
      await keyv.set(key, storedFormOf(value, expiresMs), life);
    },
    setMany: async (entries) => {
      const last = new Map(entries.map(({ key, value }) => [key, storedFormOf(value)]));
      if (last.size === 0) return;
      // Rows are locked in the order in which they are written: two writers of the same keys in
      // opposite order would wait for each other until the database ends one of them.
      const ordered = [...last].sort(inOrderOfKey);
      await keyv.setMany(ordered.map(([key, value]) => ({ key, value })));
    },
    delete: async (key) => {
      await keyv.delete(key);
    },
  };
}

/** The one order in which keys are written, in every process. */
export function inOrderOfKey(
  [a]: readonly [string, unknown],
  [b]: readonly [string, unknown],
): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** When a life that begins now ends: whole milliseconds, as the stored form wants them. */
export function expiryOf(clock: Clock, ttlMs: number): number {
  return Math.ceil(clock.now() + ttlMs);
}
