/**
 * Which workspaces and guilds the bot serves. On Slack the token's workspace; on Discord the guilds
 * present at the first start: a guild that the bot is added to later is ignored until an admin
 * allows it. A configured list decides alone.
 */

import { z } from 'zod';
import type { Log } from '../base/log.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';
import type { Adapter } from '../surface/adapter.ts';

const allowedSchema = z.object({ v: z.literal(1), spaces: z.array(z.string()).readonly() });

export interface Spaces {
  /** Ids like `slack:T1`. */
  allowed(adapter: Adapter): Promise<readonly string[]>;
  /** From now on this space is served. */
  allow(adapterName: string, space: string): Promise<void>;
}

/** Adapters whose only spaces are those of the token. */
const tokenBound = ['slack', 'web'];

export function createSpaces(
  deps: { readonly store: Store; readonly log: Log },
  configured: () => readonly string[],
): Spaces {
  const keyOf = (adapterName: string): string => `spaces:${adapterName}`;
  const read = async (adapterName: string): Promise<readonly string[] | undefined> =>
    (await readValidated(deps, keyOf(adapterName), allowedSchema))?.spaces;
  const save = (adapterName: string, spaces: readonly string[]): Promise<void> =>
    deps.store.set(keyOf(adapterName), { v: 1, spaces });

  return {
    allowed: async (adapter) => {
      const own = configured().filter((id) => id.startsWith(`${adapter.name}:`));
      if (own.length > 0) return own;
      const present = adapter.spaces().map(({ id }) => `${adapter.name}:${id}`);
      if (tokenBound.includes(adapter.name)) return present;
      const known = await read(adapter.name);
      if (known) return known;
      if (present.length > 0) await save(adapter.name, present);
      return present;
    },
    allow: async (adapterName, space) => {
      const known = (await read(adapterName)) ?? [];
      await save(adapterName, [...new Set([...known, space])]);
    },
  };
}
