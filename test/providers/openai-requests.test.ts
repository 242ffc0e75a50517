/** OpenAI Responses: what is asked of which model, search, files, phases, and how streams fail. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest, ChatStreamEvent } from '../../src/messages/chat.ts';
import type { ReasoningOptions } from '../../src/messages/model.ts';
import type { DocumentPart } from '../../src/messages/parts.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { openaiRequest } from '../../src/providers/openai/request.ts';
import { citedItem, itemsAnswer, searchItem } from '../emulators/model/responses-events.ts';
import { message, say } from '../emulators/model/script.ts';
import { objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  storedParts,
  testCatalog,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const model = 'gpt-6.2-sol';
const origin = { provider: 'openai', endpoint: 'https://api.openai.com/v1', model };
const report: DocumentPart = {
  kind: 'document',
  mediaType: 'application/pdf',
  name: 'report.pdf',
  base64: 'JVBERi0=',
};
const reportContent = {
  type: 'input_file',
  filename: 'report.pdf',
  file_data: 'data:application/pdf;base64,JVBERi0=',
};

function built(
  name: string,
  rest: Partial<ChatRequest>,
  learned: readonly string[] = [],
): ReturnType<typeof openaiRequest> {
  return openaiRequest(chatRequestOf(name, 'Hi', rest), origin, new Set(learned));
}

describe('openaiRequest', () => {
  it.each<[string, ReasoningOptions, unknown, unknown]>([
    ['gpt-6.2-sol', {}, { summary: 'auto' }, undefined],
    ['gpt-6.2-sol', { effort: 'max' }, { effort: 'max', summary: 'auto' }, undefined],
    ['gpt-6.2-sol', { effort: 'none' }, { effort: 'low', summary: 'auto' }, undefined],
    ['gpt-6-luna', { effort: 'none' }, { effort: 'none' }, undefined],
    ['gpt-5.4', { effort: 'max' }, { effort: 'xhigh', summary: 'auto' }, undefined],
    ['gpt-6.2-sol', { summary: 'detailed' }, { summary: 'detailed' }, undefined],
    ['gpt-6.2-sol', { summary: 'none' }, undefined, undefined],
    ['gpt-6.2-sol', { verbosity: 'low' }, { summary: 'auto' }, { verbosity: 'low' }],
    ['unheard-of', { effort: 'high', verbosity: 'low' }, undefined, undefined],
  ])('asks %s with %j for %j and %j', (name, reasoning, expected, text) => {
    const request = built(name, { reasoning });
    expect({ reasoning: request.reasoning, text: request.text }).toEqual({
      reasoning: expected,
      text,
    });
  });

  it('names no cache key where none is wanted', () => {
    expect(built(model, { reasoning: { caching: false } })).not.toHaveProperty('prompt_cache_key');
    expect(built(model, { reasoning: { caching: true } })).toHaveProperty('prompt_cache_key');
  });

  it('offers the vendor’s search where it is wished and possible', () => {
    const typesOf = (rest: Partial<ChatRequest>, learned: string[] = []) =>
      built(model, rest, learned).tools?.map(({ type }) => type);
    const ours = ['function', 'function'];
    expect(typesOf({ webSearch: true })).toEqual([...ours, 'web_search']);
    expect(typesOf({})).toEqual(ours);
    expect(typesOf({ webSearch: true }, ['no_web_search'])).toEqual(ours);
    const own = { name: 'web_search', description: 'Ours.', inputSchema: { type: 'object' } };
    expect(typesOf({ webSearch: true, tools: [own] })).toEqual(['function']);
  });

  it.each<[string, Partial<ChatRequest>, string[]]>([
    ['cannot be read', { abilities: { ...chatRequestOf(model).abilities, documents: false } }, []],
    ['were refused', {}, ['no_documents']],
  ])('names documents where they %s', (_, rest, learned) => {
    const { input } = built(
      model,
      { ...rest, messages: [{ role: 'user', parts: [report] }] },
      learned,
    );
    expect(JSON.stringify(input)).toContain('[file report.pdf (application/pdf)');
    expect(JSON.stringify(input)).not.toContain('JVBERi0=');
  });
});

describe('createOpenaiProvider', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const providerOf = (rest: { name?: string; headers?: Record<string, string> } = {}) =>
    createOpenaiProvider(createTestDeps(), {
      apiKey: 'k',
      baseUrl: server.baseUrl('openai'),
      ...rest,
    });
  const ask = async (
    messages: readonly ChatMessage[],
    rest: Partial<ChatRequest> = {},
  ): Promise<{ events: ChatStreamEvent[]; answer: ChatMessage }> => {
    const events = await collect(providerOf().stream(chatRequestOf(model, messages, rest), never));
    const accumulator = createMessageAccumulator();
    for (const event of events) accumulator.add(event);
    return { events, answer: { role: 'assistant', parts: storedParts(accumulator.parts()) } };
  };
  const objections = () => server.requests.flatMap(({ objection }) => objection ?? []);
  const sent = () => objectsOf(server.requests.at(-1)?.body['input']);

  it('asks every model of the catalog in a way that it takes', async () => {
    server.otherwise(say('Fine.'));
    const models = testCatalog.modelsOf('openai').map(({ name }) => name.slice('openai/'.length));
    const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
    for (const name of models) {
      for (const effort of efforts) {
        const request = chatRequestOf(name, 'Hi', { reasoning: { effort, verbosity: 'low' } });
        await collect(providerOf().stream(request, never));
      }
    }
    expect(models.length).toBeGreaterThan(10);
    expect(server.requests).toHaveLength(models.length * efforts.length);
    expect(objections()).toEqual([]);
  });

  it('shows images and documents in messages and in results', async () => {
    server.otherwise(say('Seen.'));
    const image = { kind: 'image', mediaType: 'image/png', base64: 'aW1n' } as const;
    await ask([
      { role: 'user', parts: [{ kind: 'text', text: 'read' }, report] },
      { role: 'assistant', parts: [{ kind: 'tool_call', callId: 'c1', name: 'clock', input: {} }] },
      {
        role: 'tool',
        results: [{ callId: 'c1', name: 'clock', outcome: 'ok', parts: [image, report] }],
      },
    ]);
    expect(sent()[0]?.['content']).toEqual([{ type: 'input_text', text: 'read' }, reportContent]);
    expect(sent()[2]?.['output']).toEqual([
      { type: 'input_text', text: '(no output)' },
      { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,aW1n' },
      reportContent,
    ]);
    expect(objections()).toEqual([]);
  });

  it('tells searches and sources, and sends all items back in order', async () => {
    // The emulator takes only seals that it gave out itself.
    server.script(message({ kind: 'reasoning', text: 'Hm.' }, { kind: 'text', text: 'So.' }));
    const { answer } = await ask([userText('go')]);
    const [thought] = answer.role === 'assistant' ? answer.parts : [];
    const sealed = thought?.kind === 'reasoning' ? thought.raw?.data : undefined;
    const reasoning = { type: 'reasoning', ...Object(sealed) };
    const commentary = {
      ...citedItem,
      id: 'msg_0',
      phase: 'commentary',
      content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
    };
    server.script(
      itemsAnswer([reasoning, commentary, searchItem, citedItem]),
      say('You are welcome.'),
    );
    const first = await ask([userText('weather?')], { webSearch: true });
    expect(first.events.filter(({ kind }) => kind === 'server_tool')).toEqual([
      {
        kind: 'server_tool',
        name: 'web_search',
        input: searchItem.action,
        result: { status: 'completed' },
      },
    ]);
    expect(first.events.filter(({ kind }) => kind === 'citations')).toEqual([
      {
        kind: 'citations',
        citations: [{ url: 'https://example.org/oslo', title: 'Oslo today' }],
      },
    ]);
    await ask([userText('weather?'), first.answer, userText('thanks')], { webSearch: true });
    expect(sent().slice(1, -1)).toEqual([reasoning, commentary, searchItem, citedItem]);
    expect(objections()).toEqual([]);
  });

  it('leaves a search out whose thought cannot be sent, and keeps its words', async () => {
    server.script(itemsAnswer([searchItem, citedItem]), say('You are welcome.'));
    const { answer } = await ask([userText('weather?')]);
    await ask([userText('weather?'), answer, userText('thanks')]);
    expect(sent()[1]).toEqual({
      role: 'assistant',
      content: 'It rains in Oslo.',
      phase: 'final_answer',
    });
  });

  it('speaks to other servers under their name and with their headers', async () => {
    server.script(say('Fine.'), { kind: 'status', status: 403, message: 'No.' });
    const provider = providerOf({
      name: 'azure',
      headers: { Authorization: 'own', 'x-team': 'o' },
    });
    expect(provider.name).toBe('azure');
    const [start] = await collect(provider.stream(chatRequestOf(model), never));
    expect(start).toMatchObject({ origin: { provider: 'azure' } });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'own', 'x-team': 'o' });
    const { thrown } = await collectUntilThrow(provider.stream(chatRequestOf(model), never));
    expect(thrown).toMatchObject({ code: 'auth_failed', facts: { provider: 'azure' } });
  });

  it.each([
    ["Unsupported parameter: 'reasoning.effort' is not supported with this model.", 'effort'],
    ["Unsupported parameter: 'text.verbosity' is not supported with this model.", 'verbosity'],
    ["Hosted tool 'web_search' is not supported with this model.", 'web_search'],
    ["Invalid value: 'input_file'. Supported values are: 'input_text'.", 'input_file'],
  ])('drops what a server refuses: %s', async (refusal, field) => {
    server.script({ kind: 'status', status: 400, message: refusal });
    server.otherwise(say('Fine.'));
    await ask([{ role: 'user', parts: [report] }], {
      reasoning: { effort: 'high', verbosity: 'low' },
      webSearch: true,
    });
    const has = server.requests.map(({ body }) => JSON.stringify(body).includes(`"${field}"`));
    expect(has).toEqual([true, false]);
  });

  it('asks for less where a model gives less (B107)', async () => {
    server.script({
      kind: 'status',
      status: 400,
      param: 'max_tokens',
      message:
        'max_tokens is too large: 32000. This model supports at most 16384 completion tokens.',
    });
    server.otherwise(say('Fine.'));
    await ask([userText('go')], { mostOutputTokens: 32_000 });
    expect(server.requests.map(({ body }) => body['max_output_tokens'])).toEqual([32_000, 16_384]);
  });

  const overloaded = { code: 'server_is_overloaded', message: 'Come back later.' };
  const tooLong = { code: 'context_length_exceeded', message: 'Too much.' };
  it.each([
    ['a bare error', [{ type: 'error', ...overloaded, param: null }], 'overloaded'],
    ['a nested error', [{ type: 'error', error: overloaded }], 'overloaded'],
    [
      'a failed response',
      [{ type: 'response.failed', response: { status: 'failed', error: overloaded } }],
      'overloaded',
    ],
    ['a bare overflow', [{ type: 'error', ...tooLong, param: null }], 'context_overflow'],
    ['a nested overflow', [{ type: 'error', error: tooLong }], 'context_overflow'],
    [
      'a failed overflow',
      [{ type: 'response.failed', response: { error: tooLong } }],
      'context_overflow',
    ],
  ])('reports %s inside the stream', async (_, events, code) => {
    server.script({ kind: 'events', events });
    const { thrown } = await collectUntilThrow(providerOf().stream(chatRequestOf(model), never));
    expect(thrown).toMatchObject({ code });
  });

  it.each([
    ['max_output_tokens', 'output_limit'],
    ['content_filter', 'refused'],
    ['max_context_window', 'context_limit'],
    ['something_new', 'unknown'],
  ])('ends as incomplete by %s as %s', async (reason, expected) => {
    server.script(
      itemsAnswer([citedItem], {
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason } },
      }),
    );
    const { events } = await ask([userText('go')]);
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: expected });
  });
});
