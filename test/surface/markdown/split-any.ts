/** What must hold when any Markdown is split. */

import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { parseMarkdown } from '../../../src/surface/markdown/parse.ts';
import {
  createMarkdownSplitter,
  type MarkdownPiece,
  splitMarkdown,
  textOf,
} from '../../../src/surface/markdown/split.ts';

export const unitsOf = (text: string): number => text.length;
export const split = (text: string, mostLength: number): string[] =>
  splitMarkdown(text, { mostLength, lengthOf: unitsOf });

export const loneSurrogate = /\p{Cs}/u;

/** Lines of code, as a Markdown parser sees them. */
export const codeLinesOf = (piece: string): string[] => {
  const lines: string[] = [];
  const visit = (node: Nodes): void => {
    if (node.type === 'code') lines.push(...node.value.split('\n'));
    if ('children' in node) node.children.forEach(visit);
  };
  visit(parseMarkdown(piece));
  return lines;
};

/** Each text is parsed many times over: `texts` of them a claim, `growing` where one is split at each step. */
export function describeSplitOfAny({
  texts,
  growing,
}: {
  readonly texts: number;
  readonly growing: number;
}): void {
  describe('splitting any Markdown', () => {
    const word = fc.oneof(
      fc.string({ minLength: 1, maxLength: 12 }).map((text) => text.replaceAll(/\s/gu, '') || 'w'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
      fc.constantFrom(
        '**bold**',
        '`code`',
        '[link](https://x.test)',
        '日本語',
        '👨‍👩‍👧',
        '*',
        '`',
        '|',
        '#',
        '-',
      ),
    );
    const line = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));
    const fence = fc.constantFrom('```', '~~~', '````');
    const block = fc.oneof(
      line,
      fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n')),
      line.map((text) => `## ${text}`),
      fc
        .tuple(
          fc.constantFrom('- ', '1. ', '> ', '  - '),
          fc.array(line, { minLength: 1, maxLength: 6 }),
        )
        .map(([mark, lines]) => lines.map((text) => mark + text).join('\n')),
      fc
        .tuple(fence, fc.constantFrom('', 'js', 'x'.repeat(25)), fc.array(line, { maxLength: 12 }))
        .map(([mark, info, lines]) => [mark + info, ...lines, mark].join('\n')),
      fc
        .tuple(fc.constantFrom('> ', '  ', '   '), fc.array(line, { minLength: 1, maxLength: 8 }))
        .map(([prefix, lines]) =>
          ['```js', ...lines, '```'].map((text) => prefix + text).join('\n'),
        ),
      fc
        .array(fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/u), fc.nat(999)), {
          minLength: 1,
          maxLength: 8,
        })
        .map((rows) =>
          ['| name | value |', '|---|---|', ...rows.map(([a, b]) => `| ${a} | ${b} |`)].join('\n'),
        ),
      fc.constantFrom(
        '---',
        '```',
        '```js\nopen',
        '<b>html</b>',
        '    indented code',
        'Title\n===',
      ),
    );
    const markdown = fc
      .tuple(fc.array(block, { maxLength: 8 }), fc.constantFrom('\n', '\n\n', '\n\n\n'))
      .map(([blocks, between]) => blocks.join(between));
    const limit = fc.integer({ min: 40, max: 300 });
    const runs = { numRuns: texts, seed: 11 };
    const piecesOf = (text: string, mostLength: number): readonly MarkdownPiece[] =>
      createMarkdownSplitter({ mostLength, lengthOf: unitsOf })(text);

    it('gives pieces within the limit, none blank, no character halved', () => {
      fc.assert(
        fc.property(markdown, limit, (text, most) => {
          for (const piece of split(text, most)) {
            expect(piece.length).toBeLessThanOrEqual(most);
            expect(piece.trim()).not.toBe('');
            expect(piece).not.toMatch(loneSurrogate);
          }
        }),
        runs,
      );
    });

    it('leaves out nothing but whitespace at cuts and fence lines that it wrote itself', () => {
      fc.assert(
        fc.property(markdown, limit, (text, most) => {
          let at = 0;
          for (const { from, to } of [...piecesOf(text, most), { from: text.length, to: 0 }]) {
            const between = text.slice(at, from).trim();
            expect(between).toMatch(/^(?:[> ]*(?:`{3,}|~{3,})x*|\d+[.)])?$/u);
            at = to;
          }
        }),
        runs,
      );
    });

    it('adds only fences, heads of tables and numbers of items', () => {
      fc.assert(
        fc.property(markdown, limit, (text, most) => {
          for (const { before, after } of piecesOf(text, most)) {
            expect(before).toMatch(
              /^(?:[ >-]*(?:`{3,}|~{3,})[^\n]*\n[> ]*|[> ]*\|[^\n]*\n[> ]*\|[^\n]*\n| *\d+[.)][ \t]+)?$/u,
            );
            expect(after).toMatch(/^(?:\n[ >]*(?:`{3,}|~{3,}))?$/u);
          }
        }),
        runs,
      );
    });

    it('keeps all code of fences, in order, and no prose among it', () => {
      const fenced = fc
        .tuple(fence, fc.constantFrom('', 'js'), fc.array(line, { minLength: 1, maxLength: 15 }))
        .map(([mark, info, lines]) => [mark + info, ...lines, mark].join('\n'));
      const text = fc.array(fc.oneof(fenced, fc.constant('Some words of prose.')), {
        maxLength: 6,
      });
      fc.assert(
        fc.property(text, limit, (blocks, most) => {
          const whole = blocks.join('\n\n');
          const joined = split(whole, most).flatMap(codeLinesOf).join('');
          expect(joined).toBe(codeLinesOf(whole).join(''));
        }),
        runs,
      );
    });

    it('leaves no code open at the end of a piece', () => {
      fc.assert(
        fc.property(markdown, limit, (text, most) => {
          for (const piece of split(text, most)) {
            const canary = 'outside of any code';
            const after = parseMarkdown(`${piece}\n\n${canary}`).children.at(-1);
            expect(after && JSON.stringify(after)).toContain(canary);
            expect(after?.type === 'code' && after.value.includes(canary)).toBe(false);
          }
        }),
        runs,
      );
    });

    it('splits a growing text as it splits a whole one', () => {
      fc.assert(
        fc.property(markdown, limit, fc.integer({ min: 10, max: 80 }), (text, most, step) => {
          const grow = createMarkdownSplitter({ mostLength: most, lengthOf: unitsOf });
          for (let end = step; end < text.length + step; end += step) {
            const seen = text.slice(0, end);
            if (loneSurrogate.test(seen)) continue;
            expect(grow(seen).map((piece) => textOf(seen, piece))).toEqual(split(seen, most));
          }
        }),
        { numRuns: growing, seed: 12 },
      );
    });

    it('keeps all pieces but the last as they are while text is appended', () => {
      fc.assert(
        fc.property(
          markdown,
          markdown,
          limit,
          fc.constantFrom('', '\n', '\n\n'),
          (text, more, most, by) => {
            const stable = split(text, most).slice(0, -1);
            expect(split(text + by + more, most).slice(0, stable.length)).toEqual(stable);
          },
        ),
        runs,
      );
    });
  });
}
