/** What models were found to refuse, over restarts. */

import { describe, expect, it } from 'vitest';
import { createLearnedBook } from '../../src/app/learned.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

const dayMs = 24 * 3600 * 1000;

function setUp() {
  const clock = createFakeClock();
  const log = createKeptLog();
  const store = createMemoryStore({ clock, log });
  const book = () => createLearnedBook({ store, log, now: () => clock.now() });
  return { clock, log, store, book };
}

describe('the learned book', () => {
  it('keeps names by endpoint and model, each once, over restarts', async () => {
    const { book } = setUp();
    const first = book();
    await first.add('https://a.example/v1', 'qwen/qwen3', 'swap_limit');
    await first.add('https://a.example/v1', 'qwen/qwen3', 'bare_schema:weather');
    await first.add('https://a.example/v1', 'qwen/qwen3', 'swap_limit');
    await first.add('https://b.example/v1', 'm', 'no_summary');
    const second = book();
    expect(await second.read('https://a.example/v1', 'qwen/qwen3')).toEqual([
      'swap_limit',
      'bare_schema:weather',
    ]);
    expect(await second.read('https://a.example/v1', 'other')).toEqual([]);
    expect(await second.all()).toEqual([
      {
        endpoint: 'https://a.example/v1',
        model: 'qwen/qwen3',
        names: ['swap_limit', 'bare_schema:weather'],
      },
      { endpoint: 'https://b.example/v1', model: 'm', names: ['no_summary'] },
    ]);
  });

  it('forgets after a month, so that what vendors mend is tried anew', async () => {
    const { clock, book } = setUp();
    await book().add('https://a.example', 'm', 'no_summary');
    await clock.advance(31 * dayMs);
    expect(await book().read('https://a.example', 'm')).toEqual([]);
    expect(await book().all()).toEqual([]);
  });

  it('forgets a name after a month in a process that goes on, when it forgets it for people', async () => {
    const { clock, book } = setUp();
    const one = book();
    await one.add('https://a.example', 'm', 'no_summary');
    await clock.advance(30 * dayMs - 1);
    expect(await one.read('https://a.example', 'm')).toEqual(['no_summary']);
    expect(await one.all()).toHaveLength(1);
    await clock.advance(1);
    expect(await one.read('https://a.example', 'm')).toEqual([]);
    expect(await one.all()).toEqual([]);
  });

  it('does not prolong a name when another is learned', async () => {
    const { clock, book } = setUp();
    const one = book();
    await one.add('https://a.example', 'm', 'no_summary');
    await clock.advance(20 * dayMs);
    await one.add('https://a.example', 'm', 'swap_limit');
    await clock.advance(10 * dayMs);
    const inForce = ['swap_limit'];
    expect(await one.read('https://a.example', 'm')).toEqual(inForce);
    expect(await book().read('https://a.example', 'm')).toEqual(inForce);
    expect(await one.all()).toEqual([
      { endpoint: 'https://a.example', model: 'm', names: inForce },
    ]);
  });

  it('keeps a name for another month when it is found to hold again', async () => {
    const { clock, book } = setUp();
    const one = book();
    await one.add('https://a.example', 'm', 'no_summary');
    await clock.advance(20 * dayMs);
    await one.add('https://a.example', 'm', 'no_summary');
    await clock.advance(20 * dayMs);
    expect(await one.read('https://a.example', 'm')).toEqual(['no_summary']);
  });

  it('keeps all names that are learned at once, and those of another process', async () => {
    const { book } = setUp();
    const [one, other] = [book(), book()];
    expect(await other.read('https://a.example', 'm')).toEqual([]);
    await Promise.all(['a', 'b', 'c'].map((name) => one.add('https://a.example', 'm', name)));
    expect(await one.read('https://a.example', 'm')).toEqual(['a', 'b', 'c']);
    await other.add('https://a.example', 'm', 'd');
    for (const each of [other, book()]) {
      expect(await each.read('https://a.example', 'm')).toEqual(['a', 'b', 'c', 'd']);
    }
  });

  it('sees what is learned while it reads for the first time', async () => {
    const { book } = setUp();
    const one = book();
    await Promise.all([
      one.add('https://a.example', 'm', 'a'),
      one.read('https://a.example', 'm'),
      one.add('https://a.example', 'm', 'b'),
    ]);
    expect(await one.read('https://a.example', 'm')).toEqual(['a', 'b']);
  });

  it('replaces names that were stored without an end, without a complaint', async () => {
    const { log, store, book } = setUp();
    const member = 'https://a.example m';
    await store.set(`learned:${member}`, { v: 1, names: ['old'] });
    await store.addToIndex({ index: 'learned', member, score: 1 });
    const one = book();
    expect(await one.read('https://a.example', 'm')).toEqual([]);
    expect(await one.all()).toEqual([]);
    await one.add('https://a.example', 'm', 'new');
    expect(await book().read('https://a.example', 'm')).toEqual(['new']);
    expect(log.lines).toEqual([]);
  });
});
