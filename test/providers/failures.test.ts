/** Failures that one vendor words in its own way, as closed codes. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import type { Answer } from '../emulators/model/script.ts';
import {
  bytesOf,
  createModelServer,
  type ModelServer,
  piecesOf,
} from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collectUntilThrow,
  createTestDeps,
  pieceFetch,
} from '../support/providers.ts';

const never = new AbortController().signal;

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

  it.each([
    [{ status: 'INVALID_ARGUMENT', message: 'No.' }, 'bad_request'],
    [{ status: 'FAILED_PRECONDITION', message: 'Not from here.' }, 'bad_request'],
    [{ status: 'UNAUTHENTICATED', message: 'Who?' }, 'auth_failed'],
    [{ status: 'PERMISSION_DENIED', message: 'No.' }, 'auth_failed'],
    [{ status: 'NOT_FOUND', message: 'models/m is not found.' }, 'model_unknown'],
    [{ status: 'RESOURCE_EXHAUSTED', message: 'Wait.' }, 'model_rate_limited'],
    [{ status: 'INVALID_ARGUMENT', message: 'Prompt is too long.' }, 'context_overflow'],
    [{ status: 'UNAVAILABLE', message: 'No.' }, 'overloaded'],
    [{ status: 'INTERNAL', message: 'No.' }, 'overloaded'],
    [{ status: 'DEADLINE_EXCEEDED', message: 'No.' }, 'overloaded'],
    [{ code: '429', message: 'Wait.' }, 'model_rate_limited'],
    [{ code: '400', message: 'No.' }, 'bad_request'],
    [{ message: 'The request is invalid.' }, 'bad_request'],
  ])('Gemini names an error inside a stream without a number: %j is %s', async (error, code) => {
    const text = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] } }] };
    for (const events of [[{ error }], [text, { error }], [text, [{ error }]]]) {
      expect(await failureOf('gemini', { kind: 'events', events })).toMatchObject({ code });
    }
  });

  it('Gemini names the wait there too, and an error may come in any pieces', async () => {
    const error = { status: 'RESOURCE_EXHAUSTED', message: 'Please retry in 3s.' };
    const bytes = bytesOf('gemini', { kind: 'events', events: [{ error }] });
    for (const pieces of [piecesOf(bytes, 'each'), piecesOf(bytes, [20])]) {
      const provider = createGeminiProvider(createTestDeps(pieceFetch(pieces)), { apiKey: 'k' });
      const { thrown } = await collectUntilThrow(provider.stream(chatRequestOf('m'), never));
      expect(thrown).toMatchObject({ code: 'model_rate_limited', retryAfterMs: 3_000 });
    }
  });

  it('Gemini may send a response with nothing in it, or a text that quotes an error', async () => {
    const quote = JSON.stringify({ error: { status: 'INTERNAL' } });
    const candidates = [{ content: { role: 'model', parts: [{ text: `data: ${quote}\n\n` }] } }];
    const events = [{ candidates }, {}, { candidates: [{ finishReason: 'STOP' }] }];
    expect(await failureOf('gemini', { kind: 'events', events })).toBeUndefined();
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

  const wires = ['anthropic', 'openai', 'compatible', 'gemini'] as const;

  it.each([
    ['a page', 'text/html', '<div class="error">Rate limit: "error" 401, please log in</div>'],
    ['a page in quotes', 'text/html', '"error"'],
    [
      'a whole message (Messages)',
      'application/json',
      { type: 'message', content: [{ type: 'text', text: 'An "error": quota, rate limit.' }] },
    ],
    [
      'a whole response (Responses)',
      'application/json',
      { object: 'response', status: 'completed', error: null, output: ['rate limit exceeded'] },
    ],
    [
      'a whole completion (Chat)',
      'application/json; charset=utf-8',
      { error: null, choices: [{ message: { content: 'prompt is too long' } }] },
    ],
    ['an empty error', 'application/json', { error: {}, message: 'invalid api key' }],
    ['an error of no words', 'application/json', { error: '', detail: 'overloaded' }],
    ['half an object', 'application/json', '{"error": {"message": "Rate limit'],
  ])('a 200 with %s is a lost connection, whatever it says', async (_what, contentType, said) => {
    const body = typeof said === 'string' ? said : JSON.stringify(said);
    for (const wire of wires) {
      const thrown = await failureOf(wire, { kind: 'status', status: 200, contentType, body });
      expect(thrown).toMatchObject({ code: 'connection_lost' });
      expect(String(thrown)).not.toMatch(/rate limit|too long|api key/iu);
    }
  });

  it.each([
    [{ error: { message: 'No.', type: 'rate_limit_error' } }, 'model_rate_limited'],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overloaded'],
    [{ object: 'error', message: 'prompt is too long', code: 400 }, 'context_overflow'],
    [{ object: 'response', status: 'failed', error: { code: 'server_error' } }, 'overloaded'],
    [{ error: 'Rate limit reached' }, 'model_rate_limited'],
    [[{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }], 'model_rate_limited'],
  ])('a 200 with the error %j is %s', async (error, code) => {
    for (const wire of wires) {
      const body = JSON.stringify(error);
      const thrown = await failureOf(wire, { kind: 'status', status: 200, body });
      expect(thrown).toMatchObject({ code });
    }
  });

  it.each([
    [400, 'invalid_request_error', 'Tool "rate_limit_check" is not valid: "too many requests"'],
    [422, 'invalid_request_error', 'messages.3 quotes "the server is overloaded"'],
    [400, 'invalid_request_error', 'The text mentions throttling and tokens per min.'],
    [404, 'not_found', 'There is no path /rate-limit.'],
  ])('a %i that quotes a passing failure is final (%s, %j)', async (status, type, message) => {
    for (const wire of wires) {
      expect(await failureOf(wire, { kind: 'status', status, type, message })).toMatchObject({
        code: 'bad_request',
      });
    }
  });

  it.each([
    ['temperature is odd', ': temperature is odd.'],
    ['Temperature is odd!', ': Temperature is odd!'],
    [' ', '.'],
  ])('a refused request quotes %j and says where to look', async (message, said) => {
    expect(await failureOf('openai', { kind: 'status', status: 422, message })).toMatchObject({
      code: 'bad_request',
      message: `openai refused the request to m (HTTP 422)${said} If this stays, look at DECKHAND_MODEL (models.model), or choose another model by \`!model\`.`,
    });
  });

  it('in a stream the type of an error says more than its text', async () => {
    const failed = (error: object) => failureOf('openai', { kind: 'events', events: [error] });
    const message = 'A tool quotes "rate limit" and "overloaded".';
    expect(
      await failed({ type: 'error', error: { type: 'invalid_request_error', message } }),
    ).toMatchObject({ code: 'bad_request' });
    expect(
      await failed({ type: 'error', error: { code: 'rate_limit_exceeded', message: 'No.' } }),
    ).toMatchObject({ code: 'model_rate_limited' });
    expect(
      await failed({ type: 'error', error: { message: 'Rate limit reached.' } }),
    ).toMatchObject({ code: 'model_rate_limited' });
  });

  it('an error in a 200 has the status that it names', async () => {
    const failed = (error: object) =>
      failureOf('compatible', { kind: 'status', status: 200, body: JSON.stringify({ error }) });
    expect(await failed({ message: 'Slow down', code: 429 })).toMatchObject({
      code: 'model_rate_limited',
    });
    expect(await failed({ message: 'quotes "rate limit"', code: 400 })).toMatchObject({
      code: 'bad_request',
    });
    expect(await failed({ message: 'Upstream failed', code: 502 })).toMatchObject({
      code: 'overloaded',
    });
  });

  it('a gateway that calls its limit a 403 or 400 by type is waited for', async () => {
    for (const status of [400, 403]) {
      expect(
        await failureOf('openai', { kind: 'status', status, code: 'rate_limit_exceeded' }),
      ).toMatchObject({ code: 'model_rate_limited' });
    }
  });

  it('an empty account is none that a wait would fill', async () => {
    for (const wire of wires) {
      const thrown = await failureOf(wire, {
        kind: 'status',
        status: 429,
        type: 'insufficient_quota',
        code: 'insufficient_quota',
        message: 'You exceeded your current quota, please check your plan and billing details.',
        headers: { 'retry-after': '5' },
      });
      expect(thrown).toMatchObject({ code: 'quota_exhausted' });
    }
  });

  it.each([
    [
      400,
      'You have reached your specified API usage limits. You will regain access on 2027-01-01.',
    ],
    [400, 'Billing hard limit has been reached'],
    [403, 'Your team has used all available credits or reached its monthly spending limit.'],
    [403, 'Key limit exceeded (total limit).'],
    [429, 'Insufficient balance or no resource package. Please recharge.'],
  ])('a %i that says %j is an empty account', async (status, message) => {
    for (const wire of wires) {
      const headers = { 'retry-after': '5' };
      const thrown = await failureOf(wire, { kind: 'status', status, message, headers });
      expect(thrown).toMatchObject({ code: 'quota_exhausted' });
    }
  });

  it.each([
    "Invalid schema for function 'report': 'salesPerDay' is not of type 'object'.",
    "input_schema: property 'spend_limit' is odd",
    'Tool billing_limit: insufficient_quota is no type',
    "The enum value 'content_filter' is given twice",
    "Property 'permission_error' of 'content_policy' is odd",
  ])('a 400 that names a field or tool is about the request: %s', async (message) => {
    for (const wire of wires) {
      const thrown = await failureOf(wire, { kind: 'status', status: 400, message });
      expect(thrown).toMatchObject({ code: 'bad_request' });
    }
  });

  it.each([
    [400, ''],
    [413, ''],
  ])('a %i with the body %j is an overflow (Cerebras)', async (status, body) => {
    const answer = { kind: 'status', status, body, contentType: 'text/plain' } as const;
    expect(await failureOf('compatible', answer)).toMatchObject({ code: 'context_overflow' });
  });

  it.each([
    [422, ''],
    [400, 'No.'],
  ])('a %i with the body %j is none', async (status, body) => {
    const answer = { kind: 'status', status, body, contentType: 'text/plain' } as const;
    expect(await failureOf('compatible', answer)).toMatchObject({ code: 'bad_request' });
  });

  it.each([
    'the input length exceeds the context length',
    "The prompt exceeds the model's maximum context length.",
    'Your input exceeds the context window of this model',
    'the request exceeds the available context size',
    'The number of tokens is greater than the context length',
    'Range of input length should be [1, 98304]',
  ])('%j is an overflow', async (message) => {
    const answer = { kind: 'status', status: 400, message } as const;
    expect(await failureOf('compatible', answer)).toMatchObject({ code: 'context_overflow' });
  });

  it.each([
    [403, 'Your model requires moderation and your input was flagged for "violence".'],
    [403, 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO'],
    [400, 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.'],
    [400, "The response was filtered by Azure OpenAI's content management policy."],
    [400, 'Content Exists Risk'],
    [400, 'Input data may contain inappropriate content.'],
  ])('a %i that says %j is a refusal', async (status, message) => {
    const answer = { kind: 'status', status, message } as const;
    expect(await failureOf('compatible', answer)).toMatchObject({ code: 'refused' });
  });

  it('a 403 that flags an account is about the key', async () => {
    const message = 'This account was flagged: write to support.';
    expect(await failureOf('compatible', { kind: 'status', status: 403, message })).toMatchObject({
      code: 'auth_failed',
    });
  });

  it.each([
    ['try again in 1m12.5s', 72_500],
    ['try again in 6m0s', 360_000],
    ['try again in 1h2m3s', 3_723_000],
    ['try again in 120ms', 120],
    ['try again in 20 seconds', 20_000],
    ['try again in 1 minute and 5 seconds', 65_000],
    ['retry in 34.4s', 34_400],
    ['retry after 6 seconds', 6_000],
    ['try again in 2 years', undefined],
    ['try again in a while', undefined],
  ])('a rate limit that says "%s" is waited for %s ms', async (words, retryAfterMs) => {
    const message = `Rate limit reached for m. Please ${words}. Visit https://models.example.`;
    const thrown = await failureOf('openai', { kind: 'status', status: 429, message });
    expect(thrown).toMatchObject({ code: 'model_rate_limited' });
    expect({ thrown }).toHaveProperty('thrown.retryAfterMs', retryAfterMs);
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
