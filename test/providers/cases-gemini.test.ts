/** Cases of public reports about Gemini: signatures, odd streams, schemas. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ChatMessage } from '../../src/messages/chat.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { geminiRequest } from '../../src/providers/gemini/request.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { fitSchema } from '../../src/providers/schema.ts';
import { objectOf, objectsOf } from '../emulators/model/wire.ts';
import { bytesOf } from '../emulators/model-server.ts';
import { readCase } from '../support/cases.ts';
import {
  chatRequestOf,
  createTestDeps,
  pieceFetch,
  storedParts,
  userText,
} from '../support/providers.ts';

const model = 'gemini-3.6-flash';
const parts = z.array(z.record(z.string(), z.unknown()));
const responses = z.array(z.unknown());

async function messageOf(events: readonly unknown[]) {
  const deps = createTestDeps(pieceFetch([bytesOf('gemini', { kind: 'events', events })]));
  const provider = createGeminiProvider(deps, { apiKey: 'k' });
  const accumulator = createMessageAccumulator();
  const never = new AbortController().signal;
  for await (const event of provider.stream(chatRequestOf(model), never)) accumulator.add(event);
  return accumulator;
}

const responseOf = (content: readonly unknown[]): unknown => ({
  candidates: [{ content: { role: 'model', parts: content }, finishReason: 'STOP' }],
});

/** The model's and the person's parts of the next request, after the message was stored. */
async function replayed(content: readonly unknown[]) {
  const accumulator = await messageOf([responseOf(content)]);
  const stored = storedParts(accumulator.parts());
  const messages: ChatMessage[] = [
    userText('go'),
    { role: 'assistant', parts: stored },
    {
      role: 'tool',
      results: accumulator.calls().map(({ part: { callId, name } }) => ({
        callId,
        name,
        outcome: 'ok',
        parts: [{ kind: 'text', text: 'x' }],
      })),
    },
  ];
  const origin = accumulator.origin ?? { provider: '', endpoint: '', model: '' };
  const { contents } = geminiRequest(chatRequestOf(model, messages), origin, new Set());
  const [, answer, results] = objectsOf(contents);
  return { answer: objectsOf(answer?.['parts']), results: objectsOf(results?.['parts']) };
}

