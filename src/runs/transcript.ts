/** A conversation's transcript as a run holds it: loaded once, appended to, never rewritten. */

import type { Conversations } from '../conversations/conversations.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Entry, NumberedEntry } from '../messages/entries.ts';

export interface Transcript {
  entries(): readonly Entry[];
  numbered(): readonly NumberedEntry[];
  /** Stores, then shows the entries to readers. */
  append(entries: readonly Entry[]): Promise<void>;
  /** Everything that is stored, older entries than those loaded included. */
  all(): AsyncIterable<NumberedEntry>;
  /** The one rewrite: a deletion by a person. */
  overwrite(number: number, entry: Entry): Promise<void>;
}

/** Entries a run loads at most; older ones stay stored. */
const mostLoaded = 2000;
const batchSize = 500;

export async function loadTranscript(
  conversations: Conversations,
  key: ConversationKey,
  from: number,
): Promise<Transcript> {
  const log = conversations.transcript(key);
  const length = await log.length();
  const first = Math.max(from, length - mostLoaded + 1);
  let numbered: readonly NumberedEntry[] = (await log.read({ from: first })).map(
    ({ number, value }) => ({ number, entry: value }),
  );
  let entries: readonly Entry[] = numbered.map(({ entry }) => entry);
  const replaceAll = (next: readonly NumberedEntry[]): void => {
    numbered = next;
    entries = next.map(({ entry }) => entry);
  };
  return {
    entries: () => entries,
    numbered: () => numbered,
    append: async (added) => {
      if (added.length === 0) return;
      const numbers = await log.append(added);
      const fresh = added.map((entry, index) => ({ number: numbers[index] ?? 0, entry }));
      replaceAll([...numbered, ...fresh]);
    },
    all: async function* () {
      for (let from = 1; ; from += batchSize) {
        const batch = await log.read({ from, most: batchSize });
        for (const { number, value } of batch) yield { number, entry: value };
        if (from + batchSize > (await log.length())) return;
      }
    },
    overwrite: async (number, entry) => {
      await log.overwrite(number, entry);
      replaceAll(numbered.map((old) => (old.number === number ? { number, entry } : old)));
    },
  };
}
