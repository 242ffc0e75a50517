/**
 * Brings what is posted of a reply to what should be shown, call by call. One call is under way at a
 * time; only the newest state waits; the last state is always sent (rule 4).
 */

import { type Clock, sleep } from '../base/clock.ts';
import { type BotError, botErrorOf } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { CallKind } from '../surface/calls.ts';
import type { OutboundMessage } from '../surface/outbound.ts';
import type { Capabilities, Surface } from '../surface/surface.ts';
import { lengthOfText, type ReplyDocument } from './document.ts';
import { type DrawnPage, drawnOf, type PageDrawer } from './draw.ts';
import type { Urgency } from './pacing/budget.ts';
import type { PageBook } from './page-book.ts';
import { type Action, planNext } from './plan.ts';
import type { Sender } from './sender.ts';
import type { Slots } from './slots.ts';
import type { UnseenText } from './unseen.ts';

export interface Pump {
  /** The document has changed. */
  kick(): void;
  /** Resolves when there is nothing more to do, as things stand; rejects as it failed. */
  rested(): Promise<void>;
  /** Tries again what was given up while the text streamed. */
  revive(): void;
  /** True when the thread is not there any more. */
  readonly isDead: boolean;
}

export interface PumpDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly surface: Surface;
  readonly capabilities: Capabilities;
  readonly replyId: string;
  readonly book: PageBook;
  readonly sender: Sender;
  readonly drawer: PageDrawer;
  readonly slots: Slots;
  readonly unseen: UnseenText;
  /** The reply as it should be shown now. */
  readonly document: () => ReplyDocument;
  readonly pages: () => readonly DrawnPage[];
  /** How much of the reply as it is shown comes from steps that are finished. */
  readonly finishedLength: () => number;
  /** Aborted when the reply ends sending. */
  readonly quit: AbortSignal;
}

const refusedNotice = 'This platform refused a part of my answer. Ask me to write it differently.';
const unavailableLadderMs = [500, 1000, 2000, 5000, 10_000, 20_000, 30_000];
/** Failures in a row after which an ended reply gives up for now. */
const mostFailures = 10;
/** Steps that make no call are few; more of them are a mistake that must not hold up the process. */
const mostIdleSteps = 200;
/** A message that is fuller may be full with the next words. */
const surelyFree = 0.7;

