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
  /** Notes which spaces are there at the first start; those are served. */
  settle(adapter: Adapter): Promise<void>;
  /** From now on this space is served; a line that says so, or why not. */
  allow(id: string): Promise<string>;
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

  const ownConfigured = (adapterName: string): readonly string[] =>
    configured().filter((id) => id.startsWith(`${adapterName}:`));
  const presentIn = (adapter: Adapter): readonly string[] =>
    adapter.spaces().map(({ id }) => `${adapter.name}:${id}`);

  return {
    allowed: async (adapter) => {
      const own = ownConfigured(adapter.name);
      if (own.length > 0) return own;
      if (tokenBound.includes(adapter.name)) return presentIn(adapter);
      return (await read(adapter.name)) ?? [];
    },
    settle: async (adapter) => {
      if (tokenBound.includes(adapter.name) || (await read(adapter.name))) return;
      const present = presentIn(adapter);
      if (present.length > 0) await save(adapter.name, present);
    },
    allow: async (id) => {
      const adapterName = id.slice(0, id.indexOf(':'));
      if (tokenBound.includes(adapterName))
        return `${adapterName} serves the space of its token alone.`;
      if (ownConfigured(adapterName).length > 0) {
        return 'The list `allow.spaces` of the configuration decides; add it there.';
      }
      const known = (await read(adapterName)) ?? [];
      await save(adapterName, [...new Set([...known, id])]);
      return `From now on I serve ${id}.`;
    },
  };
}
