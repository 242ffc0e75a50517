/** B107: a refusal that names the output lowers the output; it is no overflow. */

import { describe, expect, it } from 'vitest';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { say } from '../emulators/model/script.ts';
import { objectOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer, type WireName } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  type TestDeps,
} from '../support/providers.ts';

const never = new AbortController().signal;
const makers = {
  anthropic: createAnthropicProvider,
  openai: createOpenaiProvider,
  compatible: createCompatibleProvider,
  gemini: createGeminiProvider,
};
const models = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.2-sol',
  compatible: 'some-model',
  gemini: 'gemini-3.6-flash',
};
const wires = ['anthropic', 'openai', 'compatible', 'gemini'] as const;

function askedOutput(server: ModelServer, index: number): unknown {
  const body = server.requests[index]?.body ?? {};
  return (
    body['max_tokens'] ??
    body['max_output_tokens'] ??
    objectOf(body['generationConfig'] ?? {})['maxOutputTokens']
  );
}

async function withServer(
  wire: WireName,
  work: (
    server: ModelServer,
    ask: (most: number) => ReturnType<typeof collectUntilThrow>,
    deps: TestDeps,
  ) => Promise<void>,
): Promise<void> {
  const server = await createModelServer();
  const deps = createTestDeps();
  const provider = makers[wire](deps, { apiKey: 'k', baseUrl: server.baseUrl(wire) });
  const ask = (mostOutputTokens: number) =>
    collectUntilThrow(
      provider.stream(chatRequestOf(models[wire], 'Hi', { mostOutputTokens }), never),
    );
  try {
    await work(server, ask, deps);
  } finally {
    await server.close();
  }
}

describe('an output limit that a server names (B107)', () => {
  it.each(wires)('is asked for from then on by %s, in later requests too', async (wire) => {
    await withServer(wire, async (server, ask) => {
      server.script(
        {
          kind: 'status',
          status: 400,
          message: 'max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens',
        },
        say('ok'),
        say('ok'),
      );
      expect((await ask(32_000)).thrown).toBeUndefined();
      expect((await ask(32_000)).thrown).toBeUndefined();
      expect([0, 1, 2].map((index) => askedOutput(server, index))).toEqual([32_000, 8_192, 8_192]);
    });
  });

  it('is what is left of the window, this once, where prompt and output together are too long', async () => {
    await withServer('anthropic', async (server, ask) => {
      server.script(
        {
          kind: 'status',
          status: 400,
          message: 'input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000',
        },
        say('ok'),
        say('ok'),
      );
      expect((await ask(32_000)).thrown).toBeUndefined();
      await ask(32_000);
      expect([0, 1, 2].map((index) => askedOutput(server, index))).toEqual([
        32_000, 11_760, 32_000,
      ]);
    });
  });

  it('is an overflow where the prompt alone leaves no room', async () => {
    await withServer('anthropic', async (server, ask) => {
      server.script({
        kind: 'status',
        status: 400,
        message: 'input length and `max_tokens` exceed context limit: 199500 + 32000 > 200000',
      });
      expect((await ask(32_000)).thrown).toMatchObject({ code: 'context_overflow' });
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe('an output limit in the words of other servers (B107)', () => {
  const exceeded = "This model's maximum context length is 8192 tokens.";
  it.each<[string, number, string]>([
    [
      'OpenAI',
      7_192,
      `${exceeded} However, you requested 9000 tokens (1000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.`,
    ],
    [
      'OpenAI',
      6_992,
      `${exceeded} However, you requested 9200 tokens (1000 in the messages, 200 in the functions, and 8000 in the completion).`,
    ],
    [
      'vLLM',
      7_192,
      `'max_tokens' or 'max_completion_tokens' is too large: 8000. ${exceeded.replace('.', '')} and your request has 1000 input tokens (8000 > 8192 - 1000). None`,
    ],
    [
      'OpenRouter',
      7_192,
      "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (1000 of text input, 8000 in the output). Please reduce the length of either one.",
    ],
    [
      'TGI',
      7_192,
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 1000 `inputs` tokens and 8000 `max_new_tokens`',
    ],
  ])('are what the prompt leaves, this once: %s, %i', async (_who, room, message) => {
    await withServer('compatible', async (server, ask, deps) => {
      server.script({ kind: 'status', status: 400, message }, say('ok'), say('ok'));
      expect((await ask(8_000)).thrown).toBeUndefined();
      await ask(8_000);
      expect([0, 1, 2].map((index) => askedOutput(server, index))).toEqual([8_000, room, 8_000]);
      expect(await deps.learned.read(server.baseUrl('compatible'), 'some-model')).toEqual([]);
    });
  });

  it.each([
    [
      `${exceeded} However, you requested 15300 tokens (7300 in the messages, 8000 in the completion).`,
    ],
    [
      `${exceeded} However, your messages resulted in 9000 tokens. Please reduce the length of the messages.`,
    ],
    [
      "'max_tokens' is too large: 8000. This model's maximum context length is 8192 tokens and your request has 9000 input tokens.",
    ],
  ])('are an overflow where the prompt alone is too long: %s', async (message) => {
    await withServer('compatible', async (server, ask) => {
      server.script({ kind: 'status', status: 400, message });
      expect((await ask(8_000)).thrown).toMatchObject({ code: 'context_overflow' });
      expect(server.requests).toHaveLength(1);
    });
  });

  it.each([
    ['DeepSeek', 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'],
    ['Qwen', '<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]'],
    [
      'Groq',
      '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    ],
    [
      'OpenAI',
      'max_tokens is too large: 32000. This model supports at most 8192 completion tokens, whereas you provided 32000.',
    ],
    [
      'Bedrock',
      'The maximum tokens you requested exceeds the model limit of 8192. Try again with a maximum tokens value that is lower than 8192.',
    ],
    [
      'Vertex',
      'Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from 1 (inclusive) to 8193 (exclusive).',
    ],
  ])('are learned for good: %s', async (_who, message) => {
    await withServer('compatible', async (server, ask, deps) => {
      server.script({ kind: 'status', status: 400, message }, say('ok'), say('ok'));
      expect((await ask(32_000)).thrown).toBeUndefined();
      await ask(32_000);
      expect([0, 1, 2].map((index) => askedOutput(server, index))).toEqual([32_000, 8_192, 8_192]);
      expect(await deps.learned.read(server.baseUrl('compatible'), 'some-model')).toEqual([
        'most_output:8192',
      ]);
    });
  });
});

describe('a tool whose schema a server refuses', () => {
  it.each(wires)('goes on with a bare schema at %s; the other tools keep theirs', async (wire) => {
    await withServer(wire, async (server, ask, deps) => {
      server.script(
        {
          kind: 'status',
          status: 400,
          message: "Invalid schema for function 'weather': schema is not supported.",
        },
        say('ok'),
      );
      expect((await ask(1_000)).thrown).toBeUndefined();
      const sent = JSON.stringify(server.requests[1]?.body['tools']);
      expect(sent).toContain('weather');
      expect(sent).not.toContain('"city"');
      expect(sent).toContain('clock');
      expect(sent).toContain('properties');
      expect(deps.log.lines).toContainEqual(
        expect.objectContaining({
          event: 'model_request_adapted',
          facts: expect.objectContaining({ cure: 'bare_schema:weather' }),
        }),
      );
      await collect(
        makers[wire](deps, { apiKey: 'k', baseUrl: server.baseUrl(wire) }).stream(
          chatRequestOf(models[wire], 'Again'),
          never,
        ),
      ).catch(() => {});
      expect(JSON.stringify(server.requests[2]?.body['tools'])).not.toContain('"city"');
    });
  });
});
