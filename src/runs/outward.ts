/** Adapters as runs use them: whatever leaves passes the secrets filter and keeps the budgets. */

import type { Clock } from '../base/clock.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Conversation } from '../messages/conversation.ts';
import { pacedSurface, watchedSurface } from '../render/pacing/paced-surface.ts';
import { createPacer, type Pacer } from '../render/pacing/pacer.ts';
import type { Adapter } from '../surface/adapter.ts';
import { redactedSurface } from '../surface/redacted.ts';
import type { Surface } from '../surface/surface.ts';

export interface OutwardAdapter extends Adapter {
  readonly pacer: Pacer;
  /** For a reply, which takes its slots itself; all other calls wait for their turn. */
  liveSurfaceOf(conversation: Conversation, title?: string): Surface;
}

export function outwardAdapters(deps: {
  readonly adapters: ReadonlyMap<string, Adapter>;
  readonly redactor: Redactor;
  readonly clock: Clock;
}): ReadonlyMap<string, OutwardAdapter> {
  return new Map(
    [...deps.adapters].map(([name, adapter]) => {
      const pacer = createPacer(deps, adapter.capabilities.budgets);
      const watched = (conversation: Conversation, title?: string): Surface =>
        watchedSurface(adapter.surfaceOf(conversation, title), pacer, conversation);
      const outward: OutwardAdapter = {
        ...adapter,
        pacer,
        surfaceOf: (conversation, title) =>
          redactedSurface(
            pacedSurface(watched(conversation, title), pacer, conversation),
            deps.redactor,
          ),
        liveSurfaceOf: (conversation, title) =>
          redactedSurface(watched(conversation, title), deps.redactor),
      };
      return [name, outward];
    }),
  );
}
