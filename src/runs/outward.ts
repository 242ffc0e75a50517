/** Adapters as runs use them: whatever leaves passes the secrets filter and obeys retry-after. */

import type { Clock } from '../base/clock.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Conversation } from '../messages/conversation.ts';
import type { Adapter } from '../surface/adapter.ts';
import { createGate, gatedSurface } from '../surface/gate.ts';
import { redactedSurface } from '../surface/redacted.ts';

export function outwardAdapters(deps: {
  readonly adapters: ReadonlyMap<string, Adapter>;
  readonly redactor: Redactor;
  readonly clock: Clock;
}): ReadonlyMap<string, Adapter> {
  return new Map(
    [...deps.adapters].map(([name, adapter]) => {
      const gate = createGate(deps);
      const outward: Adapter = {
        ...adapter,
        surfaceOf: (conversation, title) =>
          redactedSurface(
            gatedSurface(
              adapter.surfaceOf(conversation, title),
              gate,
              scopeOf(adapter, conversation),
            ),
            deps.redactor,
          ),
      };
      return [name, outward];
    }),
  );
}

/** What a platform's limits are counted by: the whole space, or the channel (a Discord thread is a
 * channel of its own). */
export function scopeOf({ capabilities }: Adapter, conversation: Conversation): string {
  return capabilities.editBudget.scope === 'space'
    ? conversation.space
    : `${conversation.channel}:${conversation.thread}`;
}
