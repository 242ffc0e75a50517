/** As the property test, over many more lines. */

import { describe, expect, it, onTestFinished } from 'vitest';
import {
  commitAll,
  hasBubblewrap,
  runInBubblewrap,
  runLines,
  runVirtually,
  setUpRuns,
} from './analysis-runs.ts';

describe('many random lines that are called read-only', () => {
  it.each([1, 2, 3])('change nothing in the virtual shell (seed %i)', async (seed) => {
    const setUp = setUpRuns();
    onTestFinished(setUp.remove);
    expect(await runLines(setUp, runVirtually, { lines: 3_000, seed })).toBeGreaterThan(300);
  });

  it.runIf(hasBubblewrap).each([4, 5, 6])(
    'change nothing in a real shell (seed %i)',
    async (seed) => {
      const setUp = setUpRuns();
      onTestFinished(setUp.remove);
      commitAll(setUp);
      expect(await runLines(setUp, runInBubblewrap, { lines: 600, seed })).toBeGreaterThan(100);
    },
  );
});
