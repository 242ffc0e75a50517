/** What Chat Completions servers make of the format, and what each refuses once. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatStreamEvent } from '../../src/messages/chat.ts';
import { abilitiesSchema } from '../../src/messages/model.ts';
import { knownServers, type ServerName } from '../../src/providers/compatible/profiles.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { say } from '../emulators/model/script.ts';
import { objectOf, objectsOf } from '../emulators/model/wire.ts';
import { bytesOf, createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  okResult,
  pieceFetch,
  storedParts,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const delta = (fields: object, rest: object = {}) => ({
  choices: [{ index: 0, delta: fields, ...rest }],
});
const stop = delta({}, { finish_reason: 'stop' });

async function eventsOf(events: readonly unknown[], doneMark = true): Promise<ChatStreamEvent[]> {
  const bytes = bytesOf('compatible', { kind: 'events', events, doneMark });
  const deps = createTestDeps(pieceFetch([bytes]));
  const provider = createCompatibleProvider(deps, { baseUrl: 'http://127.0.0.1:1/v1' });
  return collect(provider.stream(chatRequestOf('m', 'go'), never));
}

async function messageOf(events: readonly unknown[], doneMark = true) {
  const accumulator = createMessageAccumulator();
  for (const event of await eventsOf(events, doneMark)) accumulator.add(event);
  return accumulator;
}

describe('the usage of a compatible server', () => {
  const text = delta({ content: 'Hi' });
  const used = { prompt_tokens: 10, completion_tokens: 4 };

  it.each<[string, readonly unknown[], object | undefined]>([
    ['in the last chunk', [text, stop, { choices: [], usage: used }], { input: 10, output: 4 }],
    ['within the choice', [text, delta({}, { finish_reason: 'stop', usage: used })], { input: 10 }],
    ['beside the text', [{ ...text, usage: used }, stop], { input: 10, output: 4 }],
    [
      'twice, the last one whole',
      [{ ...text, usage: { prompt_tokens: 10, completion_tokens: 1 } }, stop, { usage: used }],
      { input: 10, output: 4 },
    ],
    [
      'then null',
      [
        { ...text, usage: used },
        { ...stop, usage: null },
      ],
      { input: 10, output: 4 },
    ],
    ['nowhere', [text, stop], undefined],
    [
      'with more thoughts than words',
      [text, stop, { usage: { ...used, completion_tokens_details: { reasoning_tokens: 9 } } }],
      { output: 0, reasoning: 4 },
    ],
    [
      'with thoughts beside the words (xAI)',
      [
        text,
        stop,
        {
          usage: {
            ...used,
            total_tokens: 23,
            completion_tokens_details: { reasoning_tokens: 9 },
          },
        },
      ],
      { output: 4, reasoning: 9 },
    ],
    [
      'with a cached part (DeepSeek)',
      [text, stop, { usage: { ...used, prompt_cache_hit_tokens: 8 } }],
      { input: 2, cacheRead: 8 },
    ],
    [
      'with a price (OpenRouter)',
      [text, stop, { usage: { ...used, cost: 0.0012 } }],
      { reportedUsd: 0.0012 },
    ],
  ])('is found %s', async (_where, events, expected) => {
    const { usage } = await messageOf(events);
    expect({ usage }).toMatchObject({ usage: expected });
  });
});

it('a price that no server named is in no usage', async () => {
  const { usage } = await messageOf([delta({ content: 'Hi' }), { ...stop, usage: { cost: null } }]);
  expect(usage).not.toHaveProperty('reportedUsd');
});

describe('the end of a compatible server’s message', () => {
  const opened = delta({
    tool_calls: [{ index: 0, id: 'a', function: { name: 'clock', arguments: '{}' } }],
  });

  it.each(['stop', 'tool_calls', 'function_call', 'eos', 'whatever'])(
    'by %s is a turn of tools when there are calls',
    async (finish) => {
      const { stop: reason } = await messageOf([opened, delta({}, { finish_reason: finish })]);
      expect(reason).toBe('tool_calls');
    },
  );

  it.each([
    ['text and the end mark', [delta({ content: 'Hi' })], true, 'end'],
    ['text alone', [delta({ content: 'Hi' })], false, 'unknown'],
    ['a whole call alone', [opened], false, 'tool_calls'],
  ])('may be missing after %s', async (_what, events, doneMark, expected) => {
    expect((await messageOf(events, doneMark)).stop).toBe(expected);
  });

  it('that is missing after half a call is a lost connection', async () => {
    const half = delta({
      tool_calls: [{ index: 0, function: { name: 'clock', arguments: '{"a' } }],
    });
    await expect(eventsOf([half], false)).rejects.toMatchObject({ code: 'connection_lost' });
  });

  it('by error is a failure that can pass', async () => {
    const events = [delta({ content: '' }), delta({}, { finish_reason: 'error' })];
    await expect(eventsOf(events)).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('the content of a compatible server', () => {
  it('may come as parts, and thoughts among them go back as such (Mistral)', async () => {
    const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
    const accumulator = await messageOf([
      delta({ content: [thinking('Let me ')] }),
      delta({ content: [thinking('see.')] }),
      delta({ content: [{ type: 'text', text: 'Four' }, { type: 'reference' }] }),
      delta({ content: '.' }),
      stop,
    ]);
    expect(accumulator.text()).toBe('Four.');
    const server = await createModelServer();
    server.otherwise(say('Fine.'));
    const baseUrl = server.baseUrl('compatible');
    const parts = storedParts(accumulator.parts()).map((part) =>
      'raw' in part && part.raw !== undefined
        ? { ...part, raw: { ...part.raw, origin: { ...part.raw.origin, endpoint: baseUrl } } }
        : part,
    );
    const provider = createCompatibleProvider(createTestDeps(), { baseUrl });
    const messages: ChatMessage[] = [userText('go'), { role: 'assistant', parts }, userText('on')];
    await collect(provider.stream(chatRequestOf('m', messages), never));
    expect(objectsOf(server.requests[0]?.body['messages'])[2]).toEqual({
      role: 'assistant',
      content: [thinking('Let me see.'), { type: 'text', text: 'Four.' }],
    });
    await server.close();
  });

  it.each(['reasoning', 'reasoning_content'])(
    'names its thoughts %s, and keeps that',
    async (field) => {
      const [part] = (
        await messageOf([delta({ [field]: 'Hm.' }), delta({ content: 'A' }), stop])
      ).parts();
      expect(part).toMatchObject({ kind: 'reasoning', text: 'Hm.', raw: { data: { field } } });
    },
  );

  it('with the same thought under both names has it once', async () => {
    const both = delta({ reasoning: 'Hm.', reasoning_content: 'Hm.' });
    const [part] = (await messageOf([both, delta({ content: 'A' }), stop])).parts();
    expect(part).toMatchObject({ text: 'Hm.' });
  });

  it('names its sources beside the text', async () => {
    const cited = { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } };
    const events = await eventsOf([
      delta({ content: 'So.', annotations: [cited, { type: 'file' }] }),
      { ...stop, web_search: [{ link: 'https://b.example', title: '' }, { title: 'no link' }] },
    ]);
    expect(events.filter(({ kind }) => kind === 'citations')).toEqual([
      { kind: 'citations', citations: [{ url: 'https://a.example', title: 'A' }] },
      { kind: 'citations', citations: [{ url: 'https://b.example', title: 'https://b.example' }] },
    ]);
  });
});

describe('what a compatible server refuses', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const history: readonly ChatMessage[] = [
    userText('go'),
    {
      role: 'assistant',
      parts: [{ kind: 'tool_call', callId: 'c1', name: 'weather', input: {} }],
    },
    okResult('c1', 'weather', 'rain'),
    userText('and?'),
  ];

  /** The messages of the first and the second request. */
  const askTwice = async (refusal: string, status = 400) => {
    server.script({ kind: 'status', status, message: refusal }, say('Fine.'));
    const baseUrl = server.baseUrl('compatible');
    const provider = createCompatibleProvider(createTestDeps(), { baseUrl });
    const { thrown } = await collectUntilThrow(provider.stream(chatRequestOf('m', history), never));
    expect(thrown).toBeUndefined();
    const [first, second] = server.requests.map(({ body }) => objectsOf(body['messages']));
    return { first: first ?? [], second: second ?? [] };
  };

  it.each([
    'Invalid value for content: expected string, got null.',
    'messages[2].content must be a string',
  ])('is null where there is no text: %s', async (refusal) => {
    const { first, second } = await askTwice(refusal);
    expect([first[2]?.['content'], second[2]?.['content']]).toEqual([null, '']);
  });

  it('is a message without its thoughts, in its own words (DeepSeek)', async () => {
    const { first, second } = await askTwice(
      'The reasoning_content in the thinking mode must be passed back to the API.',
    );
    expect(first[2]).not.toHaveProperty('reasoning_content');
    expect(second[2]).toMatchObject({ reasoning_content: '' });
  });

  it('is a person right after results (Mistral)', async () => {
    const { second } = await askTwice("Unexpected role 'user' after role 'tool'");
    expect(second.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('is thoughts that go back', async () => {
    const baseUrl = server.baseUrl('compatible');
    const origin = { provider: 'compatible', endpoint: baseUrl, model: 'm' };
    const raw = { origin, data: { field: 'reasoning_content' } };
    server.script(
      { kind: 'status', status: 400, message: "'messages.2.reasoning_content' is unsupported" },
      say('Fine.'),
    );
    const messages: ChatMessage[] = [
      userText('go'),
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Hm.', raw },
          { kind: 'text', text: 'So.' },
        ],
      },
      userText('on'),
    ];
    const provider = createCompatibleProvider(createTestDeps(), { baseUrl });
    await collect(provider.stream(chatRequestOf('m', messages), never));
    const thoughts = server.requests.map(
      ({ body }) => objectsOf(body['messages'])[2]?.['reasoning_content'],
    );
    expect(thoughts).toEqual(['Hm.', undefined]);
  });

  it.each<[string, ServerName, string, readonly string[]]>([
    ['an effort', 'ollama', 'Unsupported value: reasoning_effort', ['reasoning_effort']],
    [
      'thinking',
      'glm',
      'thinking is not supported by this model',
      ['thinking', 'reasoning_effort'],
    ],
    ['tool_stream', 'glm', 'Unknown parameter: tool_stream', ['tool_stream']],
    ['a search', 'qwen', 'enable_search is not supported', ['enable_search']],
    ['a key', 'openai-chat', "Unknown parameter: 'prompt_cache_key'.", ['prompt_cache_key']],
  ])('is %s: it is left out from then on', async (_what, name, refusal, fields) => {
    server.script({ kind: 'status', status: 400, message: refusal }, say('Fine.'), say('Fine.'));
    const folder = name === 'openai-chat' ? 'openai' : name;
    const provider = createCompatibleProvider(createTestDeps(), {
      baseUrl: `${server.url}/${folder}`,
      profile: knownServers[name],
    });
    const request = chatRequestOf('m', 'Hi', {
      reasoning: { effort: 'high' },
      webSearch: true,
      abilities: abilitiesSchema.parse({
        thinking: ['effort'],
        efforts: ['high'],
        webSearch: true,
      }),
    });
    for (let turn = 0; turn < 2; turn += 1) await collect(provider.stream(request, never));
    const sent = server.requests.map(({ body }) => fields.filter((field) => field in body));
    expect(sent).toEqual([fields, [], []]);
  });

  it('is the role of a developer', async () => {
    server.script(
      { kind: 'status', status: 400, message: 'Unknown role: developer' },
      say('Fine.'),
    );
    const baseUrl = `${server.url}/openai`;
    const profile = knownServers['openai-chat'];
    const provider = createCompatibleProvider(createTestDeps(), { baseUrl, profile });
    await collect(provider.stream(chatRequestOf('m', 'Hi'), never));
    const roles = server.requests.map(({ body }) => objectsOf(body['messages'])[0]?.['role']);
    expect(roles).toEqual(['developer', 'system']);
  });

  it('is an empty text where null is wanted', async () => {
    server.script(
      { kind: 'status', status: 400, message: 'messages[2].content must not be empty' },
      say('Fine.'),
    );
    const provider = createCompatibleProvider(createTestDeps(), {
      baseUrl: server.baseUrl('compatible'),
      profile: knownServers.ollama,
    });
    await collect(provider.stream(chatRequestOf('m', history), never));
    const contents = server.requests.map(({ body }) => objectsOf(body['messages'])[2]?.['content']);
    expect(contents).toEqual(['', null]);
  });

  it('is one tool’s schema, which costs the other tools nothing', async () => {
    await askTwice("Invalid schema for function 'weather': something is odd.");
    const schemas = objectsOf(server.requests[1]?.body['tools']).map(
      (tool) => objectOf(tool['function'])['parameters'],
    );
    expect(schemas[0]).toEqual({ type: 'object' });
    expect(schemas[1]).toHaveProperty('properties');
  });
});
