/** What the ledger keeps in memory, and that its sums are the same with less of it. */

import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { createUsageLedger } from '../../src/conversations/usage-ledger.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import type { Store } from '../../src/storage/store.ts';
import { createKeptLog } from '../support/log.ts';

const dayMs = 24 * 3600 * 1000;
const noon = Date.UTC(2026, 10, 30, 12);
const all = { kind: 'all' } as const;
const conversation = { adapter: 'web', space: 'local', channel: 'c', thread: 't' };
const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 };

/** A ledger whose clock is set by hand, and a store that tells what was read and can be held up. */
function setUp() {
  let now = noon;
  let held: Promise<void> | undefined;
  const clock: Clock = { now: () => now, setTimer: () => () => {} };
  const log = createKeptLog();
  const memory = createMemoryStore({ clock, log });
  const read: string[] = [];
  const store: Store = {
    ...memory,
    getMany: async (keys) => {
      const values = await memory.getMany(keys);
      read.push(...keys.filter((_, index) => values[index] !== undefined));
      return values;
    },
    setMany: async (entries) => {
      await held;
      await memory.setMany(entries);
    },
  };
  const createLedger = () => createUsageLedger({ store, clock, log });
  const ledger = createLedger();
  return {
    ledger,
    createLedger,
    record: (runId: string) =>
      ledger.record({
        ...{ runId, step: 1, conversation, person: 'p', model: 'm/m', usage },
        ...{ costUsd: 1, isCostKnown: true },
      }),
    setTime: (at: number) => {
      now = at;
    },
    holdWrites: () => {
      let release = (): void => {};
      held = new Promise((resolve) => {
        release = () => {
          held = undefined;
          resolve();
        };
      });
      return release;
    },
    /** Days (of the month) of the lines that were read since the last look. */
    linesRead: () => read.splice(0).map((key) => key.slice('usage:2026-11-'.length).split(':')[0]),
  };
}

async function callsOf(
  ledger: ReturnType<typeof createUsageLedger>,
  days: number,
): Promise<number> {
  return (await ledger.sum(all, days)).calls;
}

describe('the days of the ledger', () => {
  it('are followed today and yesterday; an older one is read when asked for, and not kept', async () => {
    const { ledger, record, setTime, linesRead } = setUp();
    for (const day of [3, 2, 1, 0]) {
      setTime(noon - day * dayMs);
      await record('r');
    }
    linesRead();
    for (const read of [
      ['30', '29', '28', '27'],
      ['28', '27'],
    ]) {
      expect(await callsOf(ledger, 90)).toBe(4);
      expect(linesRead()).toEqual(read);
    }
    expect((await ledger.byModel(90)).get('m/m')?.calls).toBe(4);
    expect(linesRead()).toEqual(['28', '27']);
  });

  it('are let go of as they grow old, whatever is asked', async () => {
    const { ledger, record, setTime, linesRead } = setUp();
    await record('r');
    expect(await callsOf(ledger, 1)).toBe(1);
    setTime(noon + dayMs);
    linesRead();
    expect(await callsOf(ledger, 2)).toBe(1);
    expect(linesRead()).toEqual([]);
    setTime(noon + 2 * dayMs);
    expect(await callsOf(ledger, 1)).toBe(0);
    setTime(noon + dayMs);
    expect(await callsOf(ledger, 2)).toBe(1);
    expect(linesRead()).toEqual(['30']);
  });

  it('count a line that is written late once, after the day was let go of', async () => {
    const { ledger, record, setTime, holdWrites } = setUp();
    await record('r');
    const release = holdWrites();
    const late = record('late');
    setTime(noon + 3 * dayMs);
    expect(await callsOf(ledger, 1)).toBe(0);
    expect(await callsOf(ledger, 4)).toBe(1);
    release();
    await late;
    expect(await callsOf(ledger, 4)).toBe(2);
    expect(await callsOf(ledger, 4)).toBe(2);
  });

  it('lose no line when the clock goes back to a day that is still being written', async () => {
    const { ledger, createLedger, record, setTime, holdWrites } = setUp();
    const release = holdWrites();
    const writes = [record('one')];
    setTime(noon + 3 * dayMs);
    expect(await callsOf(ledger, 4)).toBe(0);
    setTime(noon);
    writes.push(record('two'), record('three'));
    expect(await callsOf(ledger, 1)).toBe(0);
    release();
    await Promise.all(writes);
    expect(await callsOf(ledger, 1)).toBe(3);
    expect(await callsOf(createLedger(), 1)).toBe(3);
  });

  it('give the same to all who ask at once', async () => {
    const { ledger, record, setTime } = setUp();
    await record('r');
    await record('r');
    setTime(noon + 5 * dayMs);
    const asked = Array.from({ length: 5 }, () => callsOf(ledger, 90));
    expect(await Promise.all(asked)).toEqual([2, 2, 2, 2, 2]);
  });
});
