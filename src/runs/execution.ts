/** A run under way, as its parts share it. */

import type { ExecuteDeps } from './execute-deps.ts';
import type { Turn } from './lane.ts';
import type { RunRecord } from './run-record.ts';
import type { Stage } from './stage.ts';

export interface Execution {
  readonly deps: ExecuteDeps;
  readonly stage: Stage;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  /** Changes when a steerer addresses the bot, a model takes over or sources are found. */
  record: RunRecord;
  /** What the people will read under the text. */
  readonly end: { notices: string[]; canContinue: boolean };
  /** When its tool calls began and how long they took. */
  readonly times: CallTimes;
}

/** Step and call → milliseconds. */
export interface CallTimes {
  stepStarted(step: number): void;
  started(callId: string): void;
  finished(callId: string): void;
  /** The calls that have ended, in that order. */
  all(): RunRecord['callTimes'];
}

export function createCallTimes(
  now: () => number,
  before: { readonly step: number; readonly times: RunRecord['callTimes'] },
): CallTimes {
  const begun = new Map<string, number>();
  const ended = [...before.times];
  let { step } = before;
  return {
    stepStarted: (number) => {
      step = number;
      begun.clear();
    },
    started: (callId) => {
      if (!begun.has(callId)) begun.set(callId, now());
    },
    finished: (callId) => {
      const from = begun.get(callId);
      if (from !== undefined) ended.push({ step, callId, ms: now() - from });
    },
    all: () => ended,
  };
}
