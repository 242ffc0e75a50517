/** Calls put together from pieces, whatever servers make of ids, indexes and names. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseArguments } from '../../src/providers/arguments.ts';
import { createCallAssembler } from '../../src/providers/compatible/call-assembler.ts';
import { createJsonScan } from '../../src/providers/compatible/json-scan.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { bytesOf } from '../emulators/model-server.ts';
import { chatRequestOf, collect, createTestDeps, pieceFetch } from '../support/providers.ts';

const never = new AbortController().signal;
const tools = ['weather', 'clock', 'get', 'get_all'].map((name) => ({
  name,
  description: name,
  inputSchema: {},
}));

/** One entry of `tool_calls`. */
interface Piece {
  readonly index?: number;
  readonly id?: string | null;
  readonly name?: string | null;
  readonly args?: unknown;
}

/** Each list is one chunk. */
async function messageOf(chunks: readonly (readonly Piece[])[], finish = 'tool_calls') {
  const deltas = chunks.map((pieces) => ({
    tool_calls: pieces.map(({ name, args, ...rest }) => ({
      ...rest,
      type: 'function',
      function: { name, arguments: args },
    })),
  }));
  return messageOfDeltas(deltas, finish);
}

async function messageOfDeltas(deltas: readonly object[], finish: string) {
  const events = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
  ];
  const deps = createTestDeps(pieceFetch([bytesOf('compatible', { kind: 'events', events })]));
  const provider = createCompatibleProvider(deps, { baseUrl: 'http://127.0.0.1:1/v1' });
  const accumulator = createMessageAccumulator();
  for (const event of await collect(provider.stream(chatRequestOf('m', 'go', { tools }), never))) {
    accumulator.add(event);
  }
  return accumulator;
}

/** Names and arguments; calls that cannot be read are marked. */
async function callsOf(chunks: readonly (readonly Piece[])[]): Promise<unknown[]> {
  const calls = (await messageOf(chunks)).calls();
  expect(new Set(calls.map(({ part }) => part.callId))).toHaveLength(calls.length);
  return calls.map(({ part, inputError }) =>
    inputError === undefined ? [part.name, part.input] : [part.name, 'unreadable'],
  );
}

