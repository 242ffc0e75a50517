/** The thread as tools use it: reading, files, signs, leaving, and the addresses that are known. */

import type { Conversations } from '../conversations/conversations.ts';
import { type ConversationKey, parseConversationKey } from '../messages/conversation.ts';
import { textOf } from '../messages/parts.ts';
import type { Adapter } from '../surface/adapter.ts';
import { deliver } from '../surface/deliver.ts';
import type { HistoryMessage } from '../surface/outbound.ts';
import type { Surface } from '../surface/surface.ts';
import type { Thread, ThreadLine } from '../tools/ports.ts';
import type { RunsDeps } from './deps.ts';
import type { RunRecords } from './run-record.ts';
import { loadTranscript } from './transcript.ts';

export interface ThreadPortDeps
  extends Pick<RunsDeps, 'clock' | 'adapters' | 'conversations' | 'profileOf'> {
  readonly records: RunRecords;
}

export function createThreadPort(deps: ThreadPortDeps): Thread {
  const { clock } = deps;
  const surfaceOf = (key: ConversationKey): Surface => {
    const conversation = parseConversationKey(key);
    const adapter: Adapter | undefined = deps.adapters.get(conversation.adapter);
    if (!adapter) throw new Error(`no adapter ${conversation.adapter} is on`);
    return adapter.surfaceOf(conversation);
  };
  return {
    read: async (key, most) => {
      const lines = await deliver(clock, () => surfaceOf(key).history(most));
      return lines.map(lineOf);
    },
    readChannel: async (key, most) => {
      if (!(await mayReadChannel(deps, key))) return undefined;
      const lines = await deliver(clock, () => surfaceOf(key).channelHistory(most));
      return lines.map(lineOf);
    },
    sendFile: async (key, file, postKey) => {
      const surface = surfaceOf(key);
      // Each attempt after the first looks whether an earlier one came through.
      let maybePosted = false;
      await deliver(clock, () => {
        const options = { key: postKey, maybePosted };
        maybePosted = true;
        return surface.upload(file, options);
      });
    },
    react: async (key, emoji, messageId) => {
      const target = messageId ?? (await newestOfPeople(deps.conversations, key));
      return target === undefined ? false : surfaceOf(key).react(target, { emoji }, true);
    },
    leave: async (key) => {
      await deps.conversations.update(key, (head) => ({ ...head, hasLeft: true }));
    },
    knownAddresses: (key, runId) => knownAddresses(deps, key, runId),
  };
}

function lineOf({ messageId, author, text, at }: HistoryMessage): ThreadLine {
  return { messageId, author, text, at };
}

async function mayReadChannel(
  { conversations, profileOf }: ThreadPortDeps,
  key: ConversationKey,
): Promise<boolean> {
  const { adapter, space, channel } = parseConversationKey(key);
  const head = await conversations.head(key);
  const channelName = head?.channelName ?? '';
  return profileOf({ adapter, space, channel, channelName }).channelHistory.value;
}

async function newestOfPeople(
  conversations: Conversations,
  key: ConversationKey,
): Promise<string | undefined> {
  const { transcript } = await transcriptOf(conversations, key);
  const said = transcript
    .entries()
    .findLast((entry) => entry.kind === 'user_message' && !entry.author.isBot);
  return said?.kind === 'user_message' ? said.messageId : undefined;
}

async function transcriptOf(conversations: Conversations, key: ConversationKey) {
  const head = await conversations.head(key);
  return { transcript: await loadTranscript(conversations, key, head?.contextFrom ?? 1) };
}

/** What people wrote themselves, what a search tool of this run gave, what the vendor's search found. */
async function knownAddresses(
  { conversations, records }: ThreadPortDeps,
  key: ConversationKey,
  runId: string,
): Promise<readonly string[]> {
  const { transcript } = await transcriptOf(conversations, key);
  const texts = transcript.entries().flatMap((entry) => {
    if (entry.kind === 'user_message') return entry.author.isBot ? [] : [textOf(entry.parts)];
    if (entry.kind !== 'tool_results' || entry.runId !== runId) return [];
    return entry.results.flatMap(({ name, parts }) =>
      name === 'WebSearch' ? [textOf(parts)] : [],
    );
  });
  const record = await records.read(key);
  const sources = record?.runId === runId ? record.sources.map(({ url }) => url) : [];
  return [...texts.flatMap(addressesIn), ...sources];
}

/** Web addresses in a text, without the punctuation that ends a sentence. */
export function addressesIn(text: string): readonly string[] {
  return [...text.matchAll(/https?:\/\/[^\s<>"'`|)\]}]+/giu)].map(([address]) =>
    address.replace(/[.,;:!?]+$/u, ''),
  );
}
