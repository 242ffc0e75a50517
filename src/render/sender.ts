/**
 * Makes one call and notes what came of it: the book of pages and the streams say what the platform
 * is known to show, by its answers and never by assumption.
 */

import { isBotError } from '../base/errors.ts';
import type { PersonId } from '../messages/people.ts';
import type { OutboundMessage } from '../surface/outbound.ts';
import type { MessageStream, Surface } from '../surface/surface.ts';
import { type DrawnPage, drawnOf, openFenceOf } from './draw.ts';
import type { Beginning, Page, PageBook } from './page-book.ts';
import type { Action, LiveStream } from './plan.ts';

export interface Sender {
  /** What messages that stream are known to show, by the keys of their pages. */
  readonly streams: ReadonlyMap<string, LiveStream>;
  /** Rejects with the BotError of the call; what the failure says of pages is noted. */
  perform(action: Action): Promise<void>;
  /** The last page takes no more text: the reply goes on in a new message. */
  freezeLast(goesOn: Beginning): Promise<void>;
}

export interface SenderDeps {
  readonly surface: Surface;
  readonly book: PageBook;
  readonly replyId: string;
  /** Whose message is answered: a stream in a channel is addressed to them. */
  readonly asker: PersonId | undefined;
  readonly now: () => number;
  /** The reply's text as it is shown. */
  readonly visibleText: () => string;
}

