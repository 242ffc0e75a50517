/** The append-only log: numbering, constant cost, repair, and entries that cannot be read. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAppendLog } from '../../src/storage/append-log.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import type { Store } from '../../src/storage/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

const entrySchema = z.object({ text: z.string() });
type Entry = z.infer<typeof entrySchema>;

/** A store that counts what passes through it. */
function createCountingStore(store: Store) {
  const counts = { writes: 0, bytesWritten: 0, keysRead: 0 };
  const count = (key: string, value: unknown): void => {
    counts.writes += 1;
    counts.bytesWritten += Buffer.byteLength(key + JSON.stringify(value));
  };
  const counting: Store = {
    ...store,
    get: (key) => {
      counts.keysRead += 1;
      return store.get(key);
    },
    getMany: (keys) => {
      counts.keysRead += keys.length;
      return store.getMany(keys);
    },
    set: (key, value, options) => {
      count(key, value);
      return store.set(key, value, options);
    },
    setMany: (entries) => {
      for (const { key, value } of entries) count(key, value);
      return store.setMany(entries);
    },
  };
  return { counting, counts };
}

const setUp = () => {
  const log = createKeptLog();
  const store = createMemoryStore({ clock: createFakeClock(), log });
  const { counting, counts } = createCountingStore(store);
  const open = () => createAppendLog({ store: counting, log }, 'talk:a', entrySchema);
  return { log, store, counts, open, entries: open() };
};
const entryOf = (text: string): Entry => ({ text });
const textsOf = (read: readonly { readonly number: number; readonly value: Entry }[]) =>
  read.map(({ number, value }) => `${number} ${value.text}`);

