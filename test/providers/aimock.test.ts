/** An independent model server: a happy path, limits and broken connections on every wire format. */

import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatProvider } from '../../src/messages/chat.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { type RetriedEvent, streamWithRetry } from '../../src/providers/retry.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  chatRequestOf,
  collectUntilThrow,
  createTestDeps,
  storedParts,
  userText,
} from '../support/providers.ts';

describe('against aimock', () => {
  const mock = new LLMock({ port: 0 });

  const makers: [string, string, () => ChatProvider][] = [
    [
      'anthropic',
      'claude-sonnet-5-5',
      () => createAnthropicProvider(createTestDeps(), { apiKey: 'k', baseUrl: mock.url }),
    ],
    [
      'openai',
      'gpt-6.2-sol',
      () => createOpenaiProvider(createTestDeps(), { apiKey: 'k', baseUrl: `${mock.url}/v1` }),
    ],
    [
      'compatible',
      'some-model',
      () => createCompatibleProvider(createTestDeps(), { baseUrl: `${mock.url}/v1` }),
    ],
    [
      'gemini',
      'gemini-3.6-flash',
      () => createGeminiProvider(createTestDeps(), { apiKey: 'k', baseUrl: mock.url }),
    ],
  ];

  beforeAll(async () => {
    mock.on(
      { userMessage: 'weather in Oslo', hasToolResult: false },
      { toolCalls: [{ name: 'weather', arguments: '{"city":"Oslo"}', id: 'call_oslo' }] },
    );
    mock.on(
      { userMessage: 'weather in Oslo', hasToolResult: true },
      { content: 'It rains in Oslo.' },
    );
    for (const [, model] of makers) {
      mock.on(
        { userMessage: 'too often', model, sequenceIndex: 0 },
        { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429, retryAfter: 7 },
      );
      mock.on({ userMessage: 'too often', model }, { content: 'Now it is your turn.' });
    }
    mock.on(
      { userMessage: 'overloaded' },
      { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 503 },
    );
    mock.on(
      { userMessage: 'cut it' },
      { content: 'One two three four five six.' },
      { chunkSize: 4, truncateAfterChunks: 3 },
    );
    mock.on(
      { userMessage: 'hang up' },
      { content: 'One two three four five six.' },
      { chunkSize: 4, latency: 20, disconnectAfterMs: 50 },
    );
    await mock.start();
  });
  afterAll(() => mock.stop());

  it.each(makers)('%s calls a tool and answers with its result', async (_, model, make) => {
    const provider = make();
    const never = new AbortController().signal;
    const messages: ChatMessage[] = [userText('What is the weather in Oslo?')];
    const step = async () => {
      const accumulator = createMessageAccumulator();
      for await (const event of provider.stream(chatRequestOf(model, messages), never)) {
        accumulator.add(event);
      }
      messages.push({ role: 'assistant', parts: storedParts(accumulator.parts()) });
      return accumulator;
    };
    const first = await step();
    expect(first.stop).toBe('tool_calls');
    const [call] = first.calls();
    expect(call?.part).toMatchObject({ name: 'weather', input: { city: 'Oslo' } });
    messages.push({
      role: 'tool',
      results: [
        {
          callId: call?.part.callId ?? '',
          name: 'weather',
          outcome: 'ok',
          parts: [{ kind: 'text', text: 'rain' }],
        },
      ],
    });
    const second = await step();
    expect(second.text()).toBe('It rains in Oslo.');
    expect(second.stop).toBe('end');
  });

  it.each(makers)(
    '%s is limited, waits as long as it was told, and succeeds',
    async (_, model, make) => {
      const provider = make();
      const request = chatRequestOf(model, 'too often');
      const never = new AbortController().signal;
      const clock = createFakeClock();
      const startMs = clock.now();
      const events: RetriedEvent[] = [];
      const reading = (async () => {
        const options = { clock, random: () => 0 };
        for await (const event of streamWithRetry(provider, request, never, options)) {
          events.push(event);
        }
      })();
      await expect.poll(() => clock.pending).toBe(1);
      const reason = expect.stringContaining('limits how often it may be asked');
      expect(events).toEqual([{ kind: 'retry_waiting', reason, delayMs: 7_000 }]);
      await clock.advance(6_999);
      expect(events).toHaveLength(1);
      await clock.advance(1);
      await reading;
      expect(clock.now() - startMs).toBe(7_000);
      const text = events.map((event) => (event.kind === 'text_delta' ? event.text : '')).join('');
      expect(text).toBe('Now it is your turn.');
    },
  );

  it.each(makers)('%s is overloaded', async (_, model, make) => {
    const stream = make().stream(chatRequestOf(model, 'overloaded'), new AbortController().signal);
    const { thrown } = await collectUntilThrow(stream);
    expect(thrown).toMatchObject({ code: 'overloaded', facts: { status: 503 } });
  });

  it.each(makers.flatMap((row) => ['cut it', 'hang up'].map((what) => [...row, what] as const)))(
    '%s loses the connection (%s %s %s)',
    async (_, model, make, what) => {
      const stream = make().stream(chatRequestOf(model, what), new AbortController().signal);
      const { events, thrown } = await collectUntilThrow(stream);
      expect(thrown).toMatchObject({ code: 'connection_lost' });
      expect(events.map(({ kind }) => kind)).not.toContain('message_end');
    },
  );
});
