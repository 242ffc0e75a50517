import { describe, expect, it } from 'vitest';
import { randomId } from '../../src/base/ids.ts';

describe('randomId', () => {
  it('is the prefix and 12 letters and digits that are not mistaken for one another', () => {
    for (let count = 0; count < 500; count += 1) {
      expect(randomId('run')).toMatch(/^run_[0-9a-hjkmnp-tv-z]{12}$/u);
    }
  });

  it('is new each time, and uses all of its letters', () => {
    const ids = Array.from({ length: 2_000 }, () => randomId('q'));
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.flatMap((id) => id.slice(2).split(''))).size).toBe(32);
  });
});
