/** Splitting of Markdown: limits, borders, fences, tables, and what must hold for any text;
 * split.long.test.ts has more such texts. */

import { readFileSync } from 'node:fs';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseMarkdown } from '../../../src/surface/markdown/parse.ts';
import { createMarkdownSplitter, splitMarkdown } from '../../../src/surface/markdown/split.ts';
import { codeLinesOf, describeSplitOfAny, loneSurrogate, split } from './split-any.ts';

/** Lines that open or close a fence, wherever they stand. */
const fenceLines = (piece: string): string[] =>
  piece.split('\n').filter((line) => /^[ >*\d.-]*(?:`{3,}[^`]*|~{3,}.*)$/u.test(line));

/** Numbers of items, as a Markdown parser counts them, and of lines that look like items. */
const numbersOf = (piece: string): number[] => {
  const numbers: number[] = [];
  const visit = (node: Nodes): void => {
    if (node.type === 'text') {
      for (const [, digits] of node.value.matchAll(/^(\d+)[.)] /gmu)) numbers.push(Number(digits));
    }
    if (!('children' in node)) return;
    for (const [index, child] of node.children.entries()) {
      if (node.type === 'list' && node.ordered) numbers.push((node.start ?? 1) + index);
      visit(child);
    }
  };
  visit(parseMarkdown(piece));
  return numbers;
};

const caseOf = <T>(id: string, input: z.ZodType<T>): T => {
  const path = new URL(`../../cases/${id}.json`, import.meta.url);
  const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return z.object({ input }).parse(json).input;
};

