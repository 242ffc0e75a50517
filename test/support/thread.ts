/** The thread port without a platform: what tools ask of it is kept. */

import type { FileToSend, Thread, ThreadLine } from '../../src/tools/ports.ts';

export interface FakeThread extends Thread {
  lines: readonly ThreadLine[];
  /** Undefined: reading the channel is not allowed. */
  channelLines: readonly ThreadLine[] | undefined;
  known: readonly string[];
  readonly sent: (FileToSend & { readonly key: string })[];
  readonly signs: string[];
  readonly left: string[];
}

export function createFakeThread(): FakeThread {
  const thread: FakeThread = {
    lines: [],
    channelLines: [],
    known: [],
    sent: [],
    signs: [],
    left: [],
    read: async (_key, most) => thread.lines.slice(-most),
    readChannel: async (_key, most) => thread.channelLines?.slice(-most),
    sendFile: async (_key, file, key) => {
      thread.sent.push({ ...file, key });
    },
    react: async (_key, emoji, messageId) => {
      thread.signs.push(`${emoji} ${messageId ?? 'newest'}`);
      return emoji !== '🦄';
    },
    leave: async (key) => {
      thread.left.push(key);
    },
    knownAddresses: async () => thread.known,
  };
  return thread;
}
