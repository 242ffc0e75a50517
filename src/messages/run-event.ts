/** What a run says while it works (RunEvent) and how it ends (RunOutcome). */

import type { BotError, ErrorCode } from '../base/errors.ts';
import type { Citation } from './chat.ts';
import type { ChecklistItem } from './checklist.ts';
import type { ToolResult } from './parts.ts';
import type { Suspension } from './questions.ts';
import type { Usage } from './usage.ts';

export type RunEvent =
  | { readonly kind: 'run_started'; readonly runId: string; readonly model: string }
  | { readonly kind: 'step_started'; readonly step: number }
  | { readonly kind: 'text_delta'; readonly text: string }
  | { readonly kind: 'reasoning_delta'; readonly text: string }
  | { readonly kind: 'tool_input_delta'; readonly callId: string; readonly activity: string }
  | { readonly kind: 'tool_started'; readonly callId: string; readonly activity: string }
  | { readonly kind: 'tool_progress'; readonly callId: string; readonly line: string }
  | {
      readonly kind: 'tool_finished';
      readonly callId: string;
      readonly outcome: ToolResult['outcome'];
    }
  /** The checklist of the reply, in place of the one before. */
  | { readonly kind: 'checklist'; readonly items: readonly ChecklistItem[] }
  /** A waiting message entered the run; `messageId` lets the reply show a sign on it. */
  | { readonly kind: 'steered'; readonly messageId: string }
  | {
      readonly kind: 'retry_waiting';
      readonly reason: string;
      readonly delayMs: number;
    }
  /** Another model of the chain took over before anything was shown. */
  | {
      readonly kind: 'model_switched';
      readonly from: string;
      readonly to: string;
      /** A clause for people. */
      readonly reason: string;
      readonly code: ErrorCode;
    }
  /** Where the text before it comes from, when a vendor's own search found it. */
  | { readonly kind: 'sources'; readonly sources: readonly Citation[] }
  | { readonly kind: 'compacted'; readonly messages: number }
  /** One line the people in the thread should read. */
  | { readonly kind: 'notice'; readonly text: string; readonly action?: 'continue' | 'retry' }
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** The step's text is final and stored; shown text of this step equals it. `goesOn`: it broke off
   * and the next step's text continues it. */
  | {
      readonly kind: 'step_finished';
      readonly step: number;
      readonly text: string;
      readonly goesOn: boolean;
    };

export type RunOutcome =
  /** `silent`: the model chose to say nothing where it was not addressed. */
  | { readonly kind: 'finished'; readonly silent: boolean }
  /** People must act first; `callId`: the first call that waits. */
  | { readonly kind: 'suspended'; readonly callId: string; readonly suspension: Suspension }
  | { readonly kind: 'stopped'; readonly by: string; readonly why: StopWhy }
  | { readonly kind: 'failed'; readonly error: BotError };

/** person (somebody said stop) · trigger_deleted · shutdown (the process ends; the run is taken up
 * again at the next start). */
export type StopWhy = 'person' | 'trigger_deleted' | 'shutdown';
