/**
 * Phrases that are begun and not ended where a paragraph stops: code, links, emphasis. Which marks
 * count is read from the tree, so that what the parser takes as plain text stays plain.
 */

import type { Nodes, PhrasingContent } from 'mdast';
import { closedPhrases, startOf } from './open-leaf.ts';

/** The words of a paragraph, heading or cell in a text, with their tree. */
export interface Phrasing {
  readonly text: string;
  readonly start: number;
  /** Where the words end: all after it is white space. */
  readonly end: number;
  readonly nodes: readonly PhrasingContent[];
}

/** A run of backticks that nothing closes, the first one; undefined when all code is closed. */
export function openCodeOf(phrasing: Phrasing): { at: number; marks: string } | undefined {
  for (const { at, marks } of plainRuns(phrasing, /`+/gu)) return { at, marks };
  return undefined;
}

export interface OpenLink {
  /** Where its first mark stands, `[` or `![`. */
  readonly at: number;
  readonly textStart: number;
  /** Where the text ends that can be shown. */
  readonly textEnd: number;
  /** False for a footnote, which has no text of its own. */
  readonly hasText: boolean;
}

/** A text in brackets that goes on for longer than this is no link. */
const mostTextUnits = 300;
const mostAddressUnits = 2_000;

/** Links and images that more text may complete; the first of those that hold one another first. */
export function openLinksOf(phrasing: Phrasing): readonly OpenLink[] {
  const { text, end } = phrasing;
  const open: number[] = [];
  const found: OpenLink[] = [];
  for (const { at, marks } of plainRuns(phrasing, /[[\]]/gu)) {
    if (marks === '[') {
      open.push(at);
      continue;
    }
    const start = open.pop();
    if (start !== undefined && isHalf(text.slice(at + 1, end))) {
      found.push(linkAt(text, start, at));
    }
  }
  const unclosed = open
    .filter((at) => end - at <= mostTextUnits)
    .map((at) => linkAt(text, at, end));
  return [...found, ...unclosed].toSorted((a, b) => a.at - b.at);
}

function linkAt(text: string, at: number, textEnd: number): OpenLink {
  const isImage = text[at - 1] === '!' && text[at - 2] !== '\\';
  const hasText = text[at + 1] !== '^';
  return { at: isImage ? at - 1 : at, textStart: at + 1, textEnd, hasText };
}

/** True for what may follow the text of a link when it is cut off: nothing, half an address. */
function isHalf(rest: string): boolean {
  if (rest === '' || rest === '(') return true;
  if (rest.length > mostAddressUnits) return false;
  if (rest.startsWith('[')) return /^\[(?:[^[\]\\]|\\[\s\S])*\\?$/u.test(rest);
  const inside = /^\(\s*(?:<[^<>\n]*>?|[^\s<]\S*)?(?:\s+(?:"[^"]*"?|'[^']*'?|\([^()]*\)?)?)?\s*$/u;
  return inside.test(rest) && !closesAddress(rest);
}

/** True when the bracket that opens an address is closed in it. */
function closesAddress(rest: string): boolean {
  if (/^\(\s*</u.test(rest) || /\s["'(]/u.test(rest)) return false;
  let depth = 0;
  for (const sign of rest.replace(/\\[\s\S]/gu, '')) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (depth === 0) return true;
  }
  return false;
}

export interface OpenMark {
  readonly at: number;
  readonly marks: string;
}

/** Marks of emphasis and strikes that open something and that nothing closes, in order. */
export function openMarksOf(phrasing: Phrasing): readonly OpenMark[] {
  const { text, end } = phrasing;
  return directRuns(phrasing, /\*+|_+|~+/gu).filter(({ at, marks }) => {
    const before = previousCharacter(text, at);
    const after = text.slice(at + marks.length, end);
    return canOpen(marks, at === phrasing.start ? '' : before, after.slice(0, 2));
  });
}

/** Left-flanking (CommonMark 6.2), but for what people write between numbers and letters. */
function canOpen(marks: string, before: string, after: string): boolean {
  if (after === '' || /^\s/u.test(after)) return false;
  const isAfterWord = before !== '' && !/[\s\p{P}\p{S}]/u.test(before);
  if (/^[\p{P}\p{S}]/u.test(after) && isAfterWord) return false;
  if (marks.startsWith('~')) return marks.length === 2;
  if (marks.startsWith('_')) return !isAfterWord;
  const isInWord = /[A-Za-z\d]/u.test(before) && /^[A-Za-z\d]/u.test(after);
  const isPower = /\d/u.test(before) && /^\d/u.test(after);
  return marks.length === 1 ? !isInWord : !isPower;
}

function previousCharacter(text: string, at: number): string {
  return Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? '';
}

/** Runs of marks that the parser took as plain text, wherever they stand. */
function plainRuns({ text, start, end, nodes }: Phrasing, pattern: RegExp): readonly OpenMark[] {
  const closed = closedPhrases(text, nodes);
  return runsIn(text, start, end, pattern).filter(
    ({ at }) => !closed.some((range) => range.start <= at && at < range.end),
  );
}

/** Runs of plain text that is not inside an emphasis: inside a closed one nothing opens any more. */
function directRuns(phrasing: Phrasing, pattern: RegExp): readonly OpenMark[] {
  const { text, start, end, nodes } = phrasing;
  const inside = nodes.filter(({ type, position }) => type !== 'text' && position !== undefined);
  return runsIn(text, start, end, pattern).filter(
    ({ at }) => !inside.some((node) => startOf(node) <= at && at < endOfNode(node)),
  );
}

function endOfNode({ position }: Nodes): number {
  return position?.end.offset ?? 0;
}

function runsIn(text: string, start: number, end: number, pattern: RegExp): OpenMark[] {
  const runs: OpenMark[] = [];
  for (const match of text.slice(start, end).matchAll(pattern)) {
    const at = start + match.index;
    if (!isEscaped(text, at)) runs.push({ at, marks: match[0] });
    else if (match[0].length > 1) runs.push({ at: at + 1, marks: match[0].slice(1) });
  }
  return runs;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}
