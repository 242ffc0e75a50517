/**
 * Transcript → ChatPrompt: one pure function. What is stored decides alone, so that the request of
 * a step is the request of the step before with something appended (rule 17). A stored transcript
 * that is not whole (a call without result after a crash) is repaired here, never refused.
 */

import type { ChatMessage, ChatPrompt, ToolSpec } from '../messages/chat.ts';
import type { Entry, EntryOf } from '../messages/entries.ts';
import type { ReasoningOptions } from '../messages/model.ts';
import {
  type ToolCallPart,
  type ToolResult,
  type UserPart,
  withoutBoundReasoning,
} from '../messages/parts.ts';

export interface PromptInput {
  readonly entries: readonly Entry[];
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly reasoning: ReasoningOptions;
  readonly webSearch: boolean;
  readonly cacheKey: string;
}

export function buildPrompt({ entries, ...rest }: PromptInput): ChatPrompt {
  return { ...rest, messages: messagesOf(sinceFreshStart(entries)) };
}

/** What the model may see: everything after the last `new`. */
function sinceFreshStart(entries: readonly Entry[]): readonly Entry[] {
  const last = entries.findLastIndex((entry) => entry.kind === 'fresh_start');
  return entries.slice(last + 1);
}

/** Messages in the order of the transcript; results are joined behind the call they belong to. */
export function messagesOf(entries: readonly Entry[]): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  let day = '';
  /** Reasoning made before this, and standing after it, is bound to words that are gone. */
  let editedAt = 0;
  for (const [index, entry] of entries.entries()) {
    switch (entry.kind) {
      case 'user_message': {
        const today = dayOf(entry.at);
        addUserParts(messages, userPartsOf(entry, today === day ? '' : today));
        day = today;
        break;
      }
      case 'history':
        addUserParts(messages, [{ kind: 'text', text: historyText(entry) }]);
        break;
      case 'note':
        addUserParts(messages, [{ kind: 'text', text: `(${entry.text})` }]);
        break;
      case 'tombstone':
        editedAt = Math.max(editedAt, entry.deletedAt);
        addUserParts(messages, [{ kind: 'text', text: '(A message was deleted here.)' }]);
        break;
      case 'assistant_message': {
        const parts = entry.at < editedAt ? withoutBoundReasoning(entry.parts) : entry.parts;
        if (parts.length > 0) messages.push({ role: 'assistant', parts });
        pushResults(messages, entry, entries.slice(index + 1));
        break;
      }
      case 'calls_begun': // its message follows
      case 'tool_results': // taken up with the assistant message before
      case 'fresh_start': // nothing before it is here
        break;
    }
  }
  return messages;
}

function addUserParts(messages: ChatMessage[], parts: readonly UserPart[]): void {
  const last = messages.at(-1);
  if (last?.role === 'user') {
    messages[messages.length - 1] = { role: 'user', parts: [...last.parts, ...parts] };
  } else {
    messages.push({ role: 'user', parts });
  }
}

/** Every call of the message gets exactly one result, in call order. */
function pushResults(
  messages: ChatMessage[],
  entry: EntryOf<'assistant_message'>,
  later: readonly Entry[],
): void {
  const calls = entry.parts.filter((part) => part.kind === 'tool_call');
  if (calls.length === 0) return;
  const known = new Map<string, ToolResult>();
  for (const following of later) {
    if (following.kind === 'assistant_message') break;
    if (following.kind !== 'tool_results') continue;
    for (const result of following.results) {
      if (!known.has(result.callId)) known.set(result.callId, result);
    }
  }
  messages.push({
    role: 'tool',
    results: calls.map((call) => known.get(call.callId) ?? interruptedResult(call)),
  });
}

export function interruptedResult(call: Pick<ToolCallPart, 'callId' | 'name'>): ToolResult {
  return {
    callId: call.callId,
    name: call.name,
    outcome: 'interrupted',
    parts: [{ kind: 'text', text: 'interrupted: the process stopped; outcome unknown' }],
  };
}

/** `Anna: text`, on a new day with the time before it: `[Monday 2026-11-30 14:03 UTC] Anna: …`. */
function userPartsOf(entry: EntryOf<'user_message'>, newDay: string): readonly UserPart[] {
  const stamp = newDay === '' ? '' : `[${newDay} ${timeOf(entry.at)} UTC] `;
  const [first, ...rest] = entry.parts;
  const prefix = `${stamp}${entry.author.name}: `;
  if (first?.kind === 'text') return [{ kind: 'text', text: prefix + first.text }, ...rest];
  return [{ kind: 'text', text: `${prefix}(no text)` }, ...entry.parts];
}

function historyText(entry: EntryOf<'history'>): string {
  const lines = entry.messages.map(
    ({ author, text, at }) => `[${dayOf(at)} ${timeOf(at)} UTC] ${author}: ${text}`,
  );
  return `(Said in this thread before you came to it, for your information:)\n${lines.join('\n')}`;
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function dayOf(at: number): string {
  const date = new Date(at);
  return `${weekdays[date.getUTCDay()] ?? ''} ${date.toISOString().slice(0, 10)}`;
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 16);
}
