/** Read marks in memory. */

import type { ReadMarks } from '../../src/tools/ports.ts';

export function createMemoryReadMarks(): ReadMarks {
  const marks = new Map<string, string>();
  const keyOf = (conversationKey: string, path: string): string => `${conversationKey}\n${path}`;
  return {
    get: async (conversationKey, path) => marks.get(keyOf(conversationKey, path)),
    set: async (conversationKey, path, contentHash) => {
      marks.set(keyOf(conversationKey, path), contentHash);
    },
  };
}
