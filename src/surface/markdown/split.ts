/**
 * Splits Markdown into pieces that fit a platform's limit and stand alone: cut at block borders,
 * else at lines, else at words, never inside a character. Fences are closed and opened again, a
 * table's head is repeated, and the number of a list's item is put right where the list was cut;
 * nothing else is added, and only whitespace at a cut is left out.
 *
 * Each cut is decided by the text that fits the piece and by nothing behind it, so while text is
 * appended at the end, all pieces but the last stay as they are.
 */

import { BotError } from '../../base/errors.ts';
import { graphemeEnd } from '../../base/text.ts';
import {
  codeAt,
  isLinePrefix,
  type ListGoingOn,
  layoutOffsetOf,
  lineOffsets,
  type Open,
  offsetsIn,
  tableAt,
  type Window,
  wordOffsets,
} from './borders.ts';
import { fittingSize } from './fitting.ts';
import {
  closesCode,
  closingOf,
  type FencedCode,
  type Layout,
  layoutOf,
  lineEndOf,
  lineStartOf,
  openingOf,
  type Range,
} from './layout.ts';
import { beginsItem, goingOn, listsAfter, listsAt, markToWrite, wrongNumberAt } from './numbers.ts';

export interface SplitOptions {
  readonly mostLength: number;
  /** Length of a piece as the platform counts it; grows with the piece. */
  readonly lengthOf: (markdown: string) => number;
}

/** A piece: text from the original, between what splitting added. */
export interface MarkdownPiece {
  readonly before: string;
  readonly from: number;
  readonly to: number;
  readonly after: string;
}

/** The pieces' texts. None is empty: text without a visible character gives no piece. */
export function splitMarkdown(markdown: string, options: SplitOptions): string[] {
  return createMarkdownSplitter(options)(markdown).map((piece) => textOf(markdown, piece));
}

export function textOf(markdown: string, { before, from, to, after }: MarkdownPiece): string {
  return before + markdown.slice(from, to) + after;
}

/**
 * A splitter that remembers: called again with the same text grown at the end, it reads only what
 * follows the last cut. Throws `message_too_long` where the limit is too small for a character or
 * for a fence.
 */
export function createMarkdownSplitter(
  options: SplitOptions,
): (markdown: string) => readonly MarkdownPiece[] {
  let seen = '';
  let kept: readonly Cut[] = [];
  return (markdown) => {
    const text = markdown.trimEnd();
    const cuts: Cut[] = text.startsWith(seen) ? [...kept] : [];
    for (;;) {
      const place = settled(text, cuts.at(-1)?.next ?? { at: 0, open: undefined });
      if (place.at >= text.length) break;
      cuts.push(nextPiece(text, place, options));
    }
    seen = text;
    kept = cuts.filter(({ isFinal }) => isFinal);
    return cuts.flatMap(({ piece }) => (piece && piece.to > piece.from ? [piece] : []));
  };
}

interface Place {
  readonly at: number;
  readonly open: Open | undefined;
  readonly lists?: readonly ListGoingOn[];
  /** Among words, where the indent of a line means nothing unless an item begins there. */
  readonly isInWords?: boolean;
}

interface Cut {
  readonly piece: MarkdownPiece | undefined;
  readonly next: Place;
  /** Stays as it is when text is appended. */
  readonly isFinal?: boolean;
}

/** Info strings longer than this are not repeated. */
const mostInfoLength = 20;

/** A cut earlier than this share of what fits wastes the piece: the next kind of cut is tried. */
const leastShare = 0.4;
const leastShareOfAny = 0.1;

/** Passes over what needs no piece: blank lines, and a closing line that was added already. */
function settled(text: string, place: Place): Place {
  const { at, open } = place;
  if (open?.kind === 'code' && lineStartOf(text, at) === at && closesCode(text, at, open.code)) {
    return settled(text, { ...place, at: lineEndOf(text, at) + 1, open: undefined });
  }
  return { ...place, at: open ? at : afterBlankLines(text, at) };
}

