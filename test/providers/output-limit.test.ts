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
