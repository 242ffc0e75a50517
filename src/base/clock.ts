/** Time is passed in, so that tests own it. All times are milliseconds since the epoch, UTC. */

import { abortReasonOf } from './abort.ts';

export interface Clock {
  now(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels it. */
  setTimer(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Waits `delayMs`, or rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReasonOf(signal));
      return;
    }
    const onAbort = (): void => {
      cancel();
      if (signal) reject(abortReasonOf(signal));
    };
    const cancel = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
