/** What goes onto each wire, beyond what the contract suite sees. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { fitSchema } from '../../src/providers/schema.ts';
import { type Answer, say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  weatherTool,
} from '../support/providers.ts';

const never = new AbortController().signal;

describe('requests', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const secrets = {
    ANTHROPIC_API_KEY: 'env-a',
    OPENAI_API_KEY: 'env-o',
    GOOGLE_API_KEY: 'env-g',
    OPENAI_ORG_ID: 'env-org',
    OPENAI_BASE_URL: 'http://127.0.0.1:9',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9',
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
    expect(server.requests[0]?.headers['x-api-key']).toBe('own');
    expect(JSON.stringify(server.requests)).not.toContain('env-');
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
      system: 'You are a test.',
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

describe('failures that one vendor words in its own way', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const failureOf = async (
    wire: 'anthropic' | 'openai' | 'gemini' | 'compatible',
    answer: Answer,
  ): Promise<unknown> => {
    server.script(answer);
    const deps = createTestDeps();
    const options = { apiKey: 'k', baseUrl: server.baseUrl(wire) };
    const makers = {
      anthropic: createAnthropicProvider,
      openai: createOpenaiProvider,
      gemini: createGeminiProvider,
      compatible: createCompatibleProvider,
    };
    const { thrown } = await collectUntilThrow(
      makers[wire](deps, options).stream(chatRequestOf('m'), never),
    );
    return thrown;
  };

  it('Gemini tells the wait in the body, and calls a rate a quota', async () => {
    const message = 'You exceeded your current quota, please check your plan and billing details.';
    const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' };
    expect(
      await failureOf('gemini', { kind: 'status', status: 429, message, details: [retry] }),
    ).toMatchObject({
      code: 'model_rate_limited',
      retryAfterMs: 34_400,
    });
    const daily = { violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }] };
    expect(
      await failureOf('gemini', { kind: 'status', status: 429, message, details: [daily, retry] }),
    ).toMatchObject({ code: 'quota_exhausted' });
  });

  it('Gemini refuses a key with 400', async () => {
    const message = 'API key not valid. Please pass a valid API key.';
    expect(await failureOf('gemini', { kind: 'status', status: 400, message })).toMatchObject({
      code: 'auth_failed',
    });
  });

  it('OpenAI’s empty account is no rate limit', async () => {
    expect(
      await failureOf('openai', {
        kind: 'status',
        status: 429,
        code: 'insufficient_quota',
        message: 'You exceeded your current quota.',
      }),
    ).toMatchObject({ code: 'quota_exhausted' });
    expect(
      await failureOf('openai', {
        kind: 'status',
        status: 429,
        message: 'Rate limit reached. Please try again in 1.5s.',
      }),
    ).toMatchObject({ code: 'model_rate_limited', retryAfterMs: 1_500 });
  });

  it('Anthropic’s empty account is a 400', async () => {
    const message = 'Your credit balance is too low to access the Anthropic API.';
    expect(await failureOf('anthropic', { kind: 'status', status: 400, message })).toMatchObject({
      code: 'quota_exhausted',
    });
  });

  it('OpenAI fails in a stream in three shapes', async () => {
    const error = {
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window.',
    };
    const shapes = [
      { type: 'error', ...error, param: null },
      { type: 'error', error },
      { type: 'response.failed', response: { error } },
    ];
    for (const shape of shapes) {
      expect(await failureOf('openai', { kind: 'events', events: [shape] })).toMatchObject({
        code: 'context_overflow',
      });
    }
  });

  it('compatible servers answer with arrays, pages and errors in a 200', async () => {
    const body = JSON.stringify([
      { error: { code: 400, message: 'prompt is too long', status: 'INVALID_ARGUMENT' } },
    ]);
    expect(await failureOf('compatible', { kind: 'status', status: 400, body })).toMatchObject({
      code: 'context_overflow',
    });
    expect(
      await failureOf('compatible', {
        kind: 'status',
        status: 502,
        body: '<html><h1>Bad Gateway</h1></html>',
        contentType: 'text/html',
      }),
    ).toMatchObject({ code: 'overloaded' });
    expect(
      await failureOf('compatible', {
        kind: 'status',
        status: 200,
        body: JSON.stringify({ error: { message: 'Rate limit exceeded', code: 429 } }),
      }),
    ).toMatchObject({ code: 'model_rate_limited' });
  });

  it('an unknown model is named', async () => {
    const thrown = await failureOf('openai', {
      kind: 'status',
      status: 404,
      code: 'model_not_found',
      message: 'The model does not exist.',
    });
    expect(thrown).toMatchObject({ code: 'model_unknown' });
    expect(String(thrown)).toContain('does not know the model m');
  });

  it('the key is in no sentence', async () => {
    const thrown = await failureOf('openai', {
      kind: 'status',
      status: 401,
      message: 'Incorrect API key provided: sk-abcd1234.',
    });
    expect(String(thrown)).not.toContain('sk-abcd1234');
  });
});

describe('fitSchema', () => {
  const builtIn = z.strictObject({
    mode: z.literal('fast'),
    kind: z.discriminatedUnion('type', [
      z.object({ type: z.literal('a'), count: z.int().positive() }),
      z.object({ type: z.literal('b'), at: z.iso.datetime().nullable() }),
    ]),
    pair: z.tuple([z.string(), z.number()]).optional(),
    level: z.enum(['low', 'high']).default('low'),
    flags: z.record(z.string(), z.boolean()).optional(),
  });
  const schema = z.toJSONSchema(builtIn, { io: 'input' });

  it('puts zod’s schemas in Gemini’s words', () => {
    expect(fitSchema(schema, 'gemini')).toEqual({
      type: 'object',
      properties: {
        mode: { type: 'string', enum: ['fast'] },
        kind: {
          anyOf: [
            {
              type: 'object',
              properties: {
                type: { type: 'string', enum: ['a'] },
                count: { type: 'integer', minimum: 1 },
              },
              required: ['type', 'count'],
            },
            {
              type: 'object',
              properties: {
                type: { type: 'string', enum: ['b'] },
                at: { type: 'string', format: 'date-time' },
              },
              required: ['type', 'at'],
            },
          ],
        },
        pair: {
          type: 'array',
          minItems: 2,
          maxItems: 2,
          items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        },
        level: { type: 'string', enum: ['low', 'high'] },
        flags: { type: 'object' },
      },
      required: ['mode', 'kind'],
    });
  });

  it('leaves them nearly as they are for the others', () => {
    const fitted = fitSchema(schema, 'plain');
    expect(fitted).not.toHaveProperty('$schema');
    expect(fitted).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['mode', 'kind'],
    });
    expect(JSON.stringify(fitted)).not.toContain('oneOf');
    expect(JSON.stringify(fitted)).not.toContain('9007199254740991');
  });

  it('makes an object of any root', () => {
    const branch = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'string' } },
    });
    expect(fitSchema({ anyOf: [branch('a'), branch('b')] }, 'plain')).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
    });
    expect(fitSchema({}, 'gemini')).toEqual({ type: 'object', properties: {} });
  });

  it('stays finite where references multiply', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, level) => [
        `d${level}`,
        {
          type: 'object',
          properties: {
            a: { $ref: `#/$defs/d${level + 1}` },
            b: { $ref: `#/$defs/d${level + 1}` },
          },
        },
      ]),
    );
    const bomb = {
      type: 'object',
      properties: { top: { $ref: '#/$defs/d0' } },
      $defs: { ...defs, d20: { type: 'string' } },
    };
    expect(JSON.stringify(fitSchema(bomb, 'gemini')).length).toBeLessThan(1_000_000);
  });
});
