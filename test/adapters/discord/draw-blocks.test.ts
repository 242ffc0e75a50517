/** Messages whose Markdown comes block by block. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawMessage, drawnLengthOf } from '../../../adapters/discord/draw.ts';
import { discordMarkdownOf } from '../../../adapters/discord/markdown.ts';
import { createSplitMentions } from '../../../adapters/discord/mentions.ts';
import { createBlockReader } from '../../../src/surface/markdown/blocks.ts';
import type { Block } from '../../../src/surface/outbound.ts';
import { writtenMarkdown } from '../../support/written-markdown.ts';
import { anna } from './set-up.ts';

const people = [{ id: `discord:${anna}`, name: 'Monday' }];
const markdown = (...texts: readonly string[]): Block[] =>
  texts.map((text) => ({ kind: 'markdown', text }));
const contentOf = (...blocks: readonly Block[]): string =>
  drawMessage({ blocks, mentionable: people }).content;
const apart = (text: string): readonly string[] =>
  createBlockReader()(text).map(({ from, to }) => text.slice(from, to));

describe('Markdown blocks that stand together', () => {
  it('are one text: a line break after a heading, else a blank line', () => {
    expect(contentOf(...markdown('# a', 'b', ' ', '## c\n\n', '- d'))).toBe('# a\nb\n\n## c\n- d');
  });

  it('stand on lines of their own around a block of another kind', () => {
    expect(contentOf(...markdown('a'), { kind: 'notice', text: 'n' }, ...markdown('b', 'c'))).toBe(
      'a\n-# n\nb\n\nc',
    );
  });

  it('look as the whole text drawn at once', () => {
    const split = createSplitMentions(people);
    fc.assert(
      fc.property(writtenMarkdown, (text) => {
        const whole = discordMarkdownOf(text, split).trim();
        if (whole.length > 2_000) return;
        expect(contentOf(...markdown(...apart(text)))).toBe(whole);
        expect(drawnLengthOf(text)).toBe(
          Math.max(text.length, discordMarkdownOf(text, createSplitMentions([])).length),
        );
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  it('are too long together where none is by itself', () => {
    const half = 'x'.repeat(1_000);
    expect(contentOf(...markdown(half, 'x'.repeat(998)))).toHaveLength(2_000);
    expect(() => contentOf(...markdown(half, 'x'.repeat(999)))).toThrow(
      expect.objectContaining({ code: 'message_too_long' }),
    );
  });
});
