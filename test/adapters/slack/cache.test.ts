/** Looking things up on Slack without holding anybody up. */

import { describe, expect, it } from 'vitest';
import { cacheDefaults, createCache } from '../../../adapters/slack/cache.ts';
import { BotError } from '../../../src/base/errors.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createKeptLog } from '../../support/log.ts';

function setUp(load: (id: string, count: number) => Promise<string>): {
  readonly clock: FakeClock;
  readonly get: (id: string) => Promise<string | null>;
  readonly known: (id: string, mostWaitMs?: number) => Promise<string>;
  readonly asked: readonly string[];
} {
  const clock = createFakeClock();
  const asked: string[] = [];
  const cache = createCache<string>(
    {
      clock,
      log: createKeptLog(),
      load: (id) => {
        asked.push(id);
        return load(id, asked.length);
      },
    },
    { ...cacheDefaults, mostEntries: 2 },
  );
  return { clock, ...cache, asked };
}

describe('the cache', () => {
  it('asks once for many at the same time, and again when the answer is old', async () => {
    const { clock, get, asked } = setUp((id, count) => Promise.resolve(`${id}${count}`));
    expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual(['a1', 'a1', 'b2']);
    await clock.advance(cacheDefaults.freshMs - 1);
    expect(await get('a')).toBe('a1');
    await clock.advance(1);
    expect(await get('a')).toBe('a3');
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  it('keeps an old answer when asking again fails, and waits before it asks once more', async () => {
    const { clock, get, asked } = setUp((id, count) =>
      count === 2 ? Promise.reject(new Error('out')) : Promise.resolve(`${id}${count}`),
    );
    expect(await get('a')).toBe('a1');
    await clock.advance(cacheDefaults.freshMs);
    expect(await get('a')).toBe('a1');
    await clock.advance(cacheDefaults.failedMs - 1);
    expect(await get('a')).toBe('a1');
    expect(asked).toHaveLength(2);
    await clock.advance(1);
    expect(await get('a')).toBe('a3');
  });

  it('goes on without the answer after the most wait, and has it later', async () => {
    let answer = (_value: string): void => undefined;
    const { clock, get } = setUp(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const first = get('a');
    await clock.advance(cacheDefaults.mostWaitMs);
    expect(await first).toBeNull();
    answer('late');
    await clock.settle();
    expect(await get('a')).toBe('late');
    expect(clock.pending).toBe(0);
  });

  it('keeps an old answer for a day and not longer', async () => {
    const { clock, get, known } = setUp((id, count) =>
      count === 1
        ? Promise.resolve(id)
        : Promise.reject(new BotError('surface_unavailable', 'out')),
    );
    expect(await get('a')).toBe('a');
    await clock.advance(cacheDefaults.mostAgeMs);
    expect(await get('a')).toBe('a');
    expect(await known('a')).toBe('a');
    await clock.advance(1);
    expect(await get('a')).toBeNull();
    await expect(known('a')).rejects.toThrow('out');
  });

  it('says why a value is not known: the failure, or that it took too long', async () => {
    const { clock, known } = setUp((id) =>
      id === 'a'
        ? Promise.reject(new BotError('surface_unavailable', 'out'))
        : new Promise(() => undefined),
    );
    await expect(known('a')).rejects.toThrow('out');
    await expect(known('a')).rejects.toThrow('out');
    const waiting = Promise.allSettled([known('b', 300)]);
    await clock.advance(300);
    expect(await waiting).toMatchObject([{ reason: { code: 'surface_unavailable' } }]);
  });

  it('asks for nothing more until the wait that Slack asked for is over', async () => {
    const limited = new BotError('rate_limited', 'Slow down.', { retryAfterMs: 90_000 });
    const { clock, get, known, asked } = setUp((id, count) =>
      count === 2 ? Promise.reject(limited) : Promise.resolve(id),
    );
    await get('a');
    await clock.advance(cacheDefaults.freshMs);
    expect(await get('a')).toBe('a');
    await clock.advance(89_999);
    expect(await get('a')).toBe('a');
    await expect(known('b')).rejects.toBe(limited);
    expect(asked).toEqual(['a', 'a']);
    await clock.advance(1);
    expect(await known('b')).toBe('b');
  });

  it('forgets the oldest when it is full', async () => {
    const { get, asked } = setUp((id) => Promise.resolve(id));
    for (const id of ['a', 'b', 'c', 'a']) await get(id);
    expect(asked).toEqual(['a', 'b', 'c', 'a']);
  });
});
