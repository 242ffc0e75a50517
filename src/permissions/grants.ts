/**
 * Grants: what people approved for a thread, for hours at most. A grant is good for the same tool
 * and the same kind of input, and ends when the tool's definition changes.
 */

import { z } from 'zod';
import type { NewId } from '../base/ids.ts';

export const grantSchema = z.object({
  v: z.literal(1),
  id: z.string(),
  /** Key of the conversation. */
  conversation: z.string(),
  tool: z.string(),
  /** As `Assessment.grant` gives it: `git push*`. */
  pattern: z.string(),
  /** Of the tool's definition when it was given. */
  toolHash: z.string(),
  by: z.object({ id: z.string(), name: z.string() }),
  at: z.number(),
  expiresAt: z.number(),
});
export type Grant = Readonly<z.infer<typeof grantSchema>>;

/** Where grants are kept; expired ones may still be in it. */
export interface GrantBook {
  read(): Promise<readonly Grant[]>;
  add(grant: Grant): Promise<void>;
  remove(id: string): Promise<void>;
}

export interface Grants {
  /** The grant that covers such a call now. */
  find(
    wanted: Pick<Grant, 'conversation' | 'tool' | 'pattern' | 'toolHash'>,
  ): Promise<Grant | undefined>;
  give(given: Omit<Grant, 'v' | 'id' | 'at' | 'expiresAt'>, lifeMs: number): Promise<Grant>;
  /** Those that hold now, oldest first. */
  list(): Promise<readonly Grant[]>;
  /** False when it is not there. */
  revoke(id: string): Promise<boolean>;
}

const mostLifeMs = 24 * 3600 * 1000;

export function createGrants(deps: {
  readonly now: () => number;
  readonly newId: NewId;
  readonly book: GrantBook;
}): Grants {
  const { now, book } = deps;
  const list = async (): Promise<readonly Grant[]> => {
    const all = await book.read();
    return all.filter(({ expiresAt }) => expiresAt > now()).sort((a, b) => a.at - b.at);
  };
  return {
    list,
    find: async ({ conversation, tool, pattern, toolHash }) => {
      const held = await list();
      return held.find(
        (grant) =>
          grant.conversation === conversation &&
          grant.tool === tool &&
          grant.pattern === pattern &&
          grant.toolHash === toolHash,
      );
    },
    give: async (given, lifeMs) => {
      const at = now();
      const expiresAt = at + Math.min(lifeMs, mostLifeMs);
      const grant: Grant = { ...given, v: 1, id: deps.newId('grant'), at, expiresAt };
      await book.add(grant);
      return grant;
    },
    revoke: async (id) => {
      const held = await list();
      if (!held.some((grant) => grant.id === id)) return false;
      await book.remove(id);
      return true;
    },
  };
}
