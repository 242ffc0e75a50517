/** Cases of public reports about Chat Completions servers. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ChatMessage, ChatStreamEvent } from '../../src/messages/chat.ts';
import { knownServers, plainProfile } from '../../src/providers/compatible/profiles.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { chatRequest } from '../../src/providers/compatible/request.ts';
import { codeOfFailure } from '../../src/providers/errors.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { objectsOf } from '../emulators/model/wire.ts';
import { bytesOf } from '../emulators/model-server.ts';
import { readCase } from '../support/cases.ts';
import {
  chatRequestOf,
  collect,
  createTestDeps,
  pieceFetch,
  userText,
} from '../support/providers.ts';

const chunks = z.array(z.unknown());
const never = new AbortController().signal;
const toolNames = ['read_note', 'w', 't', 'write_note', 'ping', 'echo', 'get_time'];
const tools = toolNames.map((name) => ({ name, description: name, inputSchema: {} }));

async function eventsOf(events: readonly unknown[]): Promise<ChatStreamEvent[]> {
  const deps = createTestDeps(pieceFetch([bytesOf('compatible', { kind: 'events', events })]));
  const provider = createCompatibleProvider(deps, { baseUrl: 'http://127.0.0.1:1/v1' });
  return collect(provider.stream(chatRequestOf('m', 'go', { tools }), never));
}

async function messageOf(events: readonly unknown[]) {
  const accumulator = createMessageAccumulator();
  for (const event of await eventsOf(events)) accumulator.add(event);
  return accumulator;
}

/** Calls as [id, name, arguments]. */
async function callsOf(events: readonly unknown[]): Promise<unknown[]> {
  const calls = (await messageOf(events)).calls();
  return calls.map(({ part }) => [part.callId, part.name, part.input]);
}

describe('calls of compatible servers', () => {
  const named = z.object({
    toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.unknown() })),
  });

  it.each(['B083', 'B086', 'B088'])('are put together as told in %s', async (id) => {
    const { input, expected } = readCase(id, z.object({ chunks }), named);
    expect(await callsOf(input.chunks)).toEqual(
      expected.toolCalls.map((call) => [call.id, call.name, call.arguments]),
    );
  });

  it('are told apart without an index (B084)', async () => {
    const { input, expected } = readCase(
      'B084',
      z.object({ variants: z.array(z.object({ chunks })) }),
      z.object({ toolCallsPerVariant: z.array(z.array(z.unknown())) }),
    );
    const found = await Promise.all(input.variants.map((variant) => callsOf(variant.chunks)));
    expect(found).toEqual(expected.toolCallsPerVariant);
  });

  it('get ids of their own where the server gives none or one twice (B090)', async () => {
    const { input, expected } = readCase(
      'B090',
      z.object({ chunks }),
      z.object({ toolCallCount: z.number(), argumentsInOrder: z.array(z.unknown()) }),
    );
    const accumulator = await messageOf(input.chunks);
    const calls = accumulator.calls().map(({ part }) => part);
    expect(calls).toHaveLength(expected.toolCallCount);
    expect(calls.map((call) => call.input)).toEqual(expected.argumentsInOrder);
    expect(new Set(calls.map((call) => call.callId)).size).toBe(4);
    const messages: ChatMessage[] = [
      userText('go'),
      { role: 'assistant', parts: accumulator.parts() },
      {
        role: 'tool',
        results: calls.map(({ callId, name }, place) => ({
          callId,
          name,
          outcome: 'ok',
          parts: [{ kind: 'text', text: `result ${place}` }],
        })),
      },
    ];
    const sent = requestFor(messages);
    expect(sent.flatMap((message) => objectsOf(message['tool_calls']).map(({ id }) => id))).toEqual(
      calls.map((call) => call.callId),
    );
    expect(
      sent.flatMap(({ role, tool_call_id: id, content }) =>
        role === 'tool' ? [[id, content]] : [],
      ),
    ).toEqual(calls.map((call, place) => [call.callId, `result ${place}`]));
  });

  it('with empty arguments have none, and cut ones are reported (B091)', async () => {
    const { input, expected } = readCase(
      'B091',
      z.object({ openaiChunks: chunks, cutArguments: z.string() }),
      z.object({ openai: z.array(z.unknown()) }),
    );
    expect(await callsOf(input.openaiChunks)).toEqual(expected.openai);
    const cut: unknown = JSON.parse(
      JSON.stringify(input.openaiChunks).replace(
        '"arguments":""',
        `"arguments":${JSON.stringify(input.cutArguments)}`,
      ),
    );
    const [call] = (await messageOf(z.array(z.unknown()).parse(cut))).calls();
    expect(call?.inputError).toMatch(/no valid JSON/u);
  });

  it('of one index and random names of pieces stay apart', async () => {
    const piece = (id: string | undefined, name: string | undefined, json: unknown) => ({
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id, function: { name, arguments: json } }] },
        },
      ],
    });
    const found = await callsOf([
      piece('a', 'w', '{"city":"Oslo"}'),
      piece('b', 't', { tz: 'CET' }),
      piece('c', 'pi', ''),
      piece(undefined, 'ng', ''),
      piece(undefined, undefined, null),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ]);
    expect(found).toEqual([
      ['a', 'w', { city: 'Oslo' }],
      ['b', 't', { tz: 'CET' }],
      ['c', 'ping', {}],
    ]);
  });

  it('start when the next one does, not when their JSON parses', async () => {
    const piece = (index: number, name: string | undefined, json: string) => ({
      choices: [
        { index: 0, delta: { tool_calls: [{ index, function: { name, arguments: json } }] } },
      ],
    });
    const events = await eventsOf([
      piece(0, 'w', '{"a":1}'),
      piece(0, undefined, ' '),
      piece(1, 't', ''),
      piece(1, undefined, '{}'),
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ]);
    expect(events.map(({ kind }) => kind)).toEqual([
      'message_start',
      'tool_call_start',
      'tool_call_delta',
      'tool_call_delta',
      'tool_call_ready',
      'tool_call_start',
      'tool_call_delta',
      'tool_call_ready',
      'message_end',
    ]);
  });

  it('cut by the token limit are not run with empty arguments', async () => {
    const accumulator = await messageOf([
      {
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'w' } }] } },
        ],
      },
      { choices: [{ index: 0, delta: {}, finish_reason: 'length' }] },
    ]);
    expect(accumulator.stop).toBe('output_limit');
    expect(accumulator.calls()[0]?.inputError).toMatch(/cut/u);
  });
});

