/** OpenRouter's `reasoning_details` go back as they came. */

import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/messages/chat.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { say } from '../emulators/model/script.ts';
import { objectsOf } from '../emulators/model/wire.ts';
import { createModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  createTestDeps,
  okResult,
  storedParts,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const delta = (fields: object, rest: object = {}) => ({
  choices: [{ index: 0, delta: fields, ...rest }],
});
const stop = delta({}, { finish_reason: 'stop' });
const details = (...entries: readonly object[]) => delta({ reasoning_details: entries });
const call = (id: string) =>
  delta({ tool_calls: [{ index: 0, id, function: { name: 'clock', arguments: '{}' } }] });
const text = (words: string, rest: object = {}) => ({
  type: 'reasoning.text',
  text: words,
  ...rest,
});
const sealed = (data: string, rest: object = {}) => ({
  type: 'reasoning.encrypted',
  data,
  ...rest,
});

/** What the server said, and the same message as it goes back in the next request. */
async function replayOf(chunks: readonly unknown[]) {
  const server = await createModelServer();
  server.script({ kind: 'events', events: chunks }, say('Fine.'));
  const provider = createCompatibleProvider(createTestDeps(), {
    baseUrl: server.baseUrl('compatible'),
  });
  const accumulator = createMessageAccumulator();
  for await (const event of provider.stream(chatRequestOf('m', 'go'), never)) {
    accumulator.add(event);
  }
  const parts = storedParts(accumulator.parts());
  const results = accumulator.calls().map(({ part }) => okResult(part.callId, part.name, 'ok'));
  const messages: ChatMessage[] = [userText('go'), { role: 'assistant', parts }, ...results];
  await collect(provider.stream(chatRequestOf('m', [...messages, userText('on')]), never));
  await server.close();
  const said = objectsOf(server.requests[1]?.body['messages'])[2];
  return { said, accumulator };
}

describe('the reasoning details of OpenRouter', () => {
  it.each<[string, readonly unknown[], readonly object[]]>([
    [
      'pieces of one entry',
      [
        delta({ reasoning: 'Hm', reasoning_details: [text('Hm', { index: 0 })] }),
        delta({ reasoning: 'm.', reasoning_details: [text('m.', { index: 0, signature: null })] }),
        details({ type: 'reasoning.text', index: 0, signature: 'S' }),
        delta({ content: 'A' }),
      ],
      [{ ...text('Hmm.', { index: 0, signature: 'S' }) }],
    ],
    [
      'pieces without an index',
      [
        details(text('Hm')),
        details(text('m.', { signature: 'S' })),
        details(text('Next')),
        call('a'),
      ],
      [text('Hmm.', { signature: 'S' }), text('Next')],
    ],
    [
      'entries with ids and no index',
      [details(sealed('1', { id: 'a' }), sealed('2', { id: 'b' })), call('a')],
      [sealed('1', { id: 'a' }), sealed('2', { id: 'b' })],
    ],
    [
      'summaries with ids and no index',
      [
        details({ type: 'reasoning.summary', summary: 'A', id: 'a' }),
        details({ type: 'reasoning.summary', summary: 'B', id: 'b' }),
        call('a'),
      ],
      [
        { type: 'reasoning.summary', summary: 'A', id: 'a' },
        { type: 'reasoning.summary', summary: 'B', id: 'b' },
      ],
    ],
    [
      'sealed entries under one index',
      [details(sealed('1', { index: 0 })), details(sealed('2', { index: 0 })), call('a')],
      [sealed('1', { index: 0 }), sealed('2', { index: 0 })],
    ],
    [
      'entries in turn',
      [
        details(text('A', { index: 0 }), text('B', { index: 1 })),
        details(text('a', { index: 0 }), text('b', { index: 1 })),
        call('a'),
      ],
      [text('Aa', { index: 0 }), text('Bb', { index: 1 })],
    ],
    [
      'entries before and after a text',
      [
        delta({ reasoning: 'A', reasoning_details: [text('A', { index: 0 })] }),
        delta({ content: 'Let me look.' }),
        details(sealed('1', { index: 1, id: 'rs_1' })),
        call('a'),
      ],
      [text('A', { index: 0 }), sealed('1', { index: 1, id: 'rs_1' })],
    ],
    [
      'entries after the last call',
      [
        delta({ reasoning: 'A', reasoning_details: [text('A', { index: 0 })] }),
        call('a'),
        call('b'),
        details(sealed('1', { id: 'a' }), sealed('2', { id: 'b' })),
      ],
      [text('A', { index: 0 }), sealed('1', { id: 'a' }), sealed('2', { id: 'b' })],
    ],
    [
      'entries after the last words',
      [
        details(text('A', { index: 0 })),
        delta({ content: 'Four' }),
        details(sealed('1', { index: 1 })),
        delta({ content: '.' }),
        details(sealed('2', { index: 2 })),
      ],
      [text('A', { index: 0 }), sealed('1', { index: 1 }), sealed('2', { index: 2 })],
    ],
    [
      'entries after calls and words',
      [call('a'), delta({ content: 'So.' }), details(sealed('1', { index: 0 }))],
      [sealed('1', { index: 0 })],
    ],
  ])('go back whole: %s', async (_what, chunks, expected) => {
    const { said } = await replayOf([...chunks, stop]);
    expect(said?.['reasoning_details']).toEqual(expected);
  });

  it('do not break a text in two', async () => {
    const { accumulator, said } = await replayOf([
      delta({ content: 'Fo' }),
      details(sealed('1')),
      delta({ content: 'ur.' }),
      stop,
    ]);
    expect(accumulator.parts()).toMatchObject([{ kind: 'text', text: 'Four.' }]);
    expect(said).toMatchObject({ content: 'Four.', reasoning_details: [sealed('1')] });
  });

  it('are with the thoughts that people read', async () => {
    const piece = (words: string) =>
      delta({ reasoning: words, reasoning_details: [text(words, { index: 0 })] });
    const { accumulator } = await replayOf([
      piece('Hm'),
      piece('m.'),
      delta({ content: 'A' }),
      stop,
    ]);
    expect(accumulator.parts()[0]).toMatchObject({
      kind: 'reasoning',
      text: 'Hmm.',
      raw: { data: { details: [text('Hmm.', { index: 0 })] } },
    });
  });
});
