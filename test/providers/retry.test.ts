/** Retries: which failures, how long, and never after something was shown. */

import { describe, expect, it } from 'vitest';
import { BotError, type ErrorCode } from '../../src/base/errors.ts';
import type { ChatProvider, ChatStreamEvent } from '../../src/messages/chat.ts';
import { noUsage } from '../../src/messages/usage.ts';
import { MalformedAnswer } from '../../src/providers/errors.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import {
  type RetriedEvent,
  type RetryOptions,
  streamWithRetry,
} from '../../src/providers/retry.ts';
import { type Answer, say } from '../emulators/model/script.ts';
import { createModelServer } from '../emulators/model-server.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { chatRequestOf, collectUntilThrow, createTestDeps } from '../support/providers.ts';

const origin = { provider: 'fake', endpoint: 'e', model: 'm' };
const start: ChatStreamEvent = { kind: 'message_start', origin };
const usage: ChatStreamEvent = { kind: 'usage', usage: noUsage };
const text: ChatStreamEvent = { kind: 'text_delta', text: 'Hi' };
const end: ChatStreamEvent = { kind: 'message_end', stop: 'end', reasoningMs: 0 };
const whole = [start, text, end];

type Attempt = readonly (ChatStreamEvent | BotError)[];

function setUp(attempts: readonly Attempt[], options: Partial<RetryOptions> = {}) {
  const clock = createFakeClock();
  const startMs = clock.now();
  const madeAtMs: number[] = [];
  const provider: ChatProvider = {
    name: 'fake',
    stream: async function* () {
      const attempt = attempts[madeAtMs.length] ?? [];
      madeAtMs.push(clock.now() - startMs);
      await Promise.resolve();
      for (const event of attempt) {
        if (event instanceof BotError) throw event;
        yield event;
      }
    },
  };
  const controller = new AbortController();
  const events: RetriedEvent[] = [];
  const run = async (): Promise<unknown> => {
    const stream = streamWithRetry(provider, chatRequestOf('m'), controller.signal, {
      clock,
      random: () => 0.5,
      ...options,
    });
    try {
      for await (const event of stream) events.push(event);
      return undefined;
    } catch (thrown) {
      return thrown;
    }
  };
  return { clock, controller, events, madeAtMs, run };
}

const failing = (code: ErrorCode, retryAfterMs?: number): BotError =>
  new BotError(code, `${code}.`, retryAfterMs === undefined ? {} : { retryAfterMs });

