/**
 * The store in one file, the default: SQLite through libsql, in WAL mode. Deleted and overwritten
 * words are gone from the file: `secure_delete` zeroes them, and the write-ahead log, which still
 * holds older pages, is emptied by `checkpoint` and at every sweep after a change.
 *
 * Every write is on the disk before it is acknowledged (`synchronous = FULL`): with NORMAL a power
 * cut may take the last acknowledged messages along. Measured on a virtual disk, 1 KB values: 115,000
 * set a second against 163,000 with NORMAL; setMany of ten, 27,000 against 24,000 (no difference).
 * A disk that really flushes adds one flush a transaction, 0.1 to 10 ms.
 */

import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type Libsql from 'libsql';
import { z } from 'zod';
import type { Log } from '../base/log.ts';
import { answered, type Backend, createBackedStore, type StoreDeps } from './backend.ts';
import { expiryOf, type TextStore } from './keyed.ts';
import type { IndexEntry, Store } from './store.ts';

export interface SqliteStore extends Store {
  /** Empties the write-ahead log now, so that no older copy of a value stays on the disk. While
   * another connection reads, that must wait: it is logged, and every sweep tries again. */
  checkpoint(): Promise<void>;
}

/** How long a statement waits for another connection's transaction. Waiting blocks the process. */
const busyTimeoutMs = 2_000;
/** The same for emptying the log: the next sweep tries again, so nobody is kept waiting for it. */
const checkpointTimeoutMs = 200;

const tables = `
  CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, text TEXT NOT NULL, expires INTEGER);
  CREATE INDEX IF NOT EXISTS kept_expires ON kept (expires) WHERE expires IS NOT NULL;
  CREATE TABLE IF NOT EXISTS indexed (
    name TEXT NOT NULL, member TEXT NOT NULL, score REAL NOT NULL, PRIMARY KEY (name, member)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS indexed_order ON indexed (name, score, member);
`;

const keptRows = z.array(z.object({ key: z.string(), text: z.string() }));
const checkpointRows = z.tuple([z.object({ busy: z.number() })]);
const indexedRows = z.array(z.object({ member: z.string(), score: z.number() }));

/** Opens the file, making it and its folder (readable by this user only) where they are missing. */
export async function openSqliteStore(path: string, deps: StoreDeps): Promise<SqliteStore> {
  const { clock } = deps;
  const name = `SQLite at ${path}`;
  const database = await answered({ clock, name }, 'open', () => openDatabase(path));
  const { texts, ...rest } = createPrimitives(database, deps);
  // Whether the log may hold pages whose words are no longer in any value.
  let changed = false;
  const checkpoint = async (): Promise<void> => {
    if (emptyLog(database)) changed = false;
    else reportBusy(deps.log);
  };
  const backend: Backend = {
    ...rest,
    name,
    texts: {
      ...texts,
      set: (key, text, ttlMs) => {
        changed = true;
        return texts.set(key, text, ttlMs);
      },
      setMany: (entries) => {
        changed = true;
        return texts.setMany(entries);
      },
      delete: (key) => {
        changed = true;
        return texts.delete(key);
      },
    },
    // It may replace an expired value.
    claim: (claim) => {
      changed = true;
      return rest.claim(claim);
    },
    sweep: async (nowMs) => {
      const swept = database.prepare('DELETE FROM kept WHERE expires <= ?').run(nowMs);
      if (swept.changes > 0) changed = true;
      if (changed) await checkpoint();
    },
    close: async () => {
      await checkpoint();
      database.close();
    },
  };
  return {
    ...createBackedStore(deps, backend, 'deckhand'),
    checkpoint: () => answered({ clock, name }, 'checkpoint', checkpoint),
  };
}

/** False when another connection reads: then the log stays, and SQLite says so only in its answer. */
function emptyLog(database: Libsql.Database): boolean {
  database.pragma(`busy_timeout = ${checkpointTimeoutMs}`);
  try {
    const [{ busy }] = checkpointRows.parse(database.pragma('wal_checkpoint(TRUNCATE)'));
    return busy === 0;
  } finally {
    database.pragma(`busy_timeout = ${busyTimeoutMs}`);
  }
}

