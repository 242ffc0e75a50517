/**
 * What every provider must do, played on its own wire format: the same conversation gives the same
 * events, but for what only the vendor understands.
 */

import { describe, expect } from 'vitest';
import type { ChatMessage } from '../../src/messages/chat.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { call, message, say, scriptUsage } from '../emulators/model/script.ts';
import { objectOf } from '../emulators/model/wire.ts';
import {
  assistantText,
  collect,
  okResult,
  outlineOf,
  storedParts,
  userText,
} from '../support/providers.ts';
import type { DeclareCapability } from './capabilities.ts';
import { asking, benchOf, never, type ProviderUnderTest } from './provider-bench.ts';
import { describeProviderEnds } from './provider-ends.ts';
import { describeProviderWishes } from './provider-wishes.ts';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export function describeChatProvider(
  under: ProviderUnderTest,
  capability: DeclareCapability,
): void {
  describe(`${under.wire} provider`, () => {
    describe('speaks', () => {
      describeSpeech(under, capability);
    });
    describe('wishes', () => {
      describeProviderWishes(under, capability);
    });
    describe('ends', () => {
      describeProviderEnds(under, capability);
    });
  });
}

function describeSpeech(under: ProviderUnderTest, capability: DeclareCapability): void {
  const { wire, model } = under;
  const bench = benchOf(under);
  const ask = asking(under);

  capability('text', 'streams text, then usage and the end', async () => {
    const { server, provider } = bench();
    server.script(say('Good ', 'morning, ', 'schöne 🌍.'));
    const events = await collect(provider.stream(ask(), never));
    expect(outlineOf(events)).toEqual([
      { kind: 'message_start' },
      { kind: 'text_delta', text: 'Good morning, schöne 🌍.' },
      { kind: 'message_end', stop: 'end', reasoningMs: 0 },
      { kind: 'last_usage', usage: scriptUsage },
    ]);
    expect(events[0]).toEqual({
      kind: 'message_start',
      origin: { provider: wire, endpoint: server.baseUrl(wire), model },
    });
    expect(server.requests[0]?.objection).toBeUndefined();
  });

  capability(
    ['thinking', 'parallel tool calls'],
    'streams reasoning and parallel calls, each ready once',
    async () => {
      const { server, provider } = bench();
      server.script(
        message(
          { kind: 'reasoning', text: 'Two cities.' },
          { kind: 'text', text: 'I look.' },
          call('c1', 'weather', { city: 'Łódź' }),
          call('c2', 'clock'),
        ),
      );
      const events = await collect(provider.stream(ask(), never));
      const outline = outlineOf(events).filter(
        (event) => !JSON.stringify(event).includes('"text":"{}"'),
      );
      expect(outline).toEqual([
        { kind: 'message_start' },
        { kind: 'reasoning_delta', text: 'Two cities.' },
        { kind: 'text_delta', text: 'I look.' },
        { kind: 'tool_call_start', callId: 'c1', name: 'weather' },
        { kind: 'tool_call_delta', callId: 'c1', text: '{"city":"Łódź"}' },
        { kind: 'tool_call_ready', callId: 'c1', name: 'weather', input: { city: 'Łódź' } },
        { kind: 'tool_call_start', callId: 'c2', name: 'clock' },
        { kind: 'tool_call_ready', callId: 'c2', name: 'clock', input: {} },
        { kind: 'message_end', stop: 'tool_calls', reasoningMs: 0 },
        { kind: 'last_usage', usage: scriptUsage },
      ]);
    },
  );

  capability('images', 'sends the image of a person', async () => {
    const { server, provider } = bench();
    server.script(say('A pixel.'));
    const parts = [
      { kind: 'text', text: 'What is this?' },
      { kind: 'image', mediaType: 'image/png', base64: png },
    ] as const;
    await collect(provider.stream(ask([{ role: 'user', parts }]), never));
    expect(server.requests[0]?.objection).toBeUndefined();
    expect(JSON.stringify(server.requests[0]?.body).split(png)).toHaveLength(2);
  });

  capability(
    'images in tool results',
    'plays a whole conversation with tools, images and thoughts that the server accepts',
    async () => {
      const { server, provider } = bench();
      const messages: ChatMessage[] = [
        {
          role: 'user',
          parts: [
            { kind: 'text', text: 'Anna: what is this?' },
            { kind: 'image', mediaType: 'image/png', base64: png },
            {
              kind: 'file',
              name: 'a.zip',
              mediaType: 'application/zip',
              bytes: 9,
              note: 'too large',
            },
          ],
        },
      ];
      server.script(
        message(
          { kind: 'reasoning', text: 'I should look.' },
          { kind: 'text', text: 'A moment.' },
          call('c1', 'weather', { city: 'Oslo' }),
          call('c2', 'clock'),
        ),
        message({ kind: 'reasoning', text: 'Once more.' }, call('c3', 'clock')),
        message({ kind: 'reasoning', text: 'Done.' }, { kind: 'text', text: 'It rains.' }),
        say('You are welcome.'),
      );
      for (let step = 0; step < 4; step += 1) {
        const accumulator = createMessageAccumulator();
        for await (const event of provider.stream(ask(messages), never)) accumulator.add(event);
        messages.push({ role: 'assistant', parts: storedParts(accumulator.parts()) });
        const calls = accumulator.calls();
        if (calls.length === 0) {
          messages.push(userText('Thank you'));
          continue;
        }
        messages.push({
          role: 'tool',
          results: calls.map(({ part }) => ({
            callId: part.callId,
            name: part.name,
            outcome: 'ok',
            parts: [
              { kind: 'text', text: 'seen' },
              { kind: 'image', mediaType: 'image/png', base64: png },
            ],
          })),
        });
      }
      expect(server.requests.map((request) => request.objection)).toEqual(Array(4).fill(undefined));
      expect(JSON.stringify(server.requests[1]?.body).split(png)).toHaveLength(4);
      expect(JSON.stringify(server.requests[3]?.body)).toContain('It rains.');
      expect(JSON.stringify(server.requests[3]?.body)).toContain('a.zip');
      return isInResult(server.requests[1]?.body, png) ? undefined : 'beside the result';
    },
  );

  capability(
    'images in tool results',
    'sends the image of a failed call where the server takes it',
    async () => {
      const { server, provider } = bench();
      server.script(say('I see.'));
      const failed: ChatMessage = {
        role: 'tool',
        results: [
          {
            callId: 'c1',
            name: 'clock',
            outcome: 'error',
            parts: [
              { kind: 'text', text: 'It stands still.' },
              { kind: 'image', mediaType: 'image/png', base64: png },
            ],
          },
          { callId: 'c2', name: 'clock', outcome: 'ok', parts: [{ kind: 'text', text: 'noon' }] },
        ],
      };
      const calls = ['c1', 'c2'].map(
        (callId) => ({ kind: 'tool_call', callId, name: 'clock', input: {} }) as const,
      );
      const messages: ChatMessage[] = [userText('go'), { role: 'assistant', parts: calls }, failed];
      const events = await collect(provider.stream(ask(messages), never));
      expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
      expect(server.requests.map((request) => request.objection)).toEqual([undefined]);
      const sent = JSON.stringify(server.requests[0]?.body);
      expect(sent).toContain('It stands still.');
      expect(sent.split(png)).toHaveLength(2);
    },
  );

  capability(
    'stable prompt prefix',
    'keeps the bytes of the prefix from step to step',
    async () => {
      const { server, provider } = bench();
      server.script(message(call('c1', 'clock')), say('Noon.'));
      const first = [userText('time?')];
      const accumulator = createMessageAccumulator();
      for await (const event of provider.stream(ask(first), never)) accumulator.add(event);
      const second = [
        ...first,
        { role: 'assistant', parts: accumulator.parts() } as const,
        okResult('c1', 'clock', '12:00'),
      ];
      await collect(provider.stream(ask(second), never));
      const [before, after] = server.requests.map(({ body }) => {
        const list = body['messages'] ?? body['input'] ?? body['contents'];
        return { list: Array.isArray(list) ? list.map((item) => JSON.stringify(item)) : [], body };
      });
      expect(after?.list.slice(0, before?.list.length)).toEqual(before?.list);
      const restOf = (body: object | undefined): object => ({
        ...body,
        messages: 0,
        input: 0,
        contents: 0,
      });
      expect(JSON.stringify(restOf(after?.body))).toBe(JSON.stringify(restOf(before?.body)));
    },
  );

  capability(
    'repair of a broken history',
    'mends a history with holes before it is sent',
    async () => {
      const { server, provider } = bench();
      server.otherwise(say('Fine.'));
      const broken: readonly (readonly ChatMessage[])[] = [
        [assistantText('I began.'), userText('So?')],
        [
          userText('go'),
          {
            role: 'assistant',
            parts: [{ kind: 'tool_call', callId: 'x', name: 'clock', input: {} }],
          },
          userText('are you there?'),
        ],
        [userText('go'), okResult('nobody', 'clock', 'stray'), userText(' '), userText('b')],
        [userText('go'), { role: 'assistant', parts: [] }, userText('again')],
        [userText('go'), assistantText('Half an answer \n')],
        [],
      ];
      for (const messages of broken) await collect(provider.stream(ask(messages), never));
      expect(server.requests.map((request) => request.objection)).toEqual(
        broken.map(() => undefined),
      );
    },
  );

  capability(
    'model switch within a conversation',
    'takes over a conversation that another model began',
    async () => {
      const { server, provider } = bench();
      server.script(say('Taken over.'));
      const origin = { provider: 'other', endpoint: 'https://other.example', model: 'other-1' };
      const raw = { origin, data: { signature: 'x', id: 'y', field: 'reasoning_content' } };
      const events = await collect(
        provider.stream(
          ask([
            userText('go'),
            {
              role: 'assistant',
              parts: [
                { kind: 'reasoning', text: 'secret', raw },
                { kind: 'raw', raw },
                { kind: 'text', text: 'I look.', raw },
                { kind: 'tool_call', callId: 'o1', name: 'weather', input: { city: 'Oslo' }, raw },
              ],
            },
            okResult('o1', 'weather', 'rain'),
          ]),
          never,
        ),
      );
      expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
      const sent = JSON.stringify(server.requests[0]?.body);
      expect(sent).toContain('I look.');
      expect(sent).not.toContain('secret');
      expect(sent).not.toContain('"signature":"x"');
    },
  );
}

/** Whether the text stands within the result of a call, in whichever form the wire has for it. */
function isInResult(value: unknown, text: string): boolean {
  if (Array.isArray(value)) return value.some((item) => isInResult(item, text));
  if (typeof value !== 'object' || value === null) return false;
  const { type, role } = objectOf(value);
  const isResult =
    type === 'tool_result' ||
    type === 'function_call_output' ||
    role === 'tool' ||
    'functionResponse' in value;
  if (isResult) return JSON.stringify(value).includes(text);
  return Object.values(value).some((item) => isInResult(item, text));
}