describe('other quirks of compatible servers', () => {
  it('odd chunks and usage anywhere do no harm (B104)', async () => {
    const { input, expected } = readCase(
      'B104',
      z.object({ chunks }),
      z.object({ text: z.string(), usage: z.object({ input: z.number(), output: z.number() }) }),
    );
    const accumulator = await messageOf(input.chunks);
    expect(accumulator.text()).toBe(expected.text);
    expect(accumulator.usage).toMatchObject(expected.usage);
    expect(accumulator.stop).toBe('end');
  });

  it('DeepSeek gets its thoughts back on every assistant message (B093)', () => {
    const { input, expected } = readCase(
      'B093',
      z.object({
        history: z.array(
          z.object({
            role: z.enum(['user', 'assistant', 'tool']),
            content: z.string(),
            reasoning: z.string().optional(),
            toolCallId: z.string().optional(),
            toolCalls: z.array(z.object({ id: z.string(), name: z.string() })).optional(),
          }),
        ),
      }),
      z.object({ reasoning_contentOnAssistantMessages: z.array(z.string()) }),
    );
    const messages = input.history.map((entry): ChatMessage => {
      if (entry.role === 'user') return userText(entry.content);
      if (entry.role === 'tool') {
        return {
          role: 'tool',
          results: [
            {
              callId: entry.toolCallId ?? '',
              name: 'f',
              outcome: 'ok',
              parts: [{ kind: 'text', text: entry.content }],
            },
          ],
        };
      }
      const raw = { origin, data: { field: 'reasoning_content' } };
      return {
        role: 'assistant',
        parts: [
          ...(entry.reasoning === undefined
            ? []
            : [{ kind: 'reasoning', text: entry.reasoning, raw } as const]),
          ...(entry.toolCalls ?? []).map(
            ({ id, name }) => ({ kind: 'tool_call', callId: id, name, input: {} }) as const,
          ),
        ],
      };
    });
    const sent = requestFor(messages, true);
    expect(
      sent.flatMap((message) =>
        message['role'] === 'assistant' ? [message['reasoning_content']] : [],
      ),
    ).toEqual(expected.reasoning_contentOnAssistantMessages);
  });

  it('overflow is told from rate limits by many wordings (B106)', () => {
    const { input, expected } = readCase(
      'B106',
      z.object({
        errors: z.array(
          z.object({ status: z.number(), text: z.string(), code: z.string().exactOptional() }),
        ),
      }),
      z.object({ overflow: z.array(z.boolean()) }),
    );
    const found = input.errors.map(({ text, ...rest }) =>
      codeOfFailure({ ...rest, message: text }),
    );
    expect(found.map((code) => code === 'context_overflow')).toEqual(expected.overflow);
    expect(found.slice(-3)).toEqual(['model_rate_limited', 'model_rate_limited', 'overloaded']);
  });
});

const origin = { provider: 'compatible', endpoint: 'https://api.deepseek.com', model: 'm' };

function requestFor(messages: readonly ChatMessage[], alwaysReasoning = false) {
  const profile = alwaysReasoning ? knownServers.deepseek : plainProfile;
  return objectsOf(chatRequest(chatRequestOf('m', messages), origin, profile, new Set()).messages);
}
