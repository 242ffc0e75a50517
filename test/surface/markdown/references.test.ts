/** Link definitions and footnotes of a text whose blocks are drawn one by one. */

import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { createBlockReader } from '../../../src/surface/markdown/blocks.ts';
import { parseMarkdown } from '../../../src/surface/markdown/parse.ts';
import {
  definitionsIn,
  joinDefinitions,
  withReferences,
} from '../../../src/surface/markdown/references.ts';

/** Each block resolved by the definitions of the whole text. */
const resolvedBlocks = (text: string, isStreaming = false): readonly string[] => {
  const blocks = createBlockReader()(text).map(({ from, to }) => text.slice(from, to));
  const definitions = joinDefinitions(blocks.map(definitionsIn));
  return blocks.map((block) => withReferences(block, definitions, { isStreaming }).trimEnd());
};

describe('withReferences', () => {
  it.each([
    ['a full reference', '[the docs][d]', '[the docs](https://x.test/a)'],
    ['a collapsed one', '[D][]', '[D](https://x.test/a)'],
    ['a shortcut', 'see [d], please', 'see [d](https://x.test/a), please'],
    ['an image', '![a picture][d]', '![a picture](https://x.test/a)'],
    ['an image inside a link', '[![one][d]][d]', '[![one](https://x.test/a)](https://x.test/a)'],
    ['marks in the text', '[**a** `]` b][d]', '[**a** `]` b](https://x.test/a)'],
    ['a cell', '| a |\n|---|\n| [x][d] |', '| a |\n|---|\n| [x](https://x.test/a) |'],
    ['a quote', '> [x\n> y][d]', '> [x\n> y](https://x.test/a)'],
  ])('makes %s an inline link', (_, source, expected) => {
    expect(resolvedBlocks(`${source}\n\n[d]: https://x.test/a`)).toEqual([expected, '']);
  });

  it('keeps the title, and encodes what would end an address', () => {
    expect(resolvedBlocks('[a]\n\n[a]: <https://x.test/b c|d> "my \\"title\\""')).toEqual([
      '[a](https://x.test/b%20c%7Cd "my \\"title\\"")',
      '',
    ]);
    expect(resolvedBlocks('[a]\n\n[a]: https://x.test/b_(c)')[0]).toBe(
      '[a](<https://x.test/b_(c)>)',
    );
  });

  it.each([
    '`[a][d] [^n]`',
    '```\n[a][d] [^n]\n```',
    '    [a][d] [^n]',
    '\\[d] \\[^n]',
    '[q]',
    '[z][q]',
  ])('leaves %j alone', (source) => {
    const text = `${source}\n\n[d]: https://x.test\n\n[^n]: note`;
    expect(resolvedBlocks(text)[0]).toBe(source);
  });

  it('takes the first definition of a label', () => {
    expect(resolvedBlocks('[a]\n\n[a]: https://one.test\n[A]: https://two.test')[0]).toBe(
      '[a](https://one.test)',
    );
  });

  it('shows footnotes by their labels as written', () => {
    expect(
      resolvedBlocks(
        'One[^1] and two[^Big-note].\n\n[^1]: first\n    goes on\n\n    ```\n    x\n    ```\n[^Big-note]: second',
      ),
    ).toEqual([
      'One[1] and two[Big-note].',
      '[1] first\ngoes on\n\n```\nx\n```',
      '[Big-note] second',
    ]);
  });

  it('does not let a footnote become a link, a definition or a box', () => {
    const [first, second] = resolvedBlocks('a[^1](b)\n\n- [^x] c\n\n[^1]: one\n\n[^x]: two');
    expect(first).toBe('a\\[1](b)');
    expect(second).toBe('- \\[x] c');
  });

  it('shows a definition that nothing refers to as a line', () => {
    expect(resolvedBlocks('text\n\n[a b]: https://x.test "t"')).toEqual([
      'text',
      'a b: https://x.test',
    ]);
  });

  it('shows references without a definition as their text while streaming, then as written', () => {
    const text = 'See [the **docs**][d], ![pic][p], [c][] and [s] [^n].';
    expect(resolvedBlocks(text, true)).toEqual(['See the **docs**, pic, c and [s] [n].']);
    expect(resolvedBlocks(text, false)).toEqual([text]);
  });

  it('gives the same tree as the whole text has', () => {
    const piece = fc.constantFrom(
      ...['[a]', '[b c][a]', '[A][]', '![i][b]', '[b]', '*[x][b]*', '`[a]`', '\\[a]', '[no]'],
      ...['word', ' ', ' ', '\n', '\n> ', '\n- ', '\n\n', '**', '|', '[', ']', '![', '\n# ', '<b>'],
    );
    const body = fc.array(piece, { maxLength: 16 }).map((all) => all.join(''));
    const ends = '\n\n[a] [b]\n\n[a]: https://a.test/x "T"\n\n[b]: <https://b.test/y(z>';
    fc.assert(
      fc.property(body, (text) => {
        const resolved = resolvedBlocks(text + ends).join('\n\n');
        expect(shapeOf(parseMarkdown(resolved))).toEqual(shapeOf(parseMarkdown(text + ends)));
      }),
      { numRuns: 300, seed: 4 },
    );
  });
});

/** Words, marks and addresses, in order. */
function shapeOf(root: Nodes): string {
  const targets = new Map<string, string>();
  const collect = (node: Nodes): void => {
    if (node.type === 'definition') targets.set(node.identifier, node.url);
    if ('children' in node) node.children.forEach(collect);
  };
  collect(root);
  const draw = (node: Nodes): string => {
    const inner = 'children' in node ? node.children.map(draw).join('') : '';
    switch (node.type) {
      case 'definition':
        return '';
      case 'link':
        return `<a ${node.url}>${inner}</a>`;
      case 'linkReference':
        return `<a ${targets.get(node.identifier) ?? ''}>${inner}</a>`;
      case 'image':
        return `<img ${node.url} ${node.alt ?? ''}>`;
      case 'imageReference':
        return `<img ${targets.get(node.identifier) ?? ''} ${node.alt ?? ''}>`;
      case 'text':
        return node.value;
      case 'html':
        return node.value.trimEnd();
      case 'code':
      case 'inlineCode':
        return `<code>${node.value}</code>`;
      case 'root':
        return inner;
      default:
        return `<${node.type}>${inner}</${node.type}>`;
    }
  };
  return draw(root).replace(/\s+/gu, ' ');
}
