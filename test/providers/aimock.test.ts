/** An independent model server: a question, a call and an answer on every wire format. */

import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatProvider } from '../../src/messages/chat.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { chatRequestOf, createTestDeps, storedParts, userText } from '../support/providers.ts';

describe('against aimock', () => {
  const mock = new LLMock({ port: 0 });

  beforeAll(async () => {
    mock.on(
      { userMessage: 'weather in Oslo', hasToolResult: false },
      { toolCalls: [{ name: 'weather', arguments: '{"city":"Oslo"}', id: 'call_oslo' }] },
    );
    mock.on(
      { userMessage: 'weather in Oslo', hasToolResult: true },
      { content: 'It rains in Oslo.' },
    );
    await mock.start();
  });
  afterAll(() => mock.stop());

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
});
