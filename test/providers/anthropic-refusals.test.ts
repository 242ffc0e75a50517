/** What the Messages API says against thoughts, in its own words, and what is left out then. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/messages/chat.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  createTestDeps,
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