describe('splitMarkdown', () => {
  it('leaves a text alone that fits exactly, and splits one that is a unit longer', () => {
    expect(split('alpha beta', 10)).toEqual(['alpha beta']);
    expect(split('alpha betas', 10)).toEqual(['alpha', 'betas']);
  });

  it('gives no piece for text without a visible character', () => {
    expect(split('', 10)).toEqual([]);
    expect(split(' \n\n\t\n', 10)).toEqual([]);
    expect(split('\n'.repeat(50), 10)).toEqual([]);
  });

  it('cuts between blocks rather than inside one', () => {
    const text = 'First paragraph here.\n\nSecond one, which is longer.\n\nThird.';
    expect(split(text, 45)).toEqual([
      'First paragraph here.',
      'Second one, which is longer.\n\nThird.',
    ]);
  });

  it('keeps a heading with what follows it', () => {
    const text = `${'a '.repeat(30).trim()}\n\n## Heading\n\n${'b '.repeat(30).trim()}`;
    const pieces = split(text, 80);
    expect(pieces[0]).toBe('a '.repeat(30).trim());
    expect(pieces[1]).toMatch(/^## Heading\n\nb/u);
  });

  it('cuts a long list between items, keeping their numbers', () => {
    const items = Array.from(
      { length: 12 },
      (_, index) => `${index + 1}. item number ${index + 1}`,
    );
    const pieces = split(items.join('\n'), 60);
    expect(pieces.join('\n')).toBe(items.join('\n'));
    for (const piece of pieces) expect(piece).toMatch(/^\d+\. item/u);
  });

  it('cuts a long paragraph between lines, else between words', () => {
    expect(split('one two three\nfour five six\nseven', 30)).toEqual([
      'one two three\nfour five six',
      'seven',
    ]);
    expect(split('one two three four five', 12)).toEqual(['one two', 'three four', 'five']);
  });

  it('cuts text without spaces, at the limit', () => {
    expect(split('a'.repeat(25), 10)).toEqual(['a'.repeat(10), 'a'.repeat(10), 'a'.repeat(5)]);
  });

  it('cuts beside links, code spans and bold words rather than inside', () => {
    for (const phrase of [
      '[a link text](https://x.test/a b)',
      '`a b c d e`',
      '**bold words here**',
    ]) {
      const pieces = split(`some words before ${phrase} and after`, 40);
      expect(pieces.some((piece) => piece.includes(phrase))).toBe(true);
    }
  });

  it('does not let a word become the mark of a block', () => {
    const text = 'two words - and a dash # and a mark 1. and a number > and a quote';
    for (let most = 12; most < text.length; most += 1) {
      for (const piece of split(text, most)) {
        expect(parseMarkdown(piece).children.map(({ type }) => type)).toEqual(['paragraph']);
      }
    }
  });

  it('closes a fence and opens it again with its language', () => {
    expect(split('```js\nconst a = 1;\nconst b = 2;\nconst c = 3;\n```\nEnd.', 40)).toEqual([
      '```js\nconst a = 1;\nconst b = 2;\n```',
      '```js\nconst c = 3;\n```\nEnd.',
    ]);
  });

  it('drops an info string of 21 characters from fences that it opens, and keeps one of 20', () => {
    for (const [info, again] of [
      ['i'.repeat(20), 'i'.repeat(20)],
      ['i'.repeat(21), ''],
    ] as const) {
      const code = Array.from({ length: 10 }, (_, index) => `line ${index}`).join('\n');
      const [, second] = split(`\`\`\`${info}\n${code}\n\`\`\``, 80);
      expect(second?.split('\n')[0]).toBe(`\`\`\`${again}`);
    }
  });

  it('makes no empty fence where the limit falls on the closing line', () => {
    const text = '```\naaaa\nbbbb\n```\nafter the code';
    for (let most = 14; most < text.length; most += 1) {
      const pieces = split(text, most);
      expect(pieces.flatMap(codeLinesOf)).toEqual(['aaaa', 'bbbb']);
      expect(pieces.join('\n')).toContain('after');
    }
  });

  it('closes a fence that the text leaves open', () => {
    expect(split('```js\nconst a', 100)).toEqual(['```js\nconst a\n```']);
    expect(split('```', 100)).toEqual(['```\n```']);
  });

  it('leaves a longer fence around a shorter one whole', () => {
    const inner = Array.from({ length: 10 }, () => '```js\nx\n```').join('\n');
    const pieces = split(`\`\`\`\`md\n${inner}\n\`\`\`\``, 60);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.flatMap(codeLinesOf).join('\n')).toBe(inner);
  });

  it('does not let the rest of a code line close the code', () => {
    const line = 'abcdefgh```';
    for (let most = 14; most < 24; most += 1) {
      const pieces = split(`\`\`\`\n${line}\nnext\n\`\`\``, most);
      expect(pieces.flatMap(codeLinesOf).join('')).toBe(`${line}next`);
    }
  });

  it.each([
    ['a quote', '> ', '> '],
    ['a list', '- ', '  '],
    ['a numbered list', '10. ', '    '],
    ['a nested list', '- a\n  - b\n    - ', '      '],
  ])('keeps code inside %s whole', (_, first, next) => {
    const lines = Array.from({ length: 12 }, (__, index) => `line ${index}`);
    const code = ['```py', ...lines, '```'].map((line, at) => (at === 0 ? first : next) + line);
    const pieces = split(`Intro.\n\n${code.join('\n')}\n\nOutro.`, 90);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.flatMap(codeLinesOf)).toEqual(lines);
    expect(pieces.at(-1)).toMatch(/Outro\.$/u);
    for (const piece of pieces) expect(fenceLines(piece).length % 2).toBe(0);
  });

  it('splits a table by rows and repeats its head', () => {
    const rows = Array.from({ length: 10 }, (_, index) => `| row ${index} | ${index * 7} |`);
    const pieces = split(['| name | value |', '|---|---|', ...rows].join('\n'), 80);
    expect(pieces.length).toBeGreaterThan(2);
    const shown = pieces.flatMap((piece) => {
      const [table, ...others] = parseMarkdown(piece).children;
      expect(others).toEqual([]);
      expect(table?.type).toBe('table');
      expect(piece.split('\n').slice(0, 2)).toEqual(['| name | value |', '|---|---|']);
      return piece.split('\n').slice(2);
    });
    expect(shown).toEqual(rows);
  });

  it('never cuts behind the bar that begins a line', () => {
    const text = 'Some words.\n| name | value |\n|---|---|\n| a | b |\n| c | d |';
    for (let most = 34; most < text.length; most += 1) {
      for (const piece of split(text, most)) {
        expect(piece.split('\n').at(-1)?.trim()).not.toBe('|');
      }
    }
  });

  it('keeps a link with bold words and a title whole', () => {
    const link = '[**some words**](https://x.test/a "a title")';
    expect(split(`some words and more before ${link} end`, 55)).toContain(`${link} end`);
  });

  it('never cuts a table between its head and its delimiter line', () => {
    const text =
      'Some words before the table.\n| name | value |\n|------|-------|\n| a | b |\n| c | d |';
    for (let most = 45; most < text.length; most += 1) {
      const tables = split(text, most).filter((piece) => piece.includes('|---'));
      for (const piece of tables) expect(piece).toContain('| name | value |\n|------|-------|');
    }
  });

  it.each([
    [
      'cut between items',
      Array.from({ length: 5 }, () => '1. words of it').join('\n'),
      '1 2 3 4 5',
    ],
    ['cut inside items', '7. words of it\n1. words that go on further\n1. end', '7 8 9'],
    ['cut inside a word', `1. ${'x'.repeat(70)}\n1. one\n1. two`, '1 2 3'],
    ['that ends', '1. some words here\n\nother words here\n\n1. anew\n1. more', '1 1 2'],
    ['that a heading ends', '1. some words here\n# other words\n1. anew\n1. more', '1 1 2'],
    ['in a list', '1. one\n   1. two two two\n   1. three three\n1. four', '1 1 2 2'],
    ['written right', '1) words of it\n2) words of it\n3) more', '1 2 3'],
    ['with blank lines', '1. words of it\n\n1. words of it\n\n1. more', '1 2 3'],
    ['with code', '1. a\n\n   ```js\n   one();\n   two();\n   ```\n1. words\n1. more', '1 2 3'],
  ])('shows the right numbers of a list %s, wherever it is cut', (_, text, numbers) => {
    for (let most = 18; most <= text.length; most += 2) {
      const pieces = split(text, most);
      expect(pieces.flatMap(numbersOf).join(' '), pieces.join('\n--\n')).toBe(numbers);
    }
  });

  it('keeps references whole', () => {
    for (const phrase of ['[some docs][ref a]', '[some docs here]', 'x[^long-note]']) {
      const pieces = split(`some words before ${phrase} and after`, 40);
      expect(pieces.some((piece) => piece.includes(phrase))).toBe(true);
    }
  });

  it('counts as the platform counts', () => {
    const lengthOf = (piece: string): number => piece.replaceAll('&', '&amp;').length;
    const pieces = splitMarkdown('a & b '.repeat(100), { mostLength: 50, lengthOf });
    for (const piece of pieces) expect(lengthOf(piece)).toBeLessThanOrEqual(50);
    expect(pieces.join(' ')).toBe('a & b '.repeat(100).trim());
    const bytes = (piece: string): number => Buffer.byteLength(piece);
    for (const piece of splitMarkdown('日本語'.repeat(50), { mostLength: 10, lengthOf: bytes })) {
      expect(bytes(piece)).toBeLessThanOrEqual(10);
    }
  });

  it.each([
    ['an emoji at limit 1', '😀 hello', 1],
    ['no room at all', 'hello', 0],
    ['a fence at limit 8', '```\nab\n```', 8],
    ['a fence longer than the limit', `${'`'.repeat(30)}\nab`, 20],
  ])('throws for %s', (_, text, most) => {
    expect(() => split(text, most)).toThrow(
      expect.objectContaining({ name: 'BotError', code: 'message_too_long' }),
    );
  });

  it('fits a fence at limit 9', () => {
    expect(split('```\nab\n```', 9)).toEqual(['```\na\n```', '```\nb\n```']);
  });

  it('opens a fence bare whose opening line alone is over the limit', () => {
    const pieces = split(`\`\`\`${'x'.repeat(50)}\ncode line\n\`\`\`\nafter`, 30);
    expect(pieces.join('\n')).toBe('```\ncode line\n```\nafter');
  });

  it('keeps a joined emoji whole, and cuts between characters where one is over the limit', () => {
    const family = '👨‍👩‍👧';
    expect(split(`${'a'.repeat(7)}${family}b`, 10)).toEqual(['a'.repeat(7), `${family}b`]);
    const pieces = split(family, 4);
    expect(pieces.join('')).toBe(family);
    for (const piece of pieces) expect(piece).not.toMatch(loneSurrogate);
  });

  it('measures each part of a long text a few times, and of a grown one only the end', () => {
    const block =
      '## Part\n\nSome words with `code` and [a link](https://x.test).\n\n- one\n- two\n\n```js\na();\n```\n\n';
    const text = block.repeat(Math.ceil(100_000 / block.length));
    for (const mostLength of [2_000, 12_000]) {
      let measured = 0;
      const lengthOf = (piece: string): number => {
        measured += piece.length;
        return piece.length;
      };
      const grow = createMarkdownSplitter({ mostLength, lengthOf });
      const first = grow(text);
      expect(measured).toBeLessThan(5 * text.length);
      measured = 0;
      expect(grow(`${text}More.`).slice(0, -1)).toEqual(first.slice(0, -1));
      expect(measured).toBeLessThan(5 * mostLength);
    }
  });
});

