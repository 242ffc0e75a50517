/** Top-level blocks of a text that grows. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBlockReader } from '../../../src/surface/markdown/blocks.ts';
import { parseMarkdown } from '../../../src/surface/markdown/parse.ts';
import { createRandom } from '../../support/random.ts';
import { randomMarkdown } from '../../support/random-markdown.ts';

const wholeOf = (text: string): readonly string[] =>
  createBlockReader()(text).map(({ from, to }) => text.slice(from, to));

/** Pieces of lines that begin, continue or end blocks, in any order. */
const pieces = fc.constantFrom(
  ...['- ', '* ', '+ ', '1. ', '2) ', '7. ', '-', '*', '1', '1.', '- - -', '* * *', '---', '***'],
  ...['===', '=', '--', '|', '| a | b |', '|---|---|', '|-', ':-:|', '> ', '>', '# ', '## x', '#'],
  ...['```', '~~~', '````', '``', '`', '```js', '<div>', '<div', '</div>', '<!--', '-->', '<b>'],
  ...['[a]: /url', '[a]:', '[a]', '"title"', '"ti', 'tle"', "'t'", '(t', ')', '[^x]: note', '[^x]'],
  ...['\n', '\n', '\n', '\n', '\n\n', '\r\n', '\r', '    ', '  ', ' ', '\t', 'word', 'a b', '\\'],
  ...['<script>', '</script>', '<?', '?>', '- [ ] t', '**', '_', '&amp;', '   - x', '      y'],
);
const markdown = fc.array(pieces, { maxLength: 24 }).map((all) => all.join(''));

describe('createBlockReader', () => {
  it('gives one block for each top-level node, blank lines with the block before', () => {
    expect(wholeOf('\n\n# Title\ntext\n\n\n- a\n\n- b\n\n```js\na();\n\nb();\n```\nend')).toEqual([
      '\n\n# Title\n',
      'text\n\n\n',
      '- a\n\n- b\n\n',
      '```js\na();\n\nb();\n```\n',
      'end',
    ]);
    expect(wholeOf('')).toEqual([]);
    expect(wholeOf('\n \n')).toEqual(['\n \n']);
  });

  it('covers any text without a gap, as many blocks as the tree has nodes', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const blocks = wholeOf(text);
        expect(blocks.join('')).toBe(text);
        const nodes = parseMarkdown(text).children.length;
        expect(blocks).toHaveLength(text === '' ? 0 : Math.max(1, nodes));
      }),
      { numRuns: 400, seed: 1 },
    );
  });

  it('reads a text that grows by characters as it reads the whole', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const grow = createBlockReader();
        for (let end = 1; end <= text.length; end += 1) {
          const seen = text.slice(0, end);
          expect(grow(seen).map(({ from, to }) => seen.slice(from, to))).toEqual(wholeOf(seen));
        }
      }),
      { numRuns: 200, seed: 2 },
    );
  });

  it('reads a text that grows by any steps as it reads the whole', () => {
    fc.assert(
      fc.property(markdown, fc.array(fc.integer({ min: 1, max: 30 })), (text, steps) => {
        const grow = createBlockReader();
        let end = 0;
        for (const step of [...steps, text.length]) {
          end = Math.min(text.length, end + step);
          const seen = text.slice(0, end);
          expect(grow(seen).map(({ from, to }) => seen.slice(from, to))).toEqual(wholeOf(seen));
        }
      }),
      { numRuns: 400, seed: 3 },
    );
  });

  it('starts anew with another text', () => {
    const read = createBlockReader();
    read('- a\n\ntext');
    expect(read('# b\n\nother')).toEqual([
      { from: 0, to: 5 },
      { from: 5, to: 10 },
    ]);
    expect(read('')).toEqual([]);
  });

  it.each([
    ['a thematic break that becomes a list item', '- a\n\n- - -', 'b'],
    ['a thematic break that becomes a lazy line', '- a\n---', 'b'],
    ['a number that becomes an item', '1. a\n\n2', '. b'],
    ['a title that is closed later', '[a]: /url\n"ti', '\ntle"'],
    ['a delimiter row that is none', '- a\n| x | y |\n|-|-|', 'z'],
    ['a fence whose info string has a backtick', 'text\n```a', '`b'],
  ])('takes back %s', (_, before, after) => {
    const read = createBlockReader();
    read(before);
    expect(read(before + after)).toEqual(createBlockReader()(before + after));
  });
});

describe('the cost of reading on', () => {
  const setUp = () => {
    let parsed = 0;
    const read = createBlockReader({
      parse: (text) => {
        parsed += text.length;
        return parseMarkdown(text);
      },
    });
    return { read, parsed: () => parsed };
  };

  it('does not grow with the text, and settled blocks are the same objects', () => {
    const costs = [20, 200].map((blocks) => {
      const { read, parsed } = setUp();
      let text = randomMarkdown(createRandom(7), 'n', blocks);
      let before = read(text);
      const atFirst = parsed();
      for (let step = 0; step < 50; step += 1) {
        text += step % 10 === 0 ? '\n\nMore words' : ' and more';
        const after = read(text);
        for (const [index, block] of before.slice(0, -2).entries()) {
          expect(after[index]).toBe(block);
        }
        before = after;
      }
      return parsed() - atFirst;
    });
    expect(costs[1]).toBeLessThan(2 * (costs[0] ?? 0));
  });

  it('is nothing for the lines of an open fence', () => {
    const { read, parsed } = setUp();
    let text = 'Intro.\n\n```js\n';
    read(text);
    const atFirst = parsed();
    for (let line = 0; line < 500; line += 1) {
      text += `const value${line} = ${line};\n`;
      read(text);
    }
    expect(parsed()).toBe(atFirst);
    text += '```\nAfter.';
    expect(read(text)).toEqual(createBlockReader()(text));
  });
});
