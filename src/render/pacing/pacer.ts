/**
 * The calls that one platform account may make, shared by all who send (rule 18). Each free slot
 * goes to what people wait for (ends, questions, failures), then to the first text of a reply, then
 * to the reply whose unseen text has waited longest, weighted by how much there is. After a refusal
 * (429) nothing of its kind is sent before retry-after has passed (rule 5).
 */

import { abortReasonOf } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Conversation } from '../../messages/conversation.ts';
import {
  type BudgetState,
  type CallBudget,
  type CallKind,
  scopeNameOf,
} from '../../surface/calls.ts';
import { type Budget, createBudget, type Urgency } from './budget.ts';

/** What people cannot see yet of a reply. */
export interface Unseen {
  /** When its oldest part came, in ms since the epoch. */
  readonly since: number;
  readonly length: number;
}

export interface Wish {
  readonly kind: CallKind;
  readonly conversation: Conversation;
  readonly urgency: Urgency;
  /** When the last call for the same message was made. */
  readonly lastCallAt?: number;
  /** Asked each time a slot is given away. */
  readonly unseen?: () => Unseen;
}

/** Leave to make one call now; it counts as made. */
export interface Slot {
  readonly kind: CallKind;
  giveBack(): void;
}

export interface Pacer {
  /** Resolves when the call may be made; rejects when the signal is aborted before. */
  slot(wish: Wish, signal?: AbortSignal): Promise<Slot>;
  /** A slot where the call may be made now; undefined where it would have to wait. */
  slotNow(wish: Wish): Slot | undefined;
  /** The platform asked for silence for so long; `isGlobal`: for all its calls. */
  refuse(
    call: Pick<Wish, 'kind' | 'conversation'>,
    refusal: { readonly retryAfterMs: number; readonly isGlobal: boolean },
  ): void;
  /** What the platform said of the budget of such a call. */
  learn(call: Pick<Wish, 'kind' | 'conversation'>, state: BudgetState): void;
}

interface Waiter {
  readonly wish: Wish;
  readonly budgets: readonly Budget[];
  readonly go: (slot: Slot) => void;
}

const ranks: Readonly<Record<Urgency, number>> = { end: 0, first: 1, progress: 2 };
/** So much unseen text counts as if it had waited twice as long. */
const doubleLength = 1000;
/** Budgets at rest are forgotten when there are so many: each thread has its own. */
const leastSwept = 256;
/** Kinds without a plan are closed by a refusal all the same. */
const unplanned = { most: 1000, windowMs: 1000, burst: 1000, kept: 0 } as const;

export function createPacer(deps: { readonly clock: Clock }, plans: readonly CallBudget[]): Pacer {
  const { clock } = deps;
  const budgets = new Map<string, Budget>();
  let sweepAt = leastSwept;
  let waiting: Waiter[] = [];
  let cancelTimer = (): void => {};

  const sweep = (): void => {
    const inUse = new Set(waiting.flatMap((waiter) => waiter.budgets));
    for (const [name, budget] of budgets) {
      if (!inUse.has(budget) && budget.isAtRest()) budgets.delete(name);
    }
    sweepAt = Math.max(leastSwept, budgets.size * 2);
  };

  const budgetOf = (plan: CallBudget, conversation: Conversation): Budget => {
    const name = `${plans.indexOf(plan)}/${plan.calls[0]}/${scopeNameOf(plan.per, conversation)}`;
    const known = budgets.get(name);
    if (known) return known;
    if (budgets.size >= sweepAt) sweep();
    const made = createBudget(plan, () => clock.now());
    budgets.set(name, made);
    return made;
  };

  const plansOf = (kind: CallKind): readonly CallBudget[] => {
    const found = plans.filter(({ calls }) => calls.includes(kind));
    return found.length > 0 ? found : [{ ...unplanned, calls: [kind], per: 'space' }];
  };

  /** Those of the plan, in its order: the first is what refusals and headers are about. */
  const budgetsOf = (kind: CallKind, conversation: Conversation): readonly Budget[] =>
    plansOf(kind).map((plan) => budgetOf(plan, conversation));

  const freeAt = ({ wish, budgets: all }: Pick<Waiter, 'wish' | 'budgets'>): number =>
    Math.max(...all.map((budget) => budget.freeAt(wish.urgency, wish.lastCallAt ?? 0)));

  const taken = ({ wish: { kind }, budgets: all }: Pick<Waiter, 'wish' | 'budgets'>): Slot => {
    for (const budget of all) budget.take();
    return {
      kind,
      giveBack: () => {
        for (const budget of all) budget.giveBack();
        serve();
      },
    };
  };

  const serve = (): void => {
    cancelTimer();
    for (;;) {
      const now = clock.now();
      const free = waiting.filter((waiter) => freeAt(waiter) <= now);
      const next = best(free, now);
      if (!next) break;
      waiting = waiting.filter((waiter) => waiter !== next);
      next.go(taken(next));
    }
    const soonest = Math.min(...waiting.map(freeAt));
    if (soonest === Number.POSITIVE_INFINITY) return;
    cancelTimer = clock.setTimer(Math.max(1, soonest - clock.now()), serve);
  };

  return {
    slot: (wish, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(abortReasonOf(signal));
          return;
        }
        const leave = (): void => {
          waiting = waiting.filter((other) => other !== waiter);
          // A timer that nobody waits for would keep the process alive.
          if (waiting.length === 0) cancelTimer();
          if (signal) reject(abortReasonOf(signal));
        };
        const waiter: Waiter = {
          wish,
          budgets: budgetsOf(wish.kind, wish.conversation),
          go: (slot) => {
            signal?.removeEventListener('abort', leave);
            resolve(slot);
          },
        };
        signal?.addEventListener('abort', leave, { once: true });
        waiting.push(waiter);
        serve();
      }),
    slotNow: (wish) => {
      const asked = { wish, budgets: budgetsOf(wish.kind, wish.conversation) };
      return freeAt(asked) <= clock.now() ? taken(asked) : undefined;
    },
    refuse: ({ kind, conversation }, { retryAfterMs, isGlobal }) => {
      const until = clock.now() + retryAfterMs;
      const [narrowest, ...wider] = budgetsOf(kind, conversation);
      narrowest?.refuse(until);
      if (isGlobal) for (const budget of wider) budget.refuse(until);
      serve();
    },
    learn: ({ kind, conversation }, state) => {
      budgetsOf(kind, conversation)[0]?.learn(state);
      serve();
    },
  };
}

/** Who gets the slot. */
function best(free: readonly Waiter[], now: number): Waiter | undefined {
  let found:
    | { readonly waiter: Waiter; readonly rank: number; readonly weight: number }
    | undefined;
  for (const waiter of free) {
    const rank = ranks[waiter.wish.urgency];
    const weight = weightOf(waiter.wish, now);
    const isBetter = !found || rank < found.rank || (rank === found.rank && weight > found.weight);
    if (isBetter) found = { waiter, rank, weight };
  }
  return found?.waiter;
}

function weightOf({ unseen }: Wish, now: number): number {
  if (!unseen) return 0;
  const { since, length } = unseen();
  return (now - since) * (1 + Math.min(1, length / doubleLength));
}
