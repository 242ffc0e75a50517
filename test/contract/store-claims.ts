/** The part of the store contract on claims: exactly one caller wins. */

import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/storage/store.ts';
import type { FakeClock } from '../support/fake-clock.ts';

export function describeClaims(
  setUp: () => Promise<{ readonly store: Store; readonly clock: FakeClock }>,
): void {
  describe('claims', () => {
    it('are won by exactly one of 50 callers, and hold the value of the winner', async () => {
      const { store } = await setUp();
      const callers = Array.from({ length: 50 }, (_, caller) => caller);
      const won = await Promise.all(
        callers.map((caller) => store.claim('key', { caller }, { ttlMs: 60_000 })),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await store.get('key')).toEqual({ caller: won.indexOf(true) });
    });

    it('are refused until the life of the first ends, and not after', async () => {
      const { store, clock } = await setUp();
      expect(await store.claim('key', 1, { ttlMs: 60_000 })).toBe(true);
      await clock.advance(59_999);
      expect(await store.claim('key', 2, { ttlMs: 60_000 })).toBe(false);
      expect(await store.get('key')).toBe(1);
      await clock.advance(1);
      expect(await store.claim('key', 3, { ttlMs: 60_000 })).toBe(true);
      expect(await store.claim('key', 4, { ttlMs: 60_000 })).toBe(false);
      expect(await store.get('key')).toBe(3);
      await clock.advance(60_000);
      expect(await store.get('key')).toBeUndefined();
    });

    it('are refused where a value was set, and won where it was deleted', async () => {
      const { store } = await setUp();
      await store.set('key', 'set');
      expect(await store.claim('key', 'claimed', { ttlMs: 60_000 })).toBe(false);
      expect(await store.get('key')).toBe('set');
      await store.delete('key');
      expect(await store.claim('key', 'claimed', { ttlMs: 60_000 })).toBe(true);
    });

    it('write their index entries only when won', async () => {
      const { store } = await setUp();
      const indexed = (score: number) => [
        { index: 'inbox:a', member: 'm', score },
        { index: 'inbox:b', member: 'm', score: score + 1 },
        { index: 'inbox:a', member: 'n', score: score + 2 },
      ];
      const all = async () => [
        await store.rangeOfIndex('inbox:a', { most: 10 }),
        await store.rangeOfIndex('inbox:b', { most: 10 }),
      ];
      await store.claim('key', 1, { ttlMs: 60_000, indexed: indexed(1) });
      const written = [
        [
          { member: 'm', score: 1 },
          { member: 'n', score: 3 },
        ],
        [{ member: 'm', score: 2 }],
      ];
      expect(await all()).toEqual(written);
      expect(await store.claim('key', 2, { ttlMs: 60_000, indexed: indexed(50) })).toBe(false);
      expect(await all()).toEqual(written);
    });

    it('take the same index entries at once, in whatever order they are named', async () => {
      const { store } = await setUp();
      const entries = Array.from({ length: 100 }, (_, index) => `m${index}`);
      const backwards = entries.toReversed();
      const won = await Promise.all(
        Array.from({ length: 30 }, (_, claimer) =>
          store.claim(`key${claimer}`, 1, {
            ttlMs: 60_000,
            indexed: (claimer % 2 === 0 ? entries : backwards).map((member) => ({
              ...{ index: 'inbox', member, score: claimer },
            })),
          }),
        ),
      );
      expect(won).toEqual(Array.from({ length: 30 }, () => true));
      const range = await store.rangeOfIndex('inbox', { most: 200 });
      expect(range).toHaveLength(100);
      expect(new Set(range.map(({ score }) => score)).size).toBe(1);
    });

    it('write nothing at all when an index entry cannot be written', async () => {
      const { store } = await setUp();
      const indexed = [
        { index: 'inbox', member: 'good', score: 1 },
        { index: 'inbox', member: 'bad', score: Number.NaN },
      ];
      await expect(store.claim('key', 1, { ttlMs: 60_000, indexed })).rejects.toMatchObject({
        code: 'internal',
      });
      expect(await store.get('key')).toBeUndefined();
      expect(await store.rangeOfIndex('inbox', { most: 10 })).toEqual([]);
    });
  });
}