function reportBusy(log: Log): void {
  log.warn('store_log_not_emptied', {
    why: 'another connection reads the file; deleted words stay in its log until the next sweep',
  });
}

export async function openDatabase(path: string): Promise<Libsql.Database> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Made here for its mode, which SQLite gives to the files beside it too.
  await (await open(path, 'a', 0o600)).close();
  const { default: Database } = await import('libsql');
  const database = new Database(path, { timeout: busyTimeoutMs });
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('secure_delete = ON');
    database.exec(tables);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

type Primitives = Omit<Backend, 'name' | 'sweep' | 'close' | 'unanswered'>;

/** The statements, prepared once. */
function createPrimitives(database: Libsql.Database, { clock }: StoreDeps): Primitives {
  const select = database.prepare(
    `SELECT key, text FROM kept WHERE key IN (SELECT value FROM json_each(?))
     AND (expires IS NULL OR expires > ?)`,
  );
  const upsert = database.prepare(
    `INSERT INTO kept (key, text, expires) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET text = excluded.text, expires = excluded.expires`,
  );
  const remove = database.prepare('DELETE FROM kept WHERE key = ?');
  const removeExpired = database.prepare('DELETE FROM kept WHERE key = ? AND expires <= ?');
  const insert = database.prepare(
    'INSERT OR IGNORE INTO kept (key, text, expires) VALUES (?, ?, ?)',
  );
  const index = database.prepare(
    `INSERT INTO indexed (name, member, score) VALUES (?, ?, ?)
     ON CONFLICT (name, member) DO UPDATE SET score = excluded.score`,
  );
  const unindex = database.prepare('DELETE FROM indexed WHERE name = ? AND member = ?');
  const unindexBelow = database.prepare(
    'DELETE FROM indexed WHERE name = ? AND member = ? AND score < ?',
  );
  const moveBelow = database.prepare(
    'UPDATE indexed SET score = ? WHERE name = ? AND member = ? AND score < ?',
  );
  const range = database.prepare(
    `SELECT member, score FROM indexed WHERE name = ? AND score <= ?
     ORDER BY score, member LIMIT ?`,
  );

  const textsOf = (keys: readonly string[]): Map<string, string> => {
    const rows = keptRows.parse(select.all(JSON.stringify(keys), clock.now()));
    return new Map(rows.map(({ key, text }) => [key, text]));
  };
  const write = (key: string, text: string, ttlMs: number | undefined): void => {
    upsert.run(key, text, ttlMs === undefined ? null : expiryOf(clock, ttlMs));
  };
  const addToIndex = (entry: IndexEntry): void => {
    index.run(entry.index, entry.member, entry.score);
  };
  const immediately = (run: () => boolean): boolean => database.transaction(run).immediate();

  const texts: TextStore = {
    get: async (key) => textsOf([key]).get(key),
    getMany: async (keys) => {
      const found = textsOf(keys);
      return keys.map((key) => found.get(key));
    },
    set: async (key, text, ttlMs) => write(key, text, ttlMs),
    setMany: async (entries) =>
      immediately(() => {
        for (const { key, value, ttl } of entries) write(key, value, ttl);
        return true;
      }),
    delete: async (key) => remove.run(key).changes > 0,
    clear: async () => {
      database.exec('DELETE FROM kept');
    },
  };
  return {
    texts,
    claim: async (claim) =>
      immediately(() => {
        removeExpired.run(claim.key, claim.nowMs);
        if (insert.run(claim.key, claim.text, claim.expiresMs).changes === 0) return false;
        for (const entry of claim.indexed) addToIndex(entry);
        return true;
      }),
    addToIndex: async (entry) => addToIndex(entry),
    removeFromIndex: async (name, member) => {
      unindex.run(name, member);
    },
    settleInIndex: async (name, member, { below, to }) => {
      if (to === null) unindexBelow.run(name, member, below);
      else moveBelow.run(to, name, member, below);
    },
    rangeOfIndex: async (name, { upTo = Number.MAX_VALUE, most }) =>
      indexedRows.parse(range.all(name, upTo, most)),
    check: async () => {
      database.prepare('SELECT 1').get();
    },
  };
}
