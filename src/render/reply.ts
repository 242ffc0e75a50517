/**
 * The one stateful part of a reply: it brings what is posted to what should be shown. One call is
 * under way at a time; only the newest state waits; the last state is always sent (rule 4). What
 * the platform confirmed is known from its answers, never assumed. The pages are stored, so that
 * after a restart the same messages are taken up again and nothing is posted twice.
 */

import { z } from 'zod';
import { type Clock, sleep } from '../base/clock.ts';
import { type BotError, botErrorOf } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Mentionable } from '../messages/people.ts';
import type { RunEvent } from '../messages/run-event.ts';
import { createMarkdownSplitter, textOf } from '../surface/markdown/split.ts';
import type { Button, OutboundMessage } from '../surface/outbound.ts';
import type { Capabilities, Surface } from '../surface/surface.ts';
import {
  applyEvent,
  drawPages,
  emptyDocument,
  openFenceOf,
  type ReplyDocument,
  textOfDocument,
} from './document.ts';
import type { Pacer, Urgency } from './pacer.ts';

export const replyPagesSchema = z.object({
  v: z.literal(1),
  pages: z
    .array(
      z.object({
        key: z.string(),
        /** Null: a post was begun and its outcome is not known. */
        messageId: z.string().nullable(),
        postedAt: z.number(),
      }),
    )
    .readonly(),
  /** Posts begun so far; numbers the keys. */
  posts: z.number(),
  /** Pages that are never edited again, and how much of the text they hold. */
  frozenPages: z.number(),
  frozenChars: z.number(),
});
export type ReplyPages = Readonly<z.infer<typeof replyPagesSchema>>;

export const noPages: ReplyPages = { v: 1, pages: [], posts: 0, frozenPages: 0, frozenChars: 0 };

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
  readonly steps: readonly string[];
  readonly mentionable: readonly Mentionable[];
}

/** delivered: what people can read is the final state. gone: the thread is not there any more. */
export type Delivery = 'delivered' | 'gone';

export interface Reply {
  /** Shows an event of the run. Never waits for the platform. */
  apply(event: RunEvent): void;
  /** The final state; resolves when it can be read, rejects with surface_unavailable when the
   * platform does not answer for minutes. */
  finish(end: {
    readonly notice?: string;
    readonly buttons?: readonly Button[];
  }): Promise<Delivery>;
  /** Shows that the run pauses (the process goes down), for at most 2 s, and ends sending. */
  pause(activity: string): Promise<void>;
  /** Ends sending as it stands. */
  abandon(): Promise<void>;
}

const refusedNotice =
  'I have an answer, but this platform refused its text. Ask me to write it differently.';
const pauseMs = 2000;
const unavailableLadderMs = [500, 1000, 2000, 5000, 10_000, 20_000, 30_000];
/** Failures in a row after which an ended reply gives up for now. */
const mostFailures = 10;

