/** One conversation that goes from model to model: every server takes what the others left. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/messages/chat.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { call, message } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  createTestDeps,
  storedParts,
  testCatalog,
  userText,
} from '../support/providers.ts';

const names = [
  'anthropic/claude-sonnet-5-5',
  'openai/gpt-6.2-sol',
  'gemini/gemini-3.6-flash',
  'compatible/qwen3.8-max',
];

describe('a conversation', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const registryOf = () => {
    const settingsOf = (wire: 'anthropic' | 'openai' | 'gemini' | 'compatible') => ({
      apiKey: 'k',
      baseUrl: server.baseUrl(wire),
    });
    return createProviderRegistry(
      createTestDeps(),
      {
        anthropic: settingsOf('anthropic'),
        openai: settingsOf('openai'),
        gemini: settingsOf('gemini'),
        compatible: settingsOf('compatible'),
      },
      testCatalog,
    );
  };

  /** Asks until the model makes no more calls. */
  const turn = async (name: string, messages: ChatMessage[]): Promise<void> => {
    const { provider, model } = registryOf().resolve(name);
    for (;;) {
      const accumulator = createMessageAccumulator();
      const never = new AbortController().signal;
      for await (const event of provider.stream(chatRequestOf(model, messages), never)) {
        accumulator.add(event);
      }
      messages.push({ role: 'assistant', parts: storedParts(accumulator.parts()) });
      const calls = accumulator.calls();
      if (calls.length === 0) return;
      messages.push({
        role: 'tool',
        results: calls.map(({ part }) => ({
          callId: part.callId,
          name: part.name,
          outcome: 'ok',
          parts: [{ kind: 'text', text: 'rain' }],
        })),
      });
    }
  };

  it('goes through all models twice, calls and thoughts included', async () => {
    const messages: ChatMessage[] = [];
    for (const [place, name] of [...names, ...names].entries()) {
      server.script(
        message(
          { kind: 'reasoning', text: `Thought ${place}.` },
          // Every server counts its calls from zero.
          call('call_0', 'weather', { city: `City ${place}` }),
          call('call_1', 'clock'),
          // Ids and names as some servers make them, and others refuse them.
          call('functions.weather:0', 'weather', { city: 'Rome' }),
          call(`${'x'.repeat(89)}${place}`, 'functions.clock'),
          call('call_4', ''),
          call('call_5', `n${'a'.repeat(70)}`),
        ),
        message({ kind: 'reasoning', text: 'Enough.' }, { kind: 'text', text: `Answer ${place}.` }),
      );
      messages.push(userText(`Question ${place}`));
      await turn(name, messages);
    }
    expect(server.requests.map(({ objection }) => objection)).toEqual(Array(16).fill(undefined));
    const last = JSON.stringify(server.requests.at(-1)?.body);
    for (let place = 0; place < 7; place += 1) {
      expect(last).toContain(`Question ${place}`);
      expect(last).toContain(`Answer ${place}.`);
    }
    // The fourth model spoke before: its own thoughts are there again, the others' are not.
    expect(last).toContain('Thought 3.');
    expect(last).not.toContain('Thought 2.');
  });

  it.each(names)('gives %s the odd ids back that it gave itself', async (name) => {
    const ids = ['functions.weather:0', 'x'.repeat(90)];
    const { provider, model } = registryOf().resolve(name);
    server.script(
      message(...ids.map((id) => call(id, 'weather', { city: 'Rome' }))),
      message({ kind: 'text', text: 'Rain.' }),
    );
    const accumulator = createMessageAccumulator();
    const never = new AbortController().signal;
    const request = (messages: ChatMessage[]) => chatRequestOf(model, messages);
    for await (const event of provider.stream(request([userText('go')]), never)) {
      accumulator.add(event);
    }
    const parts = storedParts(accumulator.parts());
    for await (const _ of provider.stream(
      request([userText('go'), { role: 'assistant', parts }]),
      never,
    ));
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    for (const id of ids) expect(sent.split(JSON.stringify(id))).toHaveLength(3);
  });

  it.each(names)('goes on with %s after it was stopped in the middle', async (name) => {
    server.script(
      message(
        { kind: 'reasoning', text: 'Thought.' },
        { kind: 'text', text: 'Half an ans' },
        call('call_0', 'weather', { city: 'Oslo' }),
        { kind: 'wait', until: new Promise(() => undefined) },
      ),
    );
    const { provider, model } = registryOf().resolve(name);
    const accumulator = createMessageAccumulator();
    const controller = new AbortController();
    const request = chatRequestOf(model, [userText('go')]);
    for await (const event of provider.stream(request, controller.signal)) {
      accumulator.add(event);
      if (event.kind === 'tool_call_start') break;
    }
    const messages: ChatMessage[] = [
      userText('go'),
      { role: 'assistant', parts: storedParts(accumulator.parts()) },
      userText('and now?'),
    ];
    server.script(message({ kind: 'text', text: 'Here.' }));
    await turn(name, messages);
    expect(server.requests.map(({ objection }) => objection)).toEqual([undefined, undefined]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('Half an ans');
  });
});
