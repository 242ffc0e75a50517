/** Ordered lists that are cut: the piece that goes on shows the numbers that the whole text shows. */

import { type ListGoingOn, layoutOffsetOf, type Window } from './borders.ts';
import { lineEndOf, lineStartOf } from './layout.ts';

/** The ordered lists around an offset, the innermost last. */
export function listsAt(window: Window, offset: number): readonly ListGoingOn[] {
  const { text, at, layout } = window;
  const inLayout = layoutOffsetOf(window, offset);
  const found = layout.lists.flatMap(({ start, end, indent, sign, first, items }) => {
    const begun = items.filter((lineStart) => lineStart < inLayout).length;
    // A blank line may stand between its items.
    const isAround = begun > 0 && start < inLayout && inLayout <= end + mostGapUnits;
    const isPlain = indent.trim() === '';
    return isAround && isPlain ? [{ indent, sign, next: first + begun }] : [];
  });
  const inherited = listsAfter(window.lists, window.before + text.slice(at, at + 80));
  const before = inherited.filter(
    (list) => !found.some((one) => one.indent === list.indent) && !endsIn(text, at, offset, list),
  );
  return [...before, ...found];
}

const mostGapUnits = 2;

/** The lists that do not end where a piece begins. */
export function goingOn(
  text: string,
  at: number,
  lists: readonly ListGoingOn[],
): readonly ListGoingOn[] {
  if (lists.length === 0 || lineStartOf(text, at) !== at) return lists;
  return lists.filter((list) => markAt(text, at, list) ?? !isAfterList(text, at, list));
}

/** True where an item of one of these lists begins. */
export function beginsItem(text: string, at: number, lists: readonly ListGoingOn[]): boolean {
  return lists.some((list) => markAt(text, at, list));
}

/** Indented this far, an item that stands alone is code. */
const codeIndent = 4;

/** The mark that a piece begins with in place of the item's own; undefined where that is right. */
export function markToWrite(
  text: string,
  at: number,
  lists: readonly ListGoingOn[],
): { readonly before: string; readonly end: number } | undefined {
  for (const list of lists.toReversed()) {
    const mark = markAt(text, at, list);
    if (!mark) continue;
    const isDeep = list.indent.length >= codeIndent || list.indent.includes('\t');
    if (mark.number === list.next && !isDeep) return undefined;
    const before = `${isDeep ? '' : list.indent}${list.next}${list.sign}${mark.space}`;
    return { before, end: at + mark.length };
  }
  return undefined;
}

/**
 * Where an item begins that would show a wrong number in a piece that starts inside an item before
 * it: there the piece should end. Undefined where all numbers are right. `before` is what the piece
 * begins with besides the text.
 */
export function wrongNumberAt(
  text: string,
  { at, end, before }: { readonly at: number; readonly end: number; readonly before: string },
  lists: readonly ListGoingOn[],
): number | undefined {
  // An item at the beginning would take the items of a list around it into its own.
  const first = /^([ \t]*)\d{1,9}[.)][ \t]/u.exec(before + text.slice(at, at + 80));
  const found = lists.flatMap((list) => {
    const isFirst = first?.[1] === list.indent;
    const line = nextItem(text, at, end, list);
    if (isFirst && !leavesItem(text, at, line ?? end, before)) return [];
    const mark = line === undefined ? undefined : markAt(text, line, list);
    const isRight = isFirst
      ? mark?.number === list.next + 1
      : first === null && mark?.number === list.next && !hasDeepLine(text, line ?? end, end);
    return line === undefined || isRight ? [] : [line];
  });
  return found.length === 0 ? undefined : Math.min(...found);
}

/** After words no list begins but with 1: deep lines of its items would be read as code. */
function hasDeepLine(text: string, from: number, end: number): boolean {
  return /\n(?: {4}| {0,3}\t)[ \t]*\S/u.test(text.slice(from, end));
}

/** True where lines of an item are not indented enough for its mark, which became longer. */
function leavesItem(text: string, at: number, end: number, before: string): boolean {
  for (let line = lineEndOf(text, at) + 1; line < end; line = lineEndOf(text, line) + 1) {
    const words = text.slice(line, lineEndOf(text, line));
    const indent = /^[ \t]*/u.exec(words)?.[0].length ?? 0;
    if (words.trim() !== '' && indent > 0 && indent < before.length) return true;
  }
  return false;
}

/** The lists after a piece that ends before the next item of one of them. */
export function listsAfter(lists: readonly ListGoingOn[], piece: string): readonly ListGoingOn[] {
  const first = /^([ \t]*)\d{1,9}[.)][ \t]/u.exec(piece);
  return lists.map((list) =>
    first?.[1] === list.indent ? { ...list, next: list.next + 1 } : list,
  );
}

function nextItem(text: string, at: number, end: number, list: ListGoingOn): number | undefined {
  for (let line = lineEndOf(text, at) + 1; line < end; line = lineEndOf(text, line) + 1) {
    if (markAt(text, line, list)) return line;
    if (isAfterList(text, line, list)) return undefined;
  }
  return undefined;
}

function endsIn(text: string, at: number, offset: number, list: ListGoingOn): boolean {
  for (let line = lineEndOf(text, at) + 1; line < offset; line = lineEndOf(text, line) + 1) {
    if (markAt(text, line, list) || isAfterList(text, line, list)) return true;
  }
  return false;
}

const otherBlock = /^(?:#{1,6}\s|>|`{3}|~{3}|[-*+]\s|<|\||([-*_])[ \t]*\1[ \t]*\1)/u;

const anyItem = /^(?:\d{1,9}[.)]|[-*+])\s/u;

/** True for a line that is no item and not inside one: of another block, or after a blank line. */
function isAfterList(text: string, line: number, { indent }: ListGoingOn): boolean {
  const words = text.slice(line, lineEndOf(text, line));
  const space = /^[ \t]*/u.exec(words)?.[0] ?? '';
  if (words.trim() === '' || space.length > indent.length) return false;
  if (space.length < indent.length && anyItem.test(words.trimStart())) return true;
  const before = text.slice(lineStartOf(text, line - 1), Math.max(0, line - 1));
  return before.trim() === '' || otherBlock.test(words.trimStart());
}

/** The mark of an item of this list that begins at the offset. */
function markAt(
  text: string,
  offset: number,
  { indent, sign }: ListGoingOn,
): { readonly number: number; readonly length: number; readonly space: string } | undefined {
  if (lineStartOf(text, offset) !== offset || !text.startsWith(indent, offset)) return undefined;
  const from = offset + indent.length;
  const mark = /^(\d{1,9})([.)])([ \t]{1,4})/u.exec(text.slice(from, from + 16));
  if (mark?.[2] !== sign) return undefined;
  const [all, number = '', , space = ' '] = mark;
  return { number: Number(number), length: indent.length + all.length, space };
}
