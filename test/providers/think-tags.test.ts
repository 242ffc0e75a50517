/** Think tags in the content of compatible servers. */

import { describe, expect, it } from 'vitest';
import { createThinkSplitter } from '../../src/providers/compatible/think-tags.ts';

function split(text: string, size: number, startsInside = false) {
  const splitter = createThinkSplitter(startsInside);
  const joined = { text: '', reasoning: '', lone: false };
  const take = (pieces: readonly { kind: 'text' | 'reasoning'; text: string }[]): void => {
    for (const piece of pieces) joined[piece.kind] += piece.text;
  };
  for (let at = 0; at < text.length; at += size) take(splitter.add(text.slice(at, at + size)));
  take(splitter.end(true));
  joined.lone = splitter.hadLoneClose;
  return joined;
}

describe('createThinkSplitter', () => {
  it.each<[string, string, string, boolean]>([
    ['<think>Hm.</think>\n\nYes.', 'Yes.', 'Hm.', false],
    ['\n<think>\nHm </thin\n</think>Yes', 'Yes', '\nHm </thin\n', false],
    ['Plain <b>text</b> with <think> inside', 'Plain <b>text</b> with <think> inside', '', false],
    ['Thoughts.</think>Answer', 'Thoughts.Answer', '', true],
    ['<think>never closed', '', 'never closed', false],
    ['<thin', '<thin', '', false],
    ['', '', '', false],
  ])('splits %j wherever it is cut', (whole, text, reasoning, lone) => {
    for (let size = 1; size <= whole.length + 1; size += 1) {
      expect(split(whole, size)).toEqual({ text, reasoning, lone });
    }
  });

  it('starts inside where the model is known to swallow the opening tag', () => {
    for (let size = 1; size < 12; size += 1) {
      expect(split('Hm.</think>Yes </think>', size, true)).toEqual({
        text: 'Yes </think>',
        reasoning: 'Hm.',
        lone: true,
      });
      expect(split('Just an answer', size, true)).toEqual({
        text: 'Just an answer',
        reasoning: 'Just an answer',
        lone: false,
      });
    }
  });
});
