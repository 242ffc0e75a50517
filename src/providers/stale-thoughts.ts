/**
 * Thoughts are bound to all that stood before them. When that was edited (another system prompt,
 * another list of tools, an image left out), those so far are stale and go, while those that come
 * after were made behind the edited history and stay good. Which they are is remembered for the
 * conversation, or each later step would first be refused. In memory: losing it costs one refusal.
 */

import { createHash } from 'node:crypto';
import type { ChatMessage, ChatRequest } from '../messages/chat.ts';
import type { AssistantPart } from '../messages/parts.ts';

/** Learned where no thought may go at all. */
export const noReasoning = 'no_reasoning';
const prefix = 'stale_thoughts:';

const mostConversations = 1_000;
/** A conversation may be spoken in from several sides, each with a history of its own. */
const mostOfConversation = 4;

export interface StaleThoughts {
  /** What is known of this conversation, as learned names. */
  namesOf(request: ChatRequest): readonly string[];
  /** The request was taken without the thoughts up to its last answer. */
  remember(request: ChatRequest): void;
}

export function createStaleThoughts(): StaleThoughts {
  const known = new Map<string, readonly string[]>();
  const keyOf = ({ model, cacheKey }: ChatRequest): string => JSON.stringify([model, cacheKey]);
  return {
    namesOf: (request) => known.get(keyOf(request)) ?? [],
    remember: (request) => {
      const name = staleName(request.messages);
      if (name === undefined) return;
      const key = keyOf(request);
      const others = (known.get(key) ?? []).filter((one) => one !== name);
      // Put at the end: those that nobody spoke in for longest go first.
      known.delete(key);
      known.set(key, [...others, name].slice(-mostOfConversation));
      const [oldest] = known.keys();
      if (known.size > mostConversations && oldest !== undefined) known.delete(oldest);
    },
  };
}

/** The name that makes all thoughts up to the last answer stale; undefined without an answer. */
export function staleName(messages: readonly ChatMessage[]): string | undefined {
  return namesOf(messages).findLast((name) => name !== undefined);
}

/** The place in `messages` from which on thoughts are good. */
export function thoughtsFrom(
  messages: readonly ChatMessage[],
  learned: ReadonlySet<string>,
): number {
  if (learned.has(noReasoning)) return messages.length;
  if (![...learned].some((name) => name.startsWith(prefix))) return 0;
  return 1 + namesOf(messages).findLastIndex((name) => learned.has(name ?? ''));
}

/**
 * A name for each answer, the same before it is stored and after. It tells of the answers before
 * too: an answer without a thought may be said twice ("Done."), and is then another one.
 */
function namesOf(messages: readonly ChatMessage[]): readonly (string | undefined)[] {
  let before = '';
  return messages.map((message) => {
    if (message.role !== 'assistant') return undefined;
    const said = JSON.stringify([before, message.parts.map(saidIn)]);
    before = prefix + createHash('sha256').update(said).digest('hex').slice(0, 16);
    return before;
  });
}

function saidIn(part: AssistantPart): readonly unknown[] {
  const data = part.raw?.data ?? null;
  if (part.kind === 'raw') return [part.kind, data];
  if (part.kind === 'tool_call') return [part.kind, part.callId, data];
  // Its end tells images apart; hashing all of each would be felt.
  if (part.kind === 'image') return [part.kind, part.base64.slice(-64), data];
  return [part.kind, part.text, data];
}
