/**
 * The one stateful part of a reply: it brings what is posted to what should be shown. One call is
 * under way at a time; only the newest state waits; the last state is always sent (rule 4). What
 * the platform confirmed is known from its answers, never assumed.
 */

import { throwIfAborted } from '../base/abort.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { BotError, botErrorOf, isBotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Mentionable } from '../messages/people.ts';
import type { RunEvent } from '../messages/run-event.ts';
import { createMarkdownSplitter, type MarkdownPiece } from '../surface/markdown/split.ts';
import type { Button, OutboundMessage } from '../surface/outbound.ts';
import type { Capabilities, Surface } from '../surface/surface.ts';
import {
  applyEvent,
  type DrawnPage,
  drawPages,
  emptyDocument,
  mostChecklistLength,
  openFenceOf,
  type ReplyDocument,
  type ReplyEnd,
  type StepText,
  textOfDocument,
} from './document.ts';
import { inSight } from './in-sight.ts';
import type { Pacer, Urgency } from './pacer.ts';
import { createPageBook, type Frozen, type Page, type ReplyPages } from './page-book.ts';
import { quietDocument } from './quiet-line.ts';
import type { ShownWork } from './settings.ts';
import { keepStatus } from './status.ts';

export interface ReplyDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly surface: Surface;
  readonly capabilities: Capabilities;
  readonly pacer: Pacer;
  readonly redactor: Redactor;
  /** Stores where the reply stands; awaited before and after each post. */
  readonly savePages: (pages: ReplyPages) => Promise<void>;
}

export interface ReplyOptions {
  /** Names the reply for ever; keys of posts begin with it. */
  readonly replyId: string;
  /** The budget its edits count to. */
  readonly scope: string;
  readonly pages: ReplyPages;
  /** Texts of steps that were finished before (after a restart). */
  readonly steps: readonly StepText[];
  readonly mentionable: readonly Mentionable[];
  /** Buttons under the newest message while the run goes on (Stop). */
  readonly controls?: readonly Button[];
  readonly show?: ShownWork;
}

/** delivered: what people can read is the final state. gone: the thread is not there any more. */
export type Delivery = 'delivered' | 'gone';

export interface Reply {
  /** Shows an event of the run. Never waits for the platform. */
  apply(event: RunEvent): void;
  /** The final state; resolves when it can be read. Rejects with surface_unavailable when the
   * platform does not answer for minutes, with interrupted when it was abandoned. */
  finish(end: ReplyEnd): Promise<Delivery>;
  /** Shows that the run pauses (the process goes down), for at most 2 s, and ends sending. */
  pause(activity: string): Promise<void>;
  /** Ends sending as it stands. */
  abandon(): Promise<void>;
}

const refusedNotice = 'This platform refused a part of my answer. Ask me to write it differently.';
const pauseMs = 2000;
const unavailableLadderMs = [500, 1000, 2000, 5000, 10_000, 20_000, 30_000];
/** Failures in a row after which an ended reply gives up for now. */
const mostFailures = 10;
/** Room on each page for the activity line and notices. */
const spareLength = 200;
const leastLength = 300;

