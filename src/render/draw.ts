/**
 * Draws a reply as the list of desired messages (pages). What was posted is not known here. While
 * the text grows, only its last block is read and drawn anew.
 */

import type { Mentionable } from '../messages/people.ts';
import { createBlockReader } from '../surface/markdown/blocks.ts';
import { createMarkdownSplitter, textOf } from '../surface/markdown/split.ts';
import { closedForNow, settledLength, settledStart } from '../surface/markdown/streaming.ts';
import type { Block, OutboundMessage } from '../surface/outbound.ts';
import type { Capabilities } from '../surface/surface.ts';
import { activityLines, checklistLines, mostChecklistLength } from './activity.ts';
import type { ReplyDocument } from './document.ts';
import type { Beginning } from './page-book.ts';
import { type PagePiece, piecesOf, type Split } from './page-pieces.ts';
import { createReferenceReader } from './reference-reader.ts';
import { restOf } from './rest.ts';
import type { ShownWork } from './settings.ts';

export interface DrawnPage {
  readonly message: OutboundMessage;
  /** How much of the text is out when this page and those before it are shown. */
  readonly end: number;
  /** Where the page after it begins. */
  readonly next: Beginning;
  /** Of the message's Markdown, what no later text changes, and how much of the text that is; at the
   * start of a message as much as can be. */
  readonly settled: (isStart: boolean) => SettledText;
  /** Where a new message goes on if this one takes no more as it stands. */
  readonly goesOn: () => Beginning;
}

export interface SettledText {
  readonly blocks: readonly Block[];
  readonly end: number;
}

export interface DrawOptions {
  readonly from: Beginning;
  readonly now: number;
  /** So many of the first pages are wanted; of a text that is far longer no more are drawn, and one
   * that stands for the others. */
  readonly most: number;
}

export interface PageDrawer {
  /** The desired messages. No text and nothing else to say gives no message. */
  pages(document: ReplyDocument, text: string, options: DrawOptions): readonly DrawnPage[];
  /** Messages must be shorter: the platform refused one for its length. False: they cannot be. */
  shorten(): boolean;
}

/** Room on each page for the activity line and notices: a share of it, and at most so much. */
const spareShare = 0.06;
const mostSpareLength = 200;
const leastLength = 300;
/** What drawing adds to a line of our own. */
const lineExtra = 8;
const mostRemembered = 500;
/** A link or a footnote is defined here, for what stands before it too. */
const definitionLine = /^[ \t>]*\[[^\]\n]+\]:/mu;

