/** Messages that are whole while the server leaves its connection open: none of them is lost. */

import { describe, expect, it } from 'vitest';
import type { ChatStreamEvent } from '../../src/messages/chat.ts';
import { createEndWatch } from '../../src/providers/end-watch.ts';
import { asking, never } from '../contract/provider-bench.ts';
import { providersUnderTest } from '../contract/providers-under-test.ts';
import { say } from '../emulators/model/script.ts';
import { bytesOf, type WireName } from '../emulators/model-server.ts';
import { openRawServer, type RawStep } from '../emulators/raw-server.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createTestDeps } from '../support/providers.ts';

const underOf = (wire: WireName) => {
  const under = providersUnderTest.find((one) => one.wire === wire);
  if (under === undefined) throw new Error(`No provider of ${wire}.`);
  return under;
};
const lines = (...chunks: readonly unknown[]): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
const choice = (delta: object, finish?: string): unknown => ({
  choices: [{ index: 0, delta, ...(finish === undefined ? {} : { finish_reason: finish }) }],
});
const candidate = (text: string, rest: object = {}): unknown => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...rest }],
});
const later = () => {
  const state = { resolve: (): void => undefined };
  const promise = new Promise<void>((resolve) => {
    state.resolve = resolve;
  });
  return { promise, resolve: () => state.resolve() };
};
const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };

/** Reads these pieces from a server that does not hang up behind them. */
async function setUp(wire: WireName, ...pieces: readonly (string | RawStep)[]) {
  const state: { isOpen: boolean; result: unknown } = { isOpen: true, result: 'reading' };
  const server = await openRawServer(({ closed }) => {
    void closed.then(() => {
      state.isOpen = false;
    });
    const steps = pieces.map((piece): RawStep => {
      return typeof piece === 'string' ? { kind: 'bytes', bytes: Buffer.from(piece) } : piece;
    });
    return { steps: [...steps, { kind: 'wait', until: new Promise(() => undefined) }] };
  });
  const deps = createTestDeps();
  const under = underOf(wire);
  const seen: ChatStreamEvent[] = [];
  const read = async (): Promise<void> => {
    const stream = under.create(deps, server.url).stream(asking(under)(), never);
    for await (const event of stream) seen.push(event);
  };
  const reading = read().then(
    () => {
      state.result = 'done';
    },
    (thrown: unknown) => {
      state.result = thrown;
    },
  );
  return {
    deps,
    seen,
    state,
    kinds: () => seen.map(({ kind }) => kind),
    /** Besides the watch for silence, the one for the end goes. */
    untilEndIsNear: () => expect.poll(() => deps.clock.pending).toBe(2),
    close: async () => {
      await server.close();
      await reading;
    },
  };
}