describe('Gemini', () => {
  it('gets a call back with the signature it came with (B095)', async () => {
    const { input, expected } = readCase(
      'B095',
      z.object({ modelParts: parts }),
      z.object({ replayedModelParts: parts }),
    );
    expect((await replayed(input.modelParts)).answer).toEqual(expected.replayedModelParts);
    const signed = [
      { text: 'One ' },
      { text: 'two.', thoughtSignature: 'czA=' },
      ...input.modelParts,
    ];
    expect((await replayed(signed)).answer).toEqual(signed);
    const sealedEnd = [...input.modelParts, { text: '', thoughtSignature: 'czk=' }];
    expect((await replayed(sealedEnd)).answer).toEqual(sealedEnd);
  });

  it('gets the signatures of parallel calls on the same parts (B096)', async () => {
    const { input, expected } = readCase(
      'B096',
      z.object({ variants: z.array(parts) }),
      z.object({
        replayedSignatures: z.array(z.array(z.string().nullable())),
        functionResponsesInOneContent: z.array(z.string()),
      }),
    );
    for (const [place, variant] of input.variants.entries()) {
      const { answer, results } = await replayed(variant);
      expect(answer.map((part) => part['thoughtSignature'] ?? null)).toEqual(
        expected.replayedSignatures[place],
      );
      const names = results.map((part) => objectOf(part['functionResponse'])['name']);
      expect(names).toEqual(expected.functionResponsesInOneContent);
    }
  });

  it('gets a stand-in signature for calls of another model', () => {
    const messages: ChatMessage[] = [
      userText('go'),
      {
        role: 'assistant',
        parts: ['a', 'b'].map((name) => ({ kind: 'tool_call', callId: name, name, input: {} })),
      },
    ];
    const signaturesFor = (name: string): unknown[] => {
      const origin = { provider: 'gemini', endpoint: 'e', model: name };
      const { contents } = geminiRequest(chatRequestOf(name, messages), origin, new Set());
      const answer = objectsOf(objectsOf(contents)[1]?.['parts']);
      return answer.map((part) => part['thoughtSignature']);
    };
    expect(signaturesFor(model)).toEqual(['skip_thought_signature_validator', undefined]);
    expect(signaturesFor('gemini-2.5-flash')).toEqual([undefined, undefined]);
  });

  it('may put a call beside an empty text (B112)', async () => {
    const { input, expected } = readCase(
      'B112',
      z.object({ responses }),
      z.object({ toolCalls: z.array(z.unknown()), signatureKept: z.string() }),
    );
    const [call] = (await messageOf(input.responses)).calls();
    expect({ name: call?.part.name, arguments: call?.part.input }).toEqual(expected.toolCalls[0]);
    expect(call?.part.raw?.data).toEqual({ thoughtSignature: expected.signatureKept });
  });

  it('may say STOP in every response (B117)', async () => {
    const { input, expected } = readCase(
      'B117',
      z.object({ chunks: responses }),
      z.object({
        text: z.string(),
        toolCalls: z.array(z.object({ name: z.string(), arguments: z.unknown() })),
        usage: z.unknown(),
      }),
    );
    const accumulator = await messageOf(input.chunks);
    expect(accumulator.text()).toBe(expected.text);
    expect(
      accumulator.calls().map(({ part }) => ({ name: part.name, arguments: part.input })),
    ).toEqual(expected.toolCalls);
    expect(accumulator.usage).toMatchObject(expected.usage ?? {});
    expect(accumulator.stop).toBe('tool_calls');
  });

  it('blocks a prompt without candidates, which is a refusal', async () => {
    const accumulator = await messageOf([{ promptFeedback: { blockReason: 'SAFETY' } }]);
    expect(accumulator.stop).toBe('refused');
  });

  it('writes a malformed call, which can be tried again', async () => {
    const malformed = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] };
    await expect(messageOf([malformed])).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('ends with a mark that is no JSON behind some proxies', async () => {
    const whole = Buffer.from(
      bytesOf('gemini', { kind: 'events', events: [responseOf([{ text: 'Hi' }])] }),
    );
    const fetch = pieceFetch([whole, Buffer.from('data: [DONE]\n\n')]);
    const provider = createGeminiProvider(createTestDeps(fetch), { apiKey: 'k' });
    const kinds = [];
    const never = new AbortController().signal;
    for await (const { kind } of provider.stream(chatRequestOf(model), never)) kinds.push(kind);
    expect(kinds).toEqual(['message_start', 'text_delta', 'message_end']);
  });
});

describe('schemas for Gemini', () => {
  const keysIn = (node: unknown): string[] => {
    if (Array.isArray(node)) return node.flatMap(keysIn);
    if (typeof node !== 'object' || node === null) return [];
    return Object.entries(node).flatMap(([key, value]) => [key, ...keysIn(value)]);
  };

  it('hold only what it knows (B099)', () => {
    const { input, expected } = readCase(
      'B099',
      z.object({ schema: z.record(z.string(), z.unknown()) }),
      z.object({ noKeyAnywhere: z.array(z.string()), required: z.array(z.string()) }),
    );
    const fitted = fitSchema(input.schema, 'gemini');
    for (const key of expected.noKeyAnywhere) expect(keysIn(fitted)).not.toContain(key);
    expect(fitted).toEqual({
      type: 'object',
      properties: {
        limit: { type: 'integer', minimum: 1 },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: expected.required,
    });
  });

  it('hold no references, and recursion ends (B101)', () => {
    const { input, expected } = readCase(
      'B101',
      z.object({ schema: z.record(z.string(), z.unknown()) }),
      z.object({ noKeyAnywhere: z.array(z.string()) }),
    );
    const fitted = fitSchema(input.schema, 'gemini');
    for (const key of expected.noKeyAnywhere) expect(keysIn(fitted)).not.toContain(key);
    const node = {
      type: 'object',
      properties: { v: { type: 'string' }, next: { type: 'object' } },
    };
    expect(fitted['properties']).toEqual({
      opts: { type: 'object', properties: { k: { type: 'string' } } },
      list: { type: 'array', items: { type: 'object', properties: { k: { type: 'string' } } } },
      head: node,
      broken: { type: 'object' },
    });
  });
});
