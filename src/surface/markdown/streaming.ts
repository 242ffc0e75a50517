/**
 * The last block of a text while it streams: shown so that nothing unfinished flashes as raw marks,
 * and how much of its beginning no later text can change. Both look at this block alone.
 */

import { closingOf, layoutOf, lineStartOf } from './layout.ts';
import { type OpenLeaf, openLeafOf } from './open-leaf.ts';
import { openCodeOf, openLinksOf, openMarksOf, type Phrasing } from './open-phrases.ts';

/** The block with what is open closed, and with what cannot be shown yet held back at its end. */
export function closedForNow(block: string): string {
  if (isPlain(block)) return block;
  const fence = openFenceOf(block);
  if (fence) return closedFence(block, fence);
  let shown = block;
  for (;;) {
    const leaf = openLeafOf(shown);
    if (!leaf) return '';
    const cut = heldFrom(shown, leaf);
    if (cut === undefined) return closed(shown, leaf);
    shown = shown.slice(0, cut);
  }
}

/**
 * How many units of the block's beginning can be appended to a message that is never edited: up to
 * the first construct that is still open, in words up to the last space, in code by lines.
 */
export function settledLength(block: string): number {
  if (openFenceOf(block)) return lineStartOf(block, block.length);
  const leaf = openLeafOf(block);
  if (!leaf) return 0;
  const { node, start } = leaf;
  const lineStart = lineStartOf(block, start);
  const isEnded = endsWithBlankLine(block);
  switch (node.type) {
    case 'paragraph':
    case 'heading':
      return isEnded ? block.trimEnd().length : settledWords(block, leaf);
    case 'code':
    case 'html':
      // A line goes on until its end.
      return Math.max(lineStart, lineStartOf(block, block.length));
    case 'table':
      return isEnded ? block.trimEnd().length : lineStart;
    default:
      return lineStart;
  }
}

/**
 * The same for a message that shows nothing yet: the first letters of its first word too. They stay
 * what they are, whatever word it becomes.
 */
