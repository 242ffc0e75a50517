/**
 * When a run that goes nowhere ends: ten steps in a row in which every call failed (rule 10), the
 * same calls with the same results again and again, and how often the model is nudged.
 */

import { canonicalJson } from '../base/canonical.ts';
import { BotError } from '../base/errors.ts';
import type { ToolCallPart, ToolResult } from '../messages/parts.ts';

const mostFailedSteps = 10;
/** Identical rounds after which the model is told, and after which the run ends. */
const identicalRoundsTold = 3;
const mostIdenticalRounds = 6;
const mostNudges = 2;
const mostGoOns = 2;

export type Verdict =
  | { readonly kind: 'go_on' }
  | { readonly kind: 'tell'; readonly text: string }
  | { readonly kind: 'end'; readonly error: BotError };

export interface StopRules {
  /** Judges a step's calls and results. */
  afterTools(calls: readonly ToolCallPart[], results: readonly ToolResult[]): Verdict;
  /** May the model be told that its announced call did not arrive? */
  mayNudge(): boolean;
  /** May a message that broke off be continued? Only so often in a row. */
  mayGoOn(): boolean;
  /** A message came to its end. */
  ended(): void;
}

export function createStopRules(): StopRules {
  let failedSteps = 0;
  let lastRound = '';
  let identicalRounds = 0;
  let nudges = 0;
  let goOns = 0;
  return {
    afterTools: (calls, results) => {
      failedSteps = results.every(({ outcome }) => outcome !== 'ok') ? failedSteps + 1 : 0;
      if (failedSteps >= mostFailedSteps) {
        return {
          kind: 'end',
          error: loopError(`its tools failed in ${mostFailedSteps} steps in a row`),
        };
      }
      const round = fingerprint(calls, results);
      identicalRounds = round === lastRound ? identicalRounds + 1 : 1;
      lastRound = round;
      if (identicalRounds >= mostIdenticalRounds) {
        return { kind: 'end', error: loopError('it repeated the same call with the same result') };
      }
      if (identicalRounds === identicalRoundsTold) {
        return {
          kind: 'tell',
          text: 'You made the same call with the same result several times. Do something else, or answer with what you know.',
        };
      }
      return { kind: 'go_on' };
    },
    mayNudge: () => {
      nudges += 1;
      return nudges <= mostNudges;
    },
    mayGoOn: () => {
      goOns += 1;
      return goOns <= mostGoOns;
    },
    ended: () => {
      goOns = 0;
    },
  };
}

function loopError(why: string): BotError {
  return new BotError('tool_loop_detected', `I ended this because ${why}.`);
}

/** Calls and results without ids: the same round gives the same text, in whatever order keys come. */
function fingerprint(calls: readonly ToolCallPart[], results: readonly ToolResult[]): string {
  return canonicalJson([
    calls.map(({ name, input }) => [name, input]),
    results.map(({ outcome, parts }) => [outcome, parts]),
  ]);
}
