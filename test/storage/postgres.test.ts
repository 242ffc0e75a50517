/** The PostgreSQL store: the contract on a real server, its outages, and what lies in its tables. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../src/storage/postgres.ts';
import { describeStoreContract } from '../contract/store.ts';
import { describeStoreOutages } from '../contract/store-outage.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';
import { serverRuns } from '../support/servers.ts';

const port = 5432;
const runs = await serverRuns('PostgreSQL', port);
const addressOf = (at: number): string => `postgres://root@127.0.0.1:${at}/test`;
const newNamespace = (): string => `test_${randomBytes(6).toString('hex')}`;
const outage = newNamespace();

const query = async (sql: string): Promise<unknown[]> => {
  const pool = new pg.Pool({ connectionString: addressOf(port) });
  try {
    return (await pool.query(sql)).rows;
  } finally {
    await pool.end();
  }
};
const dropTables = (namespace: string) =>
  query(`DROP TABLE IF EXISTS ${namespace}_kept, ${namespace}_indexed`);

describe.skipIf(!runs)('PostgreSQL', () => {
  const setUp = async () => {
    const namespace = newNamespace();
    const deps = { clock: createFakeClock(Date.now()), log: createKeptLog(), namespace };
    const store = await openPostgresStore(addressOf(port), deps);
    const remove = async () => {
      await store.close();
      await dropTables(namespace);
    };
    return { ...deps, store, remove };
  };

  describeStoreContract('PostgreSQL', async (deps) => {
    const namespace = newNamespace();
    const store = await openPostgresStore(addressOf(port), { ...deps, namespace });
    return {
      store,
      remove: async () => {
        await store.close();
        await dropTables(namespace);
      },
    };
  });

  it('sweeps expired keys every minute', async () => {
    const { store, namespace, clock, remove } = await setUp();
    await store.set('short', 1, { ttlMs: 60_000 });
    await store.claim('claimed', 1, { ttlMs: 60_000 });
    await store.set('long', 1, { ttlMs: 60_001 });
    await store.set('for ever', 1);
    await clock.advance(60_000);
    await expect
      .poll(() => query(`SELECT key FROM ${namespace}_kept ORDER BY key`), { timeout: 5_000 })
      .toEqual([{ key: 'for ever' }, { key: 'long' }]);
    await remove();
  });

  it('claims over and beside values that are damaged', async () => {
    const { store, namespace, remove } = await setUp();
    await store.set('damaged', 1);
    await query(`UPDATE ${namespace}_kept SET value = '{"expires":' WHERE key = 'damaged'`);
    expect(await store.get('damaged')).toEqual({ unreadable: '{"expires":' });
    expect(await store.claim('damaged', 1, { ttlMs: 1_000 })).toBe(false);
    await remove();
  });

  it('rejects with store_unavailable when a statement fails', async () => {
    const { store, namespace, remove } = await setUp();
    await dropTables(namespace);
    for (const attempt of [
      () => store.get('key'),
      () => store.getMany(['key']),
      () => store.set('key', 1),
      () => store.setMany([{ key: 'key', value: 1 }]),
      () => store.claim('key', 1, { ttlMs: 1_000 }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'store_unavailable' });
    }
    await remove();
  });

  it('is opened by several at the same moment, each with its own end', async () => {
    const namespace = newNamespace();
    const deps = { clock: createFakeClock(), log: createKeptLog(), namespace };
    const stores = await Promise.all(
      Array.from({ length: 5 }, () => openPostgresStore(addressOf(port), deps)),
    );
    const won = await Promise.all(
      stores.map((store, index) => store.claim('key', index, { ttlMs: 1_000 })),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    const [first, ...others] = stores;
    await first?.close();
    for (const store of others) {
      expect(await store.get('key')).toBe(won.indexOf(true));
      await store.close();
    }
    await dropTables(namespace);
  });
});

describeStoreOutages({
  name: 'PostgreSQL',
  port,
  runs,
  open: (at, deps) => openPostgresStore(addressOf(at), { ...deps, namespace: outage }),
});

afterAll(async () => {
  if (runs) await dropTables(outage);
});
