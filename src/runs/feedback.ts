/** What people think of an answer: one rating a person and run, changeable, stored and audited. */

import { z } from 'zod';
import { createKeyedQueue } from '../base/queues.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import type { Audit } from '../permissions/audit.ts';
import { readValidated } from '../storage/validated.ts';
import type { RunsDeps } from './deps.ts';
import { detailsOf, keptMs } from './details.ts';

const ratingsSchema = z.object({
  v: z.literal(1),
  ratings: z
    .array(
      z.object({
        by: z.string(),
        rating: z.enum(['good', 'bad']),
        at: z.number(),
      }),
    )
    .readonly(),
});

export interface Feedback {
  /** Stores a rating; what the person is told. */
  take(
    key: ConversationKey,
    runId: string,
    author: Author,
    value: string | undefined,
  ): Promise<string>;
}

export const ratingsKeyOf = (runId: string): string => `ratings:${runId}`;

export function createFeedback(
  deps: Pick<RunsDeps, 'store' | 'clock' | 'log'> & { readonly audit: Audit },
): Feedback {
  const { store, clock, audit } = deps;
  /** Ratings of one run follow each other: none overwrites another. */
  const queue = createKeyedQueue();

  const note = async (key: string, runId: string, by: string, rating: 'good' | 'bad') => {
    const known = await readValidated(deps, ratingsKeyOf(runId), ratingsSchema);
    const before = known?.ratings ?? [];
    if (before.some((one) => one.by === by && one.rating === rating)) return;
    const ratings = [...before.filter((one) => one.by !== by), { by, rating, at: clock.now() }];
    await store.set(ratingsKeyOf(runId), { v: 1, ratings }, { ttlMs: keptMs });
    await audit.record({ kind: 'feedback_given', conversation: key, runId, by, rating });
  };

  return {
    take: async (key, runId, { id }, value) => {
      if (value !== 'good' && value !== 'bad') return 'This button is not in use any more.';
      if (!(await detailsOf(deps, key, runId))) return 'This answer is too old to be rated.';
      await queue.run(runId, () => note(key, runId, id, value));
      const noted = value === 'good' ? '👍 Noted, thank you.' : '👎 Noted, thank you.';
      return `${noted} The other thumb changes it.`;
    },
  };
}
