/**
 * Where a piece of Markdown may be cut, read from its syntax tree. All offsets are UTF-16 units of
 * the text given.
 */

import type { Code, List, Nodes, Parents, PhrasingContent } from 'mdast';
import { parseMarkdown } from './parse.ts';

export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface FencedCode extends Range {
  /** Where its first code line begins; the end of the text when only the opening line is there. */
  readonly contentStart: number;
  /** Where its closing line begins; undefined while it is open. */
  readonly closingStart: number | undefined;
  /** Where the line of the opening fence begins. */
  readonly lineStart: number;
  /** The run of backticks or tildes. */
  readonly fence: string;
  readonly info: string;
  /** What stands before each of its lines: quote marks and the indent of list items. */
  readonly prefix: string;
}

export interface TableRows extends Range {
  /** Head and delimiter line, each with its line end. */
  readonly head: string;
  /** Where the first line after the delimiter begins. */
  readonly rowsStart: number;
}

/** A list with numbers, as far as it is in the text. */
export interface NumberedList extends Range {
  /** What stands before the numbers on their lines. */
  readonly indent: string;
  /** `.` or `)` */
  readonly sign: string;
  /** The number that the first item shows. */
  readonly first: number;
  /** Where the lines of the items begin. */
  readonly items: readonly number[];
}

export interface Layout {
  /** Line starts of top-level blocks but the first; none right after a heading. */
  readonly blocks: readonly number[];
  /** Line starts of list items and other blocks inside blocks, where they can stand alone. */
  readonly inner: readonly number[];
  readonly codes: readonly FencedCode[];
  readonly tables: readonly TableRows[];
  /** Lists at the top, of any kind, and code by indent wherever it stands. */
  readonly outerLists: readonly Range[];
  readonly indentedCodes: readonly Range[];
  /** A list inside another after it. */
  readonly lists: readonly NumberedList[];
  /** Links, code spans and the like: cut inside, their marks would show. */
  readonly phrases: readonly Range[];
  readonly paragraphs: readonly Range[];
}

/** Indented this far, a line that stands alone is code (CommonMark 4.4). */
const codeIndent = 4;

export function layoutOf(text: string): Layout {
  const blocks: number[] = [];
  const inner: number[] = [];
  const codes: FencedCode[] = [];
  const tables: TableRows[] = [];
  const lists: NumberedList[] = [];
  const outerLists: Range[] = [];
  const indentedCodes: Range[] = [];
  const phrases: Range[] = [];
  const paragraphs: Range[] = [];

  const visit = (node: Nodes, depth: number): void => {
    const { start, end } = rangeOf(node);
    if (node.type === 'code') {
      const code = fencedCodeOf(text, node, start, end);
      if (code) codes.push(code);
      else indentedCodes.push({ start: lineStartOf(text, start), end });
    } else if (node.type === 'table') {
      tables.push(tableRowsOf(text, start, end));
    } else if (node.type === 'paragraph' || node.type === 'heading') {
      paragraphs.push({ start, end });
      phrases.push(...phrasesOf(text, node.children));
    } else if ('children' in node) {
      if (node.type === 'list' && depth === 1) outerLists.push({ start, end });
      if (node.type === 'list' && node.ordered) lists.push(numberedListOf(text, node));
      visitChildren(node, depth);
    }
  };
  const visitChildren = (parent: Parents, depth: number): void => {
    let previous: Nodes | undefined;
    for (const child of parent.children) {
      const lineStart = lineStartOf(text, rangeOf(child).start);
      if (previous?.type !== 'heading' && lineStart > 0) {
        if (depth === 0) blocks.push(lineStart);
        else if (indentAt(text, lineStart) < codeIndent) inner.push(lineStart);
      }
      visit(child, depth + 1);
      previous = child;
    }
  };
  visitChildren(parseMarkdown(text), 0);
  return {
    blocks,
    inner,
    codes,
    tables,
    outerLists,
    indentedCodes,
    lists,
    phrases,
    paragraphs,
  };
}

/** The line that opens a fenced code again, with its line end. */
export function openingOf(code: FencedCode, info: string): string {
  const indent = /^ */u.exec(code.prefix)?.[0].length ?? 0;
  return `${standingIndent(indent)}${code.prefix.slice(indent)}${code.fence}${info}\n`;
}

/** The end of the line before, and the line that closes a fenced code. */
export function closingOf(code: FencedCode): string {
  return `\n${code.prefix}${code.fence}`;
}