export function createSender(deps: SenderDeps): Sender {
  const { surface, book, replyId, now } = deps;
  const streams = new Map<string, LiveStream>();

  const openFence = (end: number): string => openFenceOf(deps.visibleText().slice(0, end));

  const freezeLast = async (goesOn: Beginning): Promise<void> => {
    const before = book.open.slice(0, -1).map(({ key }) => book.shown(key)?.goesOn() ?? book.start);
    await book.freeze([...before, goesOn]);
  };

  /** Behind what a stream shows; in the same fence. */
  const behind = (end: number): Beginning => {
    if (end <= book.start.end) return book.start;
    const fence = openFence(end);
    if (fence === '') return { end, prefix: '' };
    // The line that was shown has its end behind it; an empty line of the code has not.
    const text = deps.visibleText();
    const isAtLineEnd = text[end] === '\n' && text[end - 1] !== '\n';
    return { end: isAtLineEnd ? end + 1 : end, prefix: `${fence}\n` };
  };

  const post = async ({ message, goesOn }: DrawnPage, begun: Page | undefined): Promise<void> => {
    const page = begun ?? (await book.begin(replyId, now()));
    const maybePosted = begun !== undefined;
    const { messageId } = await surface.post(message, { key: page.key, maybePosted });
    await book.posted(page.key, messageId);
    // What an earlier life posted under this key may differ: the next round edits it.
    if (!maybePosted) book.show(page.key, { drawn: drawnOf(message), goesOn });
  };

  const edit = async ({ message, goesOn }: DrawnPage, page: Page): Promise<void> => {
    const before = book.shown(page.key);
    // Until the answer is there, either of the two may be shown.
    book.show(page.key, undefined);
    try {
      await surface.edit(page.messageId ?? '', message);
    } catch (thrown) {
      if (isBotError(thrown) && thrown.code !== 'surface_unavailable') book.show(page.key, before);
      throw thrown;
    }
    book.show(page.key, { drawn: drawnOf(message), goesOn });
  };

  /** A post whose answer was lost is found, or made, by its key. */
  const idOfPage = async ({ key, messageId }: Page): Promise<string> => {
    if (messageId !== null) return messageId;
    const blocks = [{ kind: 'notice', text: '…' }] as const;
    return (await surface.post({ blocks, mentionable: [] }, { key, maybePosted: true })).messageId;
  };

  const remove = async (page: Page): Promise<void> => {
    try {
      if (page.messageId !== null || page.streams !== true) {
        await surface.remove(await idOfPage(page));
      }
    } catch (thrown) {
      // A message that may not be deleted stays: its text is told once more rather than never.
      if (!isBotError(thrown, 'message_uneditable', 'message_refused')) throw thrown;
    }
    streams.delete(page.key);
    await book.drop(page.key);
  };

  const start = async (
    stream: MessageStream,
    { piece, end, known, begun }: Extract<Action, { kind: 'stream_start' }>,
  ): Promise<void> => {
    const page = begun ?? (await book.begin(replyId, now(), { streams: true }));
    const maybePosted = begun !== undefined;
    const place = { key: page.key, maybePosted, begunAt: page.postedAt, to: deps.asker };
    try {
      const { messageId } = await stream.start(piece, place);
      await book.posted(page.key, messageId);
    } catch (thrown) {
      // No stream, and no message: the text is posted in the usual way.
      if (isBotError(thrown, 'stream_unavailable')) await book.drop(page.key);
      throw thrown;
    }
    const tasks = new Map([...known, ...piece.tasks].map((task) => [task.id, task]));
    const state = maybePosted ? 'unknown' : 'open';
    const untold = known.length;
    streams.set(page.key, { appended: piece.text, end, tasks, untold, state });
  };

  const append = async (
    stream: MessageStream,
    { page, piece, end }: Extract<Action, { kind: 'stream_append' }>,
  ): Promise<void> => {
    const live = streams.get(page.key);
    if (!live) return;
    try {
      await stream.append(page.messageId ?? '', piece);
    } catch (thrown) {
      await noteFailure(page, live, thrown);
      throw thrown;
    }
    const tasks = new Map(live.tasks);
    for (const task of piece.tasks) tasks.set(task.id, task);
    streams.set(page.key, { ...live, appended: live.appended + piece.text, end, tasks });
  };

  const stop = async (
    stream: MessageStream | undefined,
    { page, piece, drawn, freezeAt }: Extract<Action, { kind: 'stream_stop' }>,
  ): Promise<void> => {
    const live = streams.get(page.key);
    try {
      if (stream) {
        const last = freezeAt === undefined ? piece : { ...piece, text: closingOf(freezeAt) };
        await stream.stop(page.messageId ?? '', last, footOf(drawn));
      }
    } catch (thrown) {
      if (live?.state === 'open') {
        await noteFailure(page, live, thrown);
        throw thrown;
      }
      // It had ended already, which is what was wanted; or an edit will tell.
      if (!isBotError(thrown, 'message_uneditable', 'message_refused')) throw thrown;
    }
    streams.delete(page.key);
    await book.streamEnded(page.key);
    if (drawn) book.show(page.key, { drawn: drawnOf(drawn.message), goesOn: drawn.goesOn });
    if (freezeAt !== undefined) await freezeLast(behind(freezeAt));
  };

  const closingOf = (end: number): string => {
    const fence = /^ {0,3}(`{3,}|~{3,})/u.exec(openFence(end))?.[1];
    return fence === undefined ? '' : `\n${fence}`;
  };

  /** A piece that was not taken goes to a new message; a lost answer is looked through by an edit. */
  const noteFailure = async (page: Page, live: LiveStream, thrown: unknown): Promise<void> => {
    if (!isBotError(thrown)) return;
    switch (thrown.code) {
      case 'message_uneditable':
        streams.delete(page.key);
        await book.streamEnded(page.key);
        if (book.isLast(page.key)) await freezeLast(behind(live.end));
        return;
      case 'message_too_long':
        streams.set(page.key, { ...live, state: 'full' });
        return;
      case 'surface_unavailable':
      case 'message_refused':
        streams.set(page.key, { ...live, state: 'unknown' });
        return;
      case 'message_gone':
        streams.delete(page.key);
        return;
      default:
    }
  };

  return {
    streams,
    freezeLast,
    perform: async (action) => {
      const { stream } = surface;
      switch (action.kind) {
        case 'post':
          return await post(action.drawn, action.begun);
        case 'edit':
          return await edit(action.drawn, action.page);
        case 'remove':
          return await remove(action.page);
        case 'freeze':
          return await book.freeze(action.ends);
        case 'freeze_last':
          return await freezeLast(action.goesOn);
        case 'discard':
          book.discardFrom(action.key);
          return;
        case 'stream_start':
          if (stream) await start(stream, action);
          return;
        case 'stream_append':
          if (stream) await append(stream, action);
          return;
        case 'stream_stop':
          return await stop(stream, action);
      }
    },
  };
}

/** What stands under the text of a message. */
function footOf(drawn: DrawnPage | undefined): OutboundMessage {
  if (!drawn) return { blocks: [], mentionable: [] };
  const { blocks, mentionable } = drawn.message;
  return { blocks: blocks.filter(({ kind }) => kind !== 'markdown'), mentionable };
}
