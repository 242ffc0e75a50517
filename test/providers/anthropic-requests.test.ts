/** Anthropic requests beyond thinking: cache marks, documents, headers, limits, and odd stops. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../src/messages/chat.ts';
import type { DocumentPart } from '../../src/messages/parts.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { anthropicRequest } from '../../src/providers/anthropic/request.ts';
import { anthropicEvents } from '../../src/providers/anthropic/stream.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { blocksAnswer } from '../emulators/model/anthropic-events.ts';
import { say } from '../emulators/model/script.ts';
import { objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  assistantText,
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  okResult,
  storedParts,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const model = 'claude-sonnet-5-5';
const origin = { provider: 'anthropic', endpoint: 'https://api.anthropic.com', model };
const mark = { type: 'ephemeral' };
const report: DocumentPart = {
  kind: 'document',
  mediaType: 'application/pdf',
  name: 'report.pdf',
  base64: 'JVBERi0=',
};
const reportBlock = {
  type: 'document',
  title: 'report.pdf',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
};

function built(
  messages: readonly ChatMessage[],
  rest: Partial<ChatRequest> = {},
  learned: readonly string[] = [],
) {
  return anthropicRequest(chatRequestOf(model, messages, rest), origin, new Set(learned));
}

/** A step with that many calls, and their results. */
function stepOf(calls: number): ChatMessage[] {
  const ids = Array.from({ length: calls }, (_, place) => `c${place}`);
  return [
    {
      role: 'assistant',
      parts: ids.map((callId) => ({ kind: 'tool_call', callId, name: 'clock', input: {} })),
    },
    ...ids.map((callId) => okResult(callId, 'clock', 'noon')),
  ];
}

describe('cache marks', () => {
  const marksIn = (value: unknown): number =>
    JSON.stringify(value).split('"cache_control":{').length - 1;

  it('stand behind tools and system prompt, and at the end by the API itself', () => {
    const request = built([userText('a'), assistantText('b'), userText('c')]);
    expect(request.cache_control).toEqual(mark);
    expect(request.system).toEqual([
      { type: 'text', text: 'You are a test.', cache_control: mark },
    ]);
    expect(marksIn(request)).toBe(2);
    const bare = built([userText('a')], { system: '' });
    expect(bare.tools?.map((tool) => tool.cache_control)).toEqual([undefined, mark]);
  });

  it('stand where the request before ended, once a step adds more than the look-back reaches', () => {
    const before = [userText('go')];
    // Nine calls and their results are 18 blocks, ten are 20.
    expect(marksIn(built([...before, ...stepOf(9)]).messages)).toBe(0);
    const long = built([...before, ...stepOf(10)]);
    expect(long.messages[0]?.content).toEqual([{ type: 'text', text: 'go', cache_control: mark }]);
    expect(marksIn(long)).toBe(3);
  });

  it('are not sent where they are unwanted or were refused', () => {
    const plain = built([userText('go')], { reasoning: { caching: false } });
    expect(marksIn(plain)).toBe(0);
    expect(plain.system).toBe('You are a test.');
    expect(built([userText('go')], {}, ['no_cache_control'])).toEqual(plain);
  });
});

describe('documents', () => {
  const history: ChatMessage[] = [
    { role: 'user', parts: [{ kind: 'text', text: 'read' }, report] },
    ...stepOf(1).slice(0, 1),
    {
      role: 'tool',
      results: [{ callId: 'c0', name: 'clock', outcome: 'ok', parts: [report] }],
    },
  ];
  const contentOf = (request: ReturnType<typeof built>) =>
    request.messages.map(({ content }) => objectsOf(content));

  it('are shown in messages and in results', () => {
    const [asked, , answered] = contentOf(built(history));
    expect(asked?.[1]).toEqual(reportBlock);
    expect(answered?.[0]?.['content']).toEqual([
      { type: 'text', text: '(no output)' },
      reportBlock,
    ]);
  });

  it('follow the results where one failed', () => {
    const failed: ChatMessage = {
      role: 'tool',
      results: [{ callId: 'c0', name: 'clock', outcome: 'error', parts: [report] }],
    };
    const answered = contentOf(built([...history.slice(0, 2), failed])).at(-1);
    expect(answered?.map(({ type }) => type)).toEqual(['tool_result', 'text', 'document']);
  });

  it.each<[string, Partial<ChatRequest>, string[]]>([
    ['cannot be read', { abilities: { ...chatRequestOf(model).abilities, documents: false } }, []],
    ['were refused', {}, ['no_documents']],
  ])('are named where they %s', (_, rest, learned) => {
    const sent = JSON.stringify(contentOf(built(history, rest, learned)));
    expect(sent).not.toContain('JVBERi0=');
    expect(sent.split('[file report.pdf (application/pdf)')).toHaveLength(3);
  });
});

