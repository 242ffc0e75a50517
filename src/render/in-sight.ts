/** What of an event people may see while it is not complete. */

import type { Redactor } from '../base/redaction.ts';
import type { RunEvent } from '../messages/run-event.ts';

/** What a call is about while its arguments stream: the beginning of a secret is not shown. */
export function inSight(event: RunEvent, redactor: Redactor): RunEvent {
  if (event.kind !== 'tool_input_delta') return event;
  const clean = redactor.redact(event.activity);
  const bare = clean.replace(/[`…]+$/u, '');
  const held = redactor.heldBack(bare);
  return { ...event, activity: held === 0 ? clean : `${bare.slice(0, -held)}…` };
}
