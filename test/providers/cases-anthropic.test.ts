/** Cases of public reports about Anthropic requests and streams. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ChatMessage, ChatStreamEvent } from '../../src/messages/chat.ts';
import type { AssistantPart, UserPart } from '../../src/messages/parts.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { anthropicRequest } from '../../src/providers/anthropic/request.ts';
import { type JsonObject, objectOf, objectsOf } from '../emulators/model/wire.ts';
import { bytesOf } from '../emulators/model-server.ts';
import { readCase } from '../support/cases.ts';
import {
  chatRequestOf,
  collectUntilThrow,
  createTestDeps,
  pieceFetch,
} from '../support/providers.ts';

const origin = { provider: 'anthropic', endpoint: 'https://api.anthropic.com', model: 'model-a' };
const storedMessage = z.looseObject({
  role: z.enum(['user', 'assistant']).optional(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).optional(),
  toolOutputs: z
    .array(
      z.object({
        id: z.string(),
        text: z.string(),
        image: z.object({ mimeType: z.string(), data: z.string() }).optional(),
      }),
    )
    .optional(),
});
type StoredMessage = z.infer<typeof storedMessage>;

/** A history in the cases' words as our messages. */
function historyOf(stored: readonly StoredMessage[]): ChatMessage[] {
  return stored.flatMap((entry): ChatMessage[] => {
    if (entry.toolOutputs !== undefined) {
      const results = entry.toolOutputs.map(({ id, text, image }) => ({
        callId: id,
        name: 'tool',
        outcome: 'ok' as const,
        parts: [
          { kind: 'text', text } as const,
          ...(image === undefined
            ? []
            : [{ kind: 'image', mediaType: image.mimeType, base64: image.data } as const]),
        ],
      }));
      return [{ role: 'tool', results }];
    }
    const blocks =
      typeof entry.content === 'string'
        ? [{ type: 'text', text: entry.content }]
        : (entry.content ?? []);
    if (entry.role === 'assistant') return [{ role: 'assistant', parts: blocks.map(partOf) }];
    const results = blocks.filter(({ type }) => type === 'tool_result');
    if (results.length > 0) {
      return [
        {
          role: 'tool',
          results: results.map((block) => ({
            callId: String(block['tool_use_id']),
            name: 'f',
            outcome: 'ok',
            parts: [{ kind: 'text', text: String(block['content']) }],
          })),
        },
      ];
    }
    const parts = blocks.map((block): UserPart => ({ kind: 'text', text: String(block['text']) }));
    return [{ role: 'user', parts }];
  });
}

function partOf(block: JsonObject): AssistantPart {
  switch (block['type']) {
    case 'thinking':
      return {
        kind: 'reasoning',
        text: String(block['thinking']),
        raw: { origin, data: { signature: String(block['signature']) } },
      };
    case 'redacted_thinking':
      return {
        kind: 'raw',
        raw: { origin, data: { type: 'redacted_thinking', data: String(block['data']) } },
      };
    case 'tool_use':
      return {
        kind: 'tool_call',
        callId: String(block['id']),
        name: String(block['name']),
        input: z.json().parse(block['input']),
      };
    default:
      return { kind: 'text', text: String(block['text']) };
  }
}

interface Sent {
  readonly role: unknown;
  readonly blocks: readonly JsonObject[];
}

function sentFor(stored: readonly StoredMessage[]): Sent[] {
  const request = chatRequestOf('model-a', historyOf(stored));
  const { messages } = anthropicRequest(request, origin, new Set());
  return objectsOf(messages).map(({ role, content }) => ({ role, blocks: objectsOf(content) }));
}

const alternates = (sent: readonly Sent[]): boolean =>
  sent.every(({ role }, place) => role === (place % 2 === 0 ? 'user' : 'assistant'));
const texts = (sent: readonly Sent[]): unknown[] =>
  sent.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block['type'] === 'text' ? [block['text']] : [])),
  );

