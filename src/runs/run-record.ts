/**
 * Where the run of a conversation stands: one small value that says after a crash, a restart or
 * days of waiting how to go on.
 */

import { z } from 'zod';
import type { Log } from '../base/log.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';

const toolSpecSchema = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});

export const endSchema = z.object({
  notice: z.string().exactOptional(),
});

export const runRecordSchema = z.object({
  v: z.literal(1),
  runId: z.string(),
  /** running: a crash left it so, or it runs now · suspended: people must answer · ending: all is
   * done but the last words may not be readable yet. */
  state: z.enum(['running', 'suspended', 'ending']),
  /** Messages that set it off; the first is the asker's. */
  triggerIds: z.array(z.string()).readonly(),
  asker: z.object({ id: z.string(), name: z.string() }),
  addressed: z.boolean(),
  startedAt: z.number(),
  /** `provider/model` */
  modelName: z.string(),
  /** Parts of the reply: each suspension ends one. */
  segment: z.number(),
  /** Steps up to this one are shown by earlier segments. */
  segmentFromStep: z.number(),
  /** The prompt and tools it began with; the same when it is resumed. */
  system: z.string(),
  toolSpecs: z.array(toolSpecSchema).readonly(),
  /** While suspended. */
  question: z.object({ id: z.string(), callId: z.string() }).exactOptional(),
  /** While ending. */
  end: endSchema.exactOptional(),
});
export type RunRecord = Readonly<z.infer<typeof runRecordSchema>>;

export interface RunRecords {
  read(key: ConversationKey): Promise<RunRecord | undefined>;
  save(key: ConversationKey, record: RunRecord): Promise<void>;
  remove(key: ConversationKey): Promise<void>;
}

export function createRunRecords(deps: { readonly store: Store; readonly log: Log }): RunRecords {
  const keyOf = (key: ConversationKey): string => `run:${key}`;
  return {
    read: (key) => readValidated(deps, keyOf(key), runRecordSchema),
    save: (key, record) => deps.store.set(keyOf(key), record),
    remove: (key) => deps.store.delete(keyOf(key)),
  };
}

/** Names a part of a run's reply: `run_ab12.1`. */
export const replyIdOf = ({ runId, segment }: RunRecord): string => `${runId}.${segment}`;
