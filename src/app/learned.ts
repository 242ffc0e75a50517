/** What models were found to refuse, in the store: read once a process, kept over restarts. */

import { z } from 'zod';
import type { Log } from '../base/log.ts';
import type { LearnedBook } from '../providers/adaptations.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';

const learnedSchema = z.object({ v: z.literal(1), names: z.array(z.string()) });

/** Vendors change what they take: what was learned is tried anew after this. */
const keptMs = 30 * 24 * 3600 * 1000;
const indexName = 'learned';
const mostKept = 1000;

export interface StoredLearnedBook extends LearnedBook {
  /** Everything that is known, for people. */
  all(): Promise<
    readonly {
      readonly endpoint: string;
      readonly model: string;
      readonly names: readonly string[];
    }[]
  >;
}

export function createLearnedBook(deps: {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
}): StoredLearnedBook {
  const known = new Map<string, readonly string[]>();
  const keyOf = (member: string): string => `learned:${member}`;
  const memberOf = (endpoint: string, model: string): string => `${endpoint} ${model}`;
  const stored = async (member: string): Promise<readonly string[]> =>
    (await readValidated(deps, keyOf(member), learnedSchema))?.names ?? [];
  const read = async (member: string): Promise<readonly string[]> => {
    const names = known.get(member) ?? (await stored(member));
    known.set(member, names);
    return names;
  };
  return {
    read: (endpoint, model) => read(memberOf(endpoint, model)),
    add: async (endpoint, model, name) => {
      const member = memberOf(endpoint, model);
      const names = [...new Set([...(await read(member)), name])];
      known.set(member, names);
      await deps.store.set(keyOf(member), { v: 1, names }, { ttlMs: keptMs });
      await deps.store.addToIndex({ index: indexName, member, score: deps.now() });
    },
    all: async () => {
      const members = await deps.store.rangeOfIndex(indexName, { most: mostKept });
      const found = await Promise.all(
        members.map(async ({ member }) => {
          const [endpoint = '', ...model] = member.split(' ');
          return { endpoint, model: model.join(' '), names: await stored(member) };
        }),
      );
      return found.filter(({ names }) => names.length > 0);
    },
  };
}
