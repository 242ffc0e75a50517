/**
 * Where a growing text is cut into pages: between its blocks as long as that fills a page well, else
 * inside a block. Each cut is decided by what fits the page and by nothing behind it.
 */

import type { TextBlock } from '../surface/markdown/blocks.ts';
import type { MarkdownPiece } from '../surface/markdown/split.ts';

/** A page's part of the text, and its blocks where none of them is cut. */
export interface PagePiece extends MarkdownPiece {
  readonly blocks?: readonly TextBlock[];
}

export type Split = (markdown: string) => readonly MarkdownPiece[];

export interface PieceOptions {
  /** Most drawn length of a page. */
  readonly room: number;
  readonly lengthOf: (source: string) => number;
  /** Cuts inside blocks. */
  readonly split: Split;
}

/** What stands between two blocks. */
const gapLength = 2;
/** Drawing makes no text so many times longer, whatever is in it. */
const mostGrowth = 8;
/** A page that ends between two blocks is at least so full. */
const leastShare = 0.7;

export function piecesOf(
  markdown: string,
  blocks: readonly TextBlock[],
  options: PieceOptions,
): readonly PagePiece[] {
  const pieces: PagePiece[] = [];
  for (let first = 0; first < blocks.length; ) {
    const cut = cutAfter(markdown, blocks, first, options);
    if (cut === undefined) return [...pieces, ...splitFrom(markdown, blocks[first], options)];
    pieces.push(pieceOf(markdown, blocks.slice(first, cut)));
    first = cut;
  }
  return pieces;
}

/** The block that the next page begins with; undefined where a block must be cut. */
function cutAfter(
  markdown: string,
  blocks: readonly TextBlock[],
  first: number,
  { room, lengthOf }: PieceOptions,
): number | undefined {
  let length = -gapLength;
  let cut = first;
  let lengthAtCut = 0;
  for (let index = first; index < blocks.length; index += 1) {
    const { from = 0, to = 0 } = blocks[index] ?? {};
    const isLast = index === blocks.length - 1;
    // The last block grows: what surely fits need not be drawn to be measured.
    if (isLast && length + gapLength + (to - from) * mostGrowth <= room) return blocks.length;
    const source = markdown.slice(from, to);
    const next = length + gapLength + lengthOf(source);
    if (next > room) break;
    length = next;
    if (isLast) return blocks.length;
    if (isHeading(source)) continue;
    cut = index + 1;
    lengthAtCut = length;
  }
  return lengthAtCut >= room * leastShare ? cut : undefined;
}

/** A heading stands on the page of what it is about. */
function isHeading(source: string): boolean {
  return /^ {0,3}#{1,6}(?:[ \t]|$)|\n {0,3}(?:=+|-+)[ \t]*\n*$/u.test(source);
}

function pieceOf(markdown: string, blocks: readonly TextBlock[]): PagePiece {
  const from = blocks[0]?.from ?? 0;
  const end = blocks.at(-1)?.to ?? from;
  const to = from + markdown.slice(from, end).trimEnd().length;
  return { before: '', from, to, after: '', blocks };
}

function splitFrom(
  markdown: string,
  block: TextBlock | undefined,
  { split }: PieceOptions,
): readonly PagePiece[] {
  const offset = block?.from ?? 0;
  return split(markdown.slice(offset)).map(({ before, from, to, after }) => ({
    ...{ before, after, from: from + offset, to: to + offset },
  }));
}
