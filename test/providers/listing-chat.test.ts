/** What the list endpoints of Gemini and Chat Completions servers tell of their models. */

import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import type { ModelFetch } from '../../src/providers/transport.ts';
import { createTestDeps } from '../support/providers.ts';

const never = new AbortController().signal;
const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

function setUp(...answers: readonly (Response | Error)[]) {
  const seen: { url: string; headers: Headers }[] = [];
  const queue = [...answers];
  const fetch: ModelFetch = (input, init) => {
    seen.push({ url: new Request(input).url, headers: new Headers(init?.headers) });
    const next = queue.shift() ?? json({}, 500);
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  const deps = createTestDeps(fetch);
  return {
    seen,
    deps,
    chat: createCompatibleProvider(deps, {
      name: 'openrouter',
      baseUrl: 'https://openrouter.ai/api/v1/',
      apiKey: 'key-1',
      headers: { 'X-Team': 'ops' },
    }),
    gemini: createGeminiProvider(deps, { apiKey: 'key-2' }),
  };
}

describe('the list of a Chat Completions server', () => {
  it('holds limits, abilities and prices, where the server tells them (OpenRouter)', async () => {
    const { chat, seen, deps } = setUp(
      json({
        data: [
          {
            id: 'z-ai/glm-5.3',
            context_length: 1_048_576,
            top_provider: { max_completion_tokens: 131_072 },
            architecture: { input_modalities: ['text', 'image', 'file'] },
            supported_parameters: ['tools', 'reasoning', 'max_tokens'],
            pricing: {
              prompt: '0.0000014',
              completion: '0.0000044',
              input_cache_read: '0.00000026',
              image: '0',
            },
          },
          { id: 'openrouter/auto', pricing: { prompt: '-1', completion: '-1' } },
          { id: 'plain/model', context_length: null, supported_parameters: ['max_tokens'] },
          { name: 'no id' },
        ],
      }),
    );
    const today = new Date(deps.clock.now()).toISOString().slice(0, 10);
    expect(await chat.listModels(never)).toEqual([
      {
        id: 'z-ai/glm-5.3',
        window: 1_048_576,
        mostOutputTokens: 131_072,
        abilities: {
          tools: true,
          images: true,
          documents: true,
          verbosity: false,
          webSearch: true,
          summary: true,
          thinking: ['effort'],
          efforts: ['low', 'medium', 'high'],
        },
        prices: { input: 1.4, output: 4.4, cacheRead: 0.26, date: today },
      },
      { id: 'openrouter/auto' },
      {
        id: 'plain/model',
        abilities: expect.objectContaining({ tools: false, thinking: [], efforts: [] }),
      },
    ]);
    expect(seen[0]?.url).toBe('https://openrouter.ai/api/v1/models');
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer key-1');
    expect(seen[0]?.headers.get('x-team')).toBe('ops');
  });

  it.each([
    ['vLLM', { data: [{ id: 'm', max_model_len: 32_768 }] }, { id: 'm', window: 32_768 }],
    ['Together', [{ id: 'm', context_length: 8_192 }], { id: 'm', window: 8_192 }],
    [
      'Mistral',
      {
        data: [
          {
            id: 'm',
            max_context_length: 262_144,
            capabilities: { function_calling: true, vision: false },
          },
        ],
      },
      { id: 'm', window: 262_144, abilities: { tools: true, images: false } },
    ],
    ['xAI', { data: [{ id: 'grok-4.6', object: 'model' }] }, { id: 'grok-4.6' }],
  ])('is read as %s has it', async (_who, answer, expected) => {
    expect(await setUp(json(answer)).chat.listModels(never)).toEqual([expected]);
  });
});

describe('the list of Gemini', () => {
  it('comes in pages; only models that chat are taken', async () => {
    const { gemini, seen } = setUp(
      json({
        models: [
          {
            name: 'models/gemini-3.6-flash',
            inputTokenLimit: 1_048_576,
            outputTokenLimit: 65_536,
            supportedGenerationMethods: ['generateContent', 'countTokens'],
            thinking: true,
          },
          { name: 'models/gemini-embedding-2', supportedGenerationMethods: ['embedContent'] },
        ],
        nextPageToken: 'a+b',
      }),
      json({ models: [{ name: 'models/gemma-4' }] }),
    );
    expect(await gemini.listModels(never)).toEqual([
      {
        id: 'gemini-3.6-flash',
        window: 1_048_576,
        mostOutputTokens: 65_536,
        abilities: { summary: true },
      },
      { id: 'gemma-4' },
    ]);
    const base = 'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000';
    expect(seen.map(({ url }) => url)).toEqual([base, `${base}&pageToken=a%2Bb`]);
    expect(seen[0]?.headers.get('x-goog-api-key')).toBe('key-2');
  });
});

describe('a list that does not come', () => {
  it.each<[string, Response | Error, string]>([
    ['a wrong key', json({ error: { message: 'No.' } }, 401), 'auth_failed'],
    ['a limit', json({ error: { message: 'Slow down.' } }, 429), 'model_rate_limited'],
    ['an overload', json({}, 503), 'overloaded'],
    ['no such endpoint', new Response('Not found', { status: 404 }), 'bad_request'],
    ['a page', new Response('<html>'), 'connection_lost'],
    ['something else', json({ models: 7 }), 'connection_lost'],
    ['no network', new TypeError('fetch failed'), 'connection_lost'],
  ])('for %s has a code of its own', async (_why, answer, code) => {
    for (const one of ['chat', 'gemini'] as const) {
      const clone = answer instanceof Response ? answer.clone() : answer;
      await expect(setUp(clone)[one].listModels(never)).rejects.toMatchObject({ code });
    }
  });

  it('ends with the signal’s reason when it is stopped, and by itself after 30 s', async () => {
    const hang: ModelFetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    const deps = createTestDeps(hang);
    const provider = createCompatibleProvider(deps, { baseUrl: 'http://127.0.0.1:1/v1' });
    const controller = new AbortController();
    const stopped = provider.listModels(controller.signal);
    controller.abort(new BotError('stopped', 'Enough.'));
    await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
    const late = provider.listModels(never);
    const thrown = late.catch((error: unknown) => error);
    await deps.clock.advance(29_999);
    expect(deps.clock.pending).toBe(1);
    await deps.clock.advance(1);
    expect(await thrown).toMatchObject({ code: 'connection_lost' });
  });
});
