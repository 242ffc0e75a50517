/** What every store promises. Each backend runs this suite with its own way to open an empty one. */

import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/storage/store.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createKeptLog, type KeptLog } from '../support/log.ts';
import { describeClaims } from './store-claims.ts';

interface OpenedStore {
  readonly store: Store;
  /** Closes it and removes what it left. */
  readonly remove: () => Promise<void>;
}

export type OpenEmptyStore = (deps: {
  readonly clock: FakeClock;
  readonly log: KeptLog;
}) => Promise<OpenedStore>;

export function describeStoreContract(name: string, openEmpty: OpenEmptyStore): void {
  describe(`the store contract on ${name}`, () => {
    const opened: OpenedStore[] = [];
    const setUp = async () => {
      // Real time runs on during a test, so lives are seconds: the backends' own clocks stay quiet.
      const clock = createFakeClock(Date.now());
      const log = createKeptLog();
      const made = await openEmpty({ clock, log });
      opened.push(made);
      return { ...made, clock, log };
    };
    afterEach(async () => {
      for (const { remove } of opened.splice(0)) await remove();
    });

    describe('keyed values', () => {
      it('gives undefined for a key that was never set', async () => {
        const { store } = await setUp();
        expect(await store.get('absent')).toBeUndefined();
      });

      it.each([
        ['null', null],
        ['false', false],
        ['zero', 0],
        ['an empty string', ''],
        ['a string that begins with a colon', ':base64:AAAA'],
        ['a string with NUL and quotes', 'a\u0000b"c\'d\\'],
        ['unicode', 'héllo 👩‍👩‍👧 日本語 \u2028'],
        ['a list', [1, [2, null], {}]],
        ['a nested object', { a: { b: { c: [true, { d: null, ':e': ':f' }] } } }],
        ['an object with a field named expires', { expires: 1, value: 2 }],
        ['1 MB of text', 'x'.repeat(1_000_000)],
      ])('returns %s as it was set', async (_, value) => {
        const { store } = await setUp();
        await store.set('key', value);
        expect(await store.get('key')).toEqual(value);
        expect(await store.getMany(['key'])).toEqual([value]);
      });

      it('replaces the value of a key', async () => {
        const { store } = await setUp();
        await store.set('key', { first: true });
        await store.set('key', { second: true });
        expect(await store.get('key')).toEqual({ second: true });
      });

      it.each([
        ['colons', 'slack:T1:C1:1700000000.000100'],
        ['unicode', 'kanäle/日本語/😀'],
        ['spaces, quotes, percent and underscore', `a b'c"d%e_f\\g`],
        ['the namespace of the store', 'deckhand:key'],
        ['1,000 bytes', 'k'.repeat(1_000)],
      ])('keeps keys with %s apart', async (_, key) => {
        const { store } = await setUp();
        const other = `${key.slice(0, -2)}##`;
        await store.setMany([
          { key, value: 1 },
          { key: other, value: 2 },
        ]);
        expect(await store.getMany([other, key])).toEqual([2, 1]);
        await store.delete(other);
        expect(await store.getMany([other, key])).toEqual([undefined, 1]);
      });

      it('refuses a key of 1,001 bytes', async () => {
        const { store } = await setUp();
        await expect(store.set('k'.repeat(1_001), 1)).rejects.toMatchObject({ code: 'internal' });
      });

      it.each([
        ['NUL', 'a\u0000b'],
        ['the first half of a surrogate pair', 'a\ud83d'],
        ['the second half of a surrogate pair', '\ude00b'],
      ])('refuses a key, an index and a member with %s', async (_, wrong) => {
        const { store } = await setUp();
        const indexed = [{ index: 'index', member: wrong, score: 1 }];
        for (const attempt of [
          () => store.get(wrong),
          () => store.getMany(['good', wrong]),
          () => store.set(wrong, 1),
          () =>
            store.setMany([
              { key: 'good', value: 1 },
              { key: wrong, value: 1 },
            ]),
          () => store.delete(wrong),
          () => store.claim(wrong, 1, { ttlMs: 1_000 }),
          () => store.claim('good', 1, { ttlMs: 1_000, indexed }),
          () => store.addToIndex({ index: wrong, member: 'm', score: 1 }),
          () => store.addToIndex({ index: 'index', member: wrong, score: 1 }),
          () => store.removeFromIndex('index', wrong),
          () => store.settleInIndex('index', wrong, { below: 1, to: null }),
          () => store.rangeOfIndex(wrong, { most: 1 }),
        ]) {
          await expect(attempt()).rejects.toMatchObject({
            code: 'internal',
            message: expect.stringContaining('NUL'),
          });
        }
        expect(await store.get('good')).toBeUndefined();
        expect(await store.rangeOfIndex('index', { most: 1 })).toEqual([]);
      });

      it('takes the same keys from many writers at once, in whatever order they name them', async () => {
        const { store } = await setUp();
        const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
        const backwards = keys.toReversed();
        await Promise.all(
          Array.from({ length: 30 }, (_, writer) =>
            store.setMany(
              (writer % 2 === 0 ? keys : backwards).map((key) => ({ key, value: writer })),
            ),
          ),
        );
        expect(new Set(await store.getMany(keys)).size).toBe(1);
      });

      it('returns many values in the order of the keys, repeated and absent ones too', async () => {
        const { store } = await setUp();
        await store.setMany([
          { key: 'a', value: 1 },
          { key: 'b', value: null },
          { key: 'c', value: 3 },
        ]);
        expect(await store.getMany(['c', 'absent', 'a', 'c', 'b'])).toEqual([
          3,
          undefined,
          1,
          3,
          null,
        ]);
        expect(await store.getMany([])).toEqual([]);
      });

      it('sets many values at once, the last one of a repeated key', async () => {
        const { store } = await setUp();
        await store.setMany([]);
        await store.setMany([
          { key: 'a', value: 1 },
          { key: 'b', value: 2 },
          { key: 'a', value: 3 },
        ]);
        expect(await store.getMany(['a', 'b'])).toEqual([3, 2]);
      });

      it('sets none of many values when one cannot be set', async () => {
        const { store } = await setUp();
        await store.set('a', 'before');
        const entries = [
          { key: 'a', value: 'after' },
          { key: 'b', value: 1n },
        ];
        await expect(store.setMany(entries)).rejects.toMatchObject({ code: 'internal' });
        expect(await store.getMany(['a', 'b'])).toEqual(['before', undefined]);
      });

      it('shows another reader all or none of many values', async () => {
        const { store } = await setUp();
        const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
        await store.setMany(keys.map((key) => ({ key, value: 0 })));
        const rounds = Array.from({ length: 20 }, (_, round) =>
          Promise.all([
            store.setMany(keys.map((key) => ({ key, value: round }))),
            store.getMany(keys),
          ]),
        );
        for (const [, seen] of await Promise.all(rounds)) expect(new Set(seen).size).toBe(1);
      });

      it('deletes a key, also an absent one', async () => {
        const { store } = await setUp();
        await store.set('key', 1);
        await store.delete('key');
        await store.delete('key');
        expect(await store.get('key')).toBeUndefined();
      });
    });

    describe('life of values', () => {
      it('keeps a value for its life less 1 ms, and not at its end', async () => {
        const { store, clock } = await setUp();
        await store.set('key', 'value', { ttlMs: 60_000 });
        await clock.advance(59_999);
        expect(await store.get('key')).toBe('value');
        expect(await store.getMany(['key'])).toEqual(['value']);
        await clock.advance(1);
        expect(await store.get('key')).toBeUndefined();
        expect(await store.getMany(['key'])).toEqual([undefined]);
      });

      it('gives a value set again without a life no end', async () => {
        const { store, clock } = await setUp();
        await store.set('key', 1, { ttlMs: 10_000 });
        await store.set('key', 2);
        await clock.advance(200_000);
        expect(await store.get('key')).toBe(2);
      });

      it('never loses a value that is set while its expired one is read', async () => {
        const { store, clock } = await setUp();
        for (let round = 0; round < 20; round += 1) {
          await store.set('key', 'old', { ttlMs: 10_000 });
          await clock.advance(10_000);
          const reading = Promise.all([store.get('key'), store.getMany(['key'])]);
          const writing = store.set('key', 'new', { ttlMs: 10_000 });
          await Promise.all([reading, writing]);
          expect(await store.get('key')).toBe('new');
        }
      });

      it('refuses a life of 0 ms', async () => {
        const { store } = await setUp();
        await expect(store.set('key', 1, { ttlMs: 0 })).rejects.toMatchObject({
          code: 'internal',
        });
        await expect(store.claim('key', 1, { ttlMs: 0 })).rejects.toMatchObject({
          code: 'internal',
        });
      });
    });

    describeClaims(setUp);

    describe('indexes', () => {
      const members = async (store: Store, options: { upTo?: number; most: number }) =>
        (await store.rangeOfIndex('index', options)).map(({ member }) => member);

      it('are sorted by score, ties by the bytes of the member', async () => {
        const { store } = await setUp();
        for (const [member, score] of [
          ['late', 1_700_000_000_123.5],
          ['b', 5],
          ['B', 5],
          ['ä', 5],
          ['😀', 5],
          ['\uffee', 5],
          ['a:1', 5],
          ['first', -2],
        ] as const) {
          await store.addToIndex({ index: 'index', member, score });
        }
        expect(await members(store, { most: 100 })).toEqual([
          'first',
          'B',
          'a:1',
          'b',
          'ä',
          '\uffee',
          '😀',
          'late',
        ]);
        const last = (await store.rangeOfIndex('index', { most: 100 })).at(-1);
        expect(last).toEqual({ member: 'late', score: 1_700_000_000_123.5 });
      });

      it('give scores up to and with the limit, and at most so many', async () => {
        const { store } = await setUp();
        for (const score of [10, 20, 30]) {
          await store.addToIndex({ index: 'index', member: `m${score}`, score });
        }
        expect(await members(store, { upTo: 19, most: 10 })).toEqual(['m10']);
        expect(await members(store, { upTo: 20, most: 10 })).toEqual(['m10', 'm20']);
        expect(await members(store, { most: 2 })).toEqual(['m10', 'm20']);
        expect(await members(store, { most: 0 })).toEqual([]);
        expect(await members(store, { upTo: 9, most: 10 })).toEqual([]);
      });

      it('move a member that is added again, and remove it', async () => {
        const { store } = await setUp();
        await store.addToIndex({ index: 'index', member: 'a', score: 1 });
        await store.addToIndex({ index: 'index', member: 'b', score: 2 });
        await store.addToIndex({ index: 'index', member: 'a', score: 3 });
        expect(await members(store, { most: 10 })).toEqual(['b', 'a']);
        await store.removeFromIndex('index', 'b');
        await store.removeFromIndex('index', 'b');
        expect(await members(store, { most: 10 })).toEqual(['a']);
      });

      it('settle a member only when its score is below the given one', async () => {
        const { store } = await setUp();
        await store.addToIndex({ index: 'index', member: 'a', score: 10 });
        await store.settleInIndex('index', 'a', { below: 10, to: null });
        expect(await members(store, { most: 10 })).toEqual(['a']);
        await store.settleInIndex('index', 'a', { below: 11, to: 50 });
        expect(await store.rangeOfIndex('index', { most: 10 })).toEqual([
          { member: 'a', score: 50 },
        ]);
        await store.settleInIndex('index', 'a', { below: 51, to: null });
        await store.settleInIndex('index', 'a', { below: 51, to: 60 });
        expect(await members(store, { most: 10 })).toEqual([]);
      });

      it('are apart from each other and from keys of the same name', async () => {
        const { store } = await setUp();
        await store.addToIndex({ index: 'index', member: 'a', score: 1 });
        await store.addToIndex({ index: 'index:2', member: 'b', score: 1 });
        await store.set('index', 'value');
        await store.removeFromIndex('index:2', 'a');
        expect(await members(store, { most: 10 })).toEqual(['a']);
        expect(await store.get('index')).toBe('value');
      });
    });

    describe('the end', () => {
      it('answers a check while open, and rejects every member after closing', async () => {
        const { store } = await setUp();
        await expect(store.check()).resolves.toBeUndefined();
        await store.close();
        await store.close();
        for (const attempt of everyMember(store)) {
          await expect(attempt()).rejects.toMatchObject({ code: 'store_unavailable' });
        }
      });
    });
  });
}

/** One call of each member but close. */
export function everyMember(store: Store): readonly (() => Promise<unknown>)[] {
  return [
    () => store.get('key'),
    () => store.getMany(['key', 'other']),
    () => store.set('key', 1),
    () => store.setMany([{ key: 'key', value: 1 }]),
    () => store.delete('key'),
    () => store.claim('claimed', 1, { ttlMs: 1_000 }),
    () => store.addToIndex({ index: 'index', member: 'a', score: 1 }),
    () => store.removeFromIndex('index', 'a'),
    () => store.settleInIndex('index', 'a', { below: 1, to: null }),
    () => store.rangeOfIndex('index', { most: 1 }),
    () => store.check(),
  ];
}
