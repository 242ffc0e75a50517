/** One budget: when its next call may be made, whatever the platform says or leaves unsaid. */

import { describe, expect, it } from 'vitest';
import { type Budget, createBudget } from '../../../src/render/pacing/budget.ts';
import type { CallBudget } from '../../../src/surface/calls.ts';

const edits: CallBudget = {
  ...{ calls: ['edit'], per: 'thread', most: 5, windowMs: 5000, burst: 5, kept: 1 },
};

interface Stage {
  readonly budget: Budget;
  readonly now: () => number;
  readonly pass: (ms: number) => void;
}

function setUp(plan: Partial<CallBudget> = {}): Stage {
  let now = 1_700_000_000_000;
  return {
    budget: createBudget({ ...edits, ...plan }, () => now),
    now: () => now,
    pass: (ms) => {
      now += ms;
    },
  };
}

describe('a budget', () => {
  it('goes on where the platform told of a window once and of none after it', () => {
    const { budget, now, pass } = setUp();
    budget.learn({ limit: 5, remaining: 4, resetAfterMs: 5000 });
    pass(10_000);
    // The platform is down: answers are lost, and what they would have told.
    for (let call = 0; call < 20; call += 1) {
      const free = budget.freeAt('end', 0);
      expect(free - now()).toBeLessThanOrEqual(5000);
      pass(Math.max(0, free - now()));
      budget.take();
      pass(100);
    }
  });

  it('makes no more calls in such a window than in the one that was told', () => {
    const { budget, now, pass } = setUp();
    budget.learn({ limit: 5, remaining: 0, resetAfterMs: 5000 });
    pass(6000);
    for (let call = 0; call < 5; call += 1) budget.take();
    expect(budget.freeAt('end', 0)).toBe(now() + 5000);
  });

  it.each(['first', 'progress'] as const)(
    'lets %s through where a window is smaller than what is kept for ends',
    (urgency) => {
      const { budget, now, pass } = setUp({ kept: 2 });
      budget.learn({ limit: 1, remaining: 0, resetAfterMs: 1000 });
      expect(budget.freeAt(urgency, 0)).toBe(now() + 1000);
      pass(10_000);
      expect(budget.freeAt(urgency, 0)).toBe(now());
    },
  );

  it.each([{}, { inWindows: true, most: 1, kept: 0 }])(
    'waits no longer where the clock is set back by an hour (%o)',
    (plan) => {
      const { budget, now, pass } = setUp(plan);
      budget.take();
      budget.refuse(now() + 3000);
      const lastCallAt = now();
      pass(-3_600_000);
      expect(budget.freeAt('end', 0)).toBeLessThanOrEqual(now() + 5000);
      expect(budget.freeAt('end', 0)).toBeGreaterThanOrEqual(now() + 3000);
      expect(budget.freeAt('progress', lastCallAt)).toBeLessThanOrEqual(now() + 5000);
    },
  );

  it('learns once from calls that were refused together', () => {
    const free = (refusals: number): number => {
      const { budget, now, pass } = setUp();
      for (let call = 0; call < 5; call += 1) budget.take();
      for (let one = 0; one < refusals; one += 1) budget.refuse(now() + 10);
      pass(10);
      return budget.freeAt('end', 0) - now();
    };
    expect(free(6)).toBe(free(1));
    expect(free(1)).toBeGreaterThan(free(0));
  });

  it('is at rest again when nothing of its calls counts any more', () => {
    const { budget, now, pass } = setUp();
    expect(budget.isAtRest()).toBe(true);
    budget.take();
    pass(4999);
    expect(budget.isAtRest()).toBe(false);
    pass(1);
    expect(budget.isAtRest()).toBe(true);
    budget.learn({ limit: 5, remaining: 5, resetAfterMs: 100 });
    expect(budget.isAtRest()).toBe(false);
    pass(100);
    expect(budget.isAtRest()).toBe(true);
    budget.refuse(now());
    pass(2 * 60_000);
    expect(budget.isAtRest()).toBe(false);
    pass(60_000);
    expect(budget.isAtRest()).toBe(true);
  });
});