describe.each(providersUnderTest)('a whole message of $wire', ({ wire }) => {
  const waitMs = wire === 'gemini' ? 5_000 : 1_000;

  it(`ends ${waitMs} ms later though its connection stays open, and hangs up`, async () => {
    const world = await setUp(wire, Buffer.from(bytesOf(wire, say('Hello.'))).toString());
    await world.untilEndIsNear();
    await world.deps.clock.advance(waitMs - 1);
    expect(world.state).toEqual({ isOpen: true, result: 'reading' });
    await world.deps.clock.advance(1);
    await expect.poll(() => world.state).toEqual({ isOpen: false, result: 'done' });
    expect(world.kinds().filter((kind) => kind === 'message_end')).toHaveLength(1);
    expect(world.seen.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
    expect(world.kinds()).toContain('usage');
    expect(world.deps.clock.pending).toBe(0);
    await world.close();
  });

  it('is whole too when the connection breaks behind it', async () => {
    const bytes = Buffer.from(bytesOf(wire, say('Hello.'))).toString();
    const breaking = later();
    const wait: RawStep = { kind: 'wait', until: breaking.promise };
    const world = await setUp(wire, bytes, wait, { kind: 'reset' });
    await world.untilEndIsNear();
    breaking.resolve();
    await expect.poll(() => world.state.result).toBe('done');
    expect(world.seen.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
    await world.close();
  });
});

describe('a message of Anthropic or the Responses API', () => {
  it.each(['anthropic', 'openai'] as const)('of %s tells its end at once', async (wire) => {
    const world = await setUp(wire, Buffer.from(bytesOf(wire, say('Hello.'))).toString());
    await expect.poll(world.kinds).toContain('message_end');
    expect(world.state.result).toBe('reading');
    await world.close();
  });
});

describe('a reason to stop without the end mark', () => {
  it('waits 5 s for usage, and reads it', async () => {
    const arrival = later();
    const world = await setUp(
      'compatible',
      lines(choice({ content: 'Hello.' }), choice({}, 'stop')),
      { kind: 'wait', until: arrival.promise },
      lines({ choices: [], usage }),
    );
    await world.untilEndIsNear();
    await world.deps.clock.advance(4_999);
    arrival.resolve();
    await expect.poll(world.kinds).toContain('usage');
    expect(world.state.result).toBe('reading');
    await world.deps.clock.advance(1);
    await expect.poll(() => world.state).toEqual({ isOpen: false, result: 'done' });
    expect(world.seen.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
    await world.close();
  });

  it.each([
    ['compatible', [choice({ content: 'One' }, 'stop'), choice({ content: ' two' }, 'stop')]],
    [
      'gemini',
      [candidate('One', { finishReason: 'STOP' }), candidate(' two', { finishReason: 'STOP' })],
    ],
  ] as const)('of %s is no end where more follows on it', async (wire, [first, second]) => {
    const arrival = later();
    const world = await setUp(
      wire,
      lines(first),
      { kind: 'wait', until: arrival.promise },
      lines(second),
    );
    await world.untilEndIsNear();
    arrival.resolve();
    await expect.poll(() => world.kinds().filter((kind) => kind === 'text_delta').length).toBe(2);
    expect(world.deps.clock.pending).toBe(1);
    await world.deps.clock.advance(60_000);
    expect(world.state).toEqual({ isOpen: true, result: 'reading' });
    await world.close();
  });

  it('that is a continuation mark of Gemini is none', async () => {
    const world = await setUp('gemini', lines(candidate('One', { finishReason: 'CONTINUATION' })));
    await expect.poll(world.kinds).toContain('text_delta');
    expect(world.deps.clock.pending).toBe(1);
    await world.close();
  });
});

it('an error behind the reason to stop is still an error', async () => {
  const world = await setUp(
    'compatible',
    lines(choice({ content: 'One' }, 'stop'), { error: { message: 'Overloaded.' } }),
    'data: [DONE]\n\n',
  );
  await expect.poll(() => world.state.result).toMatchObject({ code: 'overloaded' });
  await world.close();
});

describe('createEndWatch', () => {
  const setUpWatch = () => {
    const clock = createFakeClock();
    const state = { hangUps: 0 };
    const watch = createEndWatch(clock, () => {
      state.hangUps += 1;
    });
    return { clock, state, watch };
  };

  it('hurries when a surer sign comes, and never slows down', async () => {
    const { clock, state, watch } = setUpWatch();
    watch.expect('finished');
    watch.expect('marked');
    watch.expect('finished');
    watch.doubt();
    expect(watch.sign).toBe('marked');
    await clock.advance(999);
    expect(state.hangUps).toBe(0);
    await clock.advance(1);
    expect(state.hangUps).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('takes no reason to stop for the end any more once it was in doubt', async () => {
    const { clock, watch } = setUpWatch();
    watch.expect('finished');
    watch.doubt();
    watch.expect('finished');
    expect([watch.sign, clock.pending]).toEqual([undefined, 0]);
    watch.expect('whole');
    expect([watch.sign, clock.pending]).toEqual(['whole', 1]);
    watch.stop();
    expect(clock.pending).toBe(0);
  });
});
