/** Messages whose Markdown comes block by block, and messages that Slack would refuse. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  drawMessage,
  drawnLengthOf,
  drawSections,
  plainText,
} from '../../../adapters/slack/draw.ts';
import { createBlockReader } from '../../../src/surface/markdown/blocks.ts';
import type { Block } from '../../../src/surface/outbound.ts';
import { checkedBlocks } from '../../emulators/slack/blocks.ts';
import { writtenMarkdown } from '../../support/written-markdown.ts';

const people = [{ id: 'slack:U1', name: 'Monday' }];
const markdown = (...texts: readonly string[]): Block[] =>
  texts.map((text) => ({ kind: 'markdown', text }));
const draw = (blocks: readonly Block[]) => drawMessage({ blocks, mentionable: people });
const apart = (text: string): readonly string[] =>
  createBlockReader()(text).map(({ from, to }) => text.slice(from, to));

describe('Markdown blocks that stand together', () => {
  it('are drawn as one text, apart as they were, else by a blank line', () => {
    expect(draw(markdown('# a\n', 'b\n\n', 'c', 'd')).blocks).toEqual([
      { type: 'markdown', text: '# a\nb\n\nc\n\nd' },
    ]);
    expect(draw(markdown('a', ' ', 'b')).blocks).toEqual([{ type: 'markdown', text: 'a\n\nb' }]);
  });

  it('stay apart around a block of another kind', () => {
    const blocks = [...markdown('a'), { kind: 'notice', text: 'n' } as const, ...markdown('b')];
    expect(draw(blocks).blocks.map(({ type }) => type)).toEqual([
      'markdown',
      'context',
      'markdown',
    ]);
    expect(draw(blocks).text).toBe('a\n\nn\n\nb');
  });

  it('look as the whole text drawn at once', () => {
    fc.assert(
      fc.property(writtenMarkdown, (text) => {
        expect(draw(markdown(...apart(text)))).toEqual(draw(markdown(text)));
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  it('count what drawing adds to each', () => {
    fc.assert(
      fc.property(writtenMarkdown, (text) => {
        const [block] = draw(markdown(text)).blocks;
        const drawn = block?.type === 'markdown' ? block.text.length : 0;
        expect(drawnLengthOf(text)).toBeGreaterThanOrEqual(Math.max(text.length, drawn - 20));
      }),
      { numRuns: 60, seed: 2 },
    );
  });
});

describe('the limits of a message', () => {
  it('are 12,000 characters of Markdown in all', () => {
    const half = 'x'.repeat(6_000);
    const between: Block = { kind: 'notice', text: 'n' };
    const fits = draw([...markdown(half), between, ...markdown(half)]);
    expect(checkedBlocks(fits.blocks)).toHaveLength(3);
    for (const blocks of [
      [...markdown(half), between, ...markdown(`${half}x`)],
      markdown('x'.repeat(1_000_000)),
    ]) {
      expect(() => draw(blocks)).toThrow(expect.objectContaining({ code: 'message_too_long' }));
    }
  });

  it('are 50 blocks', () => {
    const notices = (count: number): Block[] =>
      Array.from({ length: count }, () => ({ kind: 'notice', text: 'n' }));
    expect(draw(notices(50)).blocks).toHaveLength(50);
    expect(() => draw(notices(51))).toThrow(expect.objectContaining({ code: 'message_refused' }));
  });

  it('hold for the text of notifications, which is drawn only as far as it fits', () => {
    const { text } = draw(markdown(...Array.from({ length: 300 }, () => 'é & '.repeat(9))));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3_900);
    expect(Buffer.byteLength(text)).toBeGreaterThan(3_800);
  });

  it('hold for any text that is not too long', () => {
    fc.assert(
      fc.property(writtenMarkdown, fc.integer({ min: 1, max: 40 }), (text, times) => {
        const long = Array.from({ length: times }, () => text).join('\n\n');
        if (drawnLengthOf(long) > 11_000) return;
        const drawn = draw(markdown(...apart(long)));
        expect(checkedBlocks(drawn.blocks)).toHaveLength(1);
        expect(Buffer.byteLength(drawn.text)).toBeLessThanOrEqual(3_900);
      }),
      { numRuns: 40, seed: 3 },
    );
  });
});

describe('sections in place of markdown blocks', () => {
  const sections = (blocks: readonly Block[]) => drawSections({ blocks, mentionable: people });

  it('hold the mrkdwn and keep the controls', () => {
    const drawn = sections([
      ...markdown('# a\n', '**b** & @Monday\n\n', '- c'),
      { kind: 'buttons', buttons: [{ controlId: 'go', label: 'Go', style: 'plain' }] },
    ]);
    expect(drawn.blocks[0]).toEqual({
      type: 'section',
      text: { type: 'mrkdwn', text: '*a*\n\n*b* &amp; <@U1>\n\n• c', verbatim: true },
    });
    expect(drawn.blocks[1]?.type).toBe('actions');
    expect(checkedBlocks(drawn.blocks)).toHaveLength(2);
  });

  it('have 3,000 characters at most, and miss nothing', () => {
    const code = ['```js', ...Array.from({ length: 200 }, (_, at) => `a(${at} < ${at});`), '```'];
    const text = `${'word & '.repeat(400)}\n\n${code.join('\n')}\n\nEnd.`;
    const { blocks } = sections(markdown(...apart(text)));
    expect(checkedBlocks(blocks).length).toBeGreaterThan(3);
    const texts = blocks.map((block) => (block.type === 'section' ? block.text?.text : '') ?? '');
    for (const one of texts) expect(one.split('```').length % 2).toBe(1);
    const letters = (all: string): string => all.replace(/`{3}|\s/gu, '');
    expect(letters(texts.join(''))).toBe(
      letters(plainText({ blocks: markdown(text), mentionable: [] })),
    );
  });
});
