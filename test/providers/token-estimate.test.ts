/** Tokens without a tokenizer: near enough for planning, over scripts and kinds of text. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  estimatePrompt,
  estimateTokens,
  mostTokensOf,
} from '../../src/providers/token-estimate.ts';
import { readCase } from '../support/cases.ts';
import { chatRequestOf, userText } from '../support/providers.ts';

const bounds = readCase(
  'B124',
  z.object({ texts: z.array(z.string()) }),
  z.object({ bounds: z.array(z.tuple([z.number(), z.number()])) }),
);

describe('estimateTokens', () => {
  it('B124: is within the bounds for every script', () => {
    const texts = bounds.input.texts;
    expect(texts.length).toBe(6);
    for (const [index, text] of texts.entries()) {
      const [least = 0, most = 0] = bounds.expected.bounds[index] ?? [];
      const tokens = estimateTokens(text);
      expect(tokens, text).toBeGreaterThanOrEqual(least);
      expect(tokens, text).toBeLessThanOrEqual(most);
    }
  });

  it.each([
    ['', 0, 0],
    ['The quick brown fox jumps over the lazy dog.', 9, 11],
    ['{"name":"deckhand","tags":["a","b"],"count":12345}', 14, 26],
    ['QmFzZTY0IGVuY29kZWQgdGV4dCBpcyBkZW5zZQ==', 20, 34],
    ['\u0000\u0001', 1, 1],
  ])('of %j', (text, least, most) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(least);
    expect(estimateTokens(text)).toBeLessThanOrEqual(most);
  });

  it('takes time in proportion to the text', () => {
    const prompt = chatRequestOf('m', [userText('a1B2'.repeat(50_000))]);
    expect(estimatePrompt(prompt)).toBeGreaterThan(50_000);
  });

  it('never passes the number that counting lengths gives', () => {
    for (const text of [
      'Hello there',
      '早上好朋友',
      '🌲🚲🎈',
      'a.b.c',
      'x'.repeat(99),
      '1 2 3 4 5',
    ]) {
      const prompt = chatRequestOf('m', [userText(text)]);
      expect(mostTokensOf(prompt)).toBeGreaterThanOrEqual(estimatePrompt(prompt));
    }
  });
});
