/**
 * The last look at a Markdown text before it leaves: whatever would notify somebody is broken, in
 * the source as it is written and in the text as it will be read. Marks, links and images vanish
 * when a text is drawn, and what stood on their two sides becomes one word: `@**here**`.
 */

import type { Nodes } from 'mdast';
import { parseMarkdown } from '../../src/surface/markdown/parse.ts';
import { zeroWidth } from '../../src/surface/markdown/table.ts';
import { codeRanges, type Range, rangeOf } from './links.ts';
import { type LoudSign, loudSigns } from './mentions.ts';

export interface OwnMarkdown {
  readonly source: string;
  /** Where the mentions stand that the adapter itself has written: they may notify. */
  readonly own: ReadonlySet<number>;
}

/** A border can change how the rest is read, once or twice; then it stays as it is. */
const mostRounds = 3;
const anySign = /[@<]|&(?:lt|commat|#)/iu;

/** Breaks what is written out. */
export function quietWritten(markdown: OwnMarkdown): OwnMarkdown {
  return withBorders(markdown, writtenSigns(markdown.source));
}

/** Breaks what is written out and what only reading joins. `root` is the parsed source, if known. */
export function quietMarkdown(markdown: OwnMarkdown, root?: Nodes): string {
  let quiet = markdown;
  let known = root;
  for (let round = 0; round < mostRounds && anySign.test(quiet.source); round += 1) {
    const written = quietWritten(quiet);
    if (written.source !== quiet.source) known = undefined;
    const read = withBorders(written, readSigns(written.source, known));
    if (read.source === quiet.source) break;
    quiet = read;
    known = undefined;
  }
  return quiet.source;
}

/** Puts a border behind each of these signs, but not into our own mentions. */
function withBorders({ source, own }: OwnMarkdown, signs: readonly Range[]): OwnMarkdown {
  const ends = new Set(signs.filter(({ start }) => !own.has(start)).map(({ end }) => end));
  if (ends.size === 0) return { source, own };
  const sorted = [...ends].sort((a, b) => a - b);
  let result = '';
  let from = 0;
  for (const end of sorted) {
    result += source.slice(from, end) + zeroWidth;
    from = end;
  }
  const moved = [...own].map((at) => at + sorted.filter((end) => end <= at).length);
  return { source: result + source.slice(from), own: new Set(moved) };
}

/** Signs in the source: tokens everywhere, words outside code. */
function writtenSigns(source: string): readonly LoudSign[] {
  const signs = loudSigns(source);
  if (signs.every(({ kind }) => kind === 'token')) return signs;
  // Code by indentation is not code for everybody.
  const code = codeRanges(parseMarkdown(source)).filter(({ start, end }) =>
    /^\s*[`~]/u.test(source.slice(start, end)),
  );
  return signs.filter(
    ({ kind, start }) =>
      kind === 'token' || !code.some((range) => start >= range.start && start < range.end),
  );
}

/** A piece of what is read, and where it stands. */
interface Piece extends Range {
  readonly text: string;
  /** False where signs of the text cannot be found one by one in the source. */
  readonly isExact: boolean;
  readonly isTag: boolean;
}

function readSigns(source: string, known: Nodes | undefined): readonly Range[] {
  const root = known ?? parseMarkdown(source);
  return linesOf(root, source).flatMap((pieces) => {
    const withoutTags = pieces.filter(({ isTag }) => !isTag);
    const signs = signsOfLine(pieces, source);
    // Whether tags are shown or dropped is for the reader's client to say.
    return withoutTags.length === pieces.length
      ? signs
      : [...signs, ...signsOfLine(withoutTags, source)];
  });
}

function signsOfLine(pieces: readonly Piece[], source: string): readonly Range[] {
  const line = pieces.map(({ text }) => text).join('');
  return loudSigns(line).flatMap(({ start: at }) => {
    let start = 0;
    for (const piece of pieces) {
      if (at < start + piece.text.length) return signsInSource(piece, at - start, source);
      start += piece.text.length;
    }
    return [];
  });
}

const spelled: Readonly<Record<string, RegExp>> = {
  '@': /@|&commat;|&#0*64;|&#x0*40;/giu,
  '<': /<|&lt;|&#0*60;|&#x0*3c;/giu,
};

/** The sign at this place of a piece, as it is spelled; all of its kind where that is not certain. */
function signsInSource(piece: Piece, at: number, source: string): readonly Range[] {
  const sign = piece.text[at] ?? '';
  const pattern = spelled[sign];
  if (pattern === undefined) return [];
  const found = [...source.slice(piece.start, piece.end).matchAll(pattern)].map((match) => ({
    start: piece.start + match.index,
    end: piece.start + match.index + match[0].length,
  }));
  const countIn = (text: string): number => text.split(sign).length - 1;
  if (!piece.isExact || found.length !== countIn(piece.text)) return found;
  const number = countIn(piece.text.slice(0, at));
  return found.slice(number, number + 1);
}

/** What is read in one stretch: each paragraph, heading and cell. */
function linesOf(node: Nodes, source: string): readonly (readonly Piece[])[] {
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell') {
    return [piecesOf(node, rangeOf(node), source)];
  }
  return 'children' in node ? node.children.flatMap((child) => linesOf(child, source)) : [];
}

function piecesOf(node: Nodes, around: Range, source: string): readonly Piece[] {
  const isPlaced = node.position !== undefined;
  const range = isPlaced ? rangeOf(node) : around;
  const piece = { ...range, isExact: false, isTag: false };
  switch (node.type) {
    case 'text':
      return [{ ...piece, text: node.value, isExact: isPlaced }];
    case 'html':
      return [{ ...piece, text: node.value, isTag: true }];
    case 'image':
    case 'imageReference': {
      // The address stays as it is.
      const label = source.slice(range.start, range.end).lastIndexOf('](');
      const end = label === -1 ? range.end : range.start + label;
      return [{ ...piece, end, text: node.alt ?? '' }];
    }
    default:
      return 'children' in node
        ? node.children.flatMap((child) => piecesOf(child, range, source))
        : [{ ...piece, text: ' ' }];
  }
}