describe('public cases of splitting', () => {
  const textOf = z.object({ limit: z.number(), text: z.string() });

  it('B004: 4,132 characters of words are cut between words, all within 4,000', () => {
    const { finalText } = caseOf('B004', z.object({ finalText: z.string() }));
    const pieces = split(finalText, 4_000);
    expect(pieces).toHaveLength(2);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(4_000);
    expect(pieces.join(' ')).toBe(finalText);
  });

  it('B007: a fence with an info string of 300 characters and 200 lines', () => {
    const { limit, text } = caseOf('B007', textOf);
    const pieces = split(text, limit);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(limit);
      expect(fenceLines(piece)).toHaveLength(2);
      expect(piece.trim()).not.toBe('');
    }
    expect(pieces.flatMap(codeLinesOf)).toEqual(text.split('\n').slice(1, -1));
  });

  it('B009: prose, 300 lines of code and a sentence', () => {
    const { limit, text } = caseOf('B009', textOf);
    const pieces = split(text, limit);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(limit);
      expect(fenceLines(piece).length % 2).toBe(0);
    }
    expect(pieces.at(-1)).toMatch(/```\nEnd of script\.$/u);
    expect(pieces.flatMap(codeLinesOf)).toEqual(text.split('\n').slice(2, -2));
    for (const piece of pieces.slice(1)) expect(piece).toMatch(/^```py\n/u);
  });

  it('B010: emoji at the limit, in prose, in code and joined', () => {
    const { limit, texts } = caseOf(
      'B010',
      z.object({ limit: z.number(), texts: z.array(z.string()) }),
    );
    for (const text of texts) {
      const pieces = split(text, limit);
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(limit);
        expect(piece).not.toMatch(loneSurrogate);
      }
      const joined = text.startsWith('```')
        ? `\`\`\`\n${pieces.flatMap(codeLinesOf).join('')}\n\`\`\``
        : pieces.join('');
      expect(joined).toBe(text);
    }
    expect(split(texts[2] ?? '', limit).some((piece) => piece.includes('👨‍👩‍👧'))).toBe(true);
  });
});

describeSplitOfAny({ texts: 60, growing: 10 });