describe('an append log', () => {
  it('is empty at first', async () => {
    const { entries } = setUp();
    expect(await entries.length()).toBe(0);
    expect(await entries.read()).toEqual([]);
    expect(await entries.readLast(10)).toEqual([]);
  });

  it('numbers entries from 1 and reads them oldest first', async () => {
    const { entries } = setUp();
    expect(await entries.append([entryOf('a'), entryOf('b')])).toEqual([1, 2]);
    expect(await entries.append([entryOf('c')])).toEqual([3]);
    expect(await entries.append([])).toEqual([]);
    expect(await entries.length()).toBe(3);
    expect(textsOf(await entries.read())).toEqual(['1 a', '2 b', '3 c']);
    expect(textsOf(await entries.read({ from: 2 }))).toEqual(['2 b', '3 c']);
    expect(textsOf(await entries.read({ from: 2, most: 1 }))).toEqual(['2 b']);
    expect(textsOf(await entries.read({ from: 4 }))).toEqual([]);
    expect(textsOf(await entries.readLast(2))).toEqual(['2 b', '3 c']);
    expect(textsOf(await entries.readLast(3))).toEqual(['1 a', '2 b', '3 c']);
    expect(textsOf(await entries.readLast(4))).toEqual(['1 a', '2 b', '3 c']);
  });

  it('reads more entries than one request asks for', async () => {
    const { entries } = setUp();
    await entries.append(Array.from({ length: 401 }, (_, index) => entryOf(`e${index + 1}`)));
    const read = await entries.read();
    expect(read).toHaveLength(401);
    expect(textsOf(read).at(-1)).toBe('401 e401');
    expect(textsOf(await entries.readLast(201)).at(0)).toBe('201 e201');
  });

  it('gives appends that overlap different numbers, in the order of the calls', async () => {
    const { entries } = setUp();
    const texts = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const numbers = await Promise.all(texts.map((text) => entries.append([entryOf(text)])));
    expect(numbers.flat()).toEqual(texts.map((_, index) => index + 1));
    expect(textsOf(await entries.read())).toEqual(texts.map((text, at) => `${at + 1} ${text}`));
  });

  it('goes on where another instance over the same store has ended', async () => {
    const { entries, open } = setUp();
    const other = open();
    await entries.append([entryOf('a')]);
    await other.append([entryOf('b')]);
    await entries.append([entryOf('c')]);
    expect(textsOf(await other.read())).toEqual(['1 a', '2 b', '3 c']);
  });

  it('writes and reads as much at turn 1,000 as at turn 10', async () => {
    const { entries, counts } = setUp();
    const costs: Record<number, typeof counts> = {};
    for (let turn = 1; turn <= 1_000; turn += 1) {
      const before = { ...counts };
      await entries.append([entryOf('question'), entryOf('answer')]);
      costs[turn] = {
        writes: counts.writes - before.writes,
        bytesWritten: counts.bytesWritten - before.bytesWritten,
        keysRead: counts.keysRead - before.keysRead,
      };
    }
    expect(costs[1_000]).toEqual(costs[10]);
    expect(costs[10]?.writes).toBe(3);
  });

  it.each([
    ['lags by one', { v: 1, next: '0000000003' }],
    ['lags by 120', { v: 1, next: '0000000001' }],
    ['is missing', undefined],
    ['cannot be read', { v: 1, next: 'three' }],
  ])('never overwrites an entry when the head %s', async (_, head) => {
    const { entries, store, log } = setUp();
    const texts = Array.from({ length: head?.next === '0000000003' ? 3 : 120 }, (_, n) => `e${n}`);
    await entries.append(texts.map(entryOf));
    if (head === undefined) await store.delete('talk:a:head');
    else await store.set('talk:a:head', head);
    expect(await entries.length()).toBe(texts.length);
    expect(await entries.append([entryOf('new')])).toEqual([texts.length + 1]);
    expect(textsOf(await entries.read())).toEqual(
      [...texts, 'new'].map((text, index) => `${index + 1} ${text}`),
    );
    expect(log.lines.some(({ event }) => event === 'append_log_head_lagged')).toBe(true);
    expect(await store.get('talk:a:head')).toEqual({
      v: 1,
      next: String(texts.length + 2).padStart(10, '0'),
    });
  });

  it('sets an entry that cannot be read aside, reports it, and reads the others', async () => {
    const { entries, store, log } = setUp();
    await entries.append(['a', 'b', 'c'].map(entryOf));
    await store.set('talk:a:0000000002', { words: 'of an older version' });
    expect(textsOf(await entries.read())).toEqual(['1 a', '3 c']);
    expect(await store.get('aside:talk:a:0000000002')).toEqual({ words: 'of an older version' });
    expect(log.lines).toContainEqual({
      level: 'error',
      event: 'store_value_set_aside',
      facts: { key: 'talk:a:0000000002', problems: ['text: invalid_type'] },
    });
  });

  it('gives the number of an entry set aside to no other, also when the head is lost', async () => {
    const { entries, store } = setUp();
    await entries.append(['a', 'b', 'c'].map(entryOf));
    await store.set('talk:a:0000000001', 'damaged');
    await store.set('talk:a:0000000003', 'damaged');
    await entries.read();
    await store.delete('talk:a:head');
    expect(await entries.append([entryOf('d')])).toEqual([4]);
    expect(textsOf(await entries.read())).toEqual(['2 b', '4 d']);
  });

  it('puts a tombstone over an entry, and only over one that is there', async () => {
    const { entries } = setUp();
    await entries.append(['a', 'b'].map(entryOf));
    await entries.overwrite(2, entryOf('deleted'));
    expect(textsOf(await entries.read())).toEqual(['1 a', '2 deleted']);
    for (const number of [0, 3]) {
      await expect(entries.overwrite(number, entryOf('x'))).rejects.toMatchObject({
        code: 'internal',
      });
    }
    expect(await entries.length()).toBe(2);
  });

  it('rejects an append that the store refuses, stores none of it, and goes on', async () => {
    const log = createKeptLog();
    const store = createMemoryStore({ clock: createFakeClock(), log });
    let failing = true;
    const broken: Store = {
      ...store,
      setMany: (values) =>
        failing ? Promise.reject(new Error('disk full')) : store.setMany(values),
    };
    const entries = createAppendLog({ store: broken, log }, 'talk:a', entrySchema);
    await expect(entries.append(['a', 'b'].map(entryOf))).rejects.toThrow('disk full');
    failing = false;
    expect(await entries.append([entryOf('c')])).toEqual([1]);
    expect(textsOf(await entries.read())).toEqual(['1 c']);
  });
});
