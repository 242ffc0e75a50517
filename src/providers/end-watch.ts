/**
 * When a message is over although its connection stays open. Some servers and proxies do not hang
 * up behind the last event: the silence watch would then take a whole message for a lost one. A
 * server that does close gets a moment for it, because its connection can be used again.
 */

import type { Clock } from '../base/clock.ts';

/**
 * How sure it is that the message is over. `whole`: its terminal event was read. `marked`: `[DONE]`
 * has come, events before it may still be unread. `finished`: its reason to stop was read; usage may
 * follow.
 */
export type EndSign = 'whole' | 'marked' | 'finished';

/** From the sign until we hang up, in milliseconds. */
const mostWaitMs: Readonly<Record<EndSign, number>> = {
  whole: 1_000,
  marked: 1_000,
  finished: 5_000,
};

const rank: Readonly<Record<EndSign, number>> = { finished: 1, marked: 2, whole: 3 };

export interface EndWatch {
  /** The surest sign so far. */
  readonly sign: EndSign | undefined;
  /** From now on the end may only take as long as the sign says. */
  expect(sign: EndSign): void;
  /** More was said behind a reason to stop: from this server that is no sign of the end. */
  doubt(): void;
  stop(): void;
}

export function createEndWatch(clock: Clock, hangUp: () => void): EndWatch {
  let sign: EndSign | undefined;
  let isDoubted = false;
  let cancel = (): void => undefined;
  return {
    get sign() {
      return sign;
    },
    expect: (next) => {
      if (next === 'finished' && isDoubted) return;
      if (sign !== undefined && rank[next] <= rank[sign]) return;
      sign = next;
      cancel();
      cancel = clock.setTimer(mostWaitMs[next], hangUp);
    },
    doubt: () => {
      isDoubted = true;
      if (sign !== 'finished') return;
      sign = undefined;
      cancel();
    },
    stop: () => cancel(),
  };
}
