/** Whatever is split, people see the same: words, numbers of lists, code, cells, links. */

import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { drawMessage, drawnLengthOf } from '../../../adapters/discord/draw.ts';
import { parseMarkdown } from '../../../src/surface/markdown/parse.ts';
import { definitionsIn, withReferences } from '../../../src/surface/markdown/references.ts';
import { createMarkdownSplitter, textOf } from '../../../src/surface/markdown/split.ts';
import { hardMarkdown } from '../../support/written-markdown.ts';

interface Seen {
  /** Letters, digits, signs of lists, addresses: without white space and marks. */
  words: string;
  code: string;
}

function wordsOf(node: Nodes): string {
  if ('value' in node) return node.value;
  if (node.type === 'image') return (node.alt ?? '') + node.url;
  return node.type === 'link' ? node.url : '';
}

/** What people see of a text; the head of its first table left out where it is there again. */
function seenIn(text: string, isHeadRepeated = false): Seen {
  let words = '';
  let code = '';
  let skipsHead = isHeadRepeated;
  const visit = (node: Nodes): void => {
    if (node.type === 'tableRow' && skipsHead) {
      skipsHead = false;
      return;
    }
    if (node.type === 'code') code += node.value;
    else words += wordsOf(node);
    if (!('children' in node)) return;
    for (const [index, child] of node.children.entries()) {
      if (node.type === 'list' && node.ordered) words += `${(node.start ?? 1) + index}.`;
      visit(child);
    }
  };
  visit(parseMarkdown(text));
  return { words: words.replace(/[^\p{L}\p{N}]/gu, ''), code: code.replaceAll('\n', '') };
}

const isTableHead = (before: string): boolean => /^[> ]*\|/u.test(before);

describe('a text that is split', () => {
  const resolved = (text: string, whole: string): string =>
    withReferences(text, definitionsIn(whole), { isStreaming: false });

  it('shows what the whole shows, within the limit', () => {
    fc.assert(
      fc.property(hardMarkdown, fc.integer({ min: 120, max: 700 }), (text, mostLength) => {
        const lengthOf = (markdown: string): number => resolved(markdown, text).length;
        const pieces = createMarkdownSplitter({ mostLength, lengthOf })(text);
        const shown = pieces.map((piece) => {
          const drawn = resolved(textOf(text, piece), text);
          expect(drawn.length).toBeLessThanOrEqual(mostLength);
          return seenIn(drawn, isTableHead(piece.before));
        });
        const whole = seenIn(resolved(text, text));
        expect(shown.map(({ words }) => words).join('')).toBe(whole.words);
        expect(shown.map(({ code }) => code).join('')).toBe(whole.code);
      }),
      { numRuns: 12, seed: 1 },
    );
  });

  it('fits Discord when it is drawn, resolved by the definitions of the whole', () => {
    fc.assert(
      fc.property(hardMarkdown, (text) => {
        const long = Array.from({ length: 3 }, () => text).join('\n\n');
        const lengthOf = (markdown: string): number => drawnLengthOf(resolved(markdown, long));
        const pieces = createMarkdownSplitter({ mostLength: 2_000, lengthOf })(long);
        for (const piece of pieces) {
          const markdown = resolved(textOf(long, piece), long);
          if (markdown.trim() === '') continue;
          const { content } = drawMessage({
            blocks: [{ kind: 'markdown', text: markdown }],
            mentionable: [],
          });
          expect(content.length).toBeLessThanOrEqual(2_000);
        }
      }),
      { numRuns: 4, seed: 2 },
    );
  });
});
