/**
 * The top-level blocks of a Markdown text that grows at its end. Only the end is read again: what
 * a later block settles stays as it was, the same objects.
 */

import type { Root, RootContent } from 'mdast';
import { parseMarkdown } from './parse.ts';

/** A top-level block with the blank lines after it. Offsets are UTF-16 units of the text. */
export interface TextBlock {
  readonly from: number;
  readonly to: number;
}

type Kind = RootContent['type'];
type Parse = (markdown: string) => Root;

interface Known {
  readonly block: TextBlock;
  readonly kind: Kind | 'blank';
  /** The fence of a code block that was not closed yet. */
  readonly fence: string | undefined;
}

/**
 * A reader that remembers the text it was last called with: the same text grown at its end is read
 * from the last settled block on, any other text from its beginning. The blocks cover the text
 * without a gap; leading blank lines belong to the first.
 */
export function createBlockReader({
  parse = parseMarkdown,
}: {
  readonly parse?: Parse;
} = {}): (markdown: string) => readonly TextBlock[] {
  let seen = '';
  let known: readonly Known[] = [];
  return (markdown) => {
    if (markdown !== seen) known = readFurther(parse, markdown, seen, known);
    seen = markdown;
    return known.map(({ block }) => block);
  };
}

function readFurther(
  parse: Parse,
  text: string,
  seen: string,
  known: readonly Known[],
): readonly Known[] {
  if (!text.startsWith(seen)) return readFrom(parse, text, 0);
  const last = known.at(-1);
  if (last?.fence !== undefined && !maybeCloses(text, seen, last.fence)) {
    const block = { from: last.block.from, to: text.length };
    return [...known.slice(0, -1), { ...last, block }];
  }
  const settled = settledCount(seen, known);
  return [...known.slice(0, settled), ...readFrom(parse, text, known[settled]?.block.from ?? 0)];
}

function readFrom(parse: Parse, text: string, at: number): readonly Known[] {
  const source = text.slice(at);
  const nodes = parse(source).children;
  const starts = nodes.map(({ position }) => at + lineStartOf(source, position?.start.offset ?? 0));
  const found = nodes.map(({ type: kind }, index): Known => {
    const from = index === 0 ? at : (starts[index] ?? at);
    const block = { from, to: starts[index + 1] ?? text.length };
    const isLast = index === nodes.length - 1;
    const fence = isLast && kind === 'code' ? openFenceOf(text, starts[index] ?? at) : undefined;
    return { block, kind, fence };
  });
  if (found.length > 0 || source === '') return found;
  return [{ block: { from: at, to: text.length }, kind: 'blank', fence: undefined }];
}

/** How many blocks at the beginning no longer text can change. */
function settledCount(seen: string, known: readonly Known[]): number {
  let count = Math.max(0, known.length - 1);
  while (count > 0 && mayJoin(seen, known[count - 1], known[count])) count -= 1;
  return count;
}

/** What ends by itself: nothing after it is ever taken in. */
const closedKinds: ReadonlySet<string> = new Set(['heading', 'thematicBreak', 'code']);

/** A longer gap between blocks is not looked at whole. */
const mostGap = 200;

/** True where longer text could make the block a part of the block before it. */
function mayJoin(text: string, before: Known | undefined, last: Known | undefined): boolean {
  if (before === undefined || last === undefined || closedKinds.has(before.kind)) return false;
  const { from } = last.block;
  const isApart = /[\n\r][ \t]*(?:\r\n|\n|\r)$/u.test(
    text.slice(Math.max(before.block.from, from - mostGap), from),
  );
  // A title may follow a definition on its own lines.
  if (before.kind === 'definition' && !isApart && /^[ \t]*["'(]/u.test(text.slice(from, from + 9)))
    return true;
  // A table is one by its second line.
  if (hasLineEnds(text, from, last.kind === 'table' ? 2 : 1)) return false;
  const isNumber = /^[ \t]*\d{1,9}[.)]?[ \t]*$/u.test(text.slice(from, from + 20));
  return !(last.kind === 'paragraph' && isApart && !isNumber);
}

function hasLineEnds(text: string, from: number, least: number): boolean {
  const pattern = /\r\n|[\n\r]/gu;
  pattern.lastIndex = from;
  for (let count = 0; count < least; count += 1) if (!pattern.test(text)) return false;
  return true;
}

/** The fence that opens at this line, unless a later line may close it. */
function openFenceOf(text: string, lineStart: number): string | undefined {
  const opening = /^ {0,3}(`{3,}|~{3,})[^\n\r]*(?=[\n\r])/u.exec(text.slice(lineStart));
  const fence = opening?.[1];
  if (opening === null || fence === undefined) return undefined;
  return hasClosingLine(text.slice(lineStart + opening[0].length), fence) ? undefined : fence;
}

function maybeCloses(text: string, seen: string, fence: string): boolean {
  return hasClosingLine(text.slice(lineStartOf(text, seen.length)), fence);
}

/** True where a line begins like the one that closes this fence. */
function hasClosingLine(text: string, fence: string): boolean {
  return text.split(/[\n\r]/u).some((line) => line.trimStart().startsWith(fence));
}

function lineStartOf(text: string, offset: number): number {
  let start = offset;
  while (start > 0 && text[start - 1] !== '\n' && text[start - 1] !== '\r') start -= 1;
  return start;
}
