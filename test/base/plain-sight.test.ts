/** Text in plain sight: nothing that misleads the eye, and code that stays in its block. */

import { describe, expect, it } from 'vitest';
import { codeBlock, inPlainSight } from '../../src/base/plain-sight.ts';
import { parseMarkdown } from '../../src/surface/markdown/parse.ts';

describe('text in plain sight', () => {
  it.each([
    ['a carriage return', '\r', 'U+000D'],
    ['a null', '\u0000', 'U+0000'],
    ['an escape', '\u001B', 'U+001B'],
    ['delete', '\u007F', 'U+007F'],
    ['a control of the second block', '\u0085', 'U+0085'],
    ['an override of direction', '\u202E', 'U+202E'],
    ['an isolate', '\u2066', 'U+2066'],
    ['a mark of direction', '\u200F', 'U+200F'],
    ['an Arabic mark of direction', '\u061C', 'U+061C'],
    ['a blank without width', '\u200B', 'U+200B'],
    ['a byte order mark', '\uFEFF', 'U+FEFF'],
    ['a soft hyphen', '\u00AD', 'U+00AD'],
    ['a word joiner', '\u2060', 'U+2060'],
    ['a blank that does not break', '\u00A0', 'U+00A0'],
    ['an ideographic blank', '\u3000', 'U+3000'],
    ['a line separator', '\u2028', 'U+2028'],
    ['a tag', '\u{E0041}', 'U+E0041'],
    ['a filler of Hangul', '\u3164', 'U+3164'],
    ['a filler of half width', '\uFFA0', 'U+FFA0'],
    ['a blank of Braille', '\u2800', 'U+2800'],
    ['a joiner of graphemes', '\u034F', 'U+034F'],
    ['a mark that chooses a variant', '\uFE00', 'U+FE00'],
    ['a mark that chooses a variant, of those further on', '\u{E0100}', 'U+E0100'],
    ['the mark of an emoji after a letter', '\uFE0F', 'U+FE0F'],
    ['a private sign', '\uE000', 'U+E000'],
    ['half a pair', '\uD800', 'U+D800'],
    ['a sign that does not exist', '\u{E0FFF}', 'U+E0FFF'],
  ])('writes out %s', (_what, character, written) => {
    expect(inPlainSight(`a${character}b`)).toBe(`a${written}b`);
  });

  it.each([
    'two\nlines\tand a tab',
    'Größe, עברית, العربية, 日本語, हिन्दी',
    'cafe\u0301',
    '👍🏽 🇩🇪 😀',
    '❤️ ☑️',
    '`code` **bold** <b>',
  ])('leaves %j as it is', (text) => {
    expect(inPlainSight(text)).toBe(text);
  });

  it('takes joined emoji apart, and keeps the mark of each', () => {
    expect(inPlainSight('👩‍💻 ❤️‍🔥')).toBe('👩U+200D💻 ❤️U+200D🔥');
  });

  it('keeps one mark after an emoji, no row of them', () => {
    expect(inPlainSight('❤\uFE0F\uFE0F')).toBe('❤\uFE0FU+FE0F');
  });
});

describe('a code block', () => {
  it.each([
    ['plain', '```'],
    ['`a` ``b``', '```'],
    ['```\nrm x\n```', '````'],
    ['~~~\nx\n~~~', '```'],
    ['`'.repeat(9), '`'.repeat(10)],
    ['  ````js\nx', '`````'],
    ['', '```'],
  ])('around %j has a fence longer than any inside', (text, fence) => {
    const block = codeBlock('sh', text);
    expect(block).toBe(`${fence}sh\n${text}\n${fence}`);
    const { children } = parseMarkdown(`${block}\n\nAfter.`);
    expect(children.map(({ type }) => type)).toEqual(['code', 'paragraph']);
    expect(children[0]).toMatchObject({ lang: 'sh', value: text });
  });
});
