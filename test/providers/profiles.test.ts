/** Each known Chat Completions server is spoken to by its own rules. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../src/messages/chat.ts';
import { type ReasoningOptions, unknownAbilities } from '../../src/messages/model.ts';
import { knownServers, serverAt, serverNames } from '../../src/providers/compatible/profiles.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { call, message, say } from '../emulators/model/script.ts';
import { objectOf, objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  createTestDeps,
  okResult,
  storedParts,
  testCatalog,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;

/** A model of each server whose thinking can be steered, and the folder of its emulator. */
const speakers = [
  ['deepseek/deepseek-flash', 'deepseek'],
  ['xai/grok-4.6', 'xai'],
  ['qwen/qwen3.8-flash', 'qwen'],
  ['glm/glm-5.3', 'glm'],
  ['mistral/mistral-medium-latest', 'mistral'],
  ['openrouter/z-ai/glm-5.3', 'openrouter'],
  ['openai-chat/gpt-5.4', 'openai'],
  ['ollama/qwen3', 'ollama'],
  ['vllm/qwen3', 'vllm'],
  ['llamacpp/qwen3', 'vllm'],
] as const;

describe('a known server', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const setUp = (name: string, folder: string) => {
    const provider = name.slice(0, name.indexOf('/'));
    const registry = createProviderRegistry(
      createTestDeps(),
      {
        model: name,
        providers: {
          [provider]: { speaks: 'chat', apiKey: 'k', baseUrl: `${server.url}/${folder}` },
        },
      },
      testCatalog,
    );
    const { provider: speaker, model, facts } = registry.resolve();
    const ask = (messages: string | readonly ChatMessage[], rest: Partial<ChatRequest> = {}) =>
      speaker.stream(
        chatRequestOf(model, messages, { abilities: facts.abilities, ...rest }),
        never,
      );
    return { ask, facts };
  };
  const bodyAt = (place: number) => server.requests[place]?.body ?? {};
  const objections = () => server.requests.map(({ objection }) => objection);

  it.each(speakers)('takes a whole conversation with calls and thoughts: %s', async (name, at) => {
    const { ask } = setUp(name, at);
    const messages: ChatMessage[] = [userText('weather?')];
    server.script(
      message({ kind: 'reasoning', text: 'Two.' }, call('call_1', 'weather', { city: 'Oslo' })),
      message(call('call_2', 'clock')),
    );
    for (let step = 0; step < 4; step += 1) {
      const accumulator = createMessageAccumulator();
      for await (const event of ask(messages, { reasoning: { effort: 'high' } })) {
        accumulator.add(event);
      }
      messages.push({ role: 'assistant', parts: storedParts(accumulator.parts()) });
      const calls = accumulator.calls();
      for (const { part } of calls) messages.push(okResult(part.callId, part.name, 'rain'));
      // A person speaks right after the results.
      messages.push(userText('go on'));
    }
    expect(objections()).toEqual(Array(4).fill(undefined));
    expect(JSON.stringify(bodyAt(3))).toContain('Fine.');
  });

  it.each<[string, string, ReasoningOptions, object]>([
    ['deepseek/deepseek-flash', 'deepseek', {}, {}],
    [
      'deepseek/deepseek-flash',
      'deepseek',
      { effort: 'xhigh' },
      { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ],
    ['deepseek/deepseek-flash', 'deepseek', { effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['xai/grok-4.6', 'xai', { effort: 'max' }, { reasoning_effort: 'xhigh' }],
    ['xai/grok-4.6', 'xai', { effort: 'none' }, { reasoning_effort: 'low' }],
    ['xai/grok-4.20-reasoning', 'xai', { effort: 'high' }, {}],
    ['qwen/qwen3.8-flash', 'qwen', { effort: 'none' }, { enable_thinking: false }],
    // At most half of the 1,000 tokens that are asked for.
    [
      'qwen/qwen3.8-flash',
      'qwen',
      { effort: 'high' },
      { enable_thinking: true, thinking_budget: 500 },
    ],
    [
      'qwen/qwen3.8-flash',
      'qwen',
      { budgetTokens: 200 },
      { enable_thinking: true, thinking_budget: 200 },
    ],
    ['qwen/qwen3.8-max', 'qwen', { effort: 'none' }, { reasoning_effort: 'none' }],
    ['qwen/qwen3.6-plus', 'qwen', { effort: 'none' }, { enable_thinking: false }],
    [
      'glm/glm-5.3',
      'glm',
      { effort: 'max' },
      { thinking: { type: 'enabled', clear_thinking: false }, reasoning_effort: 'max' },
    ],
    [
      'glm/glm-5.3',
      'glm',
      { effort: 'none' },
      { thinking: { type: 'enabled', clear_thinking: false }, reasoning_effort: 'low' },
    ],
    ['glm/glm-4.7', 'glm', {}, { thinking: { type: 'enabled', clear_thinking: false } }],
    ['glm/glm-4.7', 'glm', { effort: 'none' }, { thinking: { type: 'disabled' } }],
    // What knows on and off alone is on at any other wish.
    [
      'glm/glm-4.7',
      'glm',
      { effort: 'low' },
      { thinking: { type: 'enabled', clear_thinking: false } },
    ],
    [
      'glm/glm-5.2',
      'glm',
      { effort: 'high' },
      { thinking: { type: 'enabled', clear_thinking: false } },
    ],
    ['qwen/qwen3.7-max', 'qwen', { effort: 'high' }, { enable_thinking: true }],
    ['qwen/qwen3.6-plus', 'qwen', { effort: 'minimal' }, { enable_thinking: true }],
    ['qwen/qwen3.6-plus', 'qwen', {}, {}],
    [
      'qwen/qwen3.8-flash',
      'qwen',
      { effort: 'minimal', budgetTokens: 0 },
      { enable_thinking: false },
    ],
    ['mistral/mistral-medium-latest', 'mistral', { effort: 'low' }, { reasoning_effort: 'high' }],
    ['ollama/nobody-knows', 'ollama', { effort: 'high', budgetTokens: 9, verbosity: 'low' }, {}],
    ['vllm/nobody-knows', 'vllm', { effort: 'none' }, {}],
    ['openrouter/nobody/knows', 'openrouter', { effort: 'high', summary: 'none' }, {}],
  ])('is asked to think in its words: %s at %s, %j', async (name, at, reasoning, expected) => {
    const { ask } = setUp(name, at);
    await collect(ask('Hi', { reasoning, tools: [] }));
    const { model: _m, stream: _s, stream_options: _o, messages: _l, ...rest } = bodyAt(0);
    const { max_tokens: limit, ...fields } = rest;
    expect(fields).toEqual(expected);
    expect(limit).toBe(1_000);
    expect(objections()).toEqual([undefined]);
  });

  it.each<[string, object, ReasoningOptions, object]>([
    [
      'openrouter/m',
      { thinking: ['effort'], efforts: ['low', 'high'] },
      { effort: 'high', summary: 'none' },
      { reasoning: { effort: 'high', exclude: true } },
    ],
    [
      'openrouter/m',
      { thinking: ['budget'], efforts: ['high'], budgetTokens: { least: 1, most: 400 } },
      { effort: 'high', budgetTokens: 450 },
      { reasoning: { max_tokens: 400 } },
    ],
    [
      'ollama/m',
      { thinking: ['effort', 'off'], efforts: ['low', 'high'] },
      { effort: 'none' },
      { reasoning_effort: 'none' },
    ],
    [
      'vllm/m',
      { thinking: ['off'] },
      { effort: 'none' },
      { chat_template_kwargs: { enable_thinking: false } },
    ],
    [
      'vllm/m',
      { thinking: ['effort'], efforts: ['low', 'high'] },
      { effort: 'high' },
      { chat_template_kwargs: { reasoning_effort: 'high' } },
    ],
  ])('is asked what somebody described: %s %j %j', async (name, abilities, reasoning, expected) => {
    const { ask, facts } = setUp(name, name.slice(0, name.indexOf('/')));
    await collect(ask('Hi', { reasoning, abilities: { ...facts.abilities, ...abilities } }));
    expect(bodyAt(0)).toMatchObject(expected);
    expect(objections()).toEqual([undefined]);
  });

  it.each([
    ['openrouter/m', 'openrouter', { type: 'openrouter:web_search' }],
    ['glm/glm-5.3', 'glm', { type: 'web_search' }],
  ])('is told by a tool that it may search: %s', async (name, at, tool) => {
    const { ask, facts } = setUp(name, at);
    const abilities = { ...facts.abilities, webSearch: true };
    await collect(ask('Hi', { webSearch: true, abilities }));
    await collect(ask('Hi', { webSearch: false, abilities }));
    await collect(ask('Hi', { webSearch: true, abilities: { ...abilities, webSearch: false } }));
    const searches = [0, 1, 2].map((place) =>
      objectsOf(bodyAt(place)['tools']).filter((one) => one['type'] !== 'function'),
    );
    expect(searches).toEqual([[expect.objectContaining(tool)], [], []]);
  });

  it('is told by a field that it may search, where it has one (Qwen)', async () => {
    const { ask } = setUp('qwen/qwen3.8-max', 'qwen');
    await collect(ask('Hi', { webSearch: true }));
    await collect(ask('Hi'));
    expect(bodyAt(0)['enable_search']).toBe(true);
    expect(bodyAt(1)).not.toHaveProperty('enable_search');
    expect(objections()).toEqual([undefined, undefined]);
  });

  it('DeepSeek gets no empty thoughts when thinking is off', async () => {
    const { ask } = setUp('deepseek/deepseek-flash', 'deepseek');
    const messages = [
      userText('a'),
      { role: 'assistant', parts: [{ kind: 'text', text: 'b' }] } as const,
      userText('c'),
    ];
    await collect(ask(messages, { reasoning: { effort: 'none' } }));
    await collect(ask(messages));
    const thoughts = [0, 1].map((place) => objectsOf(bodyAt(place)['messages'])[2]);
    expect(thoughts[0]).not.toHaveProperty('reasoning_content');
    expect(thoughts[1]).toMatchObject({ reasoning_content: '' });
  });

  it('GLM streams the arguments of tools, where there are tools', async () => {
    const { ask } = setUp('glm/glm-5.3', 'glm');
    await collect(ask('Hi'));
    await collect(ask('Hi', { tools: [] }));
    expect(server.requests.map(({ body }) => body['tool_stream'])).toEqual([true, undefined]);
  });

  it('OpenAI gets developer messages, its own limit and a key for its cache', async () => {
    const { ask } = setUp('openai-chat/gpt-5.4', 'openai');
    const pdf = { kind: 'document', mediaType: 'application/pdf', name: 'a.pdf', base64: 'JVBE' };
    const messages: ChatMessage[] = [
      { role: 'user', parts: [{ ...pdf, kind: 'document', mediaType: 'application/pdf' }] },
    ];
    const abilities = { ...chatRequestOf('m').abilities, documents: true, verbosity: true };
    await collect(ask(messages, { abilities, reasoning: { verbosity: 'low' } }));
    const plain = { abilities: unknownAbilities };
    await collect(ask(messages, { ...plain, reasoning: { verbosity: 'low', caching: false } }));
    expect(bodyAt(0)).toMatchObject({
      max_completion_tokens: 1_000,
      verbosity: 'low',
      prompt_cache_key: expect.stringMatching(/^[0-9a-f]{64}$/u),
      messages: [
        { role: 'developer' },
        {
          role: 'user',
          content: [
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
            },
          ],
        },
      ],
    });
    expect(bodyAt(1)).not.toHaveProperty('verbosity');
    expect(bodyAt(1)).not.toHaveProperty('prompt_cache_key');
    expect(JSON.stringify(bodyAt(1))).toContain('cannot read it');
    expect(objections()).toEqual([undefined, undefined]);
  });

  it.each(['gpt-6-astra', 'gpt-6-luna'])(
    'OpenAI’s %s, which refuses tools here, is asked by the Responses API from then on',
    async (model) => {
      const { ask } = setUp(`openai-chat/${model}`, 'openai');
      const reasoning = { effort: 'high' } as const;
      // Begun without tools, and so by this API.
      const messages: ChatMessage[] = [userText('weather?')];
      await collect(ask(messages, { reasoning, tools: [] }));
      messages.push(
        { role: 'assistant', parts: [{ kind: 'text', text: 'Where?' }] },
        userText('Oslo'),
      );
      server.script(
        message({ kind: 'reasoning', text: 'Hm.' }, call('call_1', 'weather', { city: 'Oslo' })),
      );
      for (let step = 0; step < 2; step += 1) {
        const accumulator = createMessageAccumulator();
        for await (const event of ask(messages, { reasoning })) accumulator.add(event);
        expect(accumulator.origin).toMatchObject({ provider: 'openai-chat', model });
        messages.push({ role: 'assistant', parts: storedParts(accumulator.parts()) });
        for (const { part } of accumulator.calls()) {
          messages.push(okResult(part.callId, part.name, 'rain'));
        }
      }
      expect(server.requests.map(({ path }) => path)).toEqual([
        '/openai/chat/completions',
        '/openai/chat/completions',
        '/openai/responses',
        '/openai/responses',
      ]);
      const refused = expect.stringContaining('Function tools with reasoning_effort');
      expect(objections()).toEqual([undefined, refused, undefined, undefined]);
      expect(bodyAt(3)).toMatchObject({ model, reasoning: { effort: 'high' } });
      // The thought of the first answer by that API goes back to it.
      expect(objectsOf(bodyAt(3)['input']).map(({ type }) => type)).toContain('reasoning');
      expect(server.requests[3]?.headers).toMatchObject({ authorization: 'Bearer k' });
    },
  );

  it('without the Responses API beside it gets tools only without thinking', async () => {
    const { ask } = setUp('xai/grok-4.6', 'v1');
    const refusal =
      'Function tools with reasoning_effort are not supported for m in /v1/chat/completions.';
    server.script({ kind: 'status', status: 400, message: refusal });
    await collect(ask('Hi', { reasoning: { effort: 'high' } }));
    expect(server.requests.map(({ path }) => path)).toEqual(Array(2).fill('/v1/chat/completions'));
    expect(bodyAt(1)['reasoning_effort']).toBe('none');
  });

  it('xAI gets its cache’s key as a header', async () => {
    const { ask } = setUp('xai/grok-4.6', 'xai');
    await collect(ask('Hi'));
    await collect(ask('Hi', { reasoning: { caching: false } }));
    const keys = server.requests.map(({ headers }) => headers['x-grok-conv-id']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/u), undefined]);
  });

  it('is told of tools that are gone, when the history has calls to them', async () => {
    const { ask } = setUp('vllm/m', 'proxy');
    const messages: ChatMessage[] = [
      userText('go'),
      {
        role: 'assistant',
        parts: [{ kind: 'tool_call', callId: 'c1', name: 'weather', input: {} }],
      },
      okResult('c1', 'weather', 'rain'),
    ];
    await collect(ask(messages, { tools: [] }));
    expect(objections()).toEqual([undefined]);
    expect(bodyAt(0)).toMatchObject({ tool_choice: 'none' });
    const names = objectsOf(bodyAt(0)['tools']).map((tool) => objectOf(tool['function'])['name']);
    expect(names).toEqual(['weather']);
  });

  it('is sent no tools where the model takes none, and never parallel_tool_calls', async () => {
    const { ask, facts } = setUp('ollama/m', 'ollama');
    await collect(ask('Hi', { abilities: { ...facts.abilities, tools: false } }));
    await collect(ask('Hi'));
    expect(bodyAt(0)).not.toHaveProperty('tools');
    expect(bodyAt(1)).toHaveProperty('tools');
    expect(bodyAt(1)).not.toHaveProperty('parallel_tool_calls');
  });
});

describe('serverAt', () => {
  it.each([
    ['https://api.deepseek.com/v1', 'deepseek'],
    ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'qwen'],
    ['https://w1.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1', 'qwen'],
    ['https://open.bigmodel.cn/api/paas/v4', 'glm'],
    ['http://gpu.local:11434/v1', 'ollama'],
    ['https://api.deepseek.com.evil.example/v1', undefined],
    ['https://notapi.x.ai.example', undefined],
    ['nonsense', undefined],
  ])('of %s is %s', (address, name) => {
    expect(serverAt(address)).toBe(name);
  });

  it('finds every hosted server by its own address', () => {
    const hosted = serverNames.filter((name) => knownServers[name].hosts.length > 0);
    expect(hosted.length).toBeGreaterThan(6);
    for (const name of hosted) expect(serverAt(knownServers[name].baseUrl)).toBe(name);
  });
});
