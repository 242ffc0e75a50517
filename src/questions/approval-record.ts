/** Approvals as they are stored, and the ids of their controls. */

import { z } from 'zod';
import { conversationSchema } from '../messages/conversation.ts';
import { approvalAskSchema } from '../messages/questions.ts';

export const approvalRecordSchema = z.object({
  v: z.literal(1),
  id: z.string(),
  /** calls: tool calls of one step · plan: the model's plan. */
  kind: z.enum(['calls', 'plan']),
  conversation: conversationSchema,
  runId: z.string(),
  /** In the model's order; never changed. */
  asks: z.array(approvalAskSchema).readonly(),
  /** Who triggered the run. */
  asker: z.object({ id: z.string(), name: z.string() }),
  /** Ids of those whose wish it is: the asker, and each who wrote into the run. */
  askers: z.array(z.string()).readonly().default([]),
  /** asker, participants, or ids of people, groups and roles; resolved at the click. */
  approvers: z.array(z.string()).readonly(),
  quorum: z.number(),
  notAsker: z.boolean(),
  /** Life of a grant, in milliseconds. */
  grantMs: z.number(),
  createdAt: z.number(),
  expiresAt: z.number(),
  /** Message of the card; null while its post is under way. */
  cardId: z.string().nullable(),
  /** Only open takes votes. */
  state: z.enum(['open', 'decided', 'expired', 'withdrawn']),
});
export type ApprovalRecord = Readonly<z.infer<typeof approvalRecordSchema>>;

export const approvalActions = ['once', 'thread', 'deny', 'note'] as const;
export type ApprovalAction = (typeof approvalActions)[number];

/** `a_ab12.1.once`: ask 1 of the record (from 0). A note opens a form. */
export function approvalControlId(id: string, ask: number, action: ApprovalAction): string {
  return action === 'note' ? `form.${id}.${ask}.note` : `${id}.${ask}.${action}`;
}

/** Approves the named asks, those that the card shows: `a_ab12.all.0-2-3`. */
export function approveAllControlId(id: string, asks: readonly number[]): string {
  return `${id}.all.${asks.join('-')}`;
}

export interface ParsedApprovalControl {
  readonly id: string;
  readonly asks: readonly number[];
  readonly action: ApprovalAction;
}

/** Undefined when the control is not one of an approval card. */
export function parseApprovalControlId(controlId: string): ParsedApprovalControl | undefined {
  const all = /^(a_[0-9a-z]+)\.all\.(\d{1,3}(?:-\d{1,3})*)$/u.exec(controlId);
  if (all?.[1] !== undefined && all[2] !== undefined) {
    return { id: all[1], asks: all[2].split('-').map(Number), action: 'once' };
  }
  const one = /^(form\.)?(a_[0-9a-z]+)\.(\d{1,3})\.([a-z]+)$/u.exec(controlId);
  const [, form, id, ask, name] = one ?? [];
  const action = approvalActions.find((known) => known === name);
  if (id === undefined || ask === undefined || action === undefined) return undefined;
  // A note comes from a form, and nothing else does.
  return (form !== undefined) === (action === 'note')
    ? { id, asks: [Number(ask)], action }
    : undefined;
}