export function createReply(deps: ReplyDeps, options: ReplyOptions): Reply {
  const { clock, log, surface, capabilities, pacer, redactor } = deps;
  const book = createPageBook(options.pages, deps.savePages);
  let document: ReplyDocument = {
    ...emptyDocument,
    steps: options.steps,
    controls: options.controls ?? [],
  };
  let mostLength = capabilities.mostMessageLength;
  /** Length that each page leaves to a checklist. */
  let reserved = 0;
  const newSplit = (): Split =>
    createSplit(capabilities, Math.max(mostLength - reserved, leastLength + spareLength));
  let split = newSplit();
  let lastEditAt = 0;
  /** What is frozen was compared with the text that this life begins with. */
  let isThawed = false;
  /** A slot for an edit was taken and not yet used. */
  let hasSlot = false;
  let failures = 0;
  let dead: Delivery | undefined;
  /** The platform refused the text while it streamed: wait for the final state. */
  let held = false;
  /** Pages that were refused for good, as drawn. */
  const refused = new Set<string>();
  let pumping: Promise<void> | undefined;
  let again = false;
  /** The page that the call under way is about. */
  let acting: { readonly key: string; readonly drawn: string } = { key: '', drawn: '' };
  const quit = new AbortController();
  /** Ends a wait for a progress slot when the final state is there. */
  let slotWait = new AbortController();
  /** One reply alone does not use up the budget of all. */
  const leastGapMs = capabilities.editBudget.windowMs / capabilities.editBudget.edits;

  const visibleText = (): string => {
    const whole = redactor.redact(textOfDocument(document));
    return document.ended ? whole : whole.slice(0, whole.length - redactor.heldBack(whole));
  };

  /** A checklist needs room below the text. */
  const makeRoom = (): void => {
    const wanted = document.checklist.length > 0 ? mostChecklistLength : 0;
    if (wanted === reserved) return;
    reserved = wanted;
    split = newSplit();
  };

  const desired = (): readonly DrawnPage[] => {
    makeRoom();
    const { end: from, prefix } = book.start;
    const pages = drawPages(quietDocument(document, redactor), visibleText(), {
      from,
      prefix,
      split,
      mentionable: options.mentionable,
    });
    return pages.map((page) =>
      refused.has(drawnOf(page.message)) ? { ...page, message: refusal(page.message) } : page,
    );
  };

  const freeze = async (ends: readonly Frozen[]): Promise<void> => {
    await book.freeze(ends);
    split = newSplit();
  };

  /** The last page takes no more text: it goes on in a new message, in the same fence. */
  const freezeLast = async (end: number): Promise<void> => {
    const fence = openFenceOf(visibleText().slice(0, end));
    const last = { end, prefix: fence === '' ? '' : `${fence}\n` };
    const before = book.open.slice(0, -1).map(({ key }) => book.shown(key)?.end ?? 0);
    await freeze([...before.map((shownEnd) => ({ end: shownEnd, prefix: '' })), last]);
  };

  /** What an earlier life froze of a step that is made anew is open again. */
  const thawUnfinished = async (): Promise<void> => {
    isThawed = true;
    const known = textOfDocument({ ...document, live: '' }).length;
    if (book.start.end > known) await book.thaw(known);
  };

  const post = async ({ message, end }: DrawnPage, begun: Page | undefined): Promise<void> => {
    const page = begun ?? (await book.begin(options.replyId, clock.now()));
    acting = { key: page.key, drawn: drawnOf(message) };
    const maybePosted = begun !== undefined;
    const { messageId } = await surface.post(message, { key: page.key, maybePosted });
    await book.posted(page.key, messageId);
    // What an earlier life posted under this key may differ: the next round edits it.
    if (!maybePosted) book.show(page.key, { drawn: drawnOf(message), end });
  };

  /** Waits for the budget. What is drawn is decided afterwards, so that nothing stale is sent. */
  const takeSlot = async (): Promise<void> => {
    throwIfAborted(quit.signal);
    const urgency: Urgency = document.ended ? 'end' : 'progress';
    slotWait = new AbortController();
    const gapMs = lastEditAt + leastGapMs - clock.now();
    if (urgency === 'progress' && gapMs > 0) await sleep(clock, gapMs, slotWait.signal);
    await pacer.slot(options.scope, urgency, slotWait.signal);
    hasSlot = true;
  };

  const edit = async (
    { message, end }: DrawnPage,
    key: string,
    messageId: string,
  ): Promise<void> => {
    hasSlot = false;
    lastEditAt = clock.now();
    const before = book.shown(key);
    // Until the answer is there, either of the two may be shown.
    book.show(key, undefined);
    try {
      await surface.edit(messageId, message);
    } catch (thrown) {
      if (isBotError(thrown) && thrown.code !== 'surface_unavailable') book.show(key, before);
      throw thrown;
    }
    book.show(key, { drawn: drawnOf(message), end });
  };

  /** One call towards the desired state of a page; false when it is there. */
  const stepPage = async (drawn: DrawnPage, page: Page | undefined): Promise<boolean> => {
    acting = { key: page?.key ?? '', drawn: drawnOf(drawn.message) };
    if (!page || page.messageId === null) {
      await post(drawn, page);
      return true;
    }
    const isOld = clock.now() - page.postedAt > capabilities.mostEditAgeMs;
    const shown = book.shown(page.key);
    if (shown?.drawn === acting.drawn) return false;
    if (shown && isOld && book.isLast(page.key)) await freezeLast(shown.end);
    else if (hasSlot) await edit(drawn, page.key, page.messageId);
    else await takeSlot();
    return true;
  };

  /** A post whose answer was lost is found, or made, by its key. */
  const idOfPage = async ({ key, messageId }: Page): Promise<string> => {
    if (messageId !== null) return messageId;
    const blocks = [{ kind: 'notice', text: '…' }] as const;
    return (await surface.post({ blocks, mentionable: [] }, { key, maybePosted: true })).messageId;
  };

  const discard = async (page: Page): Promise<void> => {
    acting = { key: page.key, drawn: '' };
    await surface.remove(await idOfPage(page));
    await book.drop(page.key);
  };

  /** One call towards the desired state; false when there is nothing to do. */
  const stepTowards = async (): Promise<boolean> => {
    if (!isThawed) await thawUnfinished();
    if (book.discarded) {
      await discard(book.discarded);
      return true;
    }
    const { open } = book;
    const pages = desired();
    for (const [offset, page] of pages.entries()) {
      // Before a further message begins, those before it are full.
      if (offset > 0 && offset === open.length) {
        await freeze(
          pages.slice(0, offset).map(({ end, nextPrefix: prefix }) => ({ end, prefix })),
        );
        return true;
      }
      if (await stepPage(page, open[offset])) return true;
    }
    const extra = open[pages.length];
    // While the text still grows (after a restart it begins anew) pages wait for their text.
    if (!extra || !document.ended) return false;
    book.discardFrom(extra.key);
    return true;
  };

  const onUneditable = async (): Promise<void> => {
    const shown = book.shown(acting.key);
    if (shown && book.isLast(acting.key)) await freezeLast(shown.end);
    // What it shows is not known, or others stand behind it: their text is posted anew, in order.
    else book.discardFrom(acting.key);
  };

  const onRefused = (error: BotError): void => {
    if (!document.ended) held = true;
    else if (acting.drawn === '' || acting.drawn.includes(refusedNotice)) throw error;
    else refused.add(acting.drawn);
  };

  const onFailure = async (error: BotError): Promise<void> => {
    switch (error.code) {
      case 'stopped': // a wait for a slot was cut short: the final state is there
        return;
      case 'rate_limited': {
        const waitMs = error.retryAfterMs ?? 1000;
        pacer.close(options.scope, clock.now() + waitMs);
        await sleep(clock, waitMs, quit.signal);
        return;
      }
      case 'message_gone':
        book.discardFrom(acting.key);
        return;
      case 'message_uneditable':
        return onUneditable();
      case 'message_refused':
        return onRefused(error);
      case 'message_too_long':
        mostLength = Math.floor(mostLength * 0.7);
        if (mostLength < leastLength) throw error;
        split = newSplit();
        return;
      case 'surface_unavailable': {
        failures += 1;
        if (document.ended && failures >= mostFailures) throw error;
        const rung = Math.min(failures, unavailableLadderMs.length) - 1;
        await sleep(clock, unavailableLadderMs[rung] ?? 30_000, quit.signal);
        return;
      }
      case 'surface_gone':
        dead = 'gone';
        log.warn('reply_undeliverable', { replyId: options.replyId, ...errorFacts(error) });
        return;
      default:
        throw error;
    }
  };

  const pump = async (): Promise<void> => {
    do {
      again = false;
      while (dead === undefined && !held && !quit.signal.aborted) {
        try {
          if (!(await stepTowards())) break;
          failures = 0;
        } catch (thrown) {
          if (quit.signal.aborted) return;
          await onFailure(botErrorOf(thrown));
        }
      }
    } while (again && dead === undefined && !quit.signal.aborted);
  };

  const kick = (): void => {
    again = true;
    pumping ??= pump()
      .catch((thrown: unknown) => {
        if (quit.signal.aborted) return;
        log.error('reply_failed', { replyId: options.replyId, ...errorFacts(thrown) });
        if (document.ended) throw thrown;
      })
      .finally(() => {
        pumping = undefined;
      });
  };

  const stopStatus = keepStatus(deps);

  const abandon = async (): Promise<void> => {
    stopStatus();
    quit.abort();
    slotWait.abort();
    await pumping?.catch(() => {});
  };

  return {
    apply: (event) => {
      const before = document;
      document = applyEvent(document, inSight(event, redactor));
      if (document !== before) kick();
      // A failure while streaming is not the end: the final state tries again.
      pumping?.catch(() => {});
    },
    finish: async ({ notices = [], buttons = [], below = [] }) => {
      stopStatus();
      document = { ...document, notices, buttons, below, activity: '', doing: [], ended: true };
      held = false;
      slotWait.abort();
      failures = 0;
      // The pump of the streaming time may end with its own failure first.
      if (pumping) await pumping.catch(() => {});
      kick();
      await pumping;
      if (quit.signal.aborted) throw new BotError('interrupted', 'The process stopped first.');
      return dead ?? 'delivered';
    },
    pause: async (activity) => {
      document = { ...document, activity, doing: [] };
      kick();
      const sent = pumping?.catch(() => {}) ?? Promise.resolve();
      const lapse = new AbortController();
      await Promise.race([sent, sleep(clock, pauseMs, lapse.signal).catch(() => {})]);
      lapse.abort();
      await abandon();
    },
    abandon,
  };
}

function drawnOf({ blocks }: OutboundMessage): string {
  return JSON.stringify(blocks);
}

function refusal(message: OutboundMessage): OutboundMessage {
  return { ...message, blocks: [{ kind: 'notice', text: refusedNotice }] };
}

type Split = (markdown: string) => readonly MarkdownPiece[];

/** Cuts text into pages; remembers its cuts while the text grows. */
function createSplit(capabilities: Capabilities, mostLength: number): Split {
  return createMarkdownSplitter({
    mostLength: mostLength - spareLength,
    lengthOf: (markdown) => capabilities.lengthOf(markdown),
  });
}
