/** Cases of public reports about streams that are empty, stopped or cut, over a real socket. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import type { ChatMessage, ChatProvider } from '../../src/messages/chat.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { geminiRequest } from '../../src/providers/gemini/request.ts';
import { type RetriedEvent, streamWithRetry } from '../../src/providers/retry.ts';
import { asking, never } from '../contract/provider-bench.ts';
import { providersUnderTest } from '../contract/providers-under-test.ts';
import { call, message, say } from '../emulators/model/script.ts';
import { objectsOf } from '../emulators/model/wire.ts';
import { bytesOf, createModelServer } from '../emulators/model-server.ts';
import { answerOf, openRawServer, type RawAnswer } from '../emulators/raw-server.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  chatRequestOf,
  collectUntilThrow,
  createTestDeps,
  userText,
} from '../support/providers.ts';

/** Streams with retries; waits pass at once. */
async function retried(provider: ChatProvider, request = chatRequestOf('gemini-3.6-flash')) {
  const clock = createFakeClock();
  const events: RetriedEvent[] = [];
  const reading = (async () => {
    const { signal } = new AbortController();
    const options = { clock, random: () => 0.5 };
    for await (const event of streamWithRetry(provider, request, signal, options)) {
      events.push(event);
      if (event.kind === 'retry_waiting') setImmediate(() => void clock.advance(event.delayMs));
    }
  })();
  const thrown: unknown = await reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { events, thrown };
}

describe('streams', () => {
  const unhandled: unknown[] = [];
  const keep = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => {
    unhandled.length = 0;
    process.on('unhandledRejection', keep);
  });
  afterEach(() => {
    process.off('unhandledRejection', keep);
    if (unhandled.length > 0) throw new Error('A rejection reached nobody.', { cause: unhandled });
  });

  it.each(providersUnderTest)(
    'of $wire with nothing but an end mark are retried a few times (B115)',
    async (under) => {
      let requests = 0;
      const server = await openRawServer(() => {
        requests += 1;
        return answerOf([Buffer.from('data: [DONE]\n\n')]);
      });
      const provider = under.create(createTestDeps(), server.url);
      const { events, thrown } = await retried(provider, asking(under)());
      expect(thrown).toMatchObject({ code: 'connection_lost' });
      expect(events.map(({ kind }) => kind)).toEqual(Array(5).fill('retry_waiting'));
      expect(requests).toBe(6);
      await server.close();
    },
  );

  it.each(providersUnderTest)(
    'of $wire that a person stops are no failure and are not retried (B115)',
    async (under) => {
      const server = await createModelServer();
      server.script(
        message(
          { kind: 'text', text: 'One' },
          { kind: 'wait', until: new Promise(() => undefined) },
        ),
      );
      const provider = under.create(createTestDeps(), server.baseUrl(under.wire));
      const controller = new AbortController();
      const reason = new BotError('stopped', 'Anna stopped it.');
      const seen: string[] = [];
      const reading = (async () => {
        const options = { clock: createFakeClock(), random: () => 0.5 };
        const stream = streamWithRetry(provider, asking(under)(), controller.signal, options);
        for await (const event of stream) {
          seen.push(event.kind);
          if (event.kind === 'text_delta') controller.abort(reason);
        }
      })();
      await expect(reading).rejects.toBe(reason);
      expect(seen).not.toContain('retry_waiting');
      expect(server.requests).toHaveLength(1);
      await server.close();
    },
  );

  it('of Gemini whose last chunk is cut under load trouble nobody else (B116)', async () => {
    const whole = Buffer.from(
      bytesOf('gemini', message({ kind: 'text', text: 'Shown.' }, call('c1', 'clock'))),
    );
    const cutLast = whole.subarray(0, whole.lastIndexOf('"usageMetadata"'));
    const cutFirst = whole.subarray(0, whole.indexOf('Shown'));
    const kindOf = (place: number): 'whole' | 'cut_late' | 'cut_early' =>
      place % 3 === 0 ? 'whole' : place % 3 === 1 ? 'cut_late' : 'cut_early';
    const asked = new Map<number, number>();
    const server = await openRawServer(({ path }): RawAnswer => {
      const place = Number(/^\/a(\d+)\//u.exec(path)?.[1]);
      const times = (asked.get(place) ?? 0) + 1;
      asked.set(place, times);
      const cuts = { whole, cut_late: cutLast, cut_early: times === 1 ? cutFirst : whole };
      return answerOf([cuts[kindOf(place)]]);
    });
    const places = Array.from({ length: 70 }, (_, place) => place);
    const results = await Promise.all(
      places.map(async (place) => {
        const options = { apiKey: 'k', baseUrl: `${server.url}/a${place}` };
        return await retried(createGeminiProvider(createTestDeps(), options));
      }),
    );
    for (const [place, { events, thrown }] of results.entries()) {
      const kinds = events.map(({ kind }) => kind);
      const isLate = kindOf(place) === 'cut_late';
      // What was shown and what may run is kept; nothing of it comes twice.
      expect(kinds.filter((kind) => kind === 'text_delta')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'tool_call_ready')).toHaveLength(1);
      expect(kinds.includes('message_end')).toBe(!isLate);
      expect(kinds.includes('retry_waiting')).toBe(kindOf(place) === 'cut_early');
      expect(thrown === undefined ? 'well' : 'broken').toBe(isLate ? 'broken' : 'well');
    }
    const broken = results.flatMap(({ thrown }) => (thrown === undefined ? [] : [thrown]));
    expect(broken).toHaveLength(23);
    for (const thrown of broken) expect(thrown).toMatchObject({ code: 'connection_lost' });
    await server.close();
  });

  it.each(providersUnderTest)(
    'of $wire that break off are never complete (B102)',
    async (under) => {
      const server = await createModelServer();
      server.script(
        message(
          { kind: 'text', text: 'Half' },
          { kind: 'error', type: 'overloaded_error', message: 'Overloaded' },
        ),
        say('Whole.'),
      );
      const provider = under.create(createTestDeps(), server.baseUrl(under.wire));
      const { events, thrown } = await retried(provider, asking(under)());
      const kinds = events.map(({ kind }) => kind);
      expect(kinds).toContain('text_delta');
      expect(kinds).not.toContain('message_end');
      expect(kinds).not.toContain('retry_waiting');
      expect(thrown).toMatchObject({ code: 'overloaded' });
      await server.close();
    },
  );
});

