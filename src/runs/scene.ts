/** A conversation opened for work: who shows it, its head, its transcript. */

import type { Conversations } from '../conversations/conversations.ts';
import type { Head } from '../conversations/head.ts';
import {
  type Conversation,
  type ConversationKey,
  parseConversationKey,
} from '../messages/conversation.ts';

import type { Surface } from '../surface/surface.ts';
import type { OutwardAdapter } from './outward.ts';
import { loadTranscript, type Transcript } from './transcript.ts';

export interface Scene {
  readonly key: ConversationKey;
  readonly conversation: Conversation;
  readonly adapter: OutwardAdapter;
  readonly surface: Surface;
  readonly head: Head | undefined;
  readonly transcript: Transcript;
}

export async function openScene(
  deps: {
    readonly conversations: Conversations;
    readonly adapters: ReadonlyMap<string, OutwardAdapter>;
  },
  key: ConversationKey,
): Promise<Scene> {
  const conversation = parseConversationKey(key);
  const adapter = deps.adapters.get(conversation.adapter);
  if (!adapter) throw new Error(`no adapter ${conversation.adapter} is on`);
  const head = await deps.conversations.head(key);
  const transcript = await loadTranscript(deps.conversations, key, head?.contextFrom ?? 1);
  const surface = adapter.surfaceOf(conversation, head?.title);
  return { key, conversation, adapter, surface, head, transcript };
}
