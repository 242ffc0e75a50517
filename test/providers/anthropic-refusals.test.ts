/** What the Messages API says against thoughts, in its own words, and what is left out then. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/messages/chat.ts';
import type { AssistantPart } from '../../src/messages/parts.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { call, say } from '../emulators/model/script.ts';
import { objectOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  assistantText,
  chatRequestOf,
  collect,
  createTestDeps,
  okResult,
  type TestDeps,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const model = 'claude-sonnet-5';

describe('a refused thought of the history', () => {
  let server: ModelServer;
  let deps: TestDeps;
  beforeEach(async () => {
    server = await createModelServer();
    deps = createTestDeps();
  });
  afterEach(() => server.close());

  const ask = async (messages: readonly ChatMessage[]) =>
    await collect(
      createAnthropicProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('anthropic') }).stream(
        chatRequestOf(model, messages, { reasoning: { effort: 'high' } }),
        never,
      ),
    );

  it.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'Invalid "signature" in "thinking" block.',
    'messages.1.content.0.thinking: each thinking block must contain thinking',
    'messages.1.content.0.thinking.signature: Field required',
    'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    'messages.1: The final block in an assistant message cannot be `thinking`.',
  ])('goes for this request, and thinking stays on: %s', async (text) => {
    server.script(
      {
        kind: 'message',
        pieces: [
          { kind: 'reasoning', text: 'Hm.' },
          { kind: 'text', text: 'Hi.' },
        ],
      },
      { kind: 'status', status: 400, message: text },
      say('Fine.'),
      say('Hello.'),
    );
    const origin = { provider: 'anthropic', endpoint: server.baseUrl('anthropic'), model };
    const first = await ask([userText('a')]);
    const sealed = first.flatMap((event) =>
      event.kind === 'reasoning_signature' ? [event.raw.data] : [],
    );
    expect(sealed).toHaveLength(1);
    const history: ChatMessage[] = [
      userText('a'),
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Hm.', raw: { origin, data: sealed[0] ?? null } },
          { kind: 'text', text: 'Hi.' },
        ],
      },
      userText('b'),
    ];
    await ask(history);
    await ask([userText('another conversation')]);
    const sent = server.requests.map(({ body }) => JSON.stringify(body['messages']));
    expect(sent.map((one) => one.includes('"type":"thinking"'))).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect(server.requests.map(({ body }) => body['thinking'])).toEqual(
      server.requests.map(() => ({ type: 'adaptive', display: 'summarized' })),
    );
    expect(await deps.learned.read(server.baseUrl('anthropic'), model)).toEqual([]);
  });
});

describe('a turn with calls that was begun without thoughts', () => {
  let server: ModelServer;
  let deps: TestDeps;
  beforeEach(async () => {
    server = await createModelServer();
    deps = createTestDeps();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const called = (callId: string, thought?: AssistantPart): ChatMessage => ({
    role: 'assistant',
    parts: [
      ...(thought === undefined ? [] : [thought]),
      { kind: 'tool_call', callId, name: 'clock', input: {} },
    ],
  });
  const ask = (name: string, messages: readonly ChatMessage[]) =>
    collect(
      createAnthropicProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('anthropic') }).stream(
        chatRequestOf(name, messages, { reasoning: { effort: 'high' }, mostOutputTokens: 32_000 }),
        never,
      ),
    );
  /** A thought that the server gave. */
  const thoughtOf = async (name: string): Promise<AssistantPart> => {
    server.script({
      kind: 'message',
      pieces: [{ kind: 'reasoning', text: 'Hm.' }, call('c0', 'clock')],
    });
    const events = await ask(name, [userText('a')]);
    const raw = events.flatMap((event) =>
      event.kind === 'reasoning_signature' ? [event.raw] : [],
    );
    return { kind: 'reasoning', text: 'Hm.', ...(raw[0] === undefined ? {} : { raw: raw[0] }) };
  };
  const thinkingSent = (): readonly unknown[] =>
    server.requests.map(({ body }) => objectOf(body['thinking'])['type']);

  it.each([
    ['claude-haiku-4-5', undefined],
    ['claude-opus-4-5', undefined],
    ['claude-opus-4-6', 'adaptive'],
  ])('is gone on with by %s without a budget, at once', async (name, type) => {
    const begun = [userText('a'), called('c1'), okResult('c1', 'clock', 'noon')];
    await ask(name, begun);
    await ask(name, [...begun, called('c2'), okResult('c2', 'clock', 'one')]);
    // A person's word beside the results makes no new turn.
    await ask(name, [...begun, userText('hurry')]);
    expect(server.requests.flatMap(({ objection }) => objection ?? [])).toEqual([]);
    expect(thinkingSent()).toEqual([type, type, type]);
  });

  it('ends with the next turn, and is none where it began with a thought', async () => {
    const name = 'claude-haiku-4-5';
    const thought = await thoughtOf(name);
    const done = [called('c1'), okResult('c1', 'clock', 'noon'), assistantText('Noon.')];
    await ask(name, [userText('a'), ...done, userText('b')]);
    const begun = [userText('a'), called('c1', thought), okResult('c1', 'clock', 'noon')];
    await ask(name, begun);
    await ask(name, [...begun, called('c2'), okResult('c2', 'clock', 'one')]);
    expect(server.requests.flatMap(({ objection }) => objection ?? [])).toEqual([]);
    expect(thinkingSent()).toEqual(['enabled', 'enabled', 'enabled', 'enabled']);
  });

  it('is learned from a refusal for this request alone', async () => {
    const name = 'claude-haiku-4-5';
    const text =
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block. To avoid this requirement, disable `thinking`.';
    server.script({ kind: 'status', status: 400, message: text });
    await ask(name, [userText('a')]);
    await ask(name, [userText('b')]);
    expect(thinkingSent()).toEqual(['enabled', undefined, 'enabled']);
    expect(await deps.learned.read(server.baseUrl('anthropic'), name)).toEqual([]);
  });
});