describe('Gemini', () => {
  it('gets as many responses as there were calls (B113)', async () => {
    const calls = ['c1', 'c2'].map(
      (callId) => ({ kind: 'tool_call', callId, name: 'clock', input: {} }) as const,
    );
    const messages: ChatMessage[] = [
      userText('go'),
      { role: 'assistant', parts: calls },
      {
        role: 'tool',
        results: [
          { callId: 'c2', name: 'clock', outcome: 'ok', parts: [{ kind: 'text', text: 'noon' }] },
        ],
      },
      userText('and now?'),
    ];
    const model = 'gemini-3.6-flash';
    const origin = { provider: 'gemini', endpoint: 'e', model };
    const { contents } = geminiRequest(chatRequestOf(model, messages), origin, new Set());
    expect(objectsOf(objectsOf(contents)[2]?.['parts'])).toEqual([
      {
        functionResponse: {
          name: 'clock',
          response: { error: expect.stringContaining('interrupted') },
        },
      },
      { functionResponse: { name: 'clock', response: { output: 'noon' } } },
      { text: 'and now?' },
    ]);
    const server = await createModelServer();
    server.script(say('Fine.'));
    const options = { apiKey: 'k', baseUrl: server.baseUrl('gemini') };
    const provider = createGeminiProvider(createTestDeps(), options);
    await collectUntilThrow(provider.stream(chatRequestOf(model, messages), never));
    expect(server.requests.map(({ objection }) => objection)).toEqual([undefined]);
    await server.close();
  });
});