export function createPageDrawer(options: {
  readonly capabilities: Capabilities;
  readonly mentionable: readonly Mentionable[];
  readonly show: ShownWork;
}): PageDrawer {
  const { capabilities, mentionable, show } = options;
  let mostLength = capabilities.mostMessageLength;
  const references = createReferenceReader();
  const lengths = new Map<string, number>();
  const lengthOf = (source: string): number => {
    const text = references.resolved(source, true);
    const known = lengths.get(text);
    if (known !== undefined) return known;
    if (lengths.size >= mostRemembered) lengths.clear();
    const length = capabilities.lengthOf(text);
    lengths.set(text, length);
    return length;
  };
  let reader = createBlockReader();
  let splitter: { readonly length: number; readonly split: Split } | undefined;

  /** A checklist needs room below the text. */
  const roomOf = (document: ReplyDocument): number => {
    const list = document.checklist.length > 0 ? mostChecklistLength : 0;
    const spare = Math.min(mostSpareLength, mostLength * spareShare);
    return Math.max(mostLength - list - spare, leastLength);
  };

  /** Whether the foot can stand on the page; while the run works, its lines are cut where not. */
  const hasRoomFor = (page: TextPage, foot: readonly Block[], document: ReplyDocument): boolean => {
    if (!document.ended) return true;
    const length = [...page.blocks, ...foot]
      .map((block) => ('text' in block ? capabilities.lengthOf(block.text) + lineExtra : 0))
      .reduce((sum, one) => sum + one, 0);
    return length <= mostLength;
  };

  const splitAt = (length: number): Split => {
    if (splitter?.length !== length) {
      splitter = { length, split: createMarkdownSplitter({ mostLength: length, lengthOf }) };
    }
    return splitter.split;
  };

  const drawnBlocks = (page: PageText): readonly Block[] =>
    page.sources.flatMap((source, index) => {
      const isLast = index === page.sources.length - 1;
      const isOpen = page.isOpen && isLast;
      const closed = isOpen ? closedForNow(source) : source;
      const shown = references.resolved(closed, page.isStreaming);
      // Blanks at the end are not seen: an edit for them alone would be wasted.
      const text = isLast ? shown.trimEnd() : shown;
      return text.trim() === '' ? [] : [{ kind: 'markdown', text } as const];
    });

  const settledOf = (page: PageText, end: number, isStart: boolean): SettledText => {
    const last = page.sources.at(-1) ?? '';
    const settled = isStart && page.sources.length === 1 ? settledStart : settledLength;
    const kept = page.isOpen ? settled(last) : last.length;
    const sources = [...page.sources.slice(0, -1), last.slice(0, kept)];
    const blocks = drawnBlocks({ ...page, sources, isOpen: false });
    return { blocks, end: end - (last.length - kept) };
  };

  const restAfter = (page: PageText, end: number, from: Beginning): Beginning => {
    const last = page.sources.at(-1) ?? '';
    const { shown, prefix } = restOf(last, closedForNow(last));
    const shownEnd = end - (last.length - shown);
    // Of the page's text nothing is shown: not even what it begins with was closed.
    return shownEnd <= from.end ? from : { end: shownEnd, prefix };
  };

  const pagesOfText = (document: ReplyDocument, text: string, from: Beginning): TextPage[] => {
    const lead = from.prefix === '' ? blankLinesAt(text, from.end) : 0;
    const rest = text.slice(from.end + lead);
    if (rest.trim() === '') return [];
    const markdown = from.prefix + rest;
    const blocks = reader(markdown);
    references.read(markdown, blocks);
    const room = roomOf(document);
    const pieces = piecesOf(markdown, blocks, { room, lengthOf, split: splitAt(room) });
    return pieces.map((piece, index) => {
      const isLast = index === pieces.length - 1;
      const offset = from.end + lead - from.prefix.length;
      const end = isLast ? text.length : offset + piece.to;
      const following = pieces[index + 1];
      const next = following
        ? { end: offset + following.from, prefix: following.before }
        : { end, prefix: '' };
      const page: PageText = {
        sources: sourcesOf(markdown, piece, document.ended),
        isOpen: isLast && !document.ended,
        isStreaming: !document.ended,
      };
      return {
        blocks: drawnBlocks(page),
        end,
        next,
        settled: (isStart) => settledOf(page, end, isStart),
        goesOn: () => (page.isOpen ? restAfter(page, end, from) : next),
      };
    });
  };

  /** Reading a megabyte for each of its pages would hold up all others: the first are decided by
   * nothing behind them but definitions. */
  const firstPages = (
    document: ReplyDocument,
    text: string,
    { from, most }: DrawOptions,
  ): readonly TextPage[] | undefined => {
    const near = from.end + (most + 2) * mostLength;
    if (text.length <= near + mostLength) return undefined;
    const end = text.lastIndexOf('\n', near);
    if (end <= from.end || definitionLine.test(text.slice(end))) return undefined;
    // The last of these ends where reading ended.
    const pages = pagesOfText(document, text.slice(0, end), from).slice(0, -1);
    return pages.length > most ? pages.slice(0, most + 1) : undefined;
  };

  const toDrawn = (pages: readonly TextPage[]): readonly DrawnPage[] =>
    pages.map(({ blocks, ...page }) => ({ message: { blocks, mentionable }, ...page }));

  return {
    pages: (document, text, options) => {
      const first = firstPages(document, text, options);
      if (first) return toDrawn(first);
      const { from, now } = options;
      const pages = pagesOfText(document, text, from);
      const foot = footOf(document, pages.length > 0, show, now);
      const last = pages.at(-1);
      if (last && hasRoomFor(last, foot, document)) last.blocks = [...last.blocks, ...foot];
      else if (foot.length > 0) {
        const settled = (): SettledText => ({ blocks: [], end: text.length });
        const next = { end: text.length, prefix: '' };
        const goesOn = (): Beginning => (last ? next : from);
        pages.push({ blocks: foot, end: text.length, next, settled, goesOn });
      }
      return toDrawn(pages);
    },
    shorten: () => {
      mostLength = Math.floor(mostLength * 0.7);
      splitter = undefined;
      reader = createBlockReader();
      return mostLength >= leastLength;
    },
  };
}

