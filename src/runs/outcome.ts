/** How the end of a run reads for people: short, plain, with what to do. */

import type { BotError } from '../base/errors.ts';
import type { RunOutcome } from '../messages/run-event.ts';

export interface EndFacts {
  /** The model wrote nothing at all. */
  readonly isEmpty: boolean;
  readonly addressed: boolean;
  /** For the log: finds the run of a failure. */
  readonly runId: string;
}

/** The last line under the reply; undefined where the text speaks for itself or silence is right. */
export function endNotice(outcome: RunOutcome, facts: EndFacts): string | undefined {
  switch (outcome.kind) {
    case 'finished':
      return facts.isEmpty && facts.addressed && !outcome.silent
        ? 'I have no answer to that. Could you put it differently?'
        : undefined;
    case 'stopped':
      return stoppedNotice(outcome, facts);
    case 'failed':
      return ['⚠', outcome.error.message, adviceOf(outcome.error), `(reference ${facts.runId})`]
        .filter((piece) => piece !== '')
        .join(' ');
    case 'suspended':
      return undefined;
  }
}

function stoppedNotice(
  outcome: Extract<RunOutcome, { kind: 'stopped' }>,
  facts: EndFacts,
): string | undefined {
  if (outcome.why === 'trigger_deleted') {
    return facts.isEmpty ? undefined : 'Stopped: the message that asked for this was deleted.';
  }
  return `Stopped by ${outcome.by}.`;
}

/** Whether the same turn can have a better end: then a Retry button stands beside the failure. */
export function mayRetry({ code }: BotError): boolean {
  return code !== 'context_overflow' && code !== 'tool_loop_detected' && code !== 'refused';
}

/** Empty where the button says it. */
function adviceOf(error: BotError): string {
  switch (error.code) {
    case 'overloaded':
    case 'model_rate_limited':
    case 'connection_lost':
    case 'bad_request': // its own sentence says what to look at if it stays
      return '';
    case 'context_overflow':
      return 'Say `!new` to start afresh here, or ask in a new thread.';
    case 'auth_failed':
    case 'quota_exhausted':
    case 'model_unknown':
      return 'An admin needs to look at this.';
    case 'tool_loop_detected':
      return 'Tell me how to go on, or ask differently.';
    case 'refused':
      return 'Try asking differently.';
    default:
      return 'If it stays, tell an admin the reference.';
  }
}