describe('the calls of a compatible server', () => {
  const weatherB = ['weather', { city: 'B' }];
  const clock = ['clock', {}];

  it.each<[string, readonly (readonly Piece[])[], unknown[]]>([
    [
      'one index, no ids, none for the first',
      [
        [{ index: 0, name: 'clock', args: '' }],
        [{ index: 0, name: 'weather', args: '{"city":"B"}' }],
      ],
      [clock, weatherB],
    ],
    [
      'one index, empty ids, null and an object',
      [
        [{ index: 0, id: '', name: 'clock', args: null }],
        [{ index: 0, id: '', name: 'weather', args: { city: 'B' } }],
      ],
      [clock, weatherB],
    ],
    [
      'one index and no ids, heads and pieces',
      [
        [{ index: 0, name: 'clock' }],
        [{ index: 0, name: 'weather' }],
        [{ index: 0, args: '{"city":' }],
        [{ index: 0, name: '', args: '"B"}' }],
      ],
      [clock, weatherB],
    ],
    [
      'no index and no ids, none for the first',
      [[{ name: 'clock', args: '' }], [{ name: 'weather', args: '{"city":"B"}' }]],
      [clock, weatherB],
    ],
    [
      'one chunk and one index',
      [
        [
          { index: 0, name: 'clock', args: '' },
          { index: 0, name: 'clock', args: '' },
          { index: 0, name: 'weather', args: '{"city":"B"}' },
        ],
      ],
      [clock, clock, weatherB],
    ],
    [
      'one id for two heads that come first',
      [
        [{ index: 0, id: 'dup', name: 'clock', args: '' }],
        [{ index: 1, id: 'dup', name: 'weather', args: '' }],
        [{ index: 1, args: '{"city":"B"}' }],
      ],
      [clock, weatherB],
    ],
    [
      'one id and one name for two heads that come first',
      [
        [{ index: 0, id: 'dup', name: 'weather', args: '' }],
        [{ index: 1, id: 'dup', name: 'weather', args: '' }],
        [{ index: 0, id: 'dup', args: '{"city":"A"}' }],
        [{ index: 1, id: 'dup', args: '{"city":"B"}' }],
      ],
      [['weather', { city: 'A' }], weatherB],
    ],
    [
      'one id, and a name in the middle of other arguments',
      [
        [{ index: 0, id: 'dup', name: 'weather', args: '{"city":' }],
        [{ index: 1, id: 'dup', name: 'clock', args: '' }],
        [{ index: 0, id: 'dup', args: '"B"}' }],
      ],
      [weatherB, clock],
    ],
    [
      'fragments of names, no index',
      [[{ name: 'wea' }], [{ name: 'ther' }], [{ args: '{"city":' }], [{ args: '"B"}' }]],
      [weatherB],
    ],
    [
      'fragments of names, one id',
      [
        [{ id: 'a', name: 'wea' }],
        [{ id: 'a', name: 'ther' }],
        [{ id: 'a', args: '{"city":"B"}' }],
      ],
      [weatherB],
    ],
    [
      'fragments of a name that begins with another tool’s',
      [
        [{ index: 0, id: 'a', name: 'get' }],
        [{ index: 0, name: '_all', args: '' }],
        [{ index: 0, args: '{}' }],
      ],
      [['get_all', {}]],
    ],
    [
      'names that grow',
      [[{ name: 'wea' }], [{ name: 'weather' }], [{ args: '{"city":"B"}' }]],
      [weatherB],
    ],
    [
      'two tools of which one begins the other',
      [
        [{ index: 0, id: 'a', name: 'get', args: '' }],
        [{ index: 1, id: 'b', name: 'get_all', args: '' }],
      ],
      [
        ['get', {}],
        ['get_all', {}],
      ],
    ],
    [
      'a new id in every chunk',
      [
        [{ index: 0, id: 'a', name: 'weather', args: '{"ci' }],
        [{ index: 0, id: 'b', args: 'ty":' }],
        [{ index: 0, id: 'c', args: '"B"}' }],
        [{ index: 0, id: 'd', args: '' }],
      ],
      [weatherB],
    ],
    [
      'a new id and the name in every chunk',
      [
        [{ index: 0, id: 'a', name: 'weather', args: '{"ci' }],
        [{ index: 0, id: 'b', name: 'weather', args: 'ty":"B"}' }],
        [{ index: 0, id: 'c', name: 'clock', args: '{' }],
        [{ index: 0, id: 'd', name: 'clock', args: '}' }],
      ],
      [weatherB, clock],
    ],
    [
      'a new id in every chunk, no index',
      [[{ id: 'a', name: 'weather', args: '{"city"' }], [{ id: 'b', args: ':"B"}' }]],
      [weatherB],
    ],
    [
      'a new index in every chunk, the name repeated',
      [
        [{ index: 0, name: 'weather', args: '{"ci' }],
        [{ index: 7, name: 'weather', args: 'ty":"B"}' }],
      ],
      [weatherB],
    ],
    [
      'one id, a random index and the name in every chunk',
      [
        [{ index: 0, id: 'a', name: 'weather', args: '{"ci' }],
        [{ index: 5, id: 'a', name: 'weather', args: 'ty":"B"}' }],
        [{ index: 9, id: 'a', name: 'weather', args: '' }],
      ],
      [weatherB],
    ],
    [
      'ids before names',
      [
        [{ index: 0, id: 'a' }],
        [{ index: 0, name: 'clock' }],
        [{ index: 1, id: 'b' }],
        [{ index: 1, name: 'weather', args: '{"city":"B"}' }],
      ],
      [clock, weatherB],
    ],
    [
      'ids after names',
      [
        [{ index: 0, name: 'clock', args: '' }],
        [{ index: 0, id: 'a' }],
        [{ index: 1, name: 'weather', args: '{"city":' }],
        [{ index: 1, id: 'b', args: '"B"}' }],
      ],
      [clock, weatherB],
    ],
    [
      'heads first, pieces in turn',
      [
        [
          { index: 0, id: 'a', name: 'weather', args: '' },
          { index: 1, id: 'b', name: 'clock', args: '' },
        ],
        [{ index: 0, args: '{"city":' }],
        [{ index: 1, args: '{}' }],
        [{ index: 0, args: '"B"}' }],
      ],
      [weatherB, clock],
    ],
    [
      'places only',
      [
        [
          { id: 'a', name: 'weather', args: '{"city":' },
          { id: 'b', name: 'clock', args: '{' },
        ],
        [{ args: '"B"}' }, { args: '}' }],
      ],
      [weatherB, clock],
    ],
    [
      'names that are no tools',
      [[{ index: 0, name: 'foo', args: '{}' }], [{ index: 0, name: 'bar', args: '{}' }]],
      [
        ['foo', {}],
        ['bar', {}],
      ],
    ],
    [
      'no end to the first',
      [
        [{ index: 0, id: 'a', name: 'weather', args: '{"city":' }],
        [{ index: 1, id: 'b', name: 'clock', args: '{}' }],
      ],
      [['weather', 'unreadable'], clock],
    ],
  ])('are told apart by %s', async (_what, chunks, expected) => {
    expect(await callsOf(chunks)).toEqual(expected);
  });

  it('may be the one of the format of 2023', async () => {
    const message = await messageOfDeltas(
      [
        { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '' } },
        { function_call: { arguments: '{"city":' } },
        { function_call: { arguments: '"B"}' } },
      ],
      'function_call',
    );
    expect(message.calls().map(({ part }) => [part.name, part.input])).toEqual([weatherB]);
    expect(message.stop).toBe('tool_calls');
    const both = await messageOfDeltas(
      [
        {
          tool_calls: [{ index: 0, id: 'a', function: { name: 'clock', arguments: '{}' } }],
          function_call: { name: 'clock', arguments: '{}' },
        },
      ],
      'stop',
    );
    expect(both.calls()).toHaveLength(1);
  });

  it('are not made of an id alone', async () => {
    const message = await messageOf([[{ index: 0, id: 'a', args: '' }]], 'stop');
    expect([message.stop, message.calls()]).toEqual(['end', []]);
  });

  it('cost as much with the name in every piece: two million characters', async () => {
    const json = JSON.stringify({ city: 'B {'.repeat(500_000) });
    const assembler = createCallAssembler(() => 'c', new Set(['weather']), {
      provider: 'p',
      endpoint: 'e',
      model: 'm',
    });
    let last: unknown;
    for (let at = 0; at < json.length; at += 20) {
      const piece = { index: 0, id: 'a', name: 'weather', json: json.slice(at, at + 20) };
      for (const event of assembler.add([piece])) last = event;
    }
    for (const event of assembler.finish(false)) last = event;
    expect(last).toMatchObject({ kind: 'tool_call_ready', input: JSON.parse(json) });
  });
});

