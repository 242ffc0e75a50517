/** Who is in a user group, asked anew after a minute: rights may hang on it. */

import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import { BotError } from '../../src/base/errors.ts';
import type { Log } from '../../src/base/log.ts';
import type { PersonId } from '../../src/messages/people.ts';
import { createCache } from './cache.ts';
import type { CallSlack } from './web-api.ts';
import type { Self } from './wire.ts';

/** Of `slack:S0123` in this workspace; rejects with a BotError where nobody knows. */
export type GroupMembers = (group: string, space: string) => Promise<readonly PersonId[]>;

const membersSchema = z.object({ users: z.array(z.string()) });
const mostAgeMs = 60_000;

export function createGroupMembers(deps: {
  readonly call: CallSlack;
  readonly clock: Clock;
  readonly log: Log;
  readonly self: Self;
}): GroupMembers {
  const members = createCache<readonly PersonId[]>(
    {
      ...deps,
      load: async (usergroup) => {
        const { users } = await deps.call('usergroups.users.list', { usergroup }, membersSchema);
        return users.map((id) => `slack:${id}`);
      },
    },
    // An answer is never given after its minute: somebody may have been taken out of the group.
    { freshMs: mostAgeMs, mostAgeMs, failedMs: 5_000, mostWaitMs: 5_000, mostEntries: 500 },
  );
  return async (group, space) => {
    const id = /^slack:(S[A-Z0-9_]+)$/u.exec(group)?.[1];
    if (id === undefined || space !== deps.self.teamId) {
      throw new BotError('message_refused', `${group} is no user group of this Slack workspace.`, {
        facts: { group, space },
      });
    }
    return await members.known(id);
  };
}
