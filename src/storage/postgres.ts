/**
 * The store in PostgreSQL, by @keyv/postgres over a pool of our own: the package's pool is one for
 * the whole process, and an idle connection that breaks in it ends the process. The package has no
 * life for values, so that is read from the beginning of the stored form.
 */

import type { Pool } from 'pg';
import { z } from 'zod';
import { BotError } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import {
  answered,
  type Backend,
  createBackedStore,
  mostKeyBytes,
  type StoreDeps,
} from './backend.ts';
import type { TextStore } from './keyed.ts';
import type { Store } from './store.ts';

const countedRows = z.tuple([z.object({ claimed: z.number() })]);
const indexedRows = z.array(z.object({ member: z.string(), score: z.number() }));

/** Opens `postgres://[user:password@]host[:port]/database`; its tables begin with `namespace`. */
export async function openPostgresStore(
  address: string,
  deps: StoreDeps & { readonly namespace: string },
): Promise<Store> {
  const { clock, log, namespace } = deps;
  if (!/^[a-z][a-z0-9_]{0,40}$/u.test(namespace)) {
    throw new BotError('config_invalid', 'The namespace of the store is not a plain name.');
  }
  const { host, pathname } = new URL(address);
  const name = `PostgreSQL at ${host}${pathname}`;
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: address,
    max: 10,
    connectionTimeoutMillis: 4_000,
    query_timeout: 4_000,
    keepAlive: true,
  });
  pool.on('error', (error) => log.warn('postgres_error', { host, ...errorFacts(error) }));
  const names = { kept: `${namespace}_kept`, indexed: `${namespace}_indexed` };
  try {
    await answered({ clock, name }, 'open', () => pool.query(tablesOf(names)));
  } catch (error) {
    endLater(pool, deps);
    throw error;
  }
  const texts = await keyvStoreOver(pool, names.kept);
  return createBackedStore(deps, createBackend({ pool, name, names, texts }), namespace);
}

interface Names {
  readonly kept: string;
  readonly indexed: string;
}

/** When a value expires, as SQL over its text; null when never. */
const expires = (text: string): string =>
  `substring(${text} from '^[{]"expires":([0-9]+)')::bigint`;

/** One simple query is one transaction; the lock keeps two processes from making tables at once. */
const tablesOf = ({ kept, indexed }: Names): string => `
  SELECT pg_advisory_xact_lock(hashtext('${kept}'));
  CREATE TABLE IF NOT EXISTS ${kept} (key VARCHAR(${mostKeyBytes}) PRIMARY KEY, value TEXT);
  CREATE INDEX IF NOT EXISTS ${kept}_expires ON ${kept} ((${expires('value')}))
    WHERE ${expires('value')} IS NOT NULL;
  CREATE TABLE IF NOT EXISTS ${indexed} (
    name TEXT COLLATE "C" NOT NULL, member TEXT COLLATE "C" NOT NULL,
    score DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, member)
  );
  CREATE INDEX IF NOT EXISTS ${indexed}_order ON ${indexed} (name, score, member);
`;

/** @keyv/postgres with its connection replaced by ours. */
async function keyvStoreOver(pool: Pool, table: string): Promise<TextStore> {
  const { default: KeyvPostgres } = await import('@keyv/postgres');
  class KeyvOverPool extends KeyvPostgres {
    // Called by the constructor of the package, so it may use nothing of `this`.
    override async connect() {
      return async (sql: string, values?: readonly unknown[]) =>
        (await pool.query(sql, values)).rows;
    }
    override async disconnect() {
      // The pool ends where it was made.
    }
  }
  return new KeyvOverPool({ table, keySize: mostKeyBytes });
}

function createBackend(deps: {
  readonly pool: Pool;
  readonly name: string;
  readonly names: Names;
  readonly texts: TextStore;
}): Backend {
  const { pool, name, names, texts } = deps;
  const { kept, indexed } = names;
  // One statement is one transaction: the index entries are written only where the key was.
  const claim = `
    WITH claimed AS (
      INSERT INTO ${kept} AS old (key, value) VALUES ($1, $2)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
        WHERE ${expires('old.value')} <= $3
      RETURNING 1
    ), entries AS (
      INSERT INTO ${indexed} (name, member, score)
      SELECT * FROM unnest($4::text[], $5::text[], $6::double precision[])
        WHERE EXISTS (SELECT FROM claimed)
      ON CONFLICT (name, member) DO UPDATE SET score = excluded.score
    )
    SELECT count(*)::int AS claimed FROM claimed`;
  const add = `
    INSERT INTO ${indexed} (name, member, score) VALUES ($1, $2, $3)
    ON CONFLICT (name, member) DO UPDATE SET score = excluded.score`;
  const range = `
    SELECT member, score FROM ${indexed} WHERE name = $1 AND score <= $2
    ORDER BY score, member LIMIT $3`;
  // A row that somebody writes just now is left to the next sweep: waiting for it could be mutual.
  const sweep = `
    DELETE FROM ${kept} WHERE key IN (
      SELECT key FROM ${kept} WHERE ${expires('value')} <= $1 FOR UPDATE SKIP LOCKED
    )`;
  return {
    name,
    texts,
    claim: async ({ key, text, nowMs, indexed: entries }) => {
      const { rows } = await pool.query(claim, [
        key,
        text,
        Math.floor(nowMs),
        entries.map(({ index }) => index),
        entries.map(({ member }) => member),
        entries.map(({ score }) => score),
      ]);
      return countedRows.parse(rows)[0].claimed === 1;
    },
    addToIndex: async ({ index, member, score }) => {
      await pool.query(add, [index, member, score]);
    },
    removeFromIndex: async (index, member) => {
      await pool.query(`DELETE FROM ${indexed} WHERE name = $1 AND member = $2`, [index, member]);
    },
    settleInIndex: async (index, member, { below, to }) => {
      const where = 'WHERE name = $1 AND member = $2 AND score < $3';
      if (to === null) await pool.query(`DELETE FROM ${indexed} ${where}`, [index, member, below]);
      else
        await pool.query(`UPDATE ${indexed} SET score = $4 ${where}`, [index, member, below, to]);
    },
    rangeOfIndex: async (index, { upTo = Number.POSITIVE_INFINITY, most }) => {
      const { rows } = await pool.query(range, [index, upTo, most]);
      return indexedRows.parse(rows);
    },
    check: async () => {
      await pool.query('SELECT 1');
    },
    sweep: async (nowMs) => {
      await pool.query(sweep, [Math.floor(nowMs)]);
    },
    close: () => pool.end(),
  };
}

/** Ends a pool whose server does not answer, without keeping anybody waiting. */
function endLater(pool: Pool, { log }: StoreDeps): void {
  pool.end().catch((error: unknown) => log.debug('postgres_error', errorFacts(error)));
}
