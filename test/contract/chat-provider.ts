/**
 * What every provider must do, played on its own wire format: the same conversation gives the same
 * events, but for what only the vendor understands.
 */

import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import type { ChatMessage, ChatProvider, ChatRequest } from '../../src/messages/chat.ts';
import { noUsage } from '../../src/messages/usage.ts';
import type { ProviderDeps } from '../../src/providers/deps.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import {
  type Answer,
  call,
  type MessageAnswer,
  message,
  say,
  scriptUsage,
} from '../emulators/model/script.ts';
import {
  bytesOf,
  createModelServer,
  type ModelServer,
  piecesOf,
  type WireName,
} from '../emulators/model-server.ts';
import {
  assistantText,
  chatRequestOf,
  collect,
  collectUntilThrow,
  createTestDeps,
  okResult,
  outlineOf,
  pieceFetch,
  storedParts,
  type TestDeps,
  userText,
} from '../support/providers.ts';

export interface ProviderUnderTest {
  readonly wire: WireName;
  readonly model: string;
  create(deps: ProviderDeps, baseUrl: string): ChatProvider;
  /** What an end without a terminal event after text means; see the provider. */
  readonly unmarkedEnd: 'connection_lost' | 'unknown';
  /** Its answer to a prompt that is too long. */
  readonly overflow: Extract<Answer, { kind: 'status' }>;
}

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export function describeChatProvider(under: ProviderUnderTest): void {
  const { wire, model } = under;
  const never = new AbortController().signal;

  describe(`${wire} provider keeps the contract`, () => {
    let server: ModelServer;
    let deps: TestDeps;
    let provider: ChatProvider;

    beforeEach(async () => {
      server = await createModelServer();
      deps = createTestDeps();
      provider = under.create(deps, server.baseUrl(wire));
    });
    afterEach(() => server.close());

    const ask = (text: string | readonly ChatMessage[] = 'Hello'): ChatRequest =>
      chatRequestOf(model, text);
    const failureAfter = async (answer: Answer): Promise<unknown> => {
      server.script(answer);
      const { thrown } = await collectUntilThrow(provider.stream(ask(), never));
      return thrown;
    };

    it('streams text, then usage and the end', async () => {
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

    it('streams reasoning and parallel calls, each ready once', async () => {
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
    });

    it('plays a whole conversation with tools, images and thoughts that the server accepts', async () => {
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
    });

    it('keeps the bytes of the prefix from step to step', async () => {
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
    });

    it('mends a history with holes before it is sent', async () => {
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
    });

    it('takes over a conversation that another model began', async () => {
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
    });

    it.each([
      ['output_limit', 'output_limit'],
      ['refused', 'refused'],
    ] as const)('reports the stop %s', async (stop, expected) => {
      server.script({ ...say('So far'), stop });
      const events = await collect(provider.stream(ask(), never));
      expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: expected });
    });

    it('ends with the signal’s reason when aborted before headers, and hangs up', async () => {
      server.script({ kind: 'hang', until: new Promise(() => undefined) });
      const controller = new AbortController();
      const reason = new BotError('stopped', 'Anna stopped it.');
      const reading = collectUntilThrow(provider.stream(ask(), controller.signal));
      await expect.poll(() => server.requests.length).toBe(1);
      controller.abort(reason);
      expect((await reading).thrown).toBe(reason);
      await server.requests[0]?.closed;
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    });

    it('ends with the signal’s reason when aborted in the stream, and hangs up', async () => {
      server.script(
        message(
          { kind: 'text', text: 'One' },
          { kind: 'wait', until: new Promise(() => undefined) },
        ),
      );
      const controller = new AbortController();
      const reason = new BotError('stopped', 'Anna stopped it.');
      const seen: string[] = [];
      const reading = (async () => {
        for await (const event of provider.stream(ask(), controller.signal)) {
          seen.push(event.kind);
          if (event.kind === 'text_delta') controller.abort(reason);
        }
      })();
      await expect(reading).rejects.toBe(reason);
      expect(seen).not.toContain('message_end');
      await server.requests[0]?.closed;
    });

    it('does not call when aborted before', async () => {
      const reason = new BotError('stopped', 'Too late.');
      const { thrown } = await collectUntilThrow(provider.stream(ask(), AbortSignal.abort(reason)));
      expect(thrown).toBe(reason);
      expect(server.requests).toHaveLength(0);
    });

    it('closes the connection when the reader leaves, and leaves no listener', async () => {
      server.script(
        message(
          { kind: 'text', text: 'One' },
          { kind: 'wait', until: new Promise(() => undefined) },
        ),
      );
      const controller = new AbortController();
      for await (const event of provider.stream(ask(), controller.signal)) {
        if (event.kind === 'text_delta') break;
      }
      await server.requests[0]?.closed;
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
      expect(deps.clock.pending).toBe(0);
    });

    it('gives up on a silent stream after the idle time, not before', async () => {
      server.script(
        message(
          { kind: 'text', text: 'One' },
          { kind: 'wait', until: new Promise(() => undefined) },
        ),
      );
      let hasText = false;
      const reading = (async () => {
        for await (const event of provider.stream(ask(), never)) {
          if (event.kind === 'text_delta') hasText = true;
        }
      })();
      const failing = expect(reading).rejects.toMatchObject({ code: 'connection_lost' });
      await expect.poll(() => hasText).toBe(true);
      await deps.clock.advance(599_999);
      expect(deps.clock.pending).toBe(1);
      await deps.clock.advance(1);
      await failing;
      await server.requests[0]?.closed;
    });

    it.each([
      [429, 'model_rate_limited'],
      [401, 'auth_failed'],
      [403, 'auth_failed'],
      [402, 'quota_exhausted'],
      [400, 'bad_request'],
      [408, 'connection_lost'],
      [409, 'connection_lost'],
      [500, 'overloaded'],
      [502, 'overloaded'],
      [503, 'overloaded'],
      [504, 'overloaded'],
      [529, 'overloaded'],
    ])('makes HTTP %i %s', async (status, code) => {
      const thrown = await failureAfter({ kind: 'status', status, message: 'No.' });
      expect(thrown).toMatchObject({ code, facts: { status, model } });
      expect(server.requests).toHaveLength(1);
    });

    it.each([
      [{ 'retry-after': '7' }, 7_000],
      [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1_500],
    ])('reads the wait of %o', async (headers, retryAfterMs) => {
      const thrown = await failureAfter({ kind: 'status', status: 429, headers });
      expect(thrown).toMatchObject({ code: 'model_rate_limited', retryAfterMs });
    });

    it('recognises a prompt that is too long', async () => {
      expect(await failureAfter(under.overflow)).toMatchObject({ code: 'context_overflow' });
    });

    it('takes an overflow for a rate limit when it is one', async () => {
      const text = 'Rate limit reached: too many tokens per min, maximum context length unaffected';
      const thrown = await failureAfter({ kind: 'status', status: 429, message: text });
      expect(thrown).toMatchObject({ code: 'model_rate_limited' });
    });

    it('reports an error inside the stream after what was shown', async () => {
      server.script(
        message(
          { kind: 'text', text: 'The answer is' },
          { kind: 'error', type: 'overloaded_error', message: 'Overloaded' },
        ),
      );
      const { events, thrown } = await collectUntilThrow(provider.stream(ask(), never));
      expect(events.map((event) => event.kind)).toContain('text_delta');
      expect(events.map((event) => event.kind)).not.toContain('message_end');
      expect(thrown).toMatchObject({ code: 'overloaded' });
      expect(String(thrown)).not.toContain('[object Object]');
    });

    it('reports a connection that breaks off', async () => {
      const thrown = await failureAfter(message({ kind: 'text', text: 'One' }, { kind: 'cut' }));
      expect(thrown).toMatchObject({ code: 'connection_lost' });
    });

    it('reports a stream that ends in order without its terminal event', async () => {
      server.script(message({ kind: 'text', text: 'One' }, { kind: 'end' }));
      const { events, thrown } = await collectUntilThrow(provider.stream(ask(), never));
      if (under.unmarkedEnd === 'connection_lost') {
        expect(thrown).toMatchObject({ code: 'connection_lost' });
        expect(events.map((event) => event.kind)).not.toContain('message_end');
      } else {
        expect(thrown).toBeUndefined();
        expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'unknown' });
      }
    });

    it('reports a stream that ends with nothing in it', async () => {
      const thrown = await failureAfter({ kind: 'events', events: [], doneMark: false });
      expect(thrown).toMatchObject({ code: 'connection_lost' });
    });

    it.each([
      ['text/html', '<html><body>Please log in</body></html>'],
      ['application/json', '{"ok":true}'],
    ])('reports a 200 with %s', async (contentType, body) => {
      const thrown = await failureAfter({ kind: 'status', status: 200, contentType, body });
      expect(thrown).toMatchObject({ code: 'connection_lost' });
      expect(server.requests).toHaveLength(1);
    });

    it('reports a server that cannot be reached', async () => {
      await server.close();
      const { thrown } = await collectUntilThrow(provider.stream(ask(), never));
      expect(thrown).toMatchObject({ code: 'connection_lost' });
      server = await createModelServer();
    });

    it.each(['\n', '\r\n'] as const)(
      'gives the same events wherever its bytes are cut (line end %j)',
      async (lineEnd) => {
        const answer: MessageAnswer = {
          ...message(
            { kind: 'reasoning', text: 'Hm, 🧭' },
            { kind: 'ping' },
            { kind: 'text', text: ['Grüße ', 'aus 東京'] },
            call('c1', 'weather', { city: 'Łódź' }),
            call('c2', 'clock'),
          ),
          bytes: { lineEnd },
          usage: noUsage,
        };
        const bytes = bytesOf(wire, answer);
        const outlineFor = async (cutAt: readonly number[] | 'each'): Promise<unknown[]> => {
          const piecewise = createTestDeps(pieceFetch(piecesOf(bytes, cutAt)));
          const cut = under.create(piecewise, server.baseUrl(wire));
          return outlineOf(await collect(cut.stream(ask(), never)));
        };
        const whole = await outlineFor([]);
        expect(whole.length).toBeGreaterThan(8);
        expect(await outlineFor('each')).toEqual(whole);
        for (let offset = 1; offset < bytes.length; offset += 1) {
          expect(await outlineFor([offset])).toEqual(whole);
        }
      },
      60_000,
    );

    it('reads the last event without a blank line after it', async () => {
      const bytes = bytesOf(wire, say('Short.'));
      const trimmed = Buffer.from(bytes).toString().trimEnd();
      const piecewise = createTestDeps(pieceFetch([Buffer.from(trimmed)]));
      const events = await collect(
        under.create(piecewise, server.baseUrl(wire)).stream(ask(), never),
      );
      expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
    });
  });
}
