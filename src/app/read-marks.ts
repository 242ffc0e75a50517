/** What each conversation has seen of its files, in the store: it holds over restarts. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Log } from '../base/log.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';
import type { ReadMarks } from '../tools/ports.ts';

const markSchema = z.object({ v: z.literal(1), hash: z.string().regex(/^[0-9a-f]{64}$/u) });
/** After that a file is read again before it is changed. */
const keptMs = 30 * 24 * 3600 * 1000;

export function createReadMarks(deps: { readonly store: Store; readonly log: Log }): ReadMarks {
  const keyOf = (conversationKey: string, path: string): string =>
    `read:${conversationKey}:${shortOf(path)}`;
  return {
    get: async (conversationKey, path) =>
      (await readValidated(deps, keyOf(conversationKey, path), markSchema))?.hash,
    set: (conversationKey, path, contentHash) =>
      deps.store.set(keyOf(conversationKey, path), { v: 1, hash: contentHash }, { ttlMs: keptMs }),
  };
}

/** Keys of the store have a limit; paths hardly. */
function shortOf(path: string): string {
  if (Buffer.byteLength(path) <= 300) return path;
  return `sha256:${createHash('sha256').update(path).digest('hex')}`;
}
