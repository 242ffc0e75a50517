/** The slots of one reply: at most one is held, and it is used or given back. */

import { throwIfAborted } from '../base/abort.ts';
import type { Conversation } from '../messages/conversation.ts';
import type { CallKind } from '../surface/calls.ts';
import type { Urgency } from './pacing/budget.ts';
import type { Pacer, Slot, Unseen, Wish } from './pacing/pacer.ts';

export interface Slots {
  /** The kind of call that may be made now. */
  readonly held: CallKind | undefined;
  /** Waits for a slot; rejects with `stopped` when the wait is cut short. */
  take(kind: CallKind, urgency: Urgency): Promise<void>;
  /** Takes a slot where there is one now. */
  takeNow(kind: CallKind, urgency: Urgency): boolean;
  /** The call is made. */
  use(): void;
  giveBack(): void;
  /** Ends a wait: what is to be said has changed. */
  cutShort(): void;
}

export function createSlots(deps: {
  readonly pacer: Pacer;
  readonly conversation: Conversation;
  readonly now: () => number;
  /** `lastCallAt`: when a message of the reply was last changed. */
  readonly unseen: (lastCallAt: number) => Unseen;
  /** Aborted when the reply ends sending. */
  readonly quit: AbortSignal;
}): Slots {
  const { pacer, conversation, now, quit } = deps;
  let slot: Slot | undefined;
  let lastCallAt = 0;
  let wait = new AbortController();

  const wishFor = (kind: CallKind, urgency: Urgency): Wish => ({
    // A further message is spread over its own budget alone.
    ...{ kind, conversation, urgency, lastCallAt: kind === 'post' ? 0 : lastCallAt },
    unseen: () => deps.unseen(lastCallAt),
  });
  const giveBack = (): void => {
    slot?.giveBack();
    slot = undefined;
  };

  return {
    get held() {
      return slot?.kind;
    },
    take: async (kind, urgency) => {
      giveBack();
      throwIfAborted(quit);
      wait = new AbortController();
      slot = await pacer.slot(wishFor(kind, urgency), wait.signal);
    },
    takeNow: (kind, urgency) => {
      giveBack();
      slot = pacer.slotNow(wishFor(kind, urgency));
      return slot !== undefined;
    },
    use: () => {
      slot = undefined;
      lastCallAt = now();
    },
    giveBack,
    cutShort: () => wait.abort(),
  };
}
