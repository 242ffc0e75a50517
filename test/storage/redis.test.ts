/** The Redis store: the contract on a real server, its outages, and what lies in Redis. */

import { randomBytes } from 'node:crypto';
import { createClient } from '@keyv/redis';
import { afterAll, describe, expect, it } from 'vitest';
import { openRedisStore } from '../../src/storage/redis.ts';
import { describeStoreContract } from '../contract/store.ts';
import { describeStoreOutages } from '../contract/store-outage.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';
import { serverRuns } from '../support/servers.ts';

const port = 6379;
const runs = await serverRuns('Redis', port);
const addressOf = (at: number): string => `redis://127.0.0.1:${at}/9`;
const newNamespace = (): string => `test_${randomBytes(6).toString('hex')}`;
const outage = newNamespace();

const openClient = async () => {
  const client = createClient({ url: addressOf(port) });
  await client.connect();
  return client;
};
const removeKeys = async (namespace: string): Promise<void> => {
  const client = await openClient();
  const keys = await client.keys(`${namespace}:*`);
  if (keys.length > 0) await client.del(keys);
  client.destroy();
};

describe.skipIf(!runs)('Redis', () => {
  describeStoreContract('Redis', async (deps) => {
    const namespace = newNamespace();
    const store = await openRedisStore(addressOf(port), { ...deps, namespace });
    return {
      store,
      remove: async () => {
        await store.close();
        await removeKeys(namespace);
      },
    };
  });

  it('gives keys with a life an expiry in Redis itself, claims and sets alike', async () => {
    const namespace = newNamespace();
    const deps = { clock: createFakeClock(Date.now()), log: createKeptLog(), namespace };
    const store = await openRedisStore(addressOf(port), deps);
    await store.set('set', 1, { ttlMs: 60_000 });
    await store.claim('claimed', 1, { ttlMs: 60_000 });
    await store.set('for ever', 1);
    const client = await openClient();
    const [set, claimed, forEver] = await Promise.all(
      ['set', 'claimed', 'for ever'].map((key) => client.pTTL(`${namespace}::${key}`)),
    );
    client.destroy();
    for (const life of [set, claimed]) {
      expect(life).toBeGreaterThan(50_000);
      expect(life).toBeLessThanOrEqual(60_000);
    }
    expect(forEver).toBe(-1);
    await store.close();
    await removeKeys(namespace);
  });
});

describeStoreOutages({
  name: 'Redis',
  port,
  runs,
  open: (at, deps) => openRedisStore(addressOf(at), { ...deps, namespace: outage }),
});

afterAll(async () => {
  if (runs) await removeKeys(outage);
});
