/** Read marks in the store. */

import { describe, expect, it } from 'vitest';
import { createReadMarks } from '../../src/app/read-marks.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

const day = 24 * 3600 * 1000;

function setUp() {
  const clock = createFakeClock();
  const log = createKeptLog();
  const store = createMemoryStore({ clock, log });
  return { clock, log, store, marks: createReadMarks({ store, log }) };
}

describe('read marks', () => {
  it('belong to a conversation and a path, for 30 days', async () => {
    const { clock, marks } = setUp();
    const hash = 'a'.repeat(64);
    await marks.set('c1', 'a.txt', hash);
    expect(await marks.get('c1', 'a.txt')).toBe(hash);
    expect(await marks.get('c2', 'a.txt')).toBeUndefined();
    expect(await marks.get('c1', 'b.txt')).toBeUndefined();
    await clock.advance(30 * day - 1);
    expect(await marks.get('c1', 'a.txt')).toBe(hash);
    await clock.advance(1);
    expect(await marks.get('c1', 'a.txt')).toBeUndefined();
  });

  it('take paths longer than a key may be', async () => {
    const { marks } = setUp();
    const long = 'ä/'.repeat(1500);
    await marks.set('c1', long, 'b'.repeat(64));
    expect(await marks.get('c1', long)).toBe('b'.repeat(64));
    expect(await marks.get('c1', `${long}x`)).toBeUndefined();
  });

  it('that are no hash count as none', async () => {
    const { store, marks, log } = setUp();
    await store.set('read:c1:a.txt', { v: 1, hash: 'x' });
    expect(await marks.get('c1', 'a.txt')).toBeUndefined();
    expect(log.lines.map(({ event }) => event)).toContain('store_value_set_aside');
  });
});
