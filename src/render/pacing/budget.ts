/**
 * One budget of a platform, as it stands: how many calls may be made now, and when the next one.
 * What is planned comes back evenly; a burst after a silence is spent bit by bit, so that the first
 * of ten answers does not use up the minute of all. A platform that tells its windows (Discord) is
 * believed over the plan.
 */

import type { BudgetState, CallBudget } from '../../surface/calls.ts';

/** end: what people wait for (an end, a question, a failure) · first: the first visible text of a
 * reply · progress: later text. */
export type Urgency = 'end' | 'first' | 'progress';

export interface Budget {
  /** When such a call may be made, if nothing else is made before. `lastCallAt`: of this message. */
  freeAt(urgency: Urgency, lastCallAt: number): number;
  /** A call is made now. */
  take(): void;
  /** A call that was taken is not made. */
  giveBack(): void;
  /** The platform refused a call as one too many: nothing is sent before this time. */
  refuse(untilMs: number): void;
  learn(state: BudgetState): void;
  /** True where a new budget of the same plan would allow just the same. */
  isAtRest(): boolean;
}

/** A burst is spent within some of these times; chosen so that answers of 5 to 20 s stay near the
 * best that a planner who knows their length could do. */
const burstMs = 6000;
/** What is kept of a told window lapses with it: so shortly before, progress may use it. */
const lapseMs = 120;
/** What a refusal leaves of the planned rate, the least that it can leave, and how it grows back. */
const refusedShare = 0.75;
const leastShare = 0.25;
const growthPerMs = 0.1 / 60_000;

export function createBudget(plan: CallBudget, now: () => number): Budget {
  let closedUntil = 0;
  let share = 1;
  let tokens = plan.burst;
  let countedAt = now();
  let lastAt = Number.NEGATIVE_INFINITY;
  /** When the calls of the last window were made, where they are counted so. */
  let made: readonly number[] = [];
  /** The window that the platform told of. */
  let told: { remaining: number; resetAt: number; limit: number; windowMs: number } | undefined;

  /** A clock that was set back by an hour must not keep calls back for an hour. */
  const setBack = (byMs: number): void => {
    closedUntil -= byMs;
    lastAt -= byMs;
    made = made.map((madeAt) => madeAt - byMs);
    if (told) told = { ...told, resetAt: told.resetAt - byMs };
  };

  const count = (): void => {
    const at = now();
    if (at < countedAt) setBack(countedAt - at);
    const passedMs = Math.max(0, at - countedAt);
    tokens = Math.min(plan.burst, tokens + passedMs * ratePerMs());
    share = Math.min(1, share + passedMs * growthPerMs);
    countedAt = at;
    if (told && at >= told.resetAt) told = { ...told, remaining: told.limit, resetAt: Infinity };
  };
  const ratePerMs = (): number => (plan.most / plan.windowMs) * share;

  /** Even gaps over what is left of a told window. */
  const toldGapMs = ({ remaining, resetAt, limit, windowMs }: NonNullable<typeof told>): number => {
    if (resetAt === Infinity) return windowMs / limit;
    const usable = Math.max(0, remaining - plan.kept);
    return (resetAt - lapseMs - now()) / (usable + 1);
  };

  const plannedGapMs = (): number => 1 / (ratePerMs() + Math.max(0, tokens - plan.kept) / burstMs);

  const toldFreeAt = (
    { remaining, resetAt, limit }: NonNullable<typeof told>,
    needed: number,
  ): number => {
    // A window that is smaller than what is kept of it is for all alike.
    if (remaining >= Math.min(needed, limit)) return now();
    return remaining > 0 ? resetAt - lapseMs : resetAt;
  };

  const tokensFreeAt = (needed: number): number => {
    if (told) return toldFreeAt(told, needed);
    if (plan.inWindows) return (made.at(-plan.most) ?? Number.NEGATIVE_INFINITY) + plan.windowMs;
    const missing = needed - tokens;
    return missing <= 0 ? now() : now() + Math.ceil(missing / ratePerMs());
  };

  return {
    freeAt: (urgency, lastCallAt) => {
      count();
      const needed = urgency === 'end' ? 1 : 1 + plan.kept;
      const free = Math.max(closedUntil, tokensFreeAt(needed));
      if (urgency !== 'progress' || plan.inWindows) return free;
      const gapMs = told ? toldGapMs(told) : plannedGapMs();
      return Math.max(free, Math.ceil(Math.max(lastAt, Math.min(lastCallAt, now())) + gapMs));
    },
    take: () => {
      count();
      tokens -= 1;
      if (told) {
        // The first call behind a window opens the next; its answer may be lost, and its word too.
        const isNext = told.resetAt === Infinity;
        const resetAt = isNext ? now() + Math.max(told.windowMs, plan.windowMs) : told.resetAt;
        told = { ...told, remaining: told.remaining - 1, resetAt };
      }
      if (plan.inWindows) made = [...made, now()].slice(-plan.most);
      lastAt = now();
    },
    giveBack: () => {
      count();
      tokens = Math.min(plan.burst, tokens + 1);
      made = made.slice(0, -1);
      if (told) told = { ...told, remaining: Math.min(told.limit, told.remaining + 1) };
    },
    refuse: (untilMs) => {
      count();
      // Calls that were under way together are refused together: they teach one thing.
      if (now() >= closedUntil) share = Math.max(leastShare, share * refusedShare);
      closedUntil = Math.max(closedUntil, untilMs);
      // What was saved up was not there.
      tokens = Math.min(tokens, 1);
      countedAt = Math.max(countedAt, now());
    },
    learn: ({ limit, remaining, resetAfterMs }) => {
      count();
      const resetAt = now() + resetAfterMs;
      const windowMs = Math.max(told?.windowMs ?? 0, resetAfterMs);
      // Answers may overtake each other: within a window only the lowest word counts.
      const isSameWindow = told !== undefined && Math.abs(told.resetAt - resetAt) < windowMs / 2;
      const left = isSameWindow ? Math.min(told?.remaining ?? remaining, remaining) : remaining;
      told = { limit, remaining: left, resetAt, windowMs };
    },
    isAtRest: () => {
      count();
      const isOver = Math.max(closedUntil, lastAt + plan.windowMs) <= now();
      const isTold = told !== undefined && told.resetAt !== Infinity;
      return isOver && !isTold && share === 1 && tokens >= plan.burst;
    },
  };
}
