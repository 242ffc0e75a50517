/**
 * A live reply: keeps the run's reply as data and brings what is posted to what should be shown. One
 * call is under way at a time; only the newest state waits; the last state is always sent (rule 4).
 */

import { throwIfAborted } from '../base/abort.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { BotError, botErrorOf } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Conversation } from '../messages/conversation.ts';
import type { Mentionable, PersonId } from '../messages/people.ts';
import type { RunEvent } from '../messages/run-event.ts';
import type { Button, OutboundMessage } from '../surface/outbound.ts';
import type { Capabilities, Surface } from '../surface/surface.ts';
import {
  applyEvent,
  lengthOfText,
  newDocument,
  type ReplyDocument,
  type ReplyEnd,
  type StepText,
  textOfDocument,
  waitingFor,
} from './document.ts';
import { createPageDrawer, type DrawnPage, drawnOf, toolsToldAfterMs } from './draw.ts';
import { inSight } from './in-sight.ts';
import type { Urgency } from './pacing/budget.ts';
import type { Pacer, Slot, Wish } from './pacing/pacer.ts';
import { createPageBook, type ReplyPages } from './page-book.ts';
import { type Action, planNext } from './plan.ts';
import { quietDocument } from './quiet-line.ts';
import { createSender } from './sender.ts';
import type { ShownWork } from './settings.ts';
import { keepStatus } from './status.ts';
import { createUnseenText } from './unseen.ts';
import { createVisibleText } from './visible-text.ts';

export interface ReplyDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Takes no slots by itself. */
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
  readonly conversation: Conversation;
  readonly pages: ReplyPages;
  /** Texts of steps that were finished before (after a restart). */
  readonly steps: readonly StepText[];
  readonly mentionable: readonly Mentionable[];
  /** Whose message is answered. */
  readonly asker?: PersonId;
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
const mostIdleSteps = 200;
/** A wait is told in steps of so much. */
const tellEveryMs = 10_000;
/** A message that is fuller may be full with the next words. */
const surelyFree = 0.7;
const quietShow: ShownWork = { activity: 'line', thinking: 'off' };

