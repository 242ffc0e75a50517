/** How long a message was spent thinking, for `message_end`. */

import type { Clock } from '../base/clock.ts';

export interface ReasoningTimer {
  /** Thinking goes on. */
  think(): void;
  /** Something else came. */
  pause(): void;
  /** Milliseconds of thinking so far; ends it. */
  total(): number;
}

export function createReasoningTimer(clock: Clock): ReasoningTimer {
  let sinceMs: number | undefined;
  let totalMs = 0;
  const pause = (): void => {
    if (sinceMs !== undefined) totalMs += clock.now() - sinceMs;
    sinceMs = undefined;
  };
  return {
    think: () => {
      sinceMs ??= clock.now();
    },
    pause,
    total: () => {
      pause();
      return totalMs;
    },
  };
}
