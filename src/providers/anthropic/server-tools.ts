/**
 * Tools that the vendor runs by itself. Its call and its result are two blocks that belong together:
 * a call without its result is refused, unless the server is still to run it.
 */

import type Anthropic from '@anthropic-ai/sdk';
import type { ChatMessage, ChatRequest } from '../../messages/chat.ts';
import type { AssistantPart } from '../../messages/parts.ts';
import { textField } from '../raw.ts';

/**
 * The basic search. Later versions filter by code that the model writes: they run in a container that
 * would have to be carried from request to request, are not served on all platforms, and are not free
 * of retention (server-tools guide). Every model that searches takes this one.
 */
const searchTool: Anthropic.WebSearchTool20250305 = {
  type: 'web_search_20250305',
  name: 'web_search',
  max_uses: 8,
};

/** The vendor's own search, where it is wished and possible, and no tool of ours has its name. */
export function searchTools(
  { abilities, tools, webSearch }: ChatRequest,
  learned: ReadonlySet<string>,
): readonly Anthropic.ToolUnion[] {
  const isTaken = tools.some(({ name }) => name === searchTool.name);
  const canSearch = abilities.webSearch && !learned.has('no_web_search');
  return webSearch && canSearch && !isTaken ? [searchTool] : [];
}

export interface ServerCall {
  readonly name: string;
  readonly input: unknown;
}

/** The id of the call that this block answers, if it is a result of the vendor's own tools. */
export function answeredCall(type: string, callId: string | undefined): string | undefined {
  return type.endsWith('_tool_result') ? callId : undefined;
}

/** `web_search_tool_result` → `web_search`. */
export function toolOfResult(type: string): string {
  return type.replace(/_tool_result$/u, '');
}

/**
 * Without calls that never got a result, and results that lost their call. A call of the last
 * message may wait for its result: the message was paused, or calls of ours stood beside it
 * (`canWait`: the request declares the tool).
 */
export function withPairedServerTools(
  messages: readonly ChatMessage[],
  canWait: boolean,
): readonly ChatMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const waits = canWait && messages.slice(last + 1).every(({ role }) => role === 'tool');
  const called = new Set<string>();
  const answered = new Set(messages.flatMap((message) => partsOf(message).flatMap(answerOf)));
  const isWhole = (part: AssistantPart, place: number): boolean => {
    const call = callOf(part);
    if (call !== undefined) {
      called.add(call);
      return answered.has(call) || (waits && place === last);
    }
    return answerOf(part).every((id) => called.has(id));
  };
  return messages.map((message, place) => {
    if (message.role !== 'assistant') return message;
    const parts = message.parts.filter((part) => isWhole(part, place));
    return parts.length === message.parts.length ? message : { role: 'assistant', parts };
  });
}

/** Calls of earlier messages by id: a result may come one message later. */
export function serverCallsIn(messages: readonly ChatMessage[]): ReadonlyMap<string, ServerCall> {
  const calls = new Map<string, ServerCall>();
  for (const part of messages.flatMap(partsOf)) {
    const id = callOf(part);
    if (id === undefined || part.kind !== 'raw') continue;
    const { data } = part.raw;
    const input = typeof data === 'object' && data !== null && 'input' in data ? data['input'] : {};
    calls.set(id, { name: textField(part.raw, 'name') ?? '', input });
  }
  return calls;
}

function partsOf(message: ChatMessage): readonly AssistantPart[] {
  return message.role === 'assistant' ? message.parts : [];
}

function callOf(part: AssistantPart): string | undefined {
  if (part.kind !== 'raw' || textField(part.raw, 'type') !== 'server_tool_use') return undefined;
  return textField(part.raw, 'id');
}

function answerOf(part: AssistantPart): string[] {
  if (part.kind !== 'raw') return [];
  const id = answeredCall(textField(part.raw, 'type') ?? '', textField(part.raw, 'tool_use_id'));
  return id === undefined ? [] : [id];
}