interface TextPage extends Omit<DrawnPage, 'message'> {
  blocks: readonly Block[];
}

interface PageText {
  readonly sources: readonly string[];
  /** The text goes on in its last block. */
  readonly isOpen: boolean;
  readonly isStreaming: boolean;
}

/** The sources of a page's blocks. */
function sourcesOf(markdown: string, piece: PagePiece, hasEnded: boolean): readonly string[] {
  const text = piece.blocks ? markdown : textOf(markdown, piece);
  const sources = (piece.blocks ?? createBlockReader()(text)).map(({ from, to }) =>
    text.slice(from, to),
  );
  const last = sources.at(-1);
  if (last === undefined || !hasEnded) return sources;
  // The model may end within its code.
  const fence = /^ {0,3}(`{3,}|~{3,})/u.exec(openFenceOf(last))?.[1];
  return fence === undefined ? sources : [...sources.slice(0, -1), `${last.trimEnd()}\n${fence}`];
}

/** Length of the blank lines at this place: a page does not begin with them. */
function blankLinesAt(text: string, at: number): number {
  const blank = /(?:[ \t]*\n)*/uy;
  blank.lastIndex = at;
  return blank.exec(text)?.[0].length ?? 0;
}

/** What stands under the text: while the run works its activity and controls, at the end notices. */
function footOf(
  document: ReplyDocument,
  hasText: boolean,
  show: ShownWork,
  now: number,
): readonly Block[] {
  const foot: Block[] = [];
  const list = checklistLines(document);
  if (list.length > 0) foot.push({ kind: 'notice', text: list.join('\n') });
  const isShown = hasText || foot.length > 0 || isWorthAMessage(document, now);
  const lines = isShown ? activityLines(document, show, now) : [];
  foot.push(...lines.map((text): Block => ({ kind: 'activity', text })));
  if (document.ended) {
    foot.push(...document.notices.map((text): Block => ({ kind: 'notice', text })));
  }
  const buttons = document.ended ? document.buttons : document.controls;
  if (buttons.length > 0 && (document.ended || hasText || foot.length > 0)) {
    foot.push({ kind: 'buttons', buttons });
  }
  if (document.ended) foot.push(...document.below);
  return foot;
}

/** Tools are told of after this, a mere silence after that; before, the platform's own status is
 * enough. */
export const toolsToldAfterMs = 3000;
const silenceToldAfterMs = 30_000;

function isWorthAMessage({ isUrgent, calls, startedAt }: ReplyDocument, now: number): boolean {
  if (isUrgent) return true;
  const isAtWork = calls.some(({ state }) => state === 'running');
  return now - startedAt >= (isAtWork ? toolsToldAfterMs : silenceToldAfterMs);
}

/** The opening line of the code fence in which this Markdown ends; empty outside fences. */
export function openFenceOf(markdown: string): string {
  let open = '';
  for (const line of markdown.split('\n')) {
    const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/u.exec(line);
    if (!fence) continue;
    const [, marks = '', info = ''] = fence;
    if (open === '') open = line;
    else if (info.trim() === '' && marks.startsWith(open.trim().slice(0, 3))) open = '';
  }
  return open;
}

/** What a message shows, to compare. */
export function drawnOf({ blocks }: OutboundMessage): string {
  return JSON.stringify(blocks);
}
