/** What a server refuses is dropped once; what no cure is known for stays refused. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatProvider } from '../../src/messages/chat.ts';
import type { LearnedBook } from '../../src/providers/adaptations.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { say } from '../emulators/model/script.ts';
import { objectOf, objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer, type WireName } from '../emulators/model-server.ts';
import { openRawServer } from '../emulators/raw-server.ts';
import {
  assistantText,
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  okResult,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const refusal = (message: string) => ({ kind: 'status', status: 400, message }) as const;

describe('a refused field', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const deps = createTestDeps();
  const makers: Record<WireName, () => ChatProvider> = {
    anthropic: () =>
      createAnthropicProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('anthropic') }),
    openai: () => createOpenaiProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('openai') }),
    compatible: () => createCompatibleProvider(deps, { baseUrl: server.baseUrl('compatible') }),
    gemini: () => createGeminiProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('gemini') }),
  };

  it.each<[WireName, string, string, string]>([
    ['anthropic', 'claude-opus-5-5', 'thinking: adaptive thinking is not supported', 'thinking'],
    [
      'anthropic',
      'claude-opus-5-5',
      'cache_control: Extra inputs are not permitted',
      'cache_control',
    ],
    [
      'openai',
      'gpt-6.2-sol',
      'Your organization must be verified to generate reasoning summaries.',
      'reasoning',
    ],
    ['openai', 'gpt-6.2-sol', "Unknown parameter: 'prompt_cache_key'.", 'prompt_cache_key'],
    ['compatible', 'm', 'stream_options is not allowed here', 'stream_options'],
    [
      'compatible',
      'm',
      "Unsupported parameter: 'max_tokens' is not supported with this model.",
      'max_tokens',
    ],
    ['gemini', 'gemini-3.6-flash', 'Thinking is not enabled for this model', 'thinkingConfig'],
  ])('of %s (%s: %s) is left out from then on', async (wire, model, message, field) => {
    server.script(refusal(message), say('Fine.'), say('Fine again.'));
    const provider = makers[wire]();
    for (let turn = 0; turn < 2; turn += 1) {
      const events = await collect(provider.stream(chatRequestOf(model), never));
      expect(
        events.map(({ kind }) => kind).filter((kind) => kind === 'message_start'),
      ).toHaveLength(1);
    }
    const has = server.requests.map(({ body }) =>
      Object.keys({ ...body, ...objectOf(body['generationConfig']) }).includes(field),
    );
    expect(has).toEqual([true, false, false]);
  });

  it('is not repeated when no cure is known, or the cure did not help', async () => {
    server.otherwise(refusal('stream_options are bad, and so is all else'));
    const provider = createCompatibleProvider(deps, { baseUrl: server.baseUrl('compatible') });
    const { thrown } = await collectUntilThrow(provider.stream(chatRequestOf('m'), never));
    expect(thrown).toMatchObject({ code: 'bad_request' });
    expect(server.requests).toHaveLength(2);
  });

  it('of ids that are too long makes them nine characters, calls and results alike', async () => {
    server.script(
      refusal('Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.'),
      say('Fine.'),
    );
    const messages = [
      userText('go'),
      {
        role: 'assistant',
        parts: ['call_1', 'abc123XYZ'].map(
          (callId) => ({ kind: 'tool_call', callId, name: 'clock', input: {} }) as const,
        ),
      } as const,
      okResult('call_1', 'clock', 'noon'),
    ];
    await collect(makers.compatible().stream(chatRequestOf('m', messages), never));
    const sent = objectsOf(server.requests[1]?.body['messages']);
    const called = sent.flatMap((one) => objectsOf(one['tool_calls']).map(({ id }) => id));
    expect(called).toEqual([expect.stringMatching(/^[0-9a-f]{9}$/u), 'abc123XYZ']);
    expect(sent.flatMap((one) => one['tool_call_id'] ?? [])).toEqual(called);
  });

  it('of thoughts bound to an edited history sends this request without them', async () => {
    const origin = {
      provider: 'anthropic',
      endpoint: server.baseUrl('anthropic'),
      model: 'claude-sonnet-5-5',
    };
    server.script(say('Fine.'));
    const provider = createAnthropicProvider(deps, {
      apiKey: 'k',
      baseUrl: server.baseUrl('anthropic'),
    });
    const messages = [
      userText('edited'),
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'old', raw: { origin, data: { signature: 'not-issued' } } },
          { kind: 'text', text: 'Old answer.' },
        ],
      } as const,
      assistantText('More.'),
      userText('go on'),
    ];
    const events = await collect(provider.stream(chatRequestOf(origin.model, messages), never));
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
    expect(
      server.requests.map(({ objection }) => objection?.includes('Invalid `signature`')),
    ).toEqual([true, undefined]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('Old answer.');
  });
});

describe('a store that fails', () => {
  const failing = async (): Promise<never> => {
    throw new Error('The store is away.');
  };
  const setUp = (learned: Partial<LearnedBook>) => {
    const deps = createTestDeps();
    return { ...deps, learned: { ...deps.learned, ...learned } };
  };
  const logged = ({ log }: ReturnType<typeof setUp>) =>
    log.lines.filter(({ level }) => level === 'warn').map(({ event }) => event);

  it.each<[string, Partial<LearnedBook>, readonly string[]]>([
    ['read', { read: failing }, ['learned_read_failed', 'model_request_adapted']],
    ['write', { add: failing }, ['model_request_adapted', 'learned_write_failed']],
  ])('to %s what was learned costs no answer', async (_what, learned, events) => {
    const server = await createModelServer();
    const deps = setUp(learned);
    server.script(refusal('stream_options is not allowed here'), say('Fine.'));
    const provider = createCompatibleProvider(deps, { baseUrl: server.baseUrl('compatible') });
    const answer = await collect(provider.stream(chatRequestOf('m'), never));
    expect(answer.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
    expect(logged(deps)).toEqual(events);
    await server.close();
  });

  it('leaves no connection open behind an answer that is left', async () => {
    const deps = setUp({ add: failing });
    const closed: Promise<void>[] = [];
    const said = { choices: [{ index: 0, delta: { content: 'Hello' } }] };
    const server = await openRawServer((request) => {
      closed.push(request.closed);
      const bytes = (text: string) => ({ kind: 'bytes', bytes: Buffer.from(text) }) as const;
      const body = JSON.stringify({ error: { message: 'stream_options is not allowed' } });
      return closed.length === 1
        ? { status: 400, contentType: 'application/json', steps: [bytes(body)] }
        : {
            steps: [
              bytes(`data: ${JSON.stringify(said)}\n\n`),
              { kind: 'wait', until: new Promise(() => {}) },
            ],
          };
    });
    const provider = createCompatibleProvider(deps, { baseUrl: server.url });
    for await (const { kind } of provider.stream(chatRequestOf('m'), never)) {
      if (kind === 'text_delta') break;
    }
    expect(closed).toHaveLength(2);
    await Promise.all(closed);
    await server.close();
  });
});
