/**
 * The next call that brings what is posted closer to what should be shown. Pure: it looks at the
 * pages as they are wanted, and at what the platform is known to show.
 */

import type { MessageStream, StreamPiece, StreamTask } from '../surface/surface.ts';
import type { ReplyDocument } from './document.ts';
import { type DrawnPage, drawnOf } from './draw.ts';
import type { Beginning, Page, PageBook } from './page-book.ts';
import { changedTasks, tasksOf } from './stream-tasks.ts';

/** What a message that streams is known to show. */
export interface LiveStream {
  readonly appended: string;
  /** How much of the reply's text is out with it. */
  readonly end: number;
  readonly tasks: ReadonlyMap<string, StreamTask>;
  /** So many of these were over before: the message does not show them. */
  readonly untold: number;
  /** unknown: an answer was lost · full: it takes no more. */
  readonly state: 'open' | 'unknown' | 'full';
}

export type Action =
  | { readonly kind: 'post'; readonly drawn: DrawnPage; readonly begun: Page | undefined }
  | { readonly kind: 'edit'; readonly drawn: DrawnPage; readonly page: Page }
  | { readonly kind: 'remove'; readonly page: Page }
  | {
      readonly kind: 'stream_start';
      readonly drawn: DrawnPage;
      readonly piece: StreamPiece;
      readonly end: number;
      /** Tasks that need not be told of, as they are now. */
      readonly known: readonly StreamTask[];
      readonly begun: Page | undefined;
    }
  | {
      readonly kind: 'stream_append';
      readonly page: Page;
      readonly piece: StreamPiece;
      readonly end: number;
    }
  | {
      readonly kind: 'stream_stop';
      readonly page: Page;
      readonly piece: StreamPiece;
      /** What is shown afterwards; undefined where that is not known. */
      readonly drawn: DrawnPage | undefined;
      /** The reply goes on behind this in a new message. */
      readonly freezeAt: number | undefined;
    }
  /** No calls: what is kept of the pages changes. */
  | { readonly kind: 'freeze'; readonly ends: readonly Beginning[] }
  | { readonly kind: 'freeze_last'; readonly goesOn: Beginning }
  | { readonly kind: 'discard'; readonly key: string };

export interface PlanInput {
  readonly document: ReplyDocument;
  readonly pages: readonly DrawnPage[];
  readonly book: PageBook;
  readonly streams: ReadonlyMap<string, LiveStream>;
  readonly stream: MessageStream | undefined;
  /** A new message may begin as a stream. */
  readonly mayStream: boolean;
  /** A stream may be ended now; else what is left of the text is appended first. */
  readonly mayStop: boolean;
  readonly mostEditAgeMs: number;
  readonly now: number;
}

/** A message that begins within something open (a table, bold words) waits so long to stream. */
export const mostStartMs = 400;

const nothing: StreamPiece = { text: '', tasks: [] };

/** Undefined: what is shown is as it should be, as far as it can be now. */
export function planNext(input: PlanInput): Action | undefined {
  const { document, pages, book } = input;
  if (book.discarded) return { kind: 'remove', page: book.discarded };
  const { open } = book;
  for (const [index, drawn] of pages.entries()) {
    // Before a further message begins, those before it are full.
    if (index > 0 && index === open.length) {
      const ends = pages.slice(0, index).map(({ next }) => next);
      return { kind: 'freeze', ends };
    }
    const action = planPage(input, drawn, open[index], index === pages.length - 1);
    if (action) return action;
  }
  const extra = open[pages.length];
  // While the text still grows (after a restart it begins anew) pages wait for their text.
  return extra && document.ended ? { kind: 'discard', key: extra.key } : undefined;
}

function planPage(
  input: PlanInput,
  drawn: DrawnPage,
  page: Page | undefined,
  isLast: boolean,
): Action | undefined {
  const { book, now, mostEditAgeMs } = input;
  if (!page || page.messageId === null) return planNew(input, drawn, page);
  if (page.streams) return planStream(input, drawn, page, isLast);
  const shown = book.shown(page.key);
  if (shown?.drawn === drawnOf(drawn.message)) return undefined;
  const isOld = now - page.postedAt > mostEditAgeMs;
  if (shown && isOld && book.isLast(page.key))
    return { kind: 'freeze_last', goesOn: shown.goesOn() };
  return { kind: 'edit', drawn, page };
}

function planNew(
  { document, stream, mayStream, now }: PlanInput,
  drawn: DrawnPage,
  begun: Page | undefined,
): Action | undefined {
  const asStream = begun ? begun.streams === true : mayStream && !document.ended;
  if (!stream || !asStream) return { kind: 'post', drawn, begun };
  const { blocks, end } = drawn.settled(true);
  const text = stream.drawn(blocks, drawn.message.mentionable);
  const all = tasksOf(document);
  const isOver = ({ state }: StreamTask): boolean => state === 'done' || state === 'failed';
  const piece = {
    text,
    tasks: changedTasks(
      all.filter((task) => !isOver(task)),
      new Map(),
      0,
    ),
  };
  // Nothing yet that would stay as it is: what is open is waited for, but not for long.
  if (isEmpty(piece) && !begun) {
    const waitedMs = now - (document.textSince ?? now);
    return waitedMs >= mostStartMs ? { kind: 'post', drawn, begun } : undefined;
  }
  return { kind: 'stream_start', drawn, piece, end, known: all.filter(isOver), begun };
}

function planStream(
  { document, stream, streams, mayStop, now }: PlanInput,
  drawn: DrawnPage,
  page: Page,
  isLast: boolean,
): Action | undefined {
  const live = streams.get(page.key);
  const stop = { kind: 'stream_stop', page, drawn: undefined, freezeAt: undefined } as const;
  // Begun in an earlier life, or an answer was lost: ended, and then written anew.
  if (!stream || !live || live.state === 'unknown') return { ...stop, piece: nothing };
  const isOver = document.ended || !isLast;
  const wanted = isOver ? { blocks: drawn.message.blocks, end: drawn.end } : drawn.settled(false);
  const text = stream.drawn(wanted.blocks, drawn.message.mentionable);
  const fits = text.startsWith(live.appended);
  // A message begins with the first letters of a word, which is not settled as a whole.
  const isAhead = live.appended.startsWith(text);
  // What stands there looks different by now: only an edit can put that right.
  if (!isOver && !fits && !isAhead) return { ...stop, piece: nothing };
  const isOld = now - page.postedAt >= stream.mostAgeMs;
  if (live.state === 'full' || (isOld && !isOver)) {
    return { ...stop, piece: nothing, freezeAt: live.end };
  }
  const tasks = changedTasks(tasksOf(document), live.tasks, live.untold);
  if (isOver) {
    if (!fits) return { ...stop, piece: { text: '', tasks } };
    const piece = { text: text.slice(live.appended.length), tasks };
    return piece.text !== '' && document.ended && !mayStop
      ? { kind: 'stream_append', page, piece, end: wanted.end }
      : { ...stop, piece, drawn };
  }
  const piece = { text: text.slice(live.appended.length), tasks };
  const end = fits ? wanted.end : live.end;
  return isEmpty(piece) ? undefined : { kind: 'stream_append', page, piece, end };
}

function isEmpty({ text, tasks }: StreamPiece): boolean {
  return text === '' && tasks.length === 0;
}
