/**
 * The lanes: one run per conversation at a time, other conversations beside it up to a limit. A
 * lane is woken by what arrives and by the wake-up index; it works until nothing waits. What it
 * finds in the store decides, so that a restart needs no other way.
 */

import pLimit from 'p-limit';
import { stopReason } from '../agent/run.ts';
import type { Clock } from '../base/clock.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { StopWhy } from '../messages/run-event.ts';
import type { Wakes } from '../storage/wakes.ts';

/** What a lane does with its conversation. */
export interface LaneWork {
  /** Does one piece of work, if there is one; `idle` tells when the lane wants to be woken again. */
  next(
    key: ConversationKey,
    begin: (triggerIds: readonly string[]) => AbortSignal,
  ): Promise<{ readonly kind: 'worked' } | { readonly kind: 'idle'; readonly wakeAtMs?: number }>;
}

export interface Lanes {
  /** Something may wait here now. */
  wake(key: ConversationKey): void;
  /** The run under way, if any. */
  active(key: ConversationKey): ActiveRun | undefined;
  activeCount(): number;
  /** Ends the run under way. False when there is none. */
  stop(key: ConversationKey, by: string, why: StopWhy): boolean;
  /** Looks at the wake-up index from now on, first at what an earlier life left. */
  start(): void;
  /** Takes no new work; gives running work `graceMs`, then ends it for a restart. */
  drain(graceMs: number): Promise<void>;
}

export interface ActiveRun {
  readonly startedAt: number;
  readonly triggerIds: readonly string[];
}

interface Lane {
  again: boolean;
  active: (ActiveRun & { readonly controller: AbortController }) | undefined;
}

const tickMs = 1000;
const mostDue = 200;
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
  let closing = false;
  let cancelTick = (): void => {};

  const begin = (lane: Lane, triggerIds: readonly string[]): AbortSignal => {
    const controller = new AbortController();
    lane.active = { controller, triggerIds, startedAt: clock.now() };
    return controller.signal;
  };

  /** One piece of work, when there is room for it. */
  const workOnce = async (key: ConversationKey, lane: Lane): ReturnType<LaneWork['next']> => {
    try {
      return await limit(() =>
        closing ? { kind: 'worked' as const } : work.next(key, (ids) => begin(lane, ids)),
      );
    } finally {
      lane.active = undefined;
    }
  };

  /** Works until nothing waits. The index is set before the last look, so no wake-up gets lost. */
  const workThrough = async (key: ConversationKey, lane: Lane): Promise<void> => {
    while (!closing) {
      lane.again = false;
      const done = await workOnce(key, lane);
      failuresOf.delete(key);
      if (done.kind === 'worked' || lane.again) continue;
      if (done.wakeAtMs === undefined) await wakes.clear(key);
      else await wakes.schedule(key, done.wakeAtMs);
      const look = await workOnce(key, lane);
      if (look.kind === 'idle' && !lane.again) return;
    }
  };

  const wake = (key: ConversationKey): void => {
    if (closing) return;
    const known = lanes.get(key);
    if (known) {
      known.again = true;
      return;
    }
    const lane: Lane = { again: false, active: undefined };
    lanes.set(key, lane);
    const done = workThrough(key, lane)
      .catch((thrown: unknown) => {
        log.error('lane_failed', { conversation: key, ...errorFacts(thrown) });
        return retryLater(key);
      })
      .finally(() => {
        lanes.delete(key);
        running.delete(done);
      });
    running.add(done);
  };

  const retryLater = async (key: ConversationKey): Promise<void> => {
    const failures = (failuresOf.get(key) ?? 0) + 1;
    failuresOf.set(key, failures);
    const delayMs = failureLadderMs[Math.min(failures, failureLadderMs.length) - 1] ?? 300_000;
    await wakes.schedule(key, clock.now() + delayMs).catch((thrown: unknown) => {
      log.error('lane_not_rescheduled', { conversation: key, ...errorFacts(thrown) });
    });
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

  return {
    wake,
    active: (key) => lanes.get(key)?.active,
    activeCount: () => [...lanes.values()].filter(({ active }) => active).length,
    stop: (key, by, why) => {
      const active = lanes.get(key)?.active;
      active?.controller.abort(stopReason(by, why));
      return active !== undefined;
    },
    start: () => {
      void tick();
    },
    drain: async (graceMs) => {
      closing = true;
      cancelTick();
      const lapse = clock.setTimer(graceMs, () => {
        for (const { active } of lanes.values()) {
          active?.controller.abort(stopReason('a restart', 'shutdown'));
        }
      });
      await Promise.allSettled(running);
      lapse();
    },
  };
}