/** True when the line at `offset` would close the code. */
export function closesCode(
  text: string,
  offset: number,
  { fence, prefix }: Pick<FencedCode, 'fence' | 'prefix'>,
): boolean {
  let line = text.slice(offset, lineEndOf(text, offset));
  for (const mark of prefix) {
    if (mark === '>') line = line.replace(/^ *>/u, '');
  }
  const run = line.trim();
  const indent = line.length - line.trimStart().length;
  return (
    // A closing fence may be indented by three (CommonMark 4.5), in its container.
    indent < prefix.length + codeIndent &&
    run.length >= fence.length &&
    run === fence.charAt(0).repeat(run.length)
  );
}

export function lineStartOf(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** The offset of the line's end, its line break not included. */
export function lineEndOf(text: string, offset: number): number {
  const found = text.indexOf('\n', offset);
  return found === -1 ? text.length : found;
}

function fencedCodeOf(
  text: string,
  node: Code,
  start: number,
  end: number,
): FencedCode | undefined {
  const fence = /^(?:`{3,}|~{3,})/u.exec(text.slice(start, start + 200))?.[0];
  if (fence === undefined) return undefined;
  const lineStart = lineStartOf(text, start);
  const openingEnd = lineEndOf(text, start);
  const code = {
    start,
    end,
    lineStart,
    contentStart: Math.min(openingEnd + 1, text.length),
    fence,
    info: [node.lang, node.meta].filter(Boolean).join(' '),
    prefix: text.slice(lineStart, start).replaceAll(/[^\s>]/gu, ' '),
  };
  const lastLine = lineStartOf(text, end);
  const isClosed = lastLine > openingEnd && closesCode(text, lastLine, code);
  return { ...code, closingStart: isClosed ? lastLine : undefined };
}

function tableRowsOf(text: string, start: number, end: number): TableRows {
  const lineStart = lineStartOf(text, start);
  const rowsStart = Math.min(lineEndOf(text, lineEndOf(text, start) + 1) + 1, text.length);
  const prefix = text.slice(lineStart, start).replaceAll(/[^\s>]/gu, ' ');
  return { start, end, rowsStart, head: prefix + text.slice(start, rowsStart) };
}

function numberedListOf(text: string, node: List): NumberedList {
  const { start, end } = rangeOf(node);
  return {
    start,
    end,
    indent: text.slice(lineStartOf(text, start), start),
    sign: /^\d+([.)])/u.exec(text.slice(start, start + 12))?.[1] ?? '.',
    first: node.start ?? 1,
    items: node.children.map((item) => lineStartOf(text, rangeOf(item).start)),
  };
}

/** An indent that holds list content of that indent together where the list itself is not there. */
function standingIndent(width: number): string {
  if (width < codeIndent) return ' '.repeat(width);
  return width <= 5 ? `-${' '.repeat(width - 1)}` : `- ${standingIndent(width - 2)}`;
}

function indentAt(text: string, lineStart: number): number {
  return /^[ \t]*/u.exec(text.slice(lineStart, lineStart + 40))?.[0].length ?? 0;
}

/** What should stay together inside a paragraph. */
function phrasesOf(text: string, nodes: readonly PhrasingContent[]): readonly Range[] {
  return nodes.flatMap((node) => {
    if (node.type === 'break') return [];
    return node.type === 'text' ? begunPhrases(text, rangeOf(node)) : [rangeOf(node)];
  });
}

const mostAheadUnits = 400;

/** What may refer to a definition that stands elsewhere: cut inside, it would refer to nothing. */
const reference = /!?\[[^[\]\n]{1,300}\](?:\[[^[\]\n]{0,300}\])?/gu;

/**
 * A mark that the parser left as text may open a phrase that ends behind the text given: what
 * follows it should stay together too.
 */
function begunPhrases(text: string, { start, end }: Range): readonly Range[] {
  const plain = text.slice(start, end);
  const references = [...plain.matchAll(reference)].map((found) => ({
    start: start + found.index,
    end: start + found.index + found[0].length,
  }));
  // What follows it may stand in another node: `[**bold**](…`.
  const ahead = text.slice(start, end + mostAheadUnits);
  const begun = /(?<![\\\p{L}\p{N}])(?:`+|\*{1,3}|_{1,3}|~~|\[(?![^\]]*\](?!\()))(?=\S)/u.exec(
    ahead,
  );
  if (!begun || begun.index >= plain.length) return references;
  return [...references, { start: start + begun.index, end: text.length + 1 }];
}

function rangeOf(node: Nodes): Range {
  const { start, end } = node.position ?? {};
  return { start: start?.offset ?? 0, end: end?.offset ?? 0 };
}
