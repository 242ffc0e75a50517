/** A live reply: keeps the run's reply as data, and has it shown as it grows until it has ended. */

import { type Clock, sleep } from '../base/clock.ts';
import { BotError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Conversation } from '../messages/conversation.ts';
import type { Mentionable, PersonId } from '../messages/people.ts';
import type { RunEvent } from '../messages/run-event.ts';
import type { Button } from '../surface/outbound.ts';
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
import { createPageDrawer, toolsToldAfterMs } from './draw.ts';
import { inSight } from './in-sight.ts';
import type { Pacer } from './pacing/pacer.ts';
import { createPageBook, type ReplyPages } from './page-book.ts';
import { mostStartMs } from './plan.ts';
import { createPump } from './pump.ts';
import { createQuietDocument } from './quiet-line.ts';
import { createSender } from './sender.ts';
import type { ShownWork } from './settings.ts';
import { createSlots } from './slots.ts';
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

const pauseMs = 2000;
/** A wait is told in steps of so much. */
const tellEveryMs = 10_000;
const quietShow: ShownWork = { activity: 'line', thinking: 'off' };

export function createReply(deps: ReplyDeps, options: ReplyOptions): Reply {
  const { clock, log, surface, capabilities, pacer, redactor } = deps;
  const { replyId, conversation } = options;
  const now = (): number => clock.now();
  const quit = new AbortController();
  const book = createPageBook(options.pages, deps.savePages);
  const drawer = createPageDrawer({
    capabilities,
    mentionable: options.mentionable,
    show: options.show ?? quietShow,
  });
  const visibleTextOf = createVisibleText(redactor);
  const quietDocument = createQuietDocument(redactor);
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
  const slots = createSlots({
    ...{ pacer, conversation, now, quit: quit.signal },
    unseen: (lastCallAt) => unseen.state(lastCallAt),
  });
  const pump = createPump({
    ...{ clock, log, surface, capabilities, replyId, book, sender, drawer, slots, unseen },
    document: () => document,
    pages: () =>
      drawer.pages(quietDocument(document), visibleText(), {
        ...{ from: book.start, now: now() },
        // The next call is about one of these, or about the first behind them.
        most: book.open.length + 1,
      }),
    finishedLength: () => redactor.redact(textOfDocument({ ...document, live: '' })).length,
    quit: quit.signal,
  });

  /** The time a wait takes is a state of its own. */
  let cancelTell = (): void => {};
  const tellIn = (delayMs: number): void => {
    cancelTell = clock.setTimer(delayMs, () => {
      pump.kick();
      tellIn(tellEveryMs);
    });
  };
  tellIn(toolsToldAfterMs);

  /** A stream waits for its first words only so long. */
  let cancelStart = (): void => {};

  const stopStatus = keepStatus(deps);

  const abandon = async (): Promise<void> => {
    cancelTell();
    cancelStart();
    stopStatus();
    quit.abort();
    slots.cutShort();
    await pump.rested().catch(() => {});
  };

  const change = (next: ReplyDocument): void => {
    if (next === document) return;
    if (next.textSince !== document.textSince) {
      cancelStart = clock.setTimer(mostStartMs, () => pump.kick());
    }
    document = next;
    unseen.grew(lengthOfText(document));
    pump.kick();
  };

  return {
    apply: (event) => change(applyEvent(document, inSight(event, redactor), now())),
    finish: async ({ notices = [], buttons = [], below = [] }) => {
      cancelTell();
      cancelStart();
      stopStatus();
      document = { ...document, notices, buttons, below, waiting: '', ended: true };
      pump.revive();
      // What was under way while the text streamed may end with a failure of its own first.
      await pump.rested().catch(() => {});
      pump.kick();
      await pump.rested();
      if (quit.signal.aborted) throw new BotError('interrupted', 'The process stopped first.');
      return pump.isDead ? 'gone' : 'delivered';
    },
    pause: async (activity) => {
      change(waitingFor(document, activity, now()));
      const sent = pump.rested().catch(() => {});
      const lapse = new AbortController();
      await Promise.race([sent, sleep(clock, pauseMs, lapse.signal).catch(() => {})]);
      lapse.abort();
      await abandon();
    },
    abandon,
  };
}