function nextPiece(text: string, place: Place, options: SplitOptions): Cut {
  const { at, open, lists } = begun(text, place);
  const before = open?.before ?? '';
  const { mostLength, lengthOf } = options;
  const fits = (to: number, after: string): boolean =>
    lengthOf(before + text.slice(at, to) + after) <= mostLength;
  const size = fittingSize(text, at, before, options);
  if (size < 1) return { piece: undefined, next: { at, open: withLess(open, mostLength) } };
  const fitting = at + size >= text.length ? text.length : endAt(text, at, size, mostLength);
  const wrong = wrongNumberAt(text, { at, end: fitting, before }, lists);
  if (wrong !== undefined) {
    const to = at + text.slice(at, wrong).trimEnd().length;
    const piece = { before, from: at, to, after: '' };
    const next = {
      at: wrong,
      open: undefined,
      lists: listsAfter(lists, before + text.slice(at, to)),
    };
    return { piece, next, isFinal: true };
  }
  const end = fitting;
  const shown = before + text.slice(at, end);
  const last = (after: string): Cut => ({
    piece: { before, from: at, to: end, after },
    next: { at: end, open: undefined },
  });
  const isLast = end === text.length;
  // Most texts that fit are without a fence, and need no parsing.
  if (isLast && !/`{3}|~{3}/u.test(shown)) return last('');
  const layout = layoutOf(shown);
  const closing = closingAtEnd(layout, shown.length);
  if (isLast && fits(end, closing)) return last(closing);
  const window: Window = { text, at, open, lists, before, end, layout, fits };
  const cut = softCut(window) ?? hardCut(window, options);
  const next = { ...cut.next, lists: listsAt(window, cut.next.at) };
  return { ...cut, next, isFinal: end < text.length && cut.next.at < text.length };
}

/** The place as its piece begins: the mark of an item put right, no indent before words. */
function begun(text: string, place: Place): Required<Place> {
  const { at, open, isInWords = false } = place;
  const lists = goingOn(text, at, place.lists ?? []);
  const mark = open ? undefined : markToWrite(text, at, lists);
  if (mark) {
    return { at: mark.end, open: { kind: 'item', before: mark.before }, lists, isInWords };
  }
  const fence = isInWords && !open ? deepFenceAt(text, at) : undefined;
  if (fence) return { ...fence, lists, isInWords };
  const start = isInWords && !open && !beginsItem(text, at, lists) ? afterIndent(text, at) : at;
  return { at: start, open, lists, isInWords };
}

/** A fence so deep in a list that it would be code by its indent: it is opened again less deep. */
function deepFenceAt(text: string, at: number): Pick<Required<Place>, 'at' | 'open'> | undefined {
  const line = text.slice(at, lineEndOf(text, at) + 1);
  const [, prefix = '', fence = '', info = ''] =
    /^( {4,})(`{3,}|~{3,})([^`\n]*)\n$/u.exec(line) ?? [];
  if (fence === '') return undefined;
  const nowhere = { start: 0, end: 0, lineStart: 0, contentStart: 0, closingStart: undefined };
  const code: FencedCode = { ...nowhere, fence, info: info.trim(), prefix };
  return {
    at: at + line.length,
    open: { ...reopened(code, ''), before: openingOf(code, info.trim()) },
  };
}

/** The end of what fits: a border between characters, not among the marks that begin a line. */
function endAt(text: string, at: number, size: number, mostLength: number): number {
  const border = borderAt(text, at, size, mostLength);
  const lineStart = lineStartOf(text, border);
  return lineStart > at && isLinePrefix(text.slice(lineStart, border)) ? lineStart : border;
}

/** The last border between characters at or before `size` units. */
function borderAt(text: string, at: number, size: number, mostLength: number): number {
  const ahead = text.slice(at, at + size + 64);
  const grapheme = graphemeEnd(ahead, size);
  if (grapheme > 0) return at + grapheme;
  // One grapheme is longer than the limit: cut between its characters, but not inside one.
  const isInside = (ahead.codePointAt(size - 1) ?? 0) > 0xffff;
  const character = isInside ? size - 1 : size;
  if (character < 1) throw tooSmall(mostLength);
  return at + character;
}

/** The best cut at a border of blocks, lines or words; undefined when there is none worth taking. */
function softCut(window: Window): Cut | undefined {
  const { at, end, layout } = window;
  const kinds = [
    () => offsetsIn(window, layout.blocks),
    () => offsetsIn(window, layout.inner),
    () => lineOffsets(window),
    () => wordOffsets(window, layout.phrases),
  ];
  const room = end - at;
  const bestOf = (offsets: Iterable<number>, share: number): Cut | undefined => {
    for (const offset of offsets) {
      if (offset - at < room * share) return undefined;
      const cut = cutAt(window, offset);
      if (cut) return cut;
    }
    return undefined;
  };
  for (const kind of kinds) {
    const cut = bestOf(kind(), leastShare);
    if (cut) return cut;
  }
  const any = [...kinds, () => wordOffsets(window, [])].flatMap((kind) => [...kind()]);
  const lastFirst = any.toSorted((a, b) => b - a);
  return bestOf(lastFirst, leastShareOfAny);
}

/** A cut where the text offers no border: inside a line of code, or inside a word. */
function hardCut(window: Window, options: SplitOptions): Cut {
  const { text, at, open, before, end } = window;
  const code = codeAt(window, end);
  if (!code) {
    return { piece: { before, from: at, to: end, after: '' }, next: { at: end, open: undefined } };
  }
  const start = at + code.lineStart - before.length;
  if (start > at) {
    const to = at + text.slice(at, start).trimEnd().length;
    return { piece: { before, from: at, to, after: '' }, next: { at: start, open: undefined } };
  }
  const firstLine = at + code.contentStart - before.length;
  const inLine = cutInCodeLine(window, code, Math.max(at, firstLine), options);
  if (inLine) return inLine;
  const opened = open ?? { kind: 'code', code, lead: '', before: openingOf(code, code.info) };
  const next = before === '' ? lineEndOf(text, at) + 1 : at;
  return { piece: undefined, next: { at: next, open: withLess(opened, options.mostLength) } };
}

/** Opens again with less where not one character fits beside it: no head, no info string. */
function withLess(open: Open | undefined, mostLength: number): Open | undefined {
  if (open?.kind === 'table' || open?.kind === 'item') return undefined;
  const before = open && openingOf(open.code, '') + open.lead;
  if (!open || before === undefined || open.before === before) throw tooSmall(mostLength);
  return { ...open, before };
}

function cutInCodeLine(
  window: Window,
  code: FencedCode,
  from: number,
  { mostLength, lengthOf }: SplitOptions,
): Cut | undefined {
  const { text, at, before, end } = window;
  const after = closingOf(code);
  const measured = { mostLength, lengthOf: (piece: string) => lengthOf(piece + after) };
  const size = Math.min(fittingSize(text, at, before, measured), end - at);
  let to = at + size > from ? borderAt(text, at, size, mostLength) : from;
  // What goes on must not look like the closing line.
  while (to > from && closesCode(text, to, code)) to = borderAt(text, at, to - at - 1, mostLength);
  if (to <= from) return undefined;
  const lineStart = lineStartOf(text, to);
  if (/^[ \t>]*$/u.test(text.slice(lineStart, to))) {
    if (lineStart > from) return cutAt(window, lineStart);
    if (code.prefix !== '') return undefined;
  }
  return {
    piece: { before, from: at, to, after },
    next: { at: to, open: reopened(code, code.prefix) },
  };
}

/** A cut so that the next piece begins at `offset`; undefined when it would not fit or be empty. */
function cutAt(window: Window, offset: number): Cut | undefined {
  const { text, at, before, fits } = window;
  const code = codeAt(window, offset);
  if (code) {
    // The line break before `offset` is the one that the closing line begins with.
    const to = offset - 1;
    const after = closingOf(code);
    const hasContent = layoutOffsetOf(window, offset) > code.contentStart;
    if (!hasContent || !fits(to, after)) return undefined;
    return {
      piece: { before, from: at, to, after },
      next: { at: offset, open: reopened(code, '') },
    };
  }
  const to = at + text.slice(at, offset).trimEnd().length;
  if (to <= at || !fits(to, '')) return undefined;
  const table = tableAt(window, offset);
  const piece = { before, from: at, to, after: '' };
  if (table) {
    // Between head and rows there is no cut; inside a row there is, but what follows is no row.
    if (layoutOffsetOf(window, offset) <= table.rowsStart) return undefined;
    const open = text.charAt(offset - 1) === '\n' ? headOf(table.head, window) : undefined;
    return { piece, next: { at: offset, open } };
  }
  return { piece, next: { at: offset, open: undefined, isInWords: isInWords(window, offset) } };
}

function reopened(code: FencedCode, lead: string): Open {
  const info = code.info.length <= mostInfoLength ? code.info : '';
  return { kind: 'code', code, lead, before: openingOf(code, info) + lead };
}

/** The head of a table to repeat; none where it would take half of a piece or not stand alone. */
function headOf(head: string, { at, end, before }: Window): Open | undefined {
  const isLong = head.length * 2 > end - at + before.length;
  return isLong || head.startsWith('    ') ? undefined : { kind: 'table', before: head };
}

/** What closes a code that is still open where the text ends. */
function closingAtEnd(layout: Layout, length: number): string {
  const code = layout.codes.find(
    ({ end, closingStart }) => end >= length && closingStart === undefined,
  );
  return code ? closingOf(code) : '';
}

function afterBlankLines(text: string, at: number): number {
  const blank = /(?:[ \t]*\n)*/uy;
  blank.lastIndex = at;
  blank.exec(text);
  return Math.max(at, blank.lastIndex);
}

function isInWords(window: Window, offset: number): boolean {
  const inLayout = layoutOffsetOf(window, offset);
  const { paragraphs, outerLists, indentedCodes } = window.layout;
  const isWithin = ({ start, end }: Range): boolean => start < inLayout && inLayout <= end;
  if (paragraphs.some(isWithin)) return true;
  // A deep item is no code where its list is cut. A blank line may stand before it.
  const isInList = outerLists.some(({ start, end }) => start < inLayout && inLayout <= end + 2);
  const isCode = indentedCodes.some(({ start, end }) => start <= inLayout && inLayout <= end);
  return isInList && !isCode && isDeep(window.text, offset);
}

function isDeep(text: string, offset: number): boolean {
  return /^(?: {4}| {0,3}\t)/u.test(text.slice(offset, offset + 4));
}

/** Inside a paragraph the indent of a line means nothing, but alone it could make it code. */
function afterIndent(text: string, offset: number): number {
  let next = offset;
  while (text.charAt(next) === ' ' || text.charAt(next) === '\t') next += 1;
  return next;
}

function tooSmall(mostLength: number): BotError {
  return new BotError('message_too_long', 'The text cannot be split into pieces that small.', {
    facts: { mostLength },
  });
}
