/** What was decided and by whom: an append-only list that an operator can go through. */

import { z } from 'zod';

const common = {
  v: z.literal(1),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Key of the conversation. */
  conversation: z.string(),
};

export const auditEntrySchema = z.discriminatedUnion('kind', [
  /** Another model of the chain took over; `reason` is a closed error code. */
  z.object({
    ...common,
    kind: z.literal('model_handed_over'),
    runId: z.string(),
    from: z.string(),
    to: z.string(),
    reason: z.string(),
  }),
  /** Somebody chose a model or an effort here; null: back to the settings. */
  z.object({
    ...common,
    kind: z.literal('choice_made'),
    what: z.enum(['model', 'thinking']),
    value: z.string().nullable(),
    by: z.string(),
  }),
  /** What became of a tool call before it ran, by a rule or by a person. */
  z.object({
    ...common,
    kind: z.literal('call_decided'),
    runId: z.string(),
    callId: z.string(),
    /** Who set the run off. */
    asker: z.string(),
    /** Who decided; null: a rule, or time. */
    approver: z.string().nullable(),
    tool: z.string(),
    inputHash: z.string(),
    /** The arguments as JSON, without secrets, cut. */
    input: z.string(),
    decision: z.enum(['allowed', 'asked', 'denied', 'approved', 'refused', 'expired', 'withdrawn']),
    reason: z.string(),
  }),
  /** How a call ended that was decided on before. */
  z.object({
    ...common,
    kind: z.literal('call_ended'),
    runId: z.string(),
    callId: z.string(),
    outcome: z.string(),
  }),
  z.object({
    ...common,
    kind: z.literal('grant_given'),
    grantId: z.string(),
    by: z.string(),
    tool: z.string(),
    pattern: z.string(),
    expiresAt: z.number(),
  }),
  z.object({ ...common, kind: z.literal('grant_revoked'), grantId: z.string(), by: z.string() }),
  /** What somebody thought of a run's answer; a later rating of theirs takes its place. */
  z.object({
    ...common,
    kind: z.literal('feedback_given'),
    runId: z.string(),
    by: z.string(),
    rating: z.enum(['good', 'bad']),
  }),
  /** A run that failed was set off again. */
  z.object({ ...common, kind: z.literal('run_retried'), runId: z.string(), by: z.string() }),
  z.object({
    ...common,
    kind: z.literal('limit_reached'),
    runId: z.string(),
    limit: z.string(),
    person: z.string(),
  }),
]);
export type AuditEntry = Readonly<z.infer<typeof auditEntrySchema>>;
type Unstamped<T> = T extends unknown ? Omit<T, 'v' | 'at'> : never;

export interface Audit {
  /** Resolves when it is stored. */
  record(entry: Unstamped<AuditEntry>): Promise<void>;
}

export function createAudit(deps: {
  readonly now: () => number;
  readonly append: (entries: readonly AuditEntry[]) => Promise<unknown>;
}): Audit {
  return {
    record: async (entry) => {
      await deps.append([{ ...entry, v: 1, at: deps.now() }]);
    },
  };
}
