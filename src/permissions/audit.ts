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