describe('requests to Anthropic', () => {
  it('fill a missing result directly after its call (B067)', () => {
    const { input, expected } = readCase(
      'B067',
      z.object({ history: z.array(storedMessage) }),
      z.object({ toolResultIds: z.array(z.string()), lastUserTextKept: z.string() }),
    );
    const sent = sentFor(input.history);
    expect(alternates(sent)).toBe(true);
    const [first, ...rest] = sent.at(-1)?.blocks ?? [];
    expect(first).toMatchObject({
      type: 'tool_result',
      tool_use_id: expected.toolResultIds[0],
      is_error: true,
    });
    expect(rest).toEqual([{ type: 'text', text: expected.lastUserTextKept }]);
  });

  it('hold no empty text, no empty message and no white space at an assistant’s end (B069)', () => {
    const { input } = readCase(
      'B069',
      z.object({ variants: z.array(z.array(storedMessage)) }),
      z.object({ noEmptyTextBlock: z.literal(true) }),
    );
    expect(input.variants).toHaveLength(3);
    for (const variant of input.variants) {
      const sent = sentFor(variant);
      expect(alternates(sent)).toBe(true);
      expect(sent.every(({ blocks }) => blocks.length > 0)).toBe(true);
      expect(texts(sent).every((text) => String(text).trim() !== '')).toBe(true);
      for (const { role, blocks } of sent) {
        const end = role === 'assistant' ? blocks.at(-1)?.['text'] : '';
        expect(end).not.toMatch(/\s$/u);
      }
    }
  });

  it('leave a message of thoughts alone out (B070)', () => {
    const { input } = readCase(
      'B070',
      z.object({ history: z.array(storedMessage) }),
      z.object({ noAssistantMessageEndsWithThinking: z.literal(true) }),
    );
    const sent = sentFor(input.history);
    expect(sent.map(({ role }) => role)).toEqual(['user']);
    expect(texts(sent)).toEqual(['hm', 'so?']);
  });

  it('hold results in call order in one message (B075)', () => {
    const { expected } = readCase(
      'B075',
      z.object({ turns: z.array(z.unknown()) }),
      z.object({ resultIdsInSecondRequest: z.array(z.string()) }),
    );
    const { messages } = anthropicRequest(
      chatRequestOf('model-a', [
        ...historyOf([
          { role: 'user', content: 'go' },
          {
            role: 'assistant',
            content: [
              { type: 'tool_use', id: 'A', name: 'slow', input: {} },
              { type: 'tool_use', id: 'B', name: 'fast', input: {} },
            ],
          },
          // Stored as they finished, each on its own.
          { toolOutputs: [{ id: 'B', text: 'second' }] },
          { role: 'user', content: 'meanwhile' },
          { toolOutputs: [{ id: 'A', text: 'first' }] },
        ]),
      ]),
      origin,
      new Set(),
    );
    const blocks = objectsOf(objectOf(messages.at(-1))['content']);
    expect(blocks.map((block) => block['tool_use_id'])).toEqual([
      ...expected.resultIdsInSecondRequest,
      undefined,
    ]);
  });

  it('begin with all results, images inside theirs (B076)', () => {
    const { input, expected } = readCase(
      'B076',
      z.object({ history: z.array(storedMessage) }),
      z.object({ blockTypesPrefix: z.array(z.string()) }),
    );
    const blocks = sentFor(input.history).at(-1)?.blocks ?? [];
    expect(blocks.map((block) => block['type'])).toEqual([...expected.blockTypesPrefix, 'text']);
    expect(JSON.stringify(blocks[0])).toContain('iVBORw0KGgo=');
  });

  it('hold thoughts exactly as they came (B098)', () => {
    const { input } = readCase(
      'B098',
      z.object({ history: z.array(storedMessage) }),
      z.object({ firstTwoBlocksDeepEqual: z.literal(true) }),
    );
    const stored = input.history[1]?.content;
    const blocks = sentFor(input.history)[1]?.blocks ?? [];
    expect(blocks.slice(0, 2)).toEqual(Array.isArray(stored) ? stored.slice(0, 2) : []);
    expect(blocks.map((block) => block['type'])).toEqual([
      'thinking',
      'redacted_thinking',
      'tool_use',
    ]);
  });
});

describe('streams of Anthropic', () => {
  const events = z.array(z.unknown());
  const play = (
    list: readonly unknown[],
  ): Promise<{ events: ChatStreamEvent[]; thrown: unknown }> => {
    const deps = createTestDeps(
      pieceFetch([bytesOf('anthropic', { kind: 'events', events: list })]),
    );
    const provider = createAnthropicProvider(deps, { apiKey: 'k' });
    return collectUntilThrow(
      provider.stream(chatRequestOf('model-a'), new AbortController().signal),
    );
  };
  const readyOf = (found: readonly ChatStreamEvent[]): unknown[] =>
    found.flatMap((event) =>
      event.kind === 'tool_call_ready' ? [[event.callId, event.name, event.input]] : [],
    );

  const inputErrorsOf = (found: readonly ChatStreamEvent[]): unknown[] =>
    found.flatMap((event) => (event.kind === 'tool_call_ready' ? [event.inputError] : []));

  it('may hold a call with empty arguments (B091)', async () => {
    const { input, expected } = readCase(
      'B091',
      z.object({ anthropicEvents: events, cutArguments: z.string() }),
      z.object({ anthropic: z.array(z.unknown()) }),
    );
    const found = await play(input.anthropicEvents);
    expect(readyOf(found.events)).toEqual(expected.anthropic);
    const cut = JSON.stringify(input.anthropicEvents)
      .replace('"partial_json":""', `"partial_json":${JSON.stringify(input.cutArguments)}`)
      .replace('"stop_reason":"tool_use"', '"stop_reason":"max_tokens"');
    const broken = await play(events.parse(JSON.parse(cut)));
    expect(inputErrorsOf(broken.events)).toEqual([expect.stringMatching(/JSON/u)]);
  });

  it('cut just after an empty call do not make it one without arguments', async () => {
    const { input } = readCase('B091', z.object({ anthropicEvents: events }), z.unknown());
    const cut = JSON.stringify(input.anthropicEvents).replace('"tool_use"}', '"max_tokens"}');
    const found = await play(events.parse(JSON.parse(cut)));
    expect(inputErrorsOf(found.events)).toEqual([expect.stringMatching(/cut/u)]);
  });

  it('that break off are never complete (B102)', async () => {
    const { input } = readCase('B102', z.object({ variants: z.array(events) }), z.unknown());
    const codes = [];
    for (const variant of input.variants) {
      const found = await play(variant);
      expect(found.events.map(({ kind }) => kind)).not.toContain('message_end');
      expect(String(found.thrown)).not.toContain('[object Object]');
      codes.push(codeOf(found.thrown));
    }
    expect(codes).toEqual(['overloaded', 'connection_lost']);
  });
});

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}
