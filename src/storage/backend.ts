/**
 * A Store over a backend: keyed values through keyv, the rest through the backend's own
 * primitives, and around every member the promise of the contract: it answers, or rejects with
 * `store_unavailable` in time. Expired keys are swept on an interval of the clock.
 */

import type { Clock } from '../base/clock.ts';
import { BotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import { createKeyed, expiryOf, inOrderOfKey, type TextStore } from './keyed.ts';
import type { IndexEntry, Store } from './store.ts';
import { storedFormOf } from './stored-form.ts';

/** A member that takes longer has failed. The contract says 5 s; this leaves room for the way. */
const mostAnswerMs = 4_500;

/** UTF-8 bytes of a key, an index name or a member: PostgreSQL indexes rows up to 2,700. */
export const mostKeyBytes = 1_000;

/** How often expired keys are removed. They are unreadable from the millisecond they expire. */
const sweepEveryMs = 60_000;

export interface Backend {
  /** For sentences, without credentials: "Redis at 127.0.0.1:6379". */
  readonly name: string;
  readonly texts: TextStore;
  claim(claim: {
    readonly key: string;
    /** In the stored form. */
    readonly text: string;
    /** A present key that expires at or before this counts as absent. */
    readonly nowMs: number;
    readonly expiresMs: number;
    readonly indexed: readonly IndexEntry[];
  }): Promise<boolean>;
  addToIndex(entry: IndexEntry): Promise<void>;
  removeFromIndex(index: string, member: string): Promise<void>;
  settleInIndex(
    index: string,
    member: string,
    settled: { readonly below: number; readonly to: number | null },
  ): Promise<void>;
  rangeOfIndex(
    index: string,
    options: { readonly upTo: number | undefined; readonly most: number },
  ): Promise<readonly { readonly member: string; readonly score: number }[]>;
  check(): Promise<void>;
  /** Removes what has expired; left out where the backend does so by itself. */
  sweep?(nowMs: number): Promise<void>;
  /** Called when a member got no answer in time, so that a dead connection can be replaced. */
  readonly unanswered?: () => void;
  close(): Promise<void>;
}

export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export function createBackedStore(deps: StoreDeps, backend: Backend, namespace: string): Store {
  const { clock, log } = deps;
  const keyed = createKeyed(deps, backend.texts, namespace);
  let closing: Promise<void> | undefined;
  let cancelSweep: () => void = () => undefined;
  let sweeping: Promise<void> = Promise.resolve();

  const guarded = <T>(action: string, run: () => Promise<T>): Promise<T> =>
    closing
      ? Promise.reject(unavailable(backend.name, action, 'it was closed'))
      : answered({ clock, name: backend.name, unanswered: backend.unanswered }, action, run);

  const sweep = async (): Promise<void> => {
    try {
      await guarded('sweep', async () => backend.sweep?.(clock.now()));
    } catch (error) {
      // The next sweep does this one's work; nothing that expired can be read meanwhile.
      log.warn('store_sweep_failed', errorFacts(error));
    }
    if (!closing) sweepLater();
  };
  const sweepLater = (): void => {
    cancelSweep = clock.setTimer(sweepEveryMs, () => {
      sweeping = sweep();
    });
  };
  if (backend.sweep) sweepLater();

  return {
    get: (key) => guarded('get', () => keyed.get(checkedKey(key))),
    getMany: (keys) => guarded('getMany', () => keyed.getMany(keys.map(checkedKey))),
    set: (key, value, options = {}) =>
      guarded('set', () => {
        if (options.ttlMs !== undefined) checkLife(options.ttlMs);
        return keyed.set(checkedKey(key), value, options);
      }),
    setMany: (entries) =>
      guarded('setMany', () => {
        for (const { key } of entries) checkedKey(key);
        return keyed.setMany(entries);
      }),
    delete: (key) => guarded('delete', () => keyed.delete(checkedKey(key))),
    claim: (key, value, { ttlMs, indexed = [] }) =>
      guarded('claim', () => {
        checkLife(ttlMs);
        for (const entry of indexed) checkIndexed(entry);
        const expiresMs = expiryOf(clock, ttlMs);
        return backend.claim({
          key: checkedKey(key),
          text: storedFormOf(value, expiresMs),
          nowMs: clock.now(),
          expiresMs,
          indexed: lastOfEach(indexed),
        });
      }),
    addToIndex: (entry) =>
      guarded('addToIndex', () => {
        checkIndexed(entry);
        return backend.addToIndex(entry);
      }),
    removeFromIndex: (index, member) =>
      guarded('removeFromIndex', () =>
        backend.removeFromIndex(checkedKey(index), checkedKey(member)),
      ),
    settleInIndex: (index, member, settled) =>
      guarded('settleInIndex', () =>
        backend.settleInIndex(checkedKey(index), checkedKey(member), settled),
      ),
    rangeOfIndex: (index, { upTo, most }) =>
      guarded('rangeOfIndex', async () => {
        checkedKey(index);
        return most < 1 ? [] : await backend.rangeOfIndex(index, { upTo, most });
      }),
    check: () => guarded('check', () => backend.check()),
    close: () => {
      closing ??= (async () => {
        cancelSweep();
        await sweeping;
        await answered({ clock, name: backend.name }, 'close', () => backend.close());
      })();
      return closing;
    },
  };
}

/** Runs one action on a store: its answer, or `store_unavailable` after at most `mostAnswerMs`. */
export async function answered<T>(
  store: {
    readonly clock: Clock;
    readonly name: string;
    readonly unanswered?: (() => void) | undefined;
  },
  action: string,
  run: () => Promise<T>,
): Promise<T> {
  const { clock, name, unanswered } = store;
  let cancel: () => void = () => undefined;
  const deadline = new Promise<never>((_, reject) => {
    cancel = clock.setTimer(mostAnswerMs, () => {
      reject(unavailable(name, action, 'it did not answer in time'));
      unanswered?.();
    });
  });
  try {
    return await Promise.race([Promise.resolve().then(run), deadline]);
  } catch (error) {
    if (error instanceof BotError) throw error;
    throw unavailable(name, action, 'it reported an error', error);
  } finally {
    cancel();
  }
}

function unavailable(name: string, action: string, why: string, cause?: unknown): BotError {
  return new BotError(
    'store_unavailable',
    `The store (${name}) is not available: ${why}. Check that it runs and can be reached.`,
    { facts: { store: name, action }, cause },
  );
}

/** Half of a pair is no character and has no UTF-8; databases end a text at NUL, or refuse it. */
const unstorable = /[\0\p{Surrogate}]/u;

function checkedKey(key: string): string {
  if (unstorable.test(key)) {
    throw new BotError(
      'internal',
      'A key of the store holds a NUL or half of a surrogate pair: no store keeps such a key.',
    );
  }
  if (key.length * 3 > mostKeyBytes && Buffer.byteLength(key) > mostKeyBytes) {
    throw new BotError('internal', 'A key of the store is too long.', {
      facts: { mostKeyBytes, bytes: Buffer.byteLength(key) },
    });
  }
  return key;
}

function checkIndexed(entry: IndexEntry): void {
  checkedKey(entry.index);
  checkedKey(entry.member);
  if (Number.isFinite(entry.score)) return;
  throw new BotError('internal', 'A score of an index is not a number.', {
    facts: { index: entry.index },
  });
}

function checkLife(ttlMs: number): void {
  if (ttlMs > 0 && Number.isFinite(ttlMs)) return;
  throw new BotError('internal', 'A value of the store needs a life above 0 ms.', {
    facts: { ttlMs },
  });
}

/**
 * One entry for each member of each index, the last one: databases refuse a row named twice. In one
 * order for all callers, so that two of them never wait for each other's rows.
 */
function lastOfEach(indexed: readonly IndexEntry[]): readonly IndexEntry[] {
  if (indexed.length < 2) return indexed;
  const last = new Map(
    indexed.map((entry) => [JSON.stringify([entry.index, entry.member]), entry]),
  );
  return [...last].sort(inOrderOfKey).map(([, entry]) => entry);
}
