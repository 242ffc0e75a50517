/** The decision trace of the last message of a conversation: why it was answered, and how. */

import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';

const traceSchema = z.object({
  v: z.literal(1),
  at: z.number(),
  messageId: z.string(),
  /** Rule that made it start something, or be ignored. */
  trigger: z.string(),
  access: z.string(),
  /** The model that answered, and why that one. */
  model: z.string().exactOptional(),
});
export type Trace = Readonly<z.infer<typeof traceSchema>>;

export interface Traces {
  note(key: ConversationKey, trace: Pick<Trace, 'messageId' | 'trigger' | 'access'>): Promise<void>;
  /** Adds the model to the trace of this message. */
  noteModel(key: ConversationKey, messageId: string, model: string): Promise<void>;
  last(key: ConversationKey): Promise<Trace | undefined>;
}

const keptMs = 30 * 24 * 3600 * 1000;

export function createTraces(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): Traces {
  const keyOf = (key: ConversationKey): string => `why:${key}`;
  const last = (key: ConversationKey): Promise<Trace | undefined> =>
    readValidated(deps, keyOf(key), traceSchema);
  return {
    note: (key, trace) =>
      deps.store.set(keyOf(key), { ...trace, v: 1, at: deps.clock.now() }, { ttlMs: keptMs }),
    noteModel: async (key, messageId, model) => {
      const known = await last(key);
      if (known?.messageId !== messageId) return;
      await deps.store.set(keyOf(key), { ...known, model }, { ttlMs: keptMs });
    },
    last,
  };
}
