/** Grants in the store: a value each, and an index of all by when they end. */

import type { Log } from '../base/log.ts';
import { type GrantBook, grantSchema } from '../permissions/grants.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';

const index = 'grants';
const mostGrants = 1000;

export function createGrantBook(deps: {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
}): GrantBook {
  const { store } = deps;
  const keyOf = (id: string): string => `grant:${id}`;
  return {
    read: async () => {
      const members = await store.rangeOfIndex(index, { most: mostGrants });
      const grants = await Promise.all(
        members.map(({ member }) => readValidated(deps, keyOf(member), grantSchema)),
      );
      return grants.flatMap((grant) => grant ?? []);
    },
    add: async (grant) => {
      const ttlMs = Math.max(1, grant.expiresAt - deps.now());
      await store.set(keyOf(grant.id), grant, { ttlMs });
      await store.addToIndex({ index, member: grant.id, score: grant.expiresAt });
      const over = await store.rangeOfIndex(index, { upTo: deps.now(), most: mostGrants });
      for (const { member } of over) await store.removeFromIndex(index, member);
    },
    remove: async (id) => {
      await store.delete(keyOf(id));
      await store.removeFromIndex(index, id);
    },
  };
}
