/**
 * Where the run of a conversation stands: one small value that says after a crash, a restart or
 * days of waiting how to go on.
 */

import { z } from 'zod';
import type { Log } from '../base/log.ts';
import { choiceSchema } from '../conversations/choices.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import { reasoningOptionsSchema } from '../messages/model.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';

const toolSpecSchema = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});

const endSchema = z.object({
  /** Lines under the text. */
  notices: z.array(z.string()).readonly(),
  /** A Continue button stands there. */
  canContinue: z.boolean(),
  /** The run failed, and may be set off again. */
  canRetry: z.boolean().default(false),
  /** Details are kept, and a button beside the receipt opens them. */
  hasDetails: z.boolean().default(false),
  /** Thumbs stand under the answer. */
  hasThumbs: z.boolean().default(false),
  /** A message of its own tells the asker; `isBegun`: its post may have been made. */
  news: z.object({ text: z.string(), isBegun: z.boolean() }).exactOptional(),
});
export type RunEnd = Readonly<z.infer<typeof endSchema>>;

/** An end of words alone. */
export function plainEnd(notices: readonly string[]): RunEnd {
  return { notices, canContinue: false, canRetry: false, hasDetails: false, hasThumbs: false };
}

const stopSchema = z.object({ v: z.literal(1), by: z.string(), at: z.number() });
export type StopRequest = Readonly<z.infer<typeof stopSchema>>;

const callDecisionSchema = z.object({
  /** Ids of calls may come again in a later step. */
  step: z.number(),
  callId: z.string(),
  inputHash: z.string(),
  kind: z.enum(['approved', 'denied', 'expired']),
  /** After this an approval is good for nothing. */
  expiresAt: z.number().default(Number.MAX_SAFE_INTEGER),
  /** Name of who decided. */
  by: z.string().exactOptional(),
  /** For the model. */
  note: z.string().exactOptional(),
});
export type CallDecision = Readonly<z.infer<typeof callDecisionSchema>>;

export const runRecordSchema = z.object({
  v: z.literal(1),
  runId: z.string(),
  /** running: a crash left it so, or it runs now · suspended: people must answer · ending: all is
   * done but the last words may not be readable yet. */
  state: z.enum(['running', 'suspended', 'ending']),
  /** Messages that set it off; the first is the asker's. */
  triggerIds: z.array(z.string()).readonly(),
  asker: z.object({
    id: z.string(),
    name: z.string(),
    /** Discord role ids when they asked. */
    roles: z.array(z.string()).readonly().default([]),
    isBot: z.boolean().default(false),
  }),
  addressed: z.boolean(),
  startedAt: z.number(),
  /** `provider/model` */
  modelName: z.string(),
  /** Parts of the reply: each suspension ends one. */
  segment: z.number(),
  /** Steps up to this one are shown by earlier segments. */
  segmentFromStep: z.number(),
  /** When this part began, where it is not the first. */
  segmentStartedAt: z.number().exactOptional(),
  /** Set off again after a failure, and not begun yet. */
  isRetry: z.boolean().default(false),
  /** The prompt and tools it began with; the same when it is resumed. */
  system: z.string(),
  toolSpecs: z.array(toolSpecSchema).readonly(),
  reasoning: reasoningOptionsSchema.default({}),
  webSearch: z.boolean().default(false),
  /** Models that took over, in order. */
  handovers: z
    .array(z.object({ to: z.string(), reason: z.string() }))
    .readonly()
    .default([]),
  /** What a vendor's own search found. */
  sources: z
    .array(z.object({ url: z.string(), title: z.string() }))
    .readonly()
    .default([]),
  /** Images that it made, by step and place: begun may be in the thread, done is. */
  images: z.record(z.string(), z.enum(['begun', 'done'])).default({}),
  /** Lines that its reply ends with, known from its beginning; none once they were shown. */
  notices: z.array(z.string()).readonly().default([]),
  /** What people had chosen and does not hold any more: taken back when they are told. */
  endedChoice: choiceSchema.default({}),
  /** A limit forbade it: it says so and makes no step. */
  isRefused: z.boolean().default(false),
  /** What people decided on calls that wait in its last step. */
  decisions: z.array(callDecisionSchema).readonly().default([]),
  /** All that people decided in it, for its details. */
  rulings: z
    .array(
      z.object({
        tool: z.string(),
        kind: z.enum(['approved', 'denied', 'expired']),
        by: z.string().exactOptional(),
      }),
    )
    .readonly()
    .default([]),
  /** How long its tool calls took, for its details. */
  callTimes: z
    .array(z.object({ step: z.number(), callId: z.string(), ms: z.number() }))
    .readonly()
    .default([]),
  /** Hashes of calls that were refused: they are not asked about again. */
  refused: z.array(z.string()).readonly().default([]),
  /** Until its plan is approved, only what reads may run. */
  isPlanning: z.boolean().default(false),
  /** While suspended: what for. */
  question: z
    .object({
      /** Of the question or the approval; for a wait its own. */
      id: z.string(),
      kind: z.enum(['questions', 'approvals', 'plan', 'wait']).default('questions'),
      callId: z.string(),
      /** The text above it and the card are there. */
      isShown: z.boolean(),
      /** Of a wait: when it began, and when it is over. */
      from: z.number().exactOptional(),
      until: z.number().exactOptional(),
    })
    .exactOptional(),
  /** While ending, and while the text above a question is not there yet. */
  end: endSchema.exactOptional(),
});
export type RunRecord = Readonly<z.infer<typeof runRecordSchema>>;

const dayMs = 24 * 3600 * 1000;

export interface RunRecords {
  read(key: ConversationKey): Promise<RunRecord | undefined>;
  save(key: ConversationKey, record: RunRecord): Promise<void>;
  /** Removes the record, and what was asked of its run. */
  remove(key: ConversationKey): Promise<void>;
  /** Somebody said stop: kept until the run has ended, so that no crash makes it go on. */
  requestStop(key: ConversationKey, by: string, at: number): Promise<void>;
  stopRequest(key: ConversationKey): Promise<StopRequest | undefined>;
  clearStop(key: ConversationKey): Promise<void>;
}

export function createRunRecords(deps: { readonly store: Store; readonly log: Log }): RunRecords {
  const keyOf = (key: ConversationKey): string => `run:${key}`;
  const stopKeyOf = (key: ConversationKey): string => `stop:${key}`;
  return {
    read: (key) => readValidated(deps, keyOf(key), runRecordSchema),
    save: (key, record) => deps.store.set(keyOf(key), record),
    remove: async (key) => {
      await deps.store.delete(keyOf(key));
      await deps.store.delete(stopKeyOf(key));
    },
    requestStop: (key, by, at) =>
      deps.store.set(stopKeyOf(key), { v: 1, by, at }, { ttlMs: dayMs }),
    stopRequest: (key) => readValidated(deps, stopKeyOf(key), stopSchema),
    clearStop: (key) => deps.store.delete(stopKeyOf(key)),
  };
}

/** Names a part of a run's reply: `run_ab12.1`. */
export const replyIdOf = ({ runId, segment }: RunRecord): string => `${runId}.${segment}`;
