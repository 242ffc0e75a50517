/** A history with calls, where no tools are declared or the model takes none; and unread documents. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/messages/chat.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { say } from '../emulators/model/script.ts';
import { objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer, type WireName } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const makers = {
  anthropic: createAnthropicProvider,
  openai: createOpenaiProvider,
  compatible: createCompatibleProvider,
  gemini: createGeminiProvider,
};
const models: Readonly<Record<WireName, string>> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.2-sol',
  compatible: 'm',
  gemini: 'gemini-3.6-flash',
};
const wires = ['anthropic', 'openai', 'compatible', 'gemini'] as const;
const image = { kind: 'image', mediaType: 'image/png', base64: 'AAAA' } as const;
const history: readonly ChatMessage[] = [
  userText('How is Rome?'),
  {
    role: 'assistant',
    parts: [
      { kind: 'text', text: 'I look.' },
      { kind: 'tool_call', callId: 'c1', name: 'weather', input: { city: 'Rome' } },
      { kind: 'tool_call', callId: 'c2', name: 'clock', input: {} },
    ],
  },
  {
    role: 'tool',
    results: [
      {
        callId: 'c1',
        name: 'weather',
        outcome: 'ok',
        parts: [{ kind: 'text', text: 'Rain.' }, image],
      },
      { callId: 'c2', name: 'clock', outcome: 'error', parts: [{ kind: 'text', text: 'Broken.' }] },
    ],
  },
];

describe('a history with calls', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());
  const providerOf = (wire: WireName) =>
    makers[wire](createTestDeps(), { apiKey: 'k', baseUrl: server.baseUrl(wire) });

  it.each(wires)('is told to a model without tools in texts by %s', async (wire) => {
    const abilities = { ...chatRequestOf(models[wire]).abilities, tools: false };
    await collect(
      providerOf(wire).stream(chatRequestOf(models[wire], history, { abilities }), never),
    );
    expect(server.requests.map(({ objection }) => objection)).toEqual([undefined]);
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).not.toMatch(/tool_|function|"tools"/iu);
    for (const text of [
      'I look.',
      '[called weather with {\\\\"city\\\\":\\\\"Rome\\\\"}]',
      '[result of weather]\\nRain.',
      '[result of clock]\\n[error] Broken.',
      'AAAA',
    ]) {
      expect(sent).toContain(text.replaceAll('\\\\', '\\'));
    }
  });

  it('declares the tools it calls to Anthropic where none are offered, not to be called', async () => {
    const request = chatRequestOf(models.anthropic, history, { tools: [] });
    await collect(providerOf('anthropic').stream(request, never));
    expect(server.requests.map(({ objection }) => objection)).toEqual([undefined]);
    const body = server.requests[0]?.body ?? {};
    expect(objectsOf(body['tools']).map(({ name }) => name)).toEqual(['weather', 'clock']);
    expect(body['tool_choice']).toEqual({ type: 'none' });
    await collect(
      providerOf('anthropic').stream(chatRequestOf(models.anthropic, 'Hi', { tools: [] }), never),
    );
    expect(server.requests[1]?.body).not.toHaveProperty('tools');
    expect(server.requests[1]?.body).not.toHaveProperty('tool_choice');
  });
});

describe('documents that a server never sees', () => {
  it('are not what it refuses', async () => {
    const server = await createModelServer();
    server.otherwise({ kind: 'status', status: 400, message: 'The document is broken' });
    const pdf = (name: string) =>
      ({ kind: 'document', mediaType: 'application/pdf', name, base64: `AAAA${name}` }) as const;
    const messages: readonly ChatMessage[] = [
      { role: 'user', parts: ['a', 'b', 'c'].map((name) => pdf(name)) },
    ];
    const abilities = { ...chatRequestOf('m').abilities, documents: true };
    const provider = createCompatibleProvider(createTestDeps(), {
      baseUrl: server.baseUrl('compatible'),
    });
    const { thrown } = await collectUntilThrow(
      provider.stream(chatRequestOf('m', messages, { abilities }), never),
    );
    expect(thrown).toMatchObject({ code: 'bad_request' });
    expect(server.requests).toHaveLength(1);
    await server.close();
  });
});
