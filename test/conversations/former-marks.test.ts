/** Where places stood a short while ago. */

import { describe, expect, it } from 'vitest';
import { createFormerMarks } from '../../src/conversations/former-marks.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('a former mark', () => {
  it('is the one that stood at the moment, not one that came after it', async () => {
    const clock = createFakeClock();
    const marks = createFormerMarks<string>({ clock });
    const start = clock.now();
    for (const mark of ['a', 'b', 'c']) {
      await clock.advance(10_000);
      marks.replaced('ops', mark);
    }
    expect(marks.at('ops', start)).toBe('a');
    expect(marks.at('ops', start + 10_000)).toBe('a');
    expect(marks.at('ops', start + 10_001)).toBe('b');
    expect(marks.at('ops', start + 30_000)).toBe('c');
    expect(marks.at('ops', start + 30_001)).toBeUndefined();
    expect(marks.at('general', start)).toBeUndefined();
  });

  it('is never newer than the moment, however many come within a second', async () => {
    const clock = createFakeClock();
    const marks = createFormerMarks<number>({ clock });
    const start = clock.now();
    for (let at = 0; at < 3_000; at += 100) {
      // The mark of each moment stood for 100 ms before it is replaced.
      marks.replaced('ops', clock.now());
      await clock.advance(100);
    }
    for (let at = 50; at < 2_900; at += 100) {
      // What stood until `mark` had come 100 ms before.
      expect((marks.at('ops', start + at) ?? Infinity) - 100).toBeLessThanOrEqual(start + at);
    }
  });

  it('is kept for five minutes, and the place with it', async () => {
    const clock = createFakeClock();
    const marks = createFormerMarks<string>({ clock });
    const start = clock.now();
    marks.replaced('ops', 'a');
    await clock.advance(200_000);
    marks.replaced('ops', 'b');
    await clock.advance(150_000);
    marks.replaced('general', 'x');
    expect(marks.at('ops', start)).toBe('a');
    marks.replaced('ops', 'c');
    expect(marks.at('ops', start)).toBe('b');
    await clock.advance(400_000);
    marks.replaced('general', 'y');
    expect(marks.at('ops', start)).toBeUndefined();
  });
});
