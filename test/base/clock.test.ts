/** Sleeping by a clock, and the system's clock. */

import { describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../../src/base/clock.ts';
import { BotError } from '../../src/base/errors.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('sleep', () => {
  const setUp = (signal?: AbortSignal) => {
    const clock = createFakeClock();
    const ends: string[] = [];
    const slept = sleep(clock, 1_000, signal).then(
      () => ends.push('woke'),
      (error: unknown) => ends.push(error instanceof BotError ? error.code : 'other'),
    );
    return { clock, ends, slept };
  };

  it('ends at its time and not 1 ms before', async () => {
    const { clock, ends } = setUp();
    await clock.advance(999);
    expect(ends).toEqual([]);
    await clock.advance(1);
    expect(ends).toEqual(['woke']);
    expect(clock.pending).toBe(0);
  });

  it('rejects with the reason as soon as it is aborted, and leaves no timer', async () => {
    const controller = new AbortController();
    const { clock, ends, slept } = setUp(controller.signal);
    await clock.advance(500);
    controller.abort(new BotError('interrupted', 'The process stops.'));
    await slept;
    expect(ends).toEqual(['interrupted']);
    expect(clock.pending).toBe(0);
  });

  it('rejects at once when it was aborted before', async () => {
    const { clock, ends, slept } = setUp(AbortSignal.abort());
    await slept;
    expect(ends).toEqual(['stopped']);
    expect(clock.pending).toBe(0);
  });

  it('is not moved by an abort after its end', async () => {
    const controller = new AbortController();
    const { clock, ends } = setUp(controller.signal);
    await clock.advance(1_000);
    controller.abort();
    await clock.settle();
    expect(ends).toEqual(['woke']);
  });
});

describe('the system clock', () => {
  it('tells the time, fires timers and cancels them', async () => {
    const before = Date.now();
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
    const fired: string[] = [];
    const cancel = systemClock.setTimer(1, () => fired.push('cancelled'));
    cancel();
    await new Promise<void>((resolve) => {
      systemClock.setTimer(5, () => {
        fired.push('kept');
        resolve();
      });
    });
    expect(fired).toEqual(['kept']);
  });
});
