/**
 * The lanes: one run per conversation at a time, other conversations beside it up to a limit. A
 * lane is woken by what arrives and by the wake-up index; it works until nothing waits. What it
 * finds in the store decides, so that a restart needs no other way.
 */

import pLimit from 'p-limit';
import { stopReason } from '../agent/run.ts';
import type { Clock } from '../base/clock.ts';
import type { BotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { StopWhy } from '../messages/run-event.ts';
import type { Wakes } from '../storage/wakes.ts';

/** What a lane does with its conversation. */
export interface LaneWork {
  /** Does one piece of work, if there is one; `idle` tells when the lane wants to be woken again. */
  next(key: ConversationKey, turn: Turn): Promise<Next>;
}

export type Next =
  | { readonly kind: 'worked' }
  | { readonly kind: 'idle'; readonly wakeAtMs?: number };

/** What one piece of work may use of its lane. */
export interface Turn {
  /** A run begins for these messages; the signal ends it, perhaps at once. */
  begin(messageIds: readonly string[]): AbortSignal;
  /** More messages entered the run. */
  entered(messageIds: readonly string[]): void;
  /** Ends the run, or the one that begins next in this piece of work. */
  stop(by: string, why: StopWhy): void;
  /** The process must end now: no waiting for the platform any more. */
  readonly cutOff: AbortSignal;
}

export interface ActiveRun {
  readonly startedAt: number;
  /** Messages it is about; one that is deleted leaves. */
  readonly messageIds: Set<string>;
}

export interface Lanes {
  /** Something may wait here now. */
  wake(key: ConversationKey): void;
  /** The run under way, if any. */
  active(key: ConversationKey): ActiveRun | undefined;
  /** The lane works, or waits for room to work. */
  isBusy(key: ConversationKey): boolean;
  activeCount(): number;
  /** Conversations whose lane works, or waits for room. */
  busy(): readonly ConversationKey[];
  /** No run more has room now. */
  isFull(): boolean;
  /** Ends the run under way, or the one that is about to begin. */
  stop(key: ConversationKey, by: string, why: StopWhy): void;
  /** Looks at the wake-up index from now on, first at what an earlier life left. */
  start(): void;
  /** Takes no new work; gives running work `graceMs`, then ends it for a restart; 2 s later lets go
   * of what still waits for a platform. */
  drain(graceMs: number): Promise<void>;
}

interface Lane {
  again: boolean;
  active: (ActiveRun & { readonly controller: AbortController }) | undefined;
  stopped: BotError | undefined;
}

const tickMs = 1000;
const mostDue = 200;
const cutOffMs = 2000;
const failureLadderMs = [1000, 5000, 15_000, 60_000, 300_000];

export function createLanes(
  deps: {
    readonly clock: Clock;
    readonly log: Log;
    readonly wakes: Wakes;
    readonly work: LaneWork;
  },
  options: { readonly concurrency: number },
): Lanes {
  const { clock, log, wakes, work } = deps;
  const lanes = new Map<ConversationKey, Lane>();
  const running = new Set<Promise<void>>();
  /** Failures in a row. */
  const failuresOf = new Map<ConversationKey, number>();
  const limit = pLimit(options.concurrency);
  const cutOff = new AbortController();
  let closing = false;
  /** Set when the time for running work is over: whatever begins now is ended at once. */
  let lapsed: BotError | undefined;
  let cancelTick = (): void => {};

  const stopLane = (lane: Lane, reason: BotError): void => {
    lane.stopped ??= reason;
    lane.active?.controller.abort(reason);
  };

  const turnOf = (lane: Lane): Turn => ({
    begin: (messageIds) => {
      const controller = new AbortController();
      lane.active = { controller, messageIds: new Set(messageIds), startedAt: clock.now() };
      const reason = lapsed ?? lane.stopped;
      if (reason) controller.abort(reason);
      return controller.signal;
    },
    entered: (messageIds) => {
      for (const messageId of messageIds) lane.active?.messageIds.add(messageId);
    },
    stop: (by, why) => stopLane(lane, stopReason(by, why)),
    cutOff: cutOff.signal,
  });

  /** One piece of work, when there is room for it. */
  const workOnce = async (key: ConversationKey, lane: Lane): Promise<Next> => {
    try {
      return await limit(() =>
        closing ? { kind: 'worked' as const } : work.next(key, turnOf(lane)),
      );
    } finally {
      lane.active = undefined;
      lane.stopped = undefined;
    }
  };

  /** Works until nothing waits. A wake-up is settled only as far as the look reached, so that none
   * that came meanwhile gets lost, whatever happens to the process. */
  const workThrough = async (key: ConversationKey, lane: Lane): Promise<void> => {
    while (!closing) {
      lane.again = false;
      const lookedAt = clock.now();
      const done = await workOnce(key, lane);
      failuresOf.delete(key);
      if (done.kind === 'worked') continue;
      await wakes.settle(key, lookedAt, done.wakeAtMs ?? null);
      if (!lane.again) {
        // At once: a wake-up from now on begins a new lane.
        lanes.delete(key);
        return;
      }
    }
  };

  const retryLater = async (key: ConversationKey): Promise<void> => {
    const failures = (failuresOf.get(key) ?? 0) + 1;
    failuresOf.set(key, failures);
    const delayMs = failureLadderMs[Math.min(failures, failureLadderMs.length) - 1] ?? 300_000;
    await wakes.schedule(key, clock.now() + delayMs).catch((thrown: unknown) => {
      log.error('lane_not_rescheduled', { conversation: key, ...errorFacts(thrown) });
    });
  };

  const wake = (key: ConversationKey): void => {
    if (closing) return;
    const known = lanes.get(key);
    if (known) {
      known.again = true;
      return;
    }
    const lane: Lane = { again: false, active: undefined, stopped: undefined };
    lanes.set(key, lane);
    const done = workThrough(key, lane)
      .catch((thrown: unknown) => {
        log.error('lane_failed', { conversation: key, ...errorFacts(thrown) });
        return retryLater(key);
      })
      .finally(() => {
        if (lanes.get(key) === lane) lanes.delete(key);
        running.delete(done);
      });
    running.add(done);
  };

  const tick = async (): Promise<void> => {
    try {
      for (const { conversationKey } of await wakes.due(clock.now(), mostDue)) {
        if (!lanes.has(conversationKey)) wake(conversationKey);
      }
    } catch (thrown) {
      log.error('wakes_not_read', errorFacts(thrown));
    }
    if (!closing) cancelTick = clock.setTimer(tickMs, () => void tick());
  };

  const activeCount = (): number => [...lanes.values()].filter(({ active }) => active).length;

  return {
    wake,
    active: (key) => lanes.get(key)?.active,
    isBusy: (key) => lanes.has(key),
    activeCount,
    busy: () => [...lanes.keys()],
    isFull: () => activeCount() >= options.concurrency,
    stop: (key, by, why) => {
      const lane = lanes.get(key);
      if (lane) stopLane(lane, stopReason(by, why));
    },
    start: () => {
      void tick();
    },
    drain: async (graceMs) => {
      closing = true;
      cancelTick();
      const cancelLapse = clock.setTimer(graceMs, () => {
        lapsed = stopReason('a restart', 'shutdown');
        for (const lane of lanes.values()) stopLane(lane, lapsed);
      });
      const cancelCutOff = clock.setTimer(graceMs + cutOffMs, () => cutOff.abort());
      await Promise.allSettled(running);
      cancelLapse();
      cancelCutOff();
    },
  };
}