export function createPump(deps: PumpDeps): Pump {
  const { clock, log, surface, capabilities, replyId, book, sender, slots, quit } = deps;
  /** What is frozen was compared with the text that this life begins with. */
  let isThawed = false;
  /** The document that was drawn last, and the call that made a message longer. */
  let planned: ReplyDocument | undefined;
  let lastGrowth: CallKind | undefined;
  let failures = 0;
  let idleSteps = 0;
  let isDead = false;
  /** The platform refused the text while it streamed: wait for the final state. */
  let isHeld = false;
  let isStreamRefused = false;
  /** Too many streams were begun lately: the next message is posted. */
  let isPostedInstead = false;
  /** Too many streams were ended lately: the last words are appended, the end waits. */
  let isAppendedInstead = false;
  /** Pages that were refused for good, as drawn. */
  const refused = new Set<string>();
  let pumping: Promise<void> | undefined;
  let again = false;
  /** The page that the call under way is about. */
  let acting: { readonly key: string; readonly drawn: string } = { key: '', drawn: '' };

  const desired = (): readonly DrawnPage[] => {
    const pages = deps.pages();
    if (refused.size === 0) return pages;
    return pages.map((page) =>
      refused.has(drawnOf(page.message)) ? { ...page, message: refusal(page.message) } : page,
    );
  };

  const nextAction = (): Action | undefined =>
    planNext({
      ...{ document: deps.document(), book, now: clock.now(), pages: desired() },
      ...{ stream: surface.stream, streams: sender.streams },
      mayStream: !isStreamRefused && !isPostedInstead,
      mayStop: !isAppendedInstead,
      mostEditAgeMs: capabilities.mostEditAgeMs,
    });

  const urgencyOf = ({ kind }: Action): Urgency => {
    if (deps.document().ended || kind === 'stream_stop' || kind === 'remove') return 'end';
    return book.pages.every(({ messageId }) => messageId === null) ? 'first' : 'progress';
  };

  const takeSlot = async (action: Action, kind: CallKind): Promise<void> => {
    if (action.kind === 'stream_start' && !action.begun) {
      // A stream begins at once or not at all.
      isPostedInstead = !slots.takeNow(kind, 'first');
    } else if (isLastPiece(action, deps.document())) {
      isAppendedInstead = !slots.takeNow(kind, 'end');
    } else {
      await slots.take(kind, urgencyOf(action));
    }
  };

  /** More text for a message with room: what the next call is need not be drawn to be known. */
  const likelyCall = (): CallKind | undefined => {
    const document = deps.document();
    const isMore = document !== planned && !document.ended && !slots.held;
    const length = lengthOfText(document) - book.start.end;
    const hasRoom = length < capabilities.mostMessageLength * surelyFree;
    return isMore && hasRoom && sender.streams.size === 0 ? lastGrowth : undefined;
  };

  const countStep = (hasCalled: boolean): void => {
    idleSteps = hasCalled ? 0 : idleSteps + 1;
    if (idleSteps > mostIdleSteps) throw new Error('the reply does not come closer to its state');
  };

  /** One step towards the desired state; false when there is nothing to do. */
  const stepTowards = async (): Promise<boolean> => {
    if (!isThawed) await thawUnfinished();
    // What is drawn is decided once there is a slot, so that nothing stale is sent.
    const likely = likelyCall();
    if (likely) await slots.take(likely, 'progress');
    planned = deps.document();
    const action = nextAction();
    if (!action) return false;
    const kind = callOf(action);
    const isMissingSlot = kind !== undefined && slots.held !== kind;
    countStep(kind !== undefined && !isMissingSlot);
    if (isMissingSlot) await takeSlot(action, kind);
    else await perform(action, kind);
    return true;
  };

  const perform = async (action: Action, kind: CallKind | undefined): Promise<void> => {
    acting = actingOn(action);
    lastGrowth = kind === 'edit' ? kind : undefined;
    const length = lengthOfText(deps.document());
    if (kind) slots.use();
    await sender.perform(action);
    if (!kind) return;
    failures = 0;
    isPostedInstead = false;
    isAppendedInstead = false;
    if (kind !== 'remove') deps.unseen.shown(length);
  };

  /** What an earlier life froze of a step that is made anew is open again. */
  const thawUnfinished = async (): Promise<void> => {
    isThawed = true;
    const known = deps.finishedLength();
    if (book.start.end > known) await book.thaw(known);
  };

  const onUneditable = async (): Promise<void> => {
    // A stream that ended too early was dealt with where that was found.
    if (book.page(acting.key)?.frozen) return;
    const shown = book.shown(acting.key);
    if (shown && book.isLast(acting.key)) await sender.freezeLast(shown.goesOn());
    // What it shows is not known, or others stand behind it: their text is posted anew, in order.
    else book.discardFrom(acting.key);
  };

  const onRefused = (error: BotError): void => {
    // What a stream does not take, an edit may.
    if (sender.streams.get(acting.key)?.state === 'unknown') return;
    if (!deps.document().ended) isHeld = true;
    else if (acting.drawn === '' || acting.drawn.includes(refusedNotice)) throw error;
    else refused.add(acting.drawn);
  };

  const onTooLong = (error: BotError): void => {
    if (sender.streams.get(acting.key)?.state === 'full') return;
    if (!deps.drawer.shorten()) throw error;
  };

  const onUnavailable = async (error: BotError): Promise<void> => {
    failures += 1;
    if (deps.document().ended && failures >= mostFailures) throw error;
    const rung = Math.min(failures, unavailableLadderMs.length) - 1;
    await sleep(clock, unavailableLadderMs[rung] ?? 30_000, quit);
  };

  const onFailure = async (error: BotError): Promise<void> => {
    switch (error.code) {
      case 'stopped': // a wait for a slot was cut short: the final state is there
      case 'rate_limited': // the pacer knows: the next slot comes after retry-after
        return;
      case 'stream_unavailable':
        isStreamRefused = true;
        return;
      case 'message_gone':
        book.discardFrom(acting.key);
        return;
      case 'message_uneditable':
        return await onUneditable();
      case 'message_refused':
        return onRefused(error);
      case 'message_too_long':
        return onTooLong(error);
      case 'surface_unavailable':
        return await onUnavailable(error);
      case 'surface_gone':
        isDead = true;
        log.warn('reply_undeliverable', { replyId, ...errorFacts(error) });
        return;
      default:
        throw error;
    }
  };

  const pump = async (): Promise<void> => {
    do {
      again = false;
      while (!isDead && !isHeld && !quit.aborted) {
        try {
          if (!(await stepTowards())) break;
        } catch (thrown) {
          if (quit.aborted) return;
          await onFailure(botErrorOf(thrown));
        }
      }
    } while (again && !isDead && !quit.aborted);
  };

  const kick = (): void => {
    again = true;
    pumping ??= pump()
      .catch((thrown: unknown) => {
        if (quit.aborted) return;
        log.error('reply_failed', { replyId, ...errorFacts(thrown) });
        if (deps.document().ended) throw thrown;
      })
      .finally(() => {
        slots.giveBack();
        pumping = undefined;
        // What came while the last step ended was not looked at.
        if (again && !isDead && !quit.aborted) kick();
      });
    // A failure while streaming is not the end: the final state tries again.
    pumping.catch(() => {});
  };

  return {
    kick,
    rested: () => pumping ?? Promise.resolve(),
    revive: () => {
      isHeld = false;
      failures = 0;
      slots.cutShort();
    },
    get isDead() {
      return isDead;
    },
  };
}

function isLastPiece(action: Action, document: ReplyDocument): boolean {
  return action.kind === 'stream_stop' && action.piece.text !== '' && document.ended;
}

/** The call that an action makes; undefined where it makes none. */
function callOf({ kind }: Action): CallKind | undefined {
  switch (kind) {
    case 'freeze':
    case 'freeze_last':
    case 'discard':
      return undefined;
    default:
      return kind;
  }
}

function actingOn(action: Action): { readonly key: string; readonly drawn: string } {
  const drawn = 'drawn' in action && action.drawn ? drawnOf(action.drawn.message) : '';
  if ('page' in action) return { key: action.page.key, drawn };
  return { key: 'begun' in action ? (action.begun?.key ?? '') : '', drawn };
}

function refusal(message: OutboundMessage): OutboundMessage {
  return { ...message, blocks: [{ kind: 'notice', text: refusedNotice }] };
}
