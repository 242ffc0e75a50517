/** What goes onto each wire, beyond what the contract suite sees. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import { chatRequestOf, collect, createTestDeps, weatherTool } from '../support/providers.ts';

const never = new AbortController().signal;

describe('requests', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const customHeaders = [
    'Authorization: Bearer env-custom',
    'x-api-key: env-custom',
    'x-leak: env-custom',
    'content-type: env-custom',
    'anthropic-version: env-custom',
    'user-agent: env-custom',
  ].join('\n');
  const secrets = {
    ANTHROPIC_API_KEY: 'env-a',
    OPENAI_API_KEY: 'env-o',
    GOOGLE_API_KEY: 'env-g',
    OPENAI_ORG_ID: 'env-org',
    OPENAI_BASE_URL: 'http://127.0.0.1:9',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9',
    ANTHROPIC_CUSTOM_HEADERS: customHeaders,
    OPENAI_CUSTOM_HEADERS: customHeaders,
  };

  it('carry the key that was passed, whatever the environment holds', async () => {
    const before = { ...process.env };
    Object.assign(process.env, secrets);
    try {
      const deps = createTestDeps();
      const providers = [
        createAnthropicProvider(deps, { apiKey: 'own', baseUrl: server.baseUrl('anthropic') }),
        createOpenaiProvider(deps, { apiKey: 'own', baseUrl: server.baseUrl('openai') }),
        createCompatibleProvider(deps, { apiKey: 'own', baseUrl: server.baseUrl('compatible') }),
        createCompatibleProvider(deps, { baseUrl: server.baseUrl('compatible') }),
        createGeminiProvider(deps, { apiKey: 'own', baseUrl: server.baseUrl('gemini') }),
      ];
      for (const provider of providers) {
        await collect(provider.stream(chatRequestOf('gemini-3.6-flash'), never));
      }
    } finally {
      for (const name of Object.keys(secrets)) delete process.env[name];
      Object.assign(process.env, before);
    }
    const keys = server.requests.map(
      ({ headers }) => headers['x-goog-api-key'] ?? headers['authorization'],
    );
    expect(keys).toEqual(['Bearer own', 'Bearer own', 'Bearer own', 'Bearer none', 'own']);
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-key': 'own',
      'anthropic-version': '2026-10-21',
      'content-type': 'application/json',
    });
    expect(JSON.stringify(server.requests)).not.toContain('env-');
    // Nothing but ours, and what fetch itself adds.
    const known = ['accept', 'authorization', 'content-type', 'user-agent', 'x-api-key'];
    const vendors = ['anthropic-version', 'x-goog-api-key'];
    const ofFetch = [
      'accept-encoding',
      'accept-language',
      'connection',
      'content-length',
      'host',
      'sec-fetch-mode',
    ];
    const names = new Set(server.requests.flatMap(({ headers }) => Object.keys(headers)));
    expect([...names].sort()).toEqual([...known, ...vendors, ...ofFetch].sort());
  });

  it('to OpenAI store nothing and ask for sealed thoughts', async () => {
    const provider = createOpenaiProvider(createTestDeps(), {
      apiKey: 'k',
      baseUrl: server.baseUrl('openai'),
    });
    await collect(provider.stream(chatRequestOf('gpt-6.2-sol'), never));
    await collect(
      provider.stream(chatRequestOf('gpt-4.1', 'Hi', { cacheKey: 'k'.repeat(65) }), never),
    );
    const { tools, ...body } = server.requests[0]?.body ?? {};
    expect(tools).toHaveLength(2);
    expect(body).toEqual({
      model: 'gpt-6.2-sol',
      stream: true,
      store: false,
      instructions: 'You are a test.',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      max_output_tokens: 1_000,
      prompt_cache_key: 'slack:T1:C1:1.1',
      include: ['reasoning.encrypted_content'],
      reasoning: { summary: 'auto' },
    });
    expect(server.requests[1]?.body['prompt_cache_key']).toMatch(/^[0-9a-f]{64}$/u);
    expect(server.requests[1]?.body).not.toHaveProperty('reasoning');
  });

  it('to Anthropic have no sampling and let older models be', async () => {
    const provider = createAnthropicProvider(createTestDeps(), {
      apiKey: 'k',
      baseUrl: server.baseUrl('anthropic'),
    });
    await collect(provider.stream(chatRequestOf('claude-haiku-4-5', 'Hi', { tools: [] }), never));
    await collect(provider.stream(chatRequestOf('claude-sonnet-5-5'), never));
    expect(server.requests[0]?.body).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 1_000,
      stream: true,
      system: [{ type: 'text', text: 'You are a test.', cache_control: { type: 'ephemeral' } }],
      cache_control: { type: 'ephemeral' },
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    });
    expect(server.requests[1]?.body).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
    });
  });

  it('to compatible servers are plain', async () => {
    const provider = createCompatibleProvider(createTestDeps(), {
      baseUrl: server.baseUrl('compatible'),
    });
    await collect(provider.stream(chatRequestOf('m', 'Hi', { tools: [weatherTool] }), never));
    expect(server.requests[0]?.body).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 1_000,
      messages: [
        { role: 'system', content: 'You are a test.' },
        { role: 'user', content: 'Hi' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: weatherTool.description,
            parameters: weatherTool.inputSchema,
          },
        },
      ],
    });
  });
});
