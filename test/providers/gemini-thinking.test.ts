/** How Gemini's families are asked to think and to draw, and what their history holds. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import type { ChatMessage, ChatRequest } from '../../src/messages/chat.ts';
import type { ReasoningOptions } from '../../src/messages/model.ts';
import { MalformedAnswer } from '../../src/providers/errors.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { say } from '../emulators/model/script.ts';
import { objectOf, objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import { chatRequestOf, collect, createTestDeps, userText } from '../support/providers.ts';

const never = new AbortController().signal;
const png = { kind: 'image', mediaType: 'image/png', base64: 'aW1n' } as const;
const pdf = {
  kind: 'document',
  mediaType: 'application/pdf',
  name: 'a.pdf',
  base64: 'JVBE',
} as const;

describe('Gemini', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const ask = async (
    model: string,
    rest: Partial<ChatRequest> = {},
    messages: string | readonly ChatMessage[] = 'Hi',
  ) => {
    const baseUrl = server.baseUrl('gemini');
    const provider = createGeminiProvider(createTestDeps(), { apiKey: 'k', baseUrl });
    await collect(provider.stream(chatRequestOf(model, messages, rest), never));
    return server.requests.at(-1)?.body ?? {};
  };
  const configOf = (body: object) => objectOf(objectOf(body)['generationConfig']);
  const objections = () => server.requests.map(({ objection }) => objection);

  it.each<[string, ReasoningOptions, object | undefined]>([
    ['gemini-4-argon', {}, { includeThoughts: true }],
    ['gemini-4-argon', { effort: 'minimal' }, { includeThoughts: true, thinkingLevel: 'LOW' }],
    ['gemini-4-argon', { effort: 'max' }, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    ['gemini-4-argon', { effort: 'none' }, { includeThoughts: true, thinkingLevel: 'LOW' }],
    // The SDK does not know this level.
    ['gemini-4-neon', { effort: 'xhigh' }, { includeThoughts: true, thinkingLevel: 'XHIGH' }],
    ['gemini-3.6-flash', { effort: 'none' }, { includeThoughts: true, thinkingLevel: 'MINIMAL' }],
    ['gemini-3.6-flash', { summary: 'none' }, undefined],
    [
      'gemini-3.6-flash',
      { effort: 'high', budgetTokens: 512, summary: 'none' },
      { thinkingLevel: 'HIGH' },
    ],
    ['gemini-2.5-flash', { effort: 'none' }, { thinkingBudget: 0 }],
    ['gemini-2.5-flash', { effort: 'low' }, { includeThoughts: true, thinkingBudget: 1_024 }],
    ['gemini-2.5-flash', { effort: 'max' }, { includeThoughts: true, thinkingBudget: 24_576 }],
    [
      'gemini-2.5-flash',
      { budgetTokens: 99_999 },
      { includeThoughts: true, thinkingBudget: 24_576 },
    ],
    ['gemini-2.5-pro', { budgetTokens: 5 }, { includeThoughts: true, thinkingBudget: 128 }],
    ['gemini-2.5-pro', { effort: 'max' }, { includeThoughts: true, thinkingBudget: 32_768 }],
    ['gemini-2.5-pro', { effort: 'high' }, { includeThoughts: true, thinkingBudget: 24_576 }],
    ['gemini-2.5-pro', { effort: 'none' }, { includeThoughts: true, thinkingBudget: 1_024 }],
    ['gemini-9-nobody', { effort: 'high', budgetTokens: 512 }, undefined],
  ])('%s with %j thinks by %j', async (model, reasoning, expected) => {
    const body = await ask(model, { reasoning, mostOutputTokens: 65_536 });
    expect(configOf(body)['thinkingConfig']).toEqual(expected);
    expect(objections()).toEqual([undefined]);
  });

  it.each([
    [65_536, 24_576],
    [49_150, 16_384],
    [20_000, 8_192],
  ])('leaves half or more of %i tokens for the answer', async (mostOutputTokens, budget) => {
    const body = await ask('gemini-2.5-flash', { reasoning: { effort: 'high' }, mostOutputTokens });
    expect(objectOf(configOf(body)['thinkingConfig'])['thinkingBudget']).toBe(budget);
  });

  it('is not asked for a budget that the answer has no room for', async () => {
    const body = await ask('gemini-2.5-pro', {
      reasoning: { effort: 'high' },
      mostOutputTokens: 255,
    });
    expect(objectOf(configOf(body)['thinkingConfig'])).toEqual({ includeThoughts: true });
  });

  it('is asked without a level from then on, when it takes none', async () => {
    server.script({
      kind: 'status',
      status: 400,
      message: 'thinking_level is not supported for this model.',
    });
    const body = await ask('gemini-3.6-flash', { reasoning: { effort: 'high' } });
    expect(configOf(body)['thinkingConfig']).toEqual({ includeThoughts: true });
    expect(server.requests).toHaveLength(2);
  });

  it('draws in the wished format, where it can draw', async () => {
    const reasoning = { imageRatio: '16:9', imageResolution: '2K', summary: 'none' } as const;
    const drawn = configOf(await ask('gemini-3-pro-image', { reasoning }));
    expect(drawn['imageConfig']).toEqual({ aspectRatio: '16:9', imageSize: '2K' });
    expect(configOf(await ask('gemini-3-pro-image'))).not.toHaveProperty('imageConfig');
    expect(configOf(await ask('gemini-3.6-flash', { reasoning }))).not.toHaveProperty(
      'imageConfig',
    );
  });

  const seen: readonly ChatMessage[] = [
    { role: 'user', parts: [{ kind: 'text', text: 'Look.' }, pdf] },
    {
      role: 'assistant',
      parts: [{ kind: 'tool_call', callId: 'c1', name: 'clock', input: {} }],
    },
    {
      role: 'tool',
      results: [{ callId: 'c1', name: 'clock', outcome: 'ok', parts: [png, pdf] }],
    },
  ];
  const media = [
    { inlineData: { mimeType: 'image/png', data: 'aW1n' } },
    { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
  ];
  const resultsOf = (body: object) =>
    objectsOf(objectsOf(objectOf(body)['contents'])[2]?.['parts']);

  it('sees images and PDFs within results from Gemini 3 on', async () => {
    const body = await ask('gemini-3.6-flash', {}, seen);
    const [response, ...beside] = resultsOf(body);
    expect(objectOf(response?.['functionResponse'])['parts']).toEqual(media);
    expect(beside).toEqual([]);
    expect(JSON.stringify(objectsOf(body['contents'])[0])).toContain('JVBE');
    expect(objections()).toEqual([undefined]);
  });

  it.each(['gemini-2.5-flash', 'gemini-9-nobody'])('%s sees them beside results', async (model) => {
    const abilities = { ...chatRequestOf(model).abilities, documents: true };
    const [response, ...beside] = resultsOf(await ask(model, { abilities }, seen));
    expect(response?.['functionResponse']).not.toHaveProperty('parts');
    expect(beside).toEqual(media);
    expect(objections()).toEqual([undefined]);
  });

  it('is told of PDFs that it cannot read', async () => {
    const sent = JSON.stringify(await ask('gemini-9-nobody', {}, seen));
    expect(sent).not.toContain('JVBE');
    expect(sent.split('cannot read it')).toHaveLength(3);
  });

  it('gets an error for a call whose result was lost, in call order (B113)', async () => {
    const messages: ChatMessage[] = [
      userText('go'),
      {
        role: 'assistant',
        parts: ['c1', 'c2'].map(
          (callId) => ({ kind: 'tool_call', callId, name: 'clock', input: {} }) as const,
        ),
      },
      { role: 'tool', results: [{ callId: 'c2', name: 'clock', outcome: 'ok', parts: [] }] },
    ];
    const responses = resultsOf(await ask('gemini-3.6-flash', {}, messages)).map(
      (part) => objectOf(part['functionResponse'])['response'],
    );
    expect(responses).toEqual([
      { error: expect.stringContaining('interrupted') },
      { output: '(no output)' },
    ]);
    expect(objections()).toEqual([undefined]);
  });

  it.each([
    'MALFORMED_FUNCTION_CALL',
    'MALFORMED_RESPONSE',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
  ])('that ends by %s alone is worth one more try', async (finishReason) => {
    server.script({ kind: 'events', events: [{ candidates: [{ finishReason }] }] });
    const thrown = await ask('gemini-3.6-flash').catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'overloaded' });
    expect(thrown instanceof BotError && thrown.cause).toBeInstanceOf(MalformedAnswer);
  });

  it.each([
    ['SAFETY', 'refused'],
    ['MODEL_ARMOR', 'refused'],
    ['IMAGE_SAFETY', 'refused'],
    ['MAX_TOKENS', 'output_limit'],
    ['ESCALATION', 'unknown'],
    ['OTHER', 'unknown'],
  ])('that ends by %s has stopped as %s', async (finishReason, stop) => {
    server.script({ kind: 'events', events: [{ candidates: [{ finishReason }] }] });
    const baseUrl = server.baseUrl('gemini');
    const provider = createGeminiProvider(createTestDeps(), { apiKey: 'k', baseUrl });
    const events = await collect(provider.stream(chatRequestOf('gemini-3.6-flash'), never));
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop });
  });

  it.each([
    'MALFORMED_FUNCTION_CALL',
    'MALFORMED_RESPONSE',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
  ])(
    'that ends by %s after words has announced a call that did not come (B081)',
    async (finish) => {
      const said = { candidates: [{ content: { parts: [{ text: 'I will look.' }] } }] };
      const end = { candidates: [{ content: {}, finishReason: finish }] };
      server.script({ kind: 'events', events: [said, end] });
      const baseUrl = server.baseUrl('gemini');
      const provider = createGeminiProvider(createTestDeps(), { apiKey: 'k', baseUrl });
      const events = await collect(provider.stream(chatRequestOf('gemini-3.6-flash'), never));
      expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'tool_calls' });
    },
  );

  it('that misses a signature has been asked badly', async () => {
    const finishReason = 'MISSING_THOUGHT_SIGNATURE';
    server.script({ kind: 'events', events: [{ candidates: [{ finishReason }] }] });
    await expect(ask('gemini-3.6-flash')).rejects.toMatchObject({ code: 'bad_request' });
  });
});
