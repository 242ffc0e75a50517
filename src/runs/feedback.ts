/** What people think of an answer: one vote a person and run, changeable, stored and audited. */

import { z } from 'zod';
import { createKeyedQueue } from '../base/queues.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import type { Audit } from '../permissions/audit.ts';
import { readValidated } from '../storage/validated.ts';
import type { RunsDeps } from './deps.ts';
import { detailsOf, keptMs } from './details.ts';

const votesSchema = z.object({
  v: z.literal(1),
  votes: z
    .array(
      z.object({
        by: z.string(),
        vote: z.enum(['good', 'bad']),
        at: z.number(),
      }),
    )
    .readonly(),
});

export interface Feedback {
  /** Stores a vote; what the person is told. */
  take(
    key: ConversationKey,
    runId: string,
    author: Author,
    value: string | undefined,
  ): Promise<string>;
}

export const votesKeyOf = (runId: string): string => `votes:${runId}`;

export function createFeedback(
  deps: Pick<RunsDeps, 'store' | 'clock' | 'log'> & { readonly audit: Audit },
): Feedback {
  const { store, clock, audit } = deps;
  /** Votes on one run follow each other: none overwrites another. */
  const voting = createKeyedQueue();

  const note = async (key: string, runId: string, by: string, vote: 'good' | 'bad') => {
    const known = await readValidated(deps, votesKeyOf(runId), votesSchema);
    const before = known?.votes ?? [];
    if (before.some((one) => one.by === by && one.vote === vote)) return;
    const votes = [...before.filter((one) => one.by !== by), { by, vote, at: clock.now() }];
    await store.set(votesKeyOf(runId), { v: 1, votes }, { ttlMs: keptMs });
    await audit.record({ kind: 'feedback_given', conversation: key, runId, by, vote });
  };

  return {
    take: async (key, runId, { id }, value) => {
      if (value !== 'good' && value !== 'bad') return 'This button is not in use any more.';
      if (!(await detailsOf(deps, key, runId))) return 'This answer is too old to be rated.';
      await voting.run(runId, () => note(key, runId, id, value));
      const noted = value === 'good' ? '👍 Noted, thank you.' : '👎 Noted, thank you.';
      return `${noted} The other thumb changes it.`;
    },
  };
}
