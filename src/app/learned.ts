/**
 * What models were found to refuse, in the store: read once a process, kept over restarts. Each name
 * has its own end, in memory too, so that a process that runs for long tries anew like a new one.
 */

import { z } from 'zod';
import type { Log } from '../base/log.ts';
import { createKeyedQueue } from '../base/queues.ts';
import type { LearnedBook } from '../providers/adaptations.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';

/** A name that is in force before `until`, in milliseconds since the epoch. */
const nameSchema = z.object({ name: z.string(), until: z.number() });
type LearnedName = Readonly<z.infer<typeof nameSchema>>;

const learnedSchema = z.union([
  z.object({ v: z.literal(2), names: z.array(nameSchema) }),
  // Names whose own ends were not kept: they are learned anew, at a refusal each.
  z.object({ v: z.literal(1) }).transform(() => ({ names: [] })),
]);

/** Vendors change what they take: what was learned is tried anew after this. */
const keptMs = 30 * 24 * 3600 * 1000;
const indexName = 'learned';
const mostKept = 1000;

export interface StoredLearnedBook extends LearnedBook {
  /** Everything that is in force, for people. */
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
  const known = new Map<string, readonly LearnedName[]>();
  const changing = createKeyedQueue();
  const keyOf = (member: string): string => `learned:${member}`;
  const memberOf = (endpoint: string, model: string): string => `${endpoint} ${model}`;
  const inForce = (names: readonly LearnedName[]): readonly LearnedName[] =>
    names.filter(({ until }) => deps.now() < until);
  const stored = async (member: string): Promise<readonly LearnedName[]> =>
    inForce((await readValidated(deps, keyOf(member), learnedSchema))?.names ?? []);
  const load = async (member: string): Promise<readonly LearnedName[]> => {
    const names = known.get(member) ?? (await stored(member));
    known.set(member, names);
    return names;
  };
  return {
    read: async (endpoint, model) => {
      const member = memberOf(endpoint, model);
      const names = known.get(member) ?? (await changing.run(member, () => load(member)));
      return namesOf(inForce(names));
    },
    add: (endpoint, model, name) => {
      const member = memberOf(endpoint, model);
      return changing.run(member, async () => {
        // From the store, not from memory: another process may have learned something meanwhile.
        const untils = new Map((await stored(member)).map((one) => [one.name, one.until]));
        untils.set(name, deps.now() + keptMs);
        const names = Array.from(untils, ([one, until]) => ({ name: one, until }));
        await deps.store.addToIndex({ index: indexName, member, score: deps.now() });
        await deps.store.set(keyOf(member), { v: 2, names }, { ttlMs: keptMs });
        known.set(member, names);
      });
    },
    all: async () => {
      const members = await deps.store.rangeOfIndex(indexName, { most: mostKept });
      const found = await Promise.all(
        members.map(async ({ member }) => {
          const [endpoint = '', ...model] = member.split(' ');
          return { endpoint, model: model.join(' '), names: namesOf(await stored(member)) };
        }),
      );
      return found.filter(({ names }) => names.length > 0);
    },
  };
}

function namesOf(learned: readonly LearnedName[]): readonly string[] {
  return learned.map(({ name }) => name);
}