export function createReply(deps: ReplyDeps, options: ReplyOptions): Reply {
  const { clock, log, surface, capabilities, pacer, redactor } = deps;
  const { replyId, conversation } = options;
  const now = (): number => clock.now();
  const book = createPageBook(options.pages, deps.savePages);
  const drawer = createPageDrawer({
    capabilities,
    mentionable: options.mentionable,
    show: options.show ?? quietShow,
  });
  const visibleTextOf = createVisibleText(redactor);
  const unseen = createUnseenText(now);
  let document = newDocument(now(), {
    steps: options.steps,
    controls: options.controls ?? [],
  });
  const visibleText = (): string => visibleTextOf(textOfDocument(document), document.ended);
  const sender = createSender({
    ...{ surface, book, replyId, now, visibleText },
    asker: options.asker,
  });

  /** What is frozen was compared with the text that this life begins with. */
  let isThawed = false;
  let slot: Slot | undefined;
  /** The document that was drawn last, and the call that made a message longer. */
  let planned: ReplyDocument | undefined;
  let lastGrowth: Slot['kind'] | undefined;
  let lastCallAt = 0;
  let failures = 0;
  let idleSteps = 0;
  let dead: Delivery | undefined;
  /** The platform refused the text while it streamed: wait for the final state. */
  let held = false;
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
  const quit = new AbortController();
  /** Ends a wait for a slot when the final state is there. */
  let slotWait = new AbortController();

  const desired = (): readonly DrawnPage[] => {
    const pages = drawer.pages(quietDocument(document, redactor), visibleText(), book.start, now());
    return refused.size === 0
      ? pages
      : pages.map((page) =>
          refused.has(drawnOf(page.message)) ? { ...page, message: refusal(page.message) } : page,
        );
  };

  const wishFor = (kind: Slot['kind'], urgency: Urgency): Wish => ({
    // A further message is spread over its own budget alone.
    ...{ kind, conversation, urgency, lastCallAt: kind === 'post' ? 0 : lastCallAt },
    unseen: () => unseen.state(lastCallAt),
  });

  const urgencyOf = ({ kind }: Action): Urgency => {
    if (document.ended || kind === 'stream_stop' || kind === 'remove') return 'end';
    return book.pages.every(({ messageId }) => messageId === null) ? 'first' : 'progress';
  };

  const nextAction = (): Action | undefined =>
    planNext({
      ...{ document, book, stream: surface.stream, streams: sender.streams, now: now() },
      pages: desired(),
      mayStream: !isStreamRefused && !isPostedInstead,
      mayStop: !isAppendedInstead,
      mostEditAgeMs: capabilities.mostEditAgeMs,
    });

  const giveSlotBack = (): void => {
    slot?.giveBack();
    slot = undefined;
  };

  /** Waits for the budget. What is drawn is decided afterwards, so that nothing stale is sent. */
  const takeSlot = async (kind: Slot['kind'], urgency: Urgency): Promise<void> => {
    giveSlotBack();
    throwIfAborted(quit.signal);
    slotWait = new AbortController();
    slot = await pacer.slot(wishFor(kind, urgency), slotWait.signal);
  };

  /** A stream begins at once or not at all: where they are used up, the message is posted. */
  const takeStartNow = (): void => {
    giveSlotBack();
    slot = pacer.slotNow(wishFor('stream_start', 'first'));
    isPostedInstead = slot === undefined;
  };

  const isLastPiece = (action: Action): boolean =>
    action.kind === 'stream_stop' && action.piece.text !== '' && document.ended;

  const takeStopNow = (): void => {
    giveSlotBack();
    slot = pacer.slotNow(wishFor('stream_stop', 'end'));
    isAppendedInstead = slot === undefined;
  };

  /** More text for a message with room: what the next call is need not be drawn to be known. */
  const likelyCall = (): Slot['kind'] | undefined => {
    const isMore = document !== planned && !document.ended && !slot;
    const length = lengthOfText(document) - book.start.end;
    const hasRoom = length < capabilities.mostMessageLength * surelyFree;
    return isMore && hasRoom && sender.streams.size === 0 ? lastGrowth : undefined;
  };

  /** Steps that make no call are few; more of them are a mistake that must not hold up the process. */
  const countStep = (hasCalled: boolean): void => {
    idleSteps = hasCalled ? 0 : idleSteps + 1;
    if (idleSteps > mostIdleSteps) throw new Error('the reply does not come closer to its state');
  };

  /** One step towards the desired state; false when there is nothing to do. */
  const stepTowards = async (): Promise<boolean> => {
    if (!isThawed) await thawUnfinished();
    const likely = likelyCall();
    if (likely) await takeSlot(likely, 'progress');
    const action = nextAction();
    planned = document;
    if (!action) return false;
    const kind = callOf(action);
    countStep(kind !== undefined && slot?.kind === kind);
    if (kind && slot?.kind !== kind) {
      if (action.kind === 'stream_start' && !action.begun) takeStartNow();
      else if (isLastPiece(action)) takeStopNow();
      else await takeSlot(kind, urgencyOf(action));
      return true;
    }
    if (kind) {
      slot = undefined;
      lastCallAt = now();
    }
    acting = actingOn(action);
    const length = lengthOfText(document);
    await sender.perform(action);
    if (kind) failures = 0;
    isPostedInstead = false;
    isAppendedInstead = false;
    lastGrowth = kind === 'edit' ? kind : undefined;
    if (kind && kind !== 'remove') unseen.shown(length);
    return true;
  };

  /** What an earlier life froze of a step that is made anew is open again. */
  const thawUnfinished = async (): Promise<void> => {
    isThawed = true;
    const known = textOfDocument({ ...document, live: '' }).length;
    if (book.start.end > known) await book.thaw(known);
  };

  const onUneditable = async (): Promise<void> => {
    // A stream that ended too early was dealt with where that was found.
    if (book.page(acting.key)?.frozen) return;
    const shown = book.shown(acting.key);
    if (shown && book.isLast(acting.key)) await sender.freezeLast(shown.end);
    // What it shows is not known, or others stand behind it: their text is posted anew, in order.
    else book.discardFrom(acting.key);
  };

  const onRefused = (error: BotError): void => {
    if (!document.ended) held = true;
    else if (acting.drawn === '' || acting.drawn.includes(refusedNotice)) throw error;
    else refused.add(acting.drawn);
  };

  const onTooLong = (error: BotError): void => {
    if (sender.streams.get(acting.key)?.state === 'full') return;
    if (!drawer.shorten()) throw error;
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
      case 'surface_unavailable': {
        failures += 1;
        if (document.ended && failures >= mostFailures) throw error;
        const rung = Math.min(failures, unavailableLadderMs.length) - 1;
        await sleep(clock, unavailableLadderMs[rung] ?? 30_000, quit.signal);
        return;
      }
      case 'surface_gone':
        dead = 'gone';
        log.warn('reply_undeliverable', { replyId, ...errorFacts(error) });
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
        log.error('reply_failed', { replyId, ...errorFacts(thrown) });
        if (document.ended) throw thrown;
      })
      .finally(() => {
        giveSlotBack();
        pumping = undefined;
      });
    // A failure while streaming is not the end: the final state tries again.
    pumping.catch(() => {});
  };

  /** The time a wait takes is a state of its own. */
  let cancelTell = (): void => {};
  const tellIn = (delayMs: number): void => {
    cancelTell = clock.setTimer(delayMs, () => {
      kick();
      tellIn(tellEveryMs);
    });
  };
  tellIn(toolsToldAfterMs);

  const stopStatus = keepStatus(deps);

  const abandon = async (): Promise<void> => {
    cancelTell();
    stopStatus();
    quit.abort();
    slotWait.abort();
    await pumping?.catch(() => {});
  };

  const change = (next: ReplyDocument): void => {
    if (next === document) return;
    document = next;
    unseen.grew(lengthOfText(document));
    kick();
  };

  return {
    apply: (event) => change(applyEvent(document, inSight(event, redactor), now())),
    finish: async ({ notices = [], buttons = [], below = [] }) => {
      cancelTell();
      stopStatus();
      document = { ...document, notices, buttons, below, waiting: '', ended: true };
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
      change(waitingFor(document, activity, now()));
      const sent = pumping?.catch(() => {}) ?? Promise.resolve();
      const lapse = new AbortController();
      await Promise.race([sent, sleep(clock, pauseMs, lapse.signal).catch(() => {})]);
      lapse.abort();
      await abandon();
    },
    abandon,
  };
}

/** The call that an action makes; undefined where it makes none. */
function callOf({ kind }: Action): Slot['kind'] | undefined {
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
