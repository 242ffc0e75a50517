/** A prefixed store, and reading by schema. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMemoryStore } from '../../src/storage/memory.ts';
import { prefixedStore } from '../../src/storage/store.ts';
import { readValidated } from '../../src/storage/validated.ts';
import { describeStoreContract } from '../contract/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

// A key of the contract is 1,000 bytes long, so the prefix here is empty.
describeStoreContract('a prefixed store', async (deps) => {
  const store = createMemoryStore(deps);
  return { store: prefixedStore(store, ''), remove: () => store.close() };
});

const setUp = () => {
  const log = createKeptLog();
  const store = createMemoryStore({ clock: createFakeClock(), log });
  return { log, store };
};

describe('a prefixed store', () => {
  it('begins all keys and indexes with its prefix', async () => {
    const { store } = setUp();
    const prefixed = prefixedStore(store, 'a:');
    await prefixed.set('key', 1);
    await prefixed.setMany([{ key: 'many', value: 2 }]);
    await prefixed.claim('claimed', 3, {
      ttlMs: 1_000,
      indexed: [{ index: 'index', member: 'm', score: 1 }],
    });
    await prefixed.addToIndex({ index: 'index', member: 'n', score: 2 });
    expect(await store.getMany(['a:key', 'a:many', 'a:claimed', 'key'])).toEqual([
      1,
      2,
      3,
      undefined,
    ]);
    expect(await store.rangeOfIndex('a:index', { most: 9 })).toHaveLength(2);
    await prefixed.removeFromIndex('index', 'm');
    await prefixed.delete('key');
    expect(await store.rangeOfIndex('a:index', { most: 9 })).toHaveLength(1);
    expect(await store.get('a:key')).toBeUndefined();
  });
});

describe('reading by schema', () => {
  const schema = z.object({ v: z.literal(1), count: z.number() });

  it('gives the value, or undefined where there is none', async () => {
    const { log, store } = setUp();
    await store.set('key', { v: 1, count: 2 });
    expect(await readValidated({ store, log }, 'key', schema)).toEqual({ v: 1, count: 2 });
    expect(await readValidated({ store, log }, 'absent', schema)).toBeUndefined();
    expect(log.lines).toEqual([]);
  });

  it('sets an unreadable value aside with all it held, and says so without its words', async () => {
    const { log, store } = setUp();
    await store.set('key', { v: 2, count: 'words of a person' });
    expect(await readValidated({ store, log }, 'key', schema)).toBeUndefined();
    expect(await store.getMany(['key', 'aside:key'])).toEqual([
      undefined,
      { v: 2, count: 'words of a person' },
    ]);
    expect(log.lines.map(({ event }) => event)).toEqual(['store_value_set_aside']);
    expect(JSON.stringify(log.lines)).not.toContain('words of a person');
  });
});
