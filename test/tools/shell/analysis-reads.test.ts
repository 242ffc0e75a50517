/** Lines that only read are recognised, so that people are not asked for nothing. */

import { afterAll, describe, expect, it } from 'vitest';
import { addRepository, setUpWorkspace } from './analysis-support.ts';
import { readingLines } from './reading-lines.ts';

describe('a shell line that only reads', () => {
  const setUp = setUpWorkspace();
  addRepository(setUp);
  afterAll(() => {
    setUp.remove();
  });

  it.each(readingLines.map((line) => [line]))('%j is recognised', async (line) => {
    const facts = await setUp.analyse(line);
    expect(facts.isReadOnly ? 'read-only' : facts.why).toBe('read-only');
    expect(facts).toMatchObject({ isWhole: true, alwaysAsks: false, unknown: [] });
  });

  it('is judged by more than two hundred lines', () => {
    expect(new Set(readingLines).size).toBe(readingLines.length);
    expect(readingLines.length).toBeGreaterThan(200);
  });
});
