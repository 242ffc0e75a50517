/** Diffs are complete and true: applied to the old text they give the new one. */

import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffOf, shortDiff } from '../../../src/tools/files/differences.ts';

describe('diffs', () => {
  it('give the new text when applied to the old one (property)', () => {
    const text = fc
      .tuple(
        fc.array(fc.constantFrom('a', 'b', '', '-', '+x', ' y', '\\ z'), { maxLength: 12 }),
        fc.constantFrom('', '\n'),
      )
      .map(([lines, end]) => lines.join('\n') + end);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = diffOf('a.txt', before, after);
        expect(diff === '' ? before : applyPatch(before, `${diff}\n`)).toBe(after);
      }),
      { numRuns: 1000 },
    );
  });

  it.each(['', '\n'])('do so also where there is too much for the shortest way (end %j)', (end) => {
    const numbered = (word: string, count: number): string =>
      Array.from({ length: count }, (_, at) => `${word} ${at}`).join('\n');
    const before = `head\n${numbered('old', 3000)}\nmiddle\n${numbered('other', 3000)}\ntail`;
    const after = `head\n${numbered('new', 2000)}\nmiddle\n${numbered('next', 3000)}\ntail${end}`;
    expect(applyPatch(before, `${diffOf('a.txt', before, after)}\n`)).toBe(after);
    expect(applyPatch('', `${diffOf('a.txt', '', after)}\n`)).toBe(after);
    expect(applyPatch(before, `${diffOf('a.txt', before, '')}\n`)).toBe('');
  });

  it('are short in results', () => {
    const diff = diffOf('a.txt', undefined, 'x\n'.repeat(100));
    expect(shortDiff(diff).split('\n')).toHaveLength(61);
    expect(shortDiff(diff)).toContain('(41 more lines of the diff)');
  });
});
