/** Whatever is called read-only changes no byte of the workspace when it runs. */

import { describe, expect, it, onTestFinished } from 'vitest';
import {
  commitAll,
  fingerprint,
  hasBubblewrap,
  runInBubblewrap,
  runLines,
  runVirtually,
  setUpRuns,
} from './analysis-runs.ts';

/** Milliseconds: each line is a process of its own. */
const timeout = 60_000;

describe('a random line that is called read-only', { timeout }, () => {
  it('changes nothing in the virtual shell', async () => {
    const setUp = setUpRuns();
    onTestFinished(setUp.remove);
    expect(await runLines(setUp, runVirtually, { lines: 700, seed: 163 })).toBeGreaterThan(150);
  });

  it.runIf(hasBubblewrap)('changes nothing in a real shell', async () => {
    const setUp = setUpRuns();
    onTestFinished(setUp.remove);
    commitAll(setUp);
    expect(await runLines(setUp, runInBubblewrap, { lines: 150, seed: 28 })).toBeGreaterThan(30);
  });

  it.each([
    ['touch out'],
    ['echo x >> names.txt'],
    ['rm big.txt'],
    ['mkdir d'],
    ['chmod 600 names.txt'],
    ['mv src src2'],
  ])('would be noticed if it changed something: %s', async (line) => {
    const setUp = setUpRuns();
    onTestFinished(setUp.remove);
    const before = fingerprint(setUp.folder);
    await runVirtually('cat names.txt', setUp.folder);
    expect(fingerprint(setUp.folder)).toBe(before);
    await runVirtually(line, setUp.folder);
    expect(fingerprint(setUp.folder)).not.toBe(before);
    if (!hasBubblewrap) return;
    const after = fingerprint(setUp.folder);
    await runInBubblewrap('touch seen', setUp.folder);
    expect(fingerprint(setUp.folder)).not.toBe(after);
  });
});
