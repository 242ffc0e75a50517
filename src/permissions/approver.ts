/**
 * People's word on calls that ask: votes, and what they come to. One refusal is enough to refuse;
 * to approve takes as many different people as the quorum says. Questions implement how people are
 * asked; who may vote is decided at the click.
 */

import { z } from 'zod';

export const voteSchema = z.object({
  v: z.literal(1),
  decision: z.enum(['approve', 'deny']),
  /** thread: and the like of it in this thread, for hours. */
  scope: z.enum(['once', 'thread']),
  by: z.object({ id: z.string(), name: z.string() }),
  /** For the model. */
  note: z.string().exactOptional(),
  at: z.number(),
  /** What was voted on: the vote is good for nothing else. */
  inputHash: z.string(),
});
export type Vote = Readonly<z.infer<typeof voteSchema>>;

export type CallVerdict =
  | { readonly kind: 'open'; readonly approvedBy: readonly string[] }
  | {
      readonly kind: 'approved';
      /** Names. */
      readonly by: readonly string[];
      readonly first: Vote['by'];
      /** For the like of it in this thread too. */
      readonly isGrant: boolean;
    }
  | { readonly kind: 'denied'; readonly by: string; readonly note: string | undefined };

/** Votes in the order they were given; what comes after the verdict does not count. */
export function verdictOf(votes: readonly Vote[], quorum: number): CallVerdict {
  const approvals = new Map<string, Vote>();
  for (const vote of votes) {
    if (vote.decision === 'deny') return { kind: 'denied', by: vote.by.name, note: vote.note };
    approvals.set(vote.by.id, vote);
    if (approvals.size < quorum) continue;
    const given = [...approvals.values()];
    return {
      kind: 'approved',
      by: given.map(({ by }) => by.name),
      first: given[0]?.by ?? vote.by,
      isGrant: given.every(({ scope }) => scope === 'thread'),
    };
  }
  return { kind: 'open', approvedBy: [...approvals.values()].map(({ by }) => by.name) };
}
