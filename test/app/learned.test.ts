/** What models were found to refuse, over restarts. */

import { describe, expect, it } from 'vitest';
import { createLearnedBook } from '../../src/app/learned.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

function setUp() {
  const clock = createFakeClock();
  const log = createKeptLog();
  const store = createMemoryStore({ clock, log });
  const book = () => createLearnedBook({ store, log, now: () => clock.now() });
  return { clock, store, book };
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
    await clock.advance(31 * 24 * 3600 * 1000);
    expect(await book().read('https://a.example', 'm')).toEqual([]);
    expect(await book().all()).toEqual([]);
  });
});