export function createReply(deps: ReplyDeps, options: ReplyOptions): Reply {
  const { clock, log, surface, capabilities, pacer, redactor } = deps;
  let document: ReplyDocument = { ...emptyDocument, steps: options.steps };
  let stored = options.pages;
  /** What each page shows by the platform's word, and how much of the text was out by then. */
  const confirmed = new Map<string, { readonly drawn: string; readonly chars: number }>();
  let mostLength = capabilities.mostMessageLength;
  let lastEditAt = 0;
  let failures = 0;
  let dead: Delivery | undefined;
  /** The platform refused the text while it streamed: wait for the final state. */
  let held = false;
  let pumping: Promise<void> | undefined;
  let again = false;
  /** Key of the page that the call under way is about. */
  let acting = '';
  /** Earlier pages that cannot be changed any more and are left as they are. */
  const left = new Set<string>();
  const quit = new AbortController();
  /** Ends a wait for a progress slot when the final state is there. */
  let slotWait = new AbortController();

  /** One reply alone does not use up the budget of all. */
  const leastGapMs = capabilities.editBudget.windowMs / capabilities.editBudget.edits;

  const save = async (change: Partial<ReplyPages>): Promise<void> => {
    stored = { ...stored, ...change };
    await deps.savePages(stored);
  };

  const visibleText = (): string => {
    const whole = redactor.redact(textOfDocument(document));
    return document.ended ? whole : whole.slice(0, whole.length - redactor.heldBack(whole));
  };

  /** Cuts the text behind the frozen pages; remembers its cuts while the text grows. */
  let splitter = createSplitter(capabilities, mostLength);
  const resplit = (): void => {
    splitter = createSplitter(capabilities, mostLength);
  };

  const desired = (text: string): readonly OutboundMessage[] => {
    const fence = openFenceOf(text.slice(0, stored.frozenChars));
    const rest = text.slice(stored.frozenChars).replace(/^\n+/u, '');
    return drawPages(document, fence === '' || rest === '' ? rest : `${fence}\n${rest}`, {
      split: splitter,
      mentionable: options.mentionable,
    });
  };

  /** From here on the text goes to new messages; what is out stays as it is. */
  const freeze = async (chars: number): Promise<void> => {
    await save({ frozenPages: stored.pages.length, frozenChars: chars });
    resplit();
  };

  const post = async (message: OutboundMessage, index: number, chars: number): Promise<void> => {
    const begun = stored.pages[index];
    const key = begun?.key ?? `${options.replyId}.${stored.posts + 1}`;
    const page = { key, messageId: null, postedAt: clock.now() };
    const maybePosted = begun !== undefined;
    if (!begun) await save({ pages: [...stored.pages, page], posts: stored.posts + 1 });
    const { messageId } = await surface.post(message, { key, maybePosted });
    const pages = stored.pages.map((other) => (other.key === key ? { ...page, messageId } : other));
    await save({ pages });
    // What an earlier life posted under this key may differ: the next round edits it.
    if (!maybePosted) confirmed.set(key, { drawn: JSON.stringify(message.blocks), chars });
  };

  const edit = async (
    message: OutboundMessage,
    page: ReplyPages['pages'][number],
    messageId: string,
    chars: number,
  ): Promise<void> => {
    const urgency: Urgency = document.ended ? 'end' : 'progress';
    slotWait = new AbortController();
    const gapMs = lastEditAt + leastGapMs - clock.now();
    if (urgency === 'progress' && gapMs > 0) await sleep(clock, gapMs, slotWait.signal);
    await pacer.slot(options.scope, urgency, slotWait.signal);
    lastEditAt = clock.now();
    await surface.edit(messageId, message);
    confirmed.set(page.key, { drawn: JSON.stringify(message.blocks), chars });
  };

  /** Brings one page to its desired state; false when it is there. */
  const stepPage = async (
    message: OutboundMessage,
    index: number,
    chars: number,
  ): Promise<boolean> => {
    const page = stored.pages[index];
    if (page && left.has(page.key)) return false;
    acting = page?.key ?? '';
    if (!page || page.messageId === null) {
      await post(message, index, chars);
      return true;
    }
    const known = confirmed.get(page.key);
    if (known?.drawn === JSON.stringify(message.blocks)) return false;
    if (known && clock.now() - page.postedAt > capabilities.mostEditAgeMs) {
      await freeze(known.chars);
    } else {
      await edit(message, page, page.messageId, chars);
    }
    return true;
  };

  /** A post whose answer was lost is found, or made, by its key. */
  const idOfPage = async ({ key, messageId }: ReplyPages['pages'][number]): Promise<string> => {
    if (messageId !== null) return messageId;
    const blocks = [{ kind: 'notice', text: '…' }] as const;
    return (await surface.post({ blocks, mentionable: [] }, { key, maybePosted: true })).messageId;
  };

  /** One call towards the desired state; false when there is nothing to do. */
  const stepTowards = async (): Promise<boolean> => {
    const text = visibleText();
    const pages = desired(text);
    for (const [offset, message] of pages.entries()) {
      if (await stepPage(message, stored.frozenPages + offset, text.length)) return true;
    }
    const extra = stored.pages[stored.frozenPages + pages.length];
    // While the text still grows (after a restart it begins anew) pages wait for their text.
    if (!extra || !document.ended) return false;
    acting = extra.key;
    await surface.remove(await idOfPage(extra));
    await save({ pages: stored.pages.filter(({ key }) => key !== extra.key) });
    return true;
  };

  /** Takes the failing page out of the list, so that what it held is posted anew, once. An earlier
   * page stays as it is: posted again it would stand behind later ones. */
  const replace = async (): Promise<void> => {
    if (stored.pages.at(-1)?.key !== acting) {
      left.add(acting);
      return;
    }
    await save({ pages: stored.pages.filter(({ key }) => key !== acting) });
  };

  const onUneditable = async (): Promise<void> => {
    const known = confirmed.get(acting);
    const page = stored.pages.find(({ key }) => key === acting);
    if (known && stored.pages.at(-1)?.key === acting) {
      await freeze(known.chars);
      return;
    }
    // What it shows is not known (an earlier life posted it): it goes, the text is posted anew.
    if (!known && page?.messageId) await surface.remove(page.messageId);
    await replace();
  };

  const onRefused = (error: BotError): void => {
    if (!document.ended) {
      held = true;
      return;
    }
    if (document.notices.includes(refusedNotice)) throw error;
    document = { ...emptyDocument, ended: true, notices: [...document.notices, refusedNotice] };
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
        await replace();
        return;
      case 'message_uneditable':
        await onUneditable();
        return;
      case 'message_refused':
        onRefused(error);
        return;
      case 'message_too_long':
        mostLength = Math.floor(mostLength * 0.7);
        if (mostLength < 300) throw error;
        resplit();
        return;
      case 'surface_unavailable': {
        failures += 1;
        if (document.ended && failures >= mostFailures) throw error;
        const step = Math.min(failures, unavailableLadderMs.length) - 1;
        await sleep(clock, unavailableLadderMs[step] ?? 30_000, quit.signal);
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
      document = applyEvent(document, event);
      if (document !== before) kick();
      // A failure while streaming is not the end: the final state tries again.
      pumping?.catch(() => {});
    },
    finish: async ({ notice, buttons }) => {
      stopStatus();
      const notices = notice ? [...document.notices, notice] : document.notices;
      document = { ...document, notices, buttons: buttons ?? [], activity: '', ended: true };
      held = false;
      slotWait.abort();
      failures = 0;
      // The pump of the streaming time may end with its own failure first.
      if (pumping) await pumping.catch(() => {});
      kick();
      await pumping;
      return dead ?? 'delivered';
    },
    pause: async (activity) => {
      document = { ...document, activity };
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

/** Room on each page for the activity line and notices. */
const spareLength = 200;

function createSplitter(
  capabilities: Capabilities,
  mostLength: number,
): (markdown: string) => readonly string[] {
  const split = createMarkdownSplitter({
    mostLength: mostLength - spareLength,
    lengthOf: (markdown) => capabilities.lengthOf(markdown),
  });
  return (markdown) => split(markdown).map((piece) => textOf(markdown, piece));
}

/** Shows "working" and repeats it as the platform needs; the returned function takes it away. */
function keepStatus({ surface, clock, capabilities }: ReplyDeps): () => void {
  let cancel = (): void => {};
  const show = (): void => {
    void surface.status('working');
    cancel = clock.setTimer(capabilities.statusEveryMs, show);
  };
  show();
  let shown = true;
  return () => {
    cancel();
    if (shown) void surface.status('idle');
    shown = false;
  };
}
