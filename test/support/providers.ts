/** What tests of providers share: deps, requests, and ways to read a stream. */

import path from 'node:path';
import type { NewId } from '../../src/base/ids.ts';
import { readModels } from '../../src/config/models.ts';
import type { ChatMessage, ChatRequest, ChatStreamEvent } from '../../src/messages/chat.ts';
import { type Abilities, unknownAbilities } from '../../src/messages/model.ts';
import { type AssistantPart, assistantPartSchema } from '../../src/messages/parts.ts';
import type { LearnedBook } from '../../src/providers/adaptations.ts';
import { createCatalog } from '../../src/providers/catalog.ts';
import type { ProviderDeps } from '../../src/providers/deps.ts';
import type { ModelFetch } from '../../src/providers/transport.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createKeptLog, type KeptLog } from './log.ts';

export interface TestDeps extends ProviderDeps {
  readonly clock: FakeClock;
  readonly log: KeptLog;
}

/** Deps with a clock that stands still, counted ids and, by default, the real network. */
export function createTestDeps(fetch: ModelFetch = globalThis.fetch): TestDeps {
  return {
    fetch,
    clock: createFakeClock(),
    log: createKeptLog(),
    newId: countedIds(),
    learned: createKeptLearned(),
  };
}

/** What was learned, in memory. */
export function createKeptLearned(): LearnedBook {
  const known = new Map<string, readonly string[]>();
  const keyOf = (endpoint: string, model: string): string => `${endpoint} ${model}`;
  return {
    read: async (endpoint, model) => known.get(keyOf(endpoint, model)) ?? [],
    add: async (endpoint, model, name) => {
      const key = keyOf(endpoint, model);
      known.set(key, [...(known.get(key) ?? []), name]);
    },
  };
}

/** The catalog that is shipped. */
export const testCatalog = createCatalog(readModels(path.resolve(import.meta.dirname, '../..')));

function countedIds(): NewId {
  let count = 0;
  return (prefix) => {
    count += 1;
    return `${prefix}_new${count}`;
  };
}

export const weatherTool = {
  name: 'weather',
  description: 'Tells the weather of a city.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
} as const;

const clockTool = {
  name: 'clock',
  description: 'Tells the time.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
} as const;

/** A request; messages may be given as one text. */
export function chatRequestOf(
  model: string,
  messages: string | readonly ChatMessage[] = 'Hello',
  rest: Partial<ChatRequest> = {},
): ChatRequest {
  return {
    model,
    system: 'You are a test.',
    messages: typeof messages === 'string' ? [userText(messages)] : messages,
    tools: [weatherTool, clockTool],
    mostOutputTokens: 1_000,
    abilities: abilitiesOf(model),
    reasoning: {},
    webSearch: false,
    cacheKey: 'slack:T1:C1:1.1',
    ...rest,
  };
}

/** As the shipped catalog has them, whichever provider serves the model. */
function abilitiesOf(model: string): Abilities {
  const names = ['anthropic', 'openai', 'gemini', 'deepseek', 'qwen'].map(
    (one) => `${one}/${model}`,
  );
  const known = names.map((name) => testCatalog.factsOf(name)).find(({ isKnown }) => isKnown);
  return known?.abilities ?? unknownAbilities;
}

export function userText(text: string): ChatMessage {
  return { role: 'user', parts: [{ kind: 'text', text }] };
}

export function assistantText(text: string): ChatMessage {
  return { role: 'assistant', parts: [{ kind: 'text', text }] };
}

export function okResult(callId: string, name: string, text: string): ChatMessage {
  return {
    role: 'tool',
    results: [{ callId, name, outcome: 'ok', parts: [{ kind: 'text', text }] }],
  };
}

/** Parts as they come back from the store. */
export function storedParts(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  return assistantPartSchema.array().parse(JSON.parse(JSON.stringify(parts)));
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Events until the stream throws, and what it threw. */
export async function collectUntilThrow<T>(
  stream: AsyncIterable<T>,
): Promise<{ events: T[]; thrown: unknown }> {
  const events: T[] = [];
  try {
    for await (const event of stream) events.push(event);
  } catch (thrown) {
    return { events, thrown };
  }
  return { events, thrown: undefined };
}

/** The events without what only a vendor understands: deltas joined, last usage, no seals. */
export function outlineOf(events: readonly ChatStreamEvent[]): unknown[] {
  const outline: ({ kind: string; text?: string; callId?: string } & object)[] = [];
  let usage: unknown;
  for (const event of events) {
    const last = outline.at(-1);
    switch (event.kind) {
      case 'message_start':
        outline.push({ kind: 'message_start' });
        break;
      case 'text_delta':
      case 'reasoning_delta':
        if (last?.kind === event.kind) last.text = `${last.text}${event.text}`;
        else outline.push({ kind: event.kind, text: event.text });
        break;
      case 'tool_call_delta':
        if (last?.kind === event.kind) last.text = `${last.text}${event.json}`;
        else outline.push({ kind: event.kind, callId: event.callId, text: event.json });
        break;
      case 'tool_call_ready': {
        const { raw: _raw, ...bare } = event;
        outline.push(bare);
        break;
      }
      case 'usage':
        usage = event.usage;
        break;
      case 'tool_call_start':
      case 'message_end':
        outline.push(event);
        break;
      case 'reasoning_signature':
      case 'image_made':
      case 'raw_part':
      case 'citations':
      case 'server_tool':
        break;
    }
  }
  return [...outline, { kind: 'last_usage', usage }];
}

/** A fetch that answers with an event stream of these pieces. */
export function pieceFetch(pieces: readonly Uint8Array[]): ModelFetch {
  return () => {
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[next];
        next += 1;
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    return Promise.resolve(
      new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    );
  };
}
