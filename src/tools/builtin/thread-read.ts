/** ThreadRead and ThreadSearch: what was said earlier in this thread and, where allowed, around it. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import type { Thread, ThreadLine } from '../ports.ts';
import { textOutcome } from '../text-result.ts';

const mostRead = 200;
const mostSearched = 1000;
const mostHits = 50;

const where = z
  .enum(['thread', 'channel'])
  .default('thread')
  .describe('thread: this one (default) · channel: the top level of the channel around it.');

const readInput = z.strictObject({
  most: z.int().min(1).max(mostRead).default(50).describe('How many of the newest messages.'),
  where,
});

const searchInput = z.strictObject({
  words: z
    .string()
    .trim()
    .min(2)
    .max(200)
    .describe('Words that must all occur, in any order and case.'),
  where,
});

const notAllowed = {
  kind: 'error',
  text: 'Reading the channel around this thread is not allowed here (channelHistory). Use what stands in the thread, or ask the people.',
} as const;

const shared = {
  category: 'team',
  concurrency: 'always',
  isReadOnly: true,
  needsApproval: false,
} as const;

export function createThreadReadTool(thread: Thread): Tool<z.infer<typeof readInput>> {
  return {
    ...shared,
    name: 'ThreadRead',
    description:
      'Reads the newest messages of this thread as they stand on the platform, or of the channel around it. Use it when people refer to something you have not seen.',
    input: readInput,
    describe: ({ where: place }) =>
      place === 'channel' ? 'Reading the channel' : 'Reading the thread',
    invoke: async ({ most, where: place }, { conversationKey }) => {
      const lines = await linesOf(thread, conversationKey, place, most);
      if (!lines) return notAllowed;
      return textOutcome(lines.length === 0 ? 'There is nothing.' : shown(lines));
    },
  };
}

export function createThreadSearchTool(thread: Thread): Tool<z.infer<typeof searchInput>> {
  return {
    ...shared,
    name: 'ThreadSearch',
    description:
      'Searches earlier messages of this thread, or of the channel around it, for words that all occur in a message.',
    input: searchInput,
    describe: ({ words }) =>
      words ? `Looking for \`${words.replaceAll('`', "'")}\`` : 'Searching the thread',
    invoke: async ({ words, where: place }, { conversationKey }) => {
      const lines = await linesOf(thread, conversationKey, place, mostSearched);
      if (!lines) return notAllowed;
      const wanted = words.toLowerCase().split(/\s+/u).filter(Boolean);
      const hits = lines.filter(({ text }) => {
        const said = text.toLowerCase();
        return wanted.every((word) => said.includes(word));
      });
      if (hits.length === 0) {
        return textOutcome(`None of the newest ${lines.length} messages has all of these words.`);
      }
      const rest = hits.length - mostHits;
      const note = rest > 0 ? `\n(and ${rest} older ones; search for more words)` : '';
      return textOutcome(shown(hits.slice(-mostHits)) + note);
    },
  };
}

function linesOf(
  thread: Thread,
  key: string,
  place: 'thread' | 'channel',
  most: number,
): Promise<readonly ThreadLine[] | undefined> {
  return place === 'thread' ? thread.read(key, most) : thread.readChannel(key, most);
}

function shown(lines: readonly ThreadLine[]): string {
  return lines
    .map(({ messageId, author, text, at }) => {
      const time = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
      // Further lines are set in: none of them looks like another message.
      const said = text.replace(/\r\n|[\n\r\u2028\u2029]/gu, '\n  ');
      return `[${time} UTC, ${messageId}] ${author.replace(/\s+/gu, ' ')}: ${said}`;
    })
    .join('\n');
}