describe('createJsonScan', () => {
  const isWhole = (text: string): boolean =>
    text.trim() !== '' && !('inputError' in parseArguments(text));

  it('says after each piece whether the text is whole JSON', () => {
    const noise = fc.string({
      unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ' ', 'a', '1', ':'),
    });
    const texts = fc.oneof(
      fc.json(),
      noise,
      fc.tuple(fc.json(), noise).map((both) => both.join('')),
    );
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 9 })), (text, sizes) => {
        const scan = createJsonScan();
        let at = 0;
        for (const size of [...sizes, text.length]) {
          scan.add(text.slice(at, at + size));
          at = Math.min(text.length, at + size);
          expect([scan.text, scan.isWhole]).toEqual([
            text.slice(0, at),
            isWhole(text.slice(0, at)),
          ]);
          expect(scan.isBlank).toBe(text.slice(0, at).trim() === '');
        }
      }),
    );
  });

  it.each([
    ['null', true],
    ['"a"', true],
    ['1', true],
    ['{}', true],
    ['{} ', true],
    ['{}{', false],
    ['}{', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    const scan = createJsonScan();
    for (const character of text) {
      scan.add(character);
      z.boolean().parse(scan.isWhole);
    }
    expect(scan.isWhole).toBe(expected);
  });
});
