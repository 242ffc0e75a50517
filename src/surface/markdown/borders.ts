/** Offsets at which a piece of Markdown may be cut, by kind, the last first. */

import {
  type FencedCode,
  type Layout,
  lineEndOf,
  lineStartOf,
  type Range,
  type TableRows,
} from './layout.ts';

/** What is open where a piece begins, with the line or lines that open it again. */
export type Open =
  | {
      readonly kind: 'code';
      readonly code: FencedCode;
      readonly before: string;
      /** What stands before the rest of a line that was cut. */
      readonly lead: string;
    }
  | { readonly kind: 'table'; readonly before: string }
  /** An item of an ordered list, its number put right. */
  | { readonly kind: 'item'; readonly before: string };

/** An ordered list that goes on where a piece begins. */
export interface ListGoingOn {
  readonly indent: string;
  readonly sign: string;
  /** The number that its next item shows. */
  readonly next: number;
}

/** The text that fits one piece, and where it may be cut. Offsets of the layout include `before`. */
export interface Window {
  readonly text: string;
  readonly at: number;
  readonly open: Open | undefined;
  /** The ordered lists in which the piece begins, the innermost last. */
  readonly lists: readonly ListGoingOn[];
  readonly before: string;
  /** The end of what fits. */
  readonly end: number;
  readonly layout: Layout;
  readonly fits: (to: number, after: string) => boolean;
}

/** The fenced code in which a cut at this offset of the text would lie. */
export function codeAt(window: Window, offset: number): FencedCode | undefined {
  const inLayout = layoutOffsetOf(window, offset);
  return window.layout.codes.find(
    ({ start, end, closingStart, prefix }) =>
      start < inLayout &&
      (inLayout <= (closingStart ?? end) ||
        (closingStart === undefined && goesOn(window, offset, end, prefix))),
  );
}

/** The table between whose rows a cut at this offset of the text would lie. */
export function tableAt(window: Window, offset: number): TableRows | undefined {
  const inLayout = layoutOffsetOf(window, offset);
  return window.layout.tables.find(
    ({ start, end, head }) =>
      start < inLayout && (inLayout < end || goesOn(window, offset, end, head)),
  );
}

export function layoutOffsetOf({ at, before }: Window, offset: number): number {
  return before.length + offset - at;
}

/**
 * True when what fits ends with the line that ended the block, and the next line, of which one
 * character is looked at, begins as the lines of the block do.
 */
function goesOn(window: Window, offset: number, blockEnd: number, beginning: string): boolean {
  const inLayout = layoutOffsetOf(window, offset);
  if (offset !== window.end || inLayout !== blockEnd + 1) return false;
  const next = window.text.charAt(offset);
  return beginning === '' || next === beginning.charAt(0);
}

/** The part of a line before its first word: quote marks, indent, the mark of an item, a bar. */
export function isLinePrefix(text: string): boolean {
  return /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]*)?(?:\|[ \t]*)?$/u.test(text);
}

/** Offsets of the layout as offsets of the text, the last first; only those after the start. */
export function offsetsIn({ at, end, before }: Window, offsets: readonly number[]): number[] {
  return offsets
    .map((offset) => at + offset - before.length)
    .filter((offset) => offset > at && offset <= end)
    .toReversed();
}

/** Line starts, the last first: in prose, in code after its first line, in tables after a row. */
export function* lineOffsets(window: Window): Generator<number> {
  const { text, at, end } = window;
  for (let found = text.lastIndexOf('\n', end - 1); found > at; ) {
    const offset = found + 1;
    const table = tableAt(window, offset);
    const isApart = table
      ? layoutOffsetOf(window, offset) > table.rowsStart
      : codeAt(window, offset) !== undefined || !mayBelongAbove(text, offset, end);
    if (isApart) yield offset;
    found = text.lastIndexOf('\n', found - 1);
  }
}

/** True when the line, as far as it is seen, may underline or head the line before it. */
function mayBelongAbove(text: string, offset: number, end: number): boolean {
  const line = text.slice(offset, Math.min(end, lineEndOf(text, offset)));
  const isSeen = offset + line.length < end;
  if (isSeen && line.trim() === '') return false;
  return (
    /^ {0,3}[-=|: ]*$/u.test(line) &&
    text.slice(lineStartOf(text, offset - 1), offset - 1).trim() !== ''
  );
}

/** Beginnings of words in prose, the last first; none inside a phrase that should stay whole. */
export function* wordOffsets(window: Window, whole: readonly Range[]): Generator<number> {
  const { text, at, end } = window;
  for (let offset = end; offset > at + 1; offset -= 1) {
    if (!isSpace(text, offset - 1) || isSpace(text, offset)) continue;
    const inLayout = layoutOffsetOf(window, offset);
    const isWhole = whole.some(({ start, end: last }) => start < inLayout && inLayout < last);
    if (isWhole || codeAt(window, offset) || looksLikeBlock(text, offset, end)) continue;
    if (!isLinePrefix(text.slice(lineStartOf(text, offset), offset))) yield offset;
  }
}

function isSpace(text: string, offset: number): boolean {
  const character = text.charAt(offset);
  return character === ' ' || character === '\n' || character === '\t';
}

/** True when a word at the beginning of a piece could be read as the mark of a block. */
function looksLikeBlock(text: string, offset: number, end: number): boolean {
  const seen = text.slice(offset, Math.max(end, offset + 1)).slice(0, 12);
  return /^(?:[-+*>#=|~`]|\d{1,9}(?:[.)]|$))/u.test(seen);
}