describe('streamWithRetry', () => {
  it('passes a good stream through', async () => {
    const { events, run } = setUp([[start, usage, text, usage, end]]);
    expect(await run()).toBeUndefined();
    expect(events).toEqual([start, usage, text, usage, end]);
  });

  it('climbs the ladder and then gives up', async () => {
    const { clock, events, madeAtMs, run } = setUp(
      Array.from({ length: 7 }, () => [start, usage, failing('overloaded')]),
    );
    const running = run();
    await clock.advance(300_000);
    expect(await running).toMatchObject({ code: 'overloaded' });
    expect(madeAtMs).toEqual([0, 3_000, 13_000, 43_000, 103_000, 223_000]);
    expect(events).toEqual(
      [3_000, 10_000, 30_000, 60_000, 120_000].map((delayMs) => ({
        kind: 'retry_waiting',
        reason: 'the model is overloaded',
        delayMs,
      })),
    );
  });

  it.each([
    [0, 2_250],
    [1, 3_750],
  ])('spreads the wait by a quarter (random %d)', async (random, delayMs) => {
    const { clock, events, run } = setUp([[failing('connection_lost')], whole], {
      random: () => random,
    });
    const running = run();
    await clock.advance(delayMs - 1);
    expect(events).toEqual([
      { kind: 'retry_waiting', reason: 'the connection to the model was lost', delayMs },
    ]);
    await clock.advance(1);
    expect(await running).toBeUndefined();
    expect(events.slice(1)).toEqual(whole);
  });

  it('never comes back before the provider asked', async () => {
    const { clock, madeAtMs, run } = setUp([[failing('model_rate_limited', 34_400)], whole], {
      random: () => 0,
    });
    const running = run();
    await clock.advance(60_000);
    expect(await running).toBeUndefined();
    expect(madeAtMs).toEqual([0, 34_400]);
  });

  it.each([
    [10_000, 1],
    [10_001, 0],
  ])('waits when asked for %i ms at most 10,000', async (retryAfterMs, waits) => {
    const { clock, events, run } = setUp([[failing('model_rate_limited', retryAfterMs)], whole], {
      mostWaitMs: 10_000,
    });
    const running = run();
    await clock.advance(20_000);
    const thrown = await running;
    expect(events.filter(({ kind }) => kind === 'retry_waiting')).toHaveLength(waits);
    expect(thrown === undefined).toBe(waits === 1);
  });

  it.each([
    'quota_exhausted',
    'auth_failed',
    'bad_request',
    'context_overflow',
    'refused',
  ] as const)('does not retry %s', async (code) => {
    const { events, madeAtMs, run } = setUp([[start, failing(code)], whole]);
    expect(await run()).toMatchObject({ code });
    expect(madeAtMs).toHaveLength(1);
    expect(events).toEqual([]);
  });

  it.each<[string, ChatStreamEvent]>([
    ['text', text],
    ['a call', { kind: 'tool_call_start', callId: 'c', name: 'x' }],
  ])('never replays a stream that has shown %s', async (_, shown) => {
    const { events, madeAtMs, run } = setUp([[start, shown, failing('connection_lost')], whole]);
    expect(await run()).toMatchObject({ code: 'connection_lost' });
    expect(events).toEqual([start, shown]);
    expect(madeAtMs).toHaveLength(1);
  });

  it('replays what nobody could see: thoughts, seals and white space', async () => {
    const unseen: readonly ChatStreamEvent[] = [
      { kind: 'reasoning_delta', text: 'Hm' },
      { kind: 'reasoning_signature', raw: { origin, data: 's' } },
      { kind: 'raw_part', part: 'own', raw: { origin, data: 'r' } },
      { kind: 'text_delta', text: ' \n' },
    ];
    const { clock, events, run } = setUp([
      [start, ...unseen, failing('connection_lost')],
      [start, ...unseen, text, end],
    ]);
    const running = run();
    await clock.advance(5_000);
    expect(await running).toBeUndefined();
    expect(events[0]).toMatchObject({ kind: 'retry_waiting' });
    expect(events.slice(1)).toEqual([start, ...unseen, text, end]);
  });

  it('gives a message without anything visible out when it is over', async () => {
    const silent: Attempt = [start, { kind: 'reasoning_delta', text: 'Hm' }, usage, end];
    const { events, run } = setUp([silent]);
    expect(await run()).toBeUndefined();
    expect(events).toEqual(silent);
  });

  it('gives a malformed message one more chance, not five', async () => {
    const malformed = new BotError('overloaded', 'Malformed.', { cause: new MalformedAnswer() });
    const { clock, madeAtMs, run } = setUp([
      [failing('overloaded')],
      [start, malformed],
      [start, malformed],
      whole,
    ]);
    const running = run();
    await clock.advance(300_000);
    expect(await running).toBe(malformed);
    expect(madeAtMs).toHaveLength(3);
  });

  it('asks Gemini once more when a call after thoughts was malformed', async () => {
    const response = (content: object, finishReason?: string) => ({
      candidates: [{ content, ...(finishReason === undefined ? {} : { finishReason }) }],
    });
    const thought = response({ role: 'model', parts: [{ text: 'I call.', thought: true }] });
    const server = await createModelServer();
    const malformed: Answer = {
      kind: 'events',
      events: [thought, response({}, 'MALFORMED_FUNCTION_CALL')],
    };
    server.script(malformed, say('Noon.'), malformed, malformed, say('Never.'));
    const deps = createTestDeps();
    const provider = createGeminiProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('gemini') });
    const never = new AbortController().signal;
    const ask = async (): Promise<unknown> => {
      const asking = collectUntilThrow(
        streamWithRetry(provider, chatRequestOf('gemini-3.6-flash'), never, {
          clock: deps.clock,
          random: () => 0.5,
          ladderMs: [0, 0, 0],
        }),
      );
      let isOver = false;
      void asking.then(() => {
        isOver = true;
      });
      await expect
        .poll(async () => {
          await deps.clock.advance(1);
          return isOver;
        })
        .toBe(true);
      return asking;
    };
    expect(await ask()).toMatchObject({ thrown: undefined });
    expect(await ask()).toMatchObject({ thrown: { code: 'overloaded' } });
    expect(server.requests).toHaveLength(4);
    await server.close();
  });

  it('stops waiting when stopped', async () => {
    const { clock, controller, madeAtMs, run } = setUp([[failing('overloaded')], whole]);
    const running = run();
    await clock.settle();
    const reason = new BotError('stopped', 'Anna stopped it.');
    controller.abort(reason);
    expect(await running).toBe(reason);
    expect(madeAtMs).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('leaves one whole message in the accumulator', async () => {
    const { clock, events, run } = setUp([[start, failing('overloaded')], whole]);
    const running = run();
    await clock.advance(5_000);
    await running;
    const accumulator = createMessageAccumulator();
    for (const event of events) accumulator.add(event);
    expect(accumulator.parts()).toEqual([{ kind: 'text', text: 'Hi' }]);
    expect(accumulator.stop).toBe('end');
  });
});