describe('createAnthropicProvider', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const providerOf = (rest: { name?: string; headers?: Record<string, string> } = {}) =>
    createAnthropicProvider(createTestDeps(), {
      apiKey: 'k',
      baseUrl: server.baseUrl('anthropic'),
      ...rest,
    });

  it('speaks to gateways under their name and with their headers', async () => {
    server.script(say('Fine.'), { kind: 'status', status: 401, message: 'No.' });
    const provider = providerOf({
      name: 'glm',
      headers: { 'X-Api-Key': 'own', 'Anthropic-Version': '2023-06-01', 'x-team': 'ops' },
    });
    expect(provider.name).toBe('glm');
    const [start] = await collect(provider.stream(chatRequestOf('glm-5.3'), never));
    expect(start).toMatchObject({ origin: { provider: 'glm', model: 'glm-5.3' } });
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-key': 'own',
      'anthropic-version': '2023-06-01',
      'x-team': 'ops',
      authorization: 'Bearer k',
    });
    const { thrown } = await collectUntilThrow(provider.stream(chatRequestOf('glm-5.3'), never));
    expect(thrown).toMatchObject({ code: 'auth_failed', facts: { provider: 'glm' } });
  });

  it('asks for less where a model gives less, and takes it for no overflow (B107)', async () => {
    server.script({
      kind: 'status',
      status: 400,
      message:
        'max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for old-1',
    });
    server.otherwise(say('Fine.'));
    const provider = providerOf();
    const request = chatRequestOf('old-1', 'Hi', { mostOutputTokens: 32_000 });
    await collect(provider.stream(request, never));
    await collect(provider.stream(request, never));
    expect(server.requests.map(({ body }) => body['max_tokens'])).toEqual([32_000, 8_192, 8_192]);
  });

  it('goes on without the schema that a server does not take, and with all others', async () => {
    server.script({
      kind: 'status',
      status: 400,
      message: 'tools.0.custom.input_schema: JSON schema is invalid.',
    });
    server.otherwise(say('Fine.'));
    await collect(providerOf().stream(chatRequestOf(model), never));
    expect(
      objectsOf(server.requests[1]?.body['tools']).map(({ input_schema: schema }) => schema),
    ).toEqual([{ type: 'object' }, expect.objectContaining({ additionalProperties: false })]);
  });

  it.each([
    ['cyber', /cyber/u],
    [null, /policy\.$/u],
  ])('fails when it is refused before anything was said (%s)', async (category, words) => {
    const details = { type: 'refusal', category, explanation: null };
    server.script(blocksAnswer([], { stop: 'refusal', details }));
    const { thrown } = await collectUntilThrow(providerOf().stream(chatRequestOf(model), never));
    expect(thrown).toMatchObject({ code: 'refused', facts: { category } });
    expect(String(thrown)).toMatch(words);
  });

  it.each([
    ['refusal', 'refused'],
    ['model_context_window_exceeded', 'context_limit'],
    ['stop_sequence', 'end'],
    ['compaction', 'unknown'],
  ])('ends with %s after a text as %s', async (stop, expected) => {
    server.script(blocksAnswer([{ type: 'text', text: 'So far' }], { stop }));
    const events = await collect(providerOf().stream(chatRequestOf(model), never));
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: expected });
  });

  it('keeps thoughts with their seals and order, the empty and the redacted ones too', async () => {
    const blocks = [
      { type: 'thinking', thinking: ' Hm.\n', signature: 'c2VhbC0x' },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
      { type: 'thinking', thinking: '', signature: 'c2VhbC0y' },
      { type: 'text', text: 'I look.' },
      { type: 'thinking', thinking: '', signature: 'c2VhbC0z' },
      { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} },
    ];
    server.script(blocksAnswer(blocks, { stop: 'tool_use' }));
    const accumulator = createMessageAccumulator();
    const stream = providerOf().stream(chatRequestOf(model), never);
    for await (const event of stream) accumulator.add(event);
    const own = { ...origin, endpoint: server.baseUrl('anthropic') };
    const { messages } = anthropicRequest(
      chatRequestOf(model, [
        userText('go'),
        { role: 'assistant', parts: storedParts(accumulator.parts()) },
        okResult('toolu_1', 'clock', 'noon'),
      ]),
      own,
      new Set(),
    );
    expect(messages[1]?.content).toEqual(blocks);
  });
});

const nothing = (): undefined => undefined;

describe('anthropicEvents', () => {
  it.each([
    ['{"city":"Oslo"}', 'end_turn', 'content_block_stop', { input: { city: 'Oslo' } }],
    // These might go on, or be no arguments: the next block or the end tells.
    ['', 'tool_use', 'message_delta', { input: {} }],
    ['"Oslo"', 'tool_use', 'message_delta', { input: 'Oslo' }],
    ['', 'max_tokens', 'message_delta', { inputError: expect.stringMatching(/cut/u) }],
    ['12', 'max_tokens', 'message_delta', { inputError: expect.stringMatching(/cut/u) }],
  ])('tells a call with %j, ended by %s, at its %s', async (json, stop, at, expected) => {
    const events = [
      { type: 'message_start', message: { usage: null } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: json },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ];
    let read = '';
    const wire = async function* () {
      for (const event of events) {
        read = event.type;
        yield event;
      }
    };
    const raw = {
      [Symbol.asyncIterator]: wire,
      expectEnd: nothing,
      doubtEnd: nothing,
      unseenFailure: nothing,
    };
    const ready = [];
    for await (const event of anthropicEvents(raw, createTestDeps(), origin)) {
      if (event.kind === 'tool_call_ready') ready.push([read, event]);
    }
    expect(ready).toEqual([[at, expect.objectContaining(expected)]]);
  });
});
