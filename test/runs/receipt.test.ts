/** What is left of the line on the work. */

import { describe, expect, it } from 'vitest';
import { foldedWork } from '../../src/runs/receipt.ts';

describe('the work, once it is done', () => {
  it.each<[number, number, number, string | undefined]>([
    [4, 38_000, 1, '4 tools, 38 s'],
    [1, 10_000, 1, '1 tool, 10 s'],
    [2, 400, 1, '2 tools, 0 s'],
    [1, 9_999, 1, undefined],
    [0, 90_000, 1, undefined],
    // It waited for people.
    [4, 38_000, 2, undefined],
  ])('of %d tools in %d ms, part %d, folds to %s', (toolCalls, tookMs, segment, line) => {
    expect(foldedWork({ record: { segment, startedAt: 0 }, toolCalls, nowMs: tookMs })).toBe(line);
  });
});
