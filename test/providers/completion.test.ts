/** A chain of models: who answers, who takes over, what is asked for and what is told of it. */

import { describe, expect, it } from 'vitest';
import { BotError, type ErrorCode } from '../../src/base/errors.ts';
import type { ChatRequest, ChatStreamEvent } from '../../src/messages/chat.ts';
import { unknownAbilities } from '../../src/messages/model.ts';
import { noUsage } from '../../src/messages/usage.ts';
import {
  type Candidate,
  type CompletionEvent,
  createCompletion,
  type MeteredCall,
} from '../../src/providers/completion.ts';
import { costOf } from '../../src/providers/cost.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { chatRequestOf, userText } from '../support/providers.ts';

type Attempt = readonly (ChatStreamEvent | BotError)[];

const used = { ...noUsage, input: 1_000_000, output: 500_000 };
const say = (text: string): Attempt => [
  { kind: 'message_start', origin: { provider: 'p', endpoint: 'e', model: 'm' } },
  { kind: 'usage', usage: used },
  { kind: 'text_delta', text },
  { kind: 'message_end', stop: 'end', reasoningMs: 0 },
];
const fail = (code: ErrorCode, retryAfterMs?: number): BotError =>
  new BotError(code, code, {
    facts: { provider: 'first', model: 'm' },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
const refusal: Attempt = [
  { kind: 'usage', usage: used },
  { kind: 'message_end', stop: 'refused', reasoningMs: 0 },
];

function setUp(
  first: readonly Attempt[],
  second: readonly Attempt[] | undefined,
  window = 200_000,
) {
  const clock = createFakeClock();
  const asked: { name: string; request: ChatRequest }[] = [];
  const candidate = (name: string, attempts: readonly Attempt[]): Candidate => {
    let made = 0;
    return {
      name,
      model: name.split('/')[1] ?? '',
      mostOutputTokens: 32_000,
      facts: {
        ...{ name, aliases: [], window, mostOutputTokens: 64_000, isKnown: true },
        abilities: unknownAbilities,
        prices: { input: 2, output: 10, date: '2026-11-30' },
      },
      provider: {
        name: name.split('/')[0] ?? '',
        stream: async function* (request) {
          asked.push({ name, request });
          const attempt = attempts[made] ?? say('more');
          made += 1;
          await Promise.resolve();
          for (const event of attempt) {
            if (event instanceof BotError) throw event;
            yield event;
          }
        },
      },
    };
  };
  const chain = [
    candidate('first/m', first),
    ...(second === undefined ? [] : [candidate('second/n', second)]),
  ];
  const completion = createCompletion(chain, { clock, random: () => 0.5 });
  const calls: MeteredCall[] = [];
  const controller = new AbortController();
  const ask = async (prompt = chatRequestOf('m')) => {
    const events: CompletionEvent[] = [];
    const message = createMessageAccumulator();
    const onCall = async (call: MeteredCall): Promise<void> => {
      await Promise.resolve();
      calls.push(call);
    };
    const running = (async () => {
      try {
        for await (const event of completion(prompt, controller.signal, onCall)) {
          events.push(event);
          message.add(event);
        }
        return undefined;
      } catch (thrown) {
        return thrown;
      }
    })();
    await clock.advance(600_000);
    return { events, text: message.text(), thrown: await running };
  };
  return { asked, ask, calls, chain, controller };
}

const askedOf = (world: ReturnType<typeof setUp>): string[] => world.asked.map(({ name }) => name);

describe('a chain of models', () => {
  it.each<ErrorCode>(['overloaded', 'model_rate_limited', 'connection_lost'])(
    'tries a model that failed in passing (%s) once more, then hands over',
    async (code) => {
      const world = setUp([[fail(code)], [fail(code)]], [say('Here.')]);
      const { events, text } = await world.ask();
      expect(askedOf(world)).toEqual(['first/m', 'first/m', 'second/n']);
      expect(text).toBe('Here.');
      expect(events.filter(({ kind }) => kind === 'model_switched')).toEqual([
        expect.objectContaining({ from: 'first/m', to: 'second/n', code }),
      ]);
    },
  );

  it.each<ErrorCode>(['refused', 'quota_exhausted', 'auth_failed', 'model_unknown'])(
    'hands over at once what trying again cannot mend (%s)',
    async (code) => {
      const world = setUp([[fail(code)]], [say('Here.')]);
      expect((await world.ask()).text).toBe('Here.');
      expect(askedOf(world)).toEqual(['first/m', 'second/n']);
    },
  );

  it('hands over when the provider asks for a long wait', async () => {
    const world = setUp([[fail('model_rate_limited', 60_000)]], [say('Here.')]);
    expect((await world.ask()).text).toBe('Here.');
    expect(askedOf(world)).toEqual(['first/m', 'second/n']);
  });

  it('hands over a refusal without a word, and counts what it cost', async () => {
    const world = setUp([refusal], [say('Here.')]);
    const { text, events } = await world.ask();
    expect(text).toBe('Here.');
    expect(events[0]).toMatchObject({ kind: 'model_switched', reason: 'm declined to answer' });
    expect(world.calls).toEqual([
      { model: 'first/m', usage: used, costUsd: 7, isCostKnown: true },
      { model: 'second/n', usage: used, costUsd: 7, isCostKnown: true },
    ]);
  });

  it.each<ErrorCode>(['bad_request', 'context_overflow'])(
    'does not hand over what is wrong with the request (%s)',
    async (code) => {
      const world = setUp([[fail(code)]], [say('Here.')]);
      expect((await world.ask()).thrown).toMatchObject({ code });
      expect(askedOf(world)).toEqual(['first/m']);
    },
  );

  it('never hands over after the first visible word', async () => {
    const [start, usage, text] = say('Half');
    const attempt = [start, usage, text].flatMap((event) => (event ? [event] : []));
    const world = setUp([[...attempt, fail('overloaded')]], [say('Here.')]);
    const { thrown, text: shown } = await world.ask();
    expect(thrown).toMatchObject({ code: 'overloaded' });
    expect(shown).toBe('Half');
    expect(askedOf(world)).toEqual(['first/m']);
    expect(world.calls).toMatchObject([{ costUsd: 7, isCostKnown: false }]);
  });

  it('stays with the model that took over for the rest of the run', async () => {
    const world = setUp([[fail('auth_failed')]], [say('One.'), say('Two.')]);
    await world.ask();
    expect((await world.ask()).text).toBe('Two.');
    expect(askedOf(world)).toEqual(['first/m', 'second/n', 'second/n']);
  });

  it('throws what the last one threw, with its whole ladder', async () => {
    const failing = Array.from({ length: 9 }, () => [fail('overloaded')]);
    const world = setUp(failing, undefined);
    expect((await world.ask()).thrown).toMatchObject({ code: 'overloaded' });
    expect(askedOf(world)).toHaveLength(6);
  });

  it('does not go on after a stop', async () => {
    const world = setUp([[fail('overloaded')], [fail('overloaded')]], [say('Here.')]);
    world.controller.abort(new BotError('stopped', 'Stopped.'));
    const { thrown, events } = await world.ask();
    expect(thrown).toMatchObject({ code: 'stopped' });
    expect(events.filter(({ kind }) => kind === 'model_switched')).toEqual([]);
  });
});

describe('a model that cannot be asked', () => {
  it('gives way to the next one, and is the failure where there is none', async () => {
    const error = new BotError('auth_failed', 'acme/one needs a key.', {
      facts: { provider: 'acme' },
    });
    const missing = { name: 'acme/one', error };
    const onCall = async (): Promise<void> => {};
    const ask = async (chain: Parameters<typeof createCompletion>[0]): Promise<unknown[]> => {
      const completion = createCompletion(chain, { clock: createFakeClock(), random: () => 0.5 });
      const events: unknown[] = [];
      const { signal } = new AbortController();
      for await (const event of completion(chatRequestOf('m'), signal, onCall)) events.push(event);
      return events;
    };
    const { chain } = setUp([say('Here.')], undefined);
    expect((await ask([missing, ...chain]))[0]).toMatchObject({
      kind: 'model_switched',
      from: 'acme/one',
      to: 'first/m',
      reason: 'acme refused the key',
    });
    await expect(ask([missing])).rejects.toThrow('acme/one needs a key.');
  });
});

describe('what a call used', () => {
  it('is unknown, not nothing, where the server does not say', async () => {
    const quiet = say('ok').filter((event) => 'kind' in event && event.kind !== 'usage');
    const world = setUp([quiet], undefined);
    await world.ask();
    expect(world.calls).toEqual([
      { model: 'first/m', usage: noUsage, costUsd: 0, isCostKnown: false },
    ]);
  });

  it('is nothing where the server refused', async () => {
    const world = setUp([[fail('bad_request')]], undefined);
    await world.ask();
    expect(world.calls).toEqual([]);
  });
});

describe('the output that is asked for', () => {
  it.each([
    ['a short prompt gets all', 'Hi', 200_000, 32_000],
    ['B107: a long prompt gets what the window has left', 'word '.repeat(150_000), 200_000, 33_850],
    ['B107: a small window is not asked for as a whole', 'word '.repeat(2_000), 8_192, 4_900],
    [
      'a prompt without room gets the least, and the server decides',
      'word '.repeat(9_000),
      8_192,
      1_000,
    ],
  ])('%s', async (_, text, window, most) => {
    const world = setUp([say('ok')], undefined, window);
    await world.ask(chatRequestOf('m', [userText(text)]));
    const asked = world.asked[0]?.request.mostOutputTokens ?? 0;
    expect(asked).toBeLessThanOrEqual(Math.min(32_000, most));
    expect(asked).toBeGreaterThanOrEqual(Math.min(32_000, most) * 0.9);
  });
});

describe('costOf', () => {
  const prices = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15, date: '2026-11-30' };
  const tiered = {
    ...{ input: 3, cacheRead: 0.5, output: 9, date: '2026-11-30' },
    longPrompt: { aboveTokens: 100_000, input: 6, cacheRead: 1 },
  };
  it.each([
    [{ ...noUsage, input: 1_000_000 }, prices, 3],
    [{ ...noUsage, cacheRead: 2_000_000, cacheWrite: 1_000_000 }, prices, 4.35],
    [{ ...noUsage, output: 100_000, reasoning: 100_000 }, prices, 3],
    [noUsage, undefined, 0],
    [{ ...noUsage, input: 1 }, undefined, undefined],
    [{ ...noUsage, input: 1, cacheRead: 5 }, { input: 3, date: '2026-11-30' }, undefined],
    [{ ...noUsage, input: 1_000_000 }, { input: 3, date: '2026-11-30' }, 3],
    [{ ...noUsage, input: 9, reportedUsd: 0.42 }, undefined, 0.42],
    [{ ...noUsage, input: 60_000, cacheRead: 40_000 }, tiered, 0.2],
    [{ ...noUsage, input: 60_001, cacheRead: 40_000 }, tiered, 0.400_006],
    [{ ...noUsage, input: 200_000, output: 1 }, tiered, undefined],
  ])('of %j is known or unknown, never guessed', (usage, known, usd) => {
    const cost = costOf(usage, known);
    expect(cost === undefined ? 'unknown' : cost.toFixed(9)).toBe(usd?.toFixed(9) ?? 'unknown');
  });
});