export function settledStart(block: string): number {
  return settledLength(block) || (/^[\p{L}\p{N}\p{M}'’]+/u.exec(block)?.[0].length ?? 0);
}

/** True for words without any mark, which need no parsing. */
function isPlain(block: string): boolean {
  return !/[[\]*_~`<>|#&\\\n\r\t]|^ *(?:[-+=:]|\d{1,9}(?:[.)]|$))|^ {4}|^ *$/u.test(block);
}

/** The marks of a fence at the top that is open, when no line of the block may close it. */
function openFenceOf(block: string): string | undefined {
  const [, fence = '', info = ''] = /^ {0,3}(`{3,}|~{3,})([^\n\r]*)/u.exec(block) ?? [];
  if (fence === '' || (fence.startsWith('`') && info.includes('`'))) return undefined;
  const lines = block.split(/[\n\r]/u).slice(1);
  return lines.some((line) => line.trimStart().startsWith(fence)) ? undefined : fence;
}

function closedFence(block: string, fence: string): string {
  const lastLine = lineStartOf(block, block.length);
  const isHalf = /^ {0,3}(?:`+|~+)$/u.test(block.slice(lastLine));
  const shown = (isHalf ? block.slice(0, lastLine) : block).replace(/(?:\r\n|\n|\r)$/u, '');
  return /[\n\r][\s\S]*\S/u.test(shown) ? `${shown}\n${fence}` : '';
}

function endsWithBlankLine(text: string): boolean {
  return /[\n\r][ \t>]*(?:\r\n|\n|\r)$/u.test(text.slice(-100));
}

/** True where no more can come on the last line that has words. */
function endsLine(text: string): boolean {
  return /[\n\r][ \t>]*$/u.test(text.slice(-100));
}

/** From where the text must not be shown yet, before any mark is closed; undefined for nothing. */
function heldFrom(text: string, leaf: OpenLeaf): number | undefined {
  const { node, start, end } = leaf;
  const lineStart = lineStartOf(text, start);
  switch (node.type) {
    case 'code':
      return heldInCode(text, leaf);
    case 'table': {
      if (endsWithBlankLine(text)) return undefined;
      const lines = text.slice(start, end).split(/\r\n|\n|\r/u).length;
      if (endsLine(text)) return undefined;
      return lines <= 2 ? lineStart : lineStartOf(text, end);
    }
    case 'thematicBreak':
      return endsLine(text) ? undefined : lineStart;
    case 'blockquote':
    case 'list':
    case 'listItem':
    case 'footnoteDefinition':
      // Nothing is in it yet.
      return start;
    case 'heading':
      return endsLine(text) ? undefined : heldInHeading(text, leaf);
    case 'paragraph':
      return endsWithBlankLine(text) ? undefined : heldInWords(text, leaf);
    default:
      return undefined;
  }
}

function heldInCode(text: string, { start, end }: OpenLeaf): number | undefined {
  const code = layoutOf(text).codes.find((one) => one.start === start);
  if (!code || code.closingStart !== undefined) return undefined;
  const content = text.slice(code.contentStart, end);
  if (content.trim() === '' || code.contentStart >= text.length) return lineStartOf(text, start);
  const lastLine = lineStartOf(text, text.length);
  const isHalfFence = /^[ \t>]*(?:`+|~+)$/u.test(text.slice(lastLine));
  return isHalfFence && lastLine > start ? lastLine : undefined;
}

function heldInHeading(text: string, leaf: OpenLeaf): number | undefined {
  const { start, end, node } = leaf;
  if (!('children' in node) || node.children.length === 0) return lineStartOf(text, start);
  const underline = lineStartOf(text, end);
  if (underline > start) return underline;
  const closing = /[ \t]+#+[ \t]*$/u.exec(text.slice(start));
  return closing ? start + closing.index : heldTail(text, leaf);
}

/** Lines that a next line could make a block of another kind, or that are none yet. */
const halfLine =
  /^[ \t>]*(?:[-+*_=][-+*_= \t]*|\d{1,9}[.)][ \t]*|\d{1,3}|#{1,6}[ \t]*|[>|][>|:\- \t]*|:[:\- \t]*)$/u;
const delimiterLine = /^[ \t>]*(?:\|[|:\- \t]*|:?-[|:\- \t]*|:)$/u;

function heldInWords(text: string, leaf: OpenLeaf): number | undefined {
  const { start } = leaf;
  const words = text.slice(start);
  if (/^\[[^\]\n]*\]:\s*(?:\S+(?:\s+["'(][^"')]*)?)?\s*$/u.test(words))
    return lineStartOf(text, start);
  if (leaf.itemStart !== undefined && /^\[[ xX]?(?:\][ \t]*)?$/u.test(words)) return start;
  const trimmed = text.trimEnd();
  const lastLine = Math.max(start, lineStartOf(trimmed, trimmed.length));
  const line = trimmed.slice(lastLine);
  const isGoingOn = !endsLine(text);
  if (delimiterLine.test(line) && lastLine > start) {
    const head = Math.max(start, lineStartOf(text, lastLine - 1));
    if (hasBar(text.slice(head, lastLine))) return lineOrLeafStart(text, head, start);
  }
  if (isGoingOn && halfLine.test(line)) return lineOrLeafStart(text, lastLine, start);
  if (hasBar(line)) return lineOrLeafStart(text, lastLine, start);
  return isGoingOn ? heldTail(text, leaf) : undefined;
}

function lineOrLeafStart(text: string, lineStart: number, leafStart: number): number {
  return lineStart > leafStart ? lineStart : lineStartOf(text, leafStart);
}

/** True for a line that may head a table: a bar that is neither escaped nor in code. */
function hasBar(line: string): boolean {
  return line.replace(/\\[\s\S]|(`+)(?:(?!\1)[\s\S])*(?:\1|$)/gu, '').includes('|');
}

/** Half signs at the very end: an entity, a tag or address, a backslash, marks, a half link. */
const halfSign = /(?:&(?:#?[\p{L}\d]{0,31})?|<(?:[\p{L}/!?@#][^<>\n]*)?|\\|[*_~`]+|!?\[\^?)$/u;

function heldTail(text: string, { start }: OpenLeaf): number | undefined {
  const trimmed = text.trimEnd();
  const tail = halfSign.exec(trimmed.slice(start));
  if (!tail) return undefined;
  const at = start + tail.index;
  return at < trimmed.length ? at : undefined;
}

function closed(text: string, leaf: OpenLeaf): string {
  const { node } = leaf;
  if (node.type === 'code') {
    const code = layoutOf(text).codes.find(({ start }) => start === leaf.start);
    if (!code || code.closingStart !== undefined) return text;
    return text.replace(/(?:\r\n|\n|\r)$/u, '') + closingOf(code);
  }
  const isOpen =
    (node.type === 'paragraph' && !endsWithBlankLine(text)) ||
    (node.type === 'heading' && !endsLine(text));
  const phrasing = isOpen ? phrasingOf(text, leaf) : undefined;
  if (!phrasing || !/[[\]*_~`]/u.test(text.slice(phrasing.start))) return text;
  return withClosedMarks(withoutHalfLinks(withClosedCode(phrasing))).text;
}

function withClosedCode(phrasing: Phrasing): Phrasing {
  const code = openCodeOf(phrasing);
  return code ? again(phrasing.text.slice(0, phrasing.end) + code.marks, phrasing) : phrasing;
}

function withoutHalfLinks(phrasing: Phrasing): Phrasing {
  const links = openLinksOf(phrasing);
  if (links.length === 0) return phrasing;
  let shown = phrasing.text.slice(0, phrasing.end);
  for (const link of links.toReversed()) {
    const words = link.hasText ? shown.slice(link.textStart, link.textEnd) : '';
    // What an outer half link holds was shortened before: its text ends where the text ends now.
    shown = shown.slice(0, link.at) + words;
  }
  return again(shown, phrasing);
}

/** Each mark is closed, the innermost first; one that cannot be closed is left out. */
function withClosedMarks(phrasing: Phrasing): Phrasing {
  const open = openMarksOf(phrasing);
  if (open.length === 0) return phrasing;
  const text = phrasing.text.slice(0, phrasing.end);
  const closing = open.toReversed().map(({ marks }) => marks);
  const tried = again(text + closing.join(''), phrasing);
  if (openMarksOf(tried).length === 0) return tried;
  let without = text;
  for (const { at, marks } of open.toReversed()) {
    without = without.slice(0, at) + without.slice(at + marks.length);
  }
  return { ...phrasing, text: without };
}

/** The phrasing of a text that was changed; without any where no words are left. */
function again(text: string, before: Phrasing): Phrasing {
  const shown = text.trimEnd();
  const leaf = openLeafOf(shown);
  const nothing = { ...before, text: shown, end: before.start, nodes: [] };
  return (leaf && phrasingOf(shown, leaf)) ?? nothing;
}

function phrasingOf(text: string, { node, start }: OpenLeaf): Phrasing | undefined {
  if (node.type !== 'paragraph' && node.type !== 'heading') return undefined;
  return { text, start, end: text.trimEnd().length, nodes: node.children };
}

/** A name after `@` may have several words. */
const mostNameUnits = 80;

function settledWords(text: string, leaf: OpenLeaf): number {
  const { start } = leaf;
  const lineStart = lineStartOf(text, start);
  const held = heldFrom(text, leaf) ?? text.length;
  const words = text.slice(start, held);
  // The last word may go on, and become an address or a mention.
  const lastSpace = Math.max(0, words.search(/(?:[\n\r][ \t>]*|\s+\S*)$/u));
  const name = /(?<![\p{L}\p{N}_])@[^\n\r@]*$/u.exec(words);
  const nameAt = name && words.length - name.index <= mostNameUnits ? name.index : words.length;
  const phrasing = phrasingOf(text, leaf);
  const opens = phrasing
    ? [openCodeOf(phrasing)?.at, openLinksOf(phrasing)[0]?.at, openMarksOf(phrasing)[0]?.at]
    : [];
  let settled = Math.min(
    ...[start + lastSpace, start + nameAt, held],
    ...opens.filter((at) => at !== undefined),
  );
  for (const node of phrasing?.nodes ?? []) {
    const { start: from, end: to } = node.position ?? {};
    const isInside = (from?.offset ?? 0) < settled && settled < (to?.offset ?? 0);
    if (isInside && node.type !== 'text') settled = from?.offset ?? 0;
  }
  return settled > start ? text.slice(0, settled).trimEnd().length : lineStart;
}
