/** A provider gives the same events however the bytes of a stream reach it, over a real socket. */

import { expect, it } from 'vitest';
import type { ChatStreamEvent } from '../../src/messages/chat.ts';
import { call, type MessageAnswer, message, say, scriptUsage } from '../emulators/model/script.ts';
import { bytesOf, piecesOf } from '../emulators/model-server.ts';
import { answerOf, openRawServer, type RawAnswer, type RawStep } from '../emulators/raw-server.ts';
import { collect, collectUntilThrow, createTestDeps, outlineOf } from '../support/providers.ts';
import { asking, never, type ProviderUnderTest } from './provider-bench.ts';

/** All that a message can be made of, short, because every byte of it costs a request. */
const whole: MessageAnswer = message(
  { kind: 'reasoning', text: 'Hm, 🧭' },
  { kind: 'ping' },
  { kind: 'text', text: ['Grüße ', 'aus 東京'] },
  call('c1', 'weather', { city: 'Łódź' }),
  call('c2', 'clock'),
);
const expected = [
  { kind: 'message_start' },
  { kind: 'reasoning_delta', text: 'Hm, 🧭' },
  { kind: 'text_delta', text: 'Grüße aus 東京' },
  { kind: 'tool_call_start', callId: 'c1', name: 'weather' },
  { kind: 'tool_call_delta', callId: 'c1', text: '{"city":"Łódź"}' },
  { kind: 'tool_call_ready', callId: 'c1', name: 'weather', input: { city: 'Łódź' } },
  { kind: 'tool_call_start', callId: 'c2', name: 'clock' },
  { kind: 'tool_call_ready', callId: 'c2', name: 'clock', input: {} },
  { kind: 'message_end', stop: 'tool_calls', reasoningMs: 0 },
  { kind: 'last_usage', usage: scriptUsage },
];
/** Requests under way at once. */
const batch = 32;

/** Where the one cut falls: anywhere, or where it tells more often than elsewhere. */
export type Cuts = 'telling' | 'all';

/** The stream in two pieces. Each cut costs a request: all of them take half a minute. */
export function describeProviderCuts(under: ProviderUnderTest, cuts: Cuts): void {
  const outlinesOf = outlinesFrom(under);
  it(`gives the same events wherever its bytes are cut (${cuts} cuts)`, async () => {
    const bytes = withNoise(bytesOf(under.wire, { ...whole, bytes: { lineEnd: '\r\n' } }));
    const offsets = [...bytes.keys()].filter(
      (offset) => cuts === 'all' || offset % everyOf(bytes, offset) === 0,
    );
    const [uncut, ...outlines] = await outlinesOf(
      offsets.map((offset, place) => ({
        ...answerOf(piecesOf(bytes, [offset])),
        framing: place % 2 === 0 ? 'close' : 'chunked',
      })),
    );
    expect(uncut).toEqual(expected);
    expect(outlines).toHaveLength(offsets.length - 1);
    expect(outlines.length).toBeGreaterThan(cuts === 'all' ? bytes.length - 2 : 50);
    for (const [place, outline] of outlines.entries()) {
      expect(outline, `cut at byte ${offsets[place + 1]}`).toEqual(uncut);
    }
  }, 60_000);
}

/** Of the cuts like the one before this byte every so many-th tells enough: all within and beside a
 * character of more bytes, a third of those at the ends of lines and events. */
function everyOf(bytes: Uint8Array, offset: number): number {
  const around = bytes.subarray(Math.max(0, offset - 1), offset + 1);
  if (around.some((byte) => byte >= 0x80)) return 1;
  return around.some((byte) => byte === 0x0d || byte === 0x0a) ? 3 : 13;
}

/** The events of each answer, in order; the answers are asked for in parallel. */
function outlinesFrom(under: ProviderUnderTest) {
  const ask = asking(under);
  return async (answers: readonly RawAnswer[]): Promise<readonly unknown[]> => {
    const server = await openRawServer(({ path }) => {
      const place = Number(/^\/a(\d+)\//u.exec(path)?.[1]);
      return answers[place] ?? { status: 404, contentType: 'text/plain', steps: [] };
    });
    const outlineAt = async (place: number): Promise<unknown> => {
      const provider = under.create(createTestDeps(), `${server.url}/a${place}`);
      const { signal } = new AbortController();
      const outline = outlineOf(await collect(provider.stream(ask(), signal)));
      // Arguments without anything in them are written by some and left out by others.
      return outline.filter((event) => !JSON.stringify(event).includes('"text":"{}"'));
    };
    const outlines: unknown[] = [];
    for (let first = 0; first < answers.length; first += batch) {
      const places = [...answers.keys()].slice(first, first + batch);
      outlines.push(...(await Promise.all(places.map(outlineAt))));
    }
    expect(server.connections).toBe(answers.length);
    await server.close();
    return outlines;
  };
}

export function describeProviderBytes(under: ProviderUnderTest): void {
  const { wire } = under;
  const ask = asking(under);
  const outlinesOf = outlinesFrom(under);

  it('gives the same events from bytes that come one by one, whatever the line ends', async () => {
    const answers = (['\n', '\r\n'] as const).flatMap((lineEnd) => {
      const plain = bytesOf(wire, { ...whole, bytes: { lineEnd } });
      return [plain, withNoise(plain)].map((bytes) => answerOf(piecesOf(bytes, 'each')));
    });
    expect(await outlinesOf(answers)).toEqual(answers.map(() => expected));
  });

  it('reads the last event without a blank line after it', async () => {
    const bytes = Buffer.from(bytesOf(wire, say('Short.')));
    const trimmed = Buffer.from(bytes.toString().trimEnd());
    const [outline] = await outlinesOf([answerOf([trimmed])]);
    expect(outline).toContainEqual({ kind: 'message_end', stop: 'end', reasoningMs: 0 });
  });

  it.each<[string, RawStep, 'close' | 'chunked']>([
    ['closed in the middle of an event', { kind: 'cut' }, 'close'],
    ['closed in the middle of a body', { kind: 'cut' }, 'chunked'],
    ['torn down', { kind: 'reset' }, 'close'],
  ])('loses a connection that is %s', async (_what, end, framing) => {
    const bytes = bytesOf(wire, say('One', ' two'));
    const half = bytes.subarray(0, Buffer.from(bytes).indexOf(' two'));
    const server = await openRawServer(() => ({
      framing,
      steps: [{ kind: 'bytes', bytes: half }, end],
    }));
    const provider = under.create(createTestDeps(), server.url);
    const { events, thrown } = await collectUntilThrow<ChatStreamEvent>(
      provider.stream(ask(), never),
    );
    expect(events.map(({ kind }) => kind)).not.toContain('message_end');
    expect(thrown).toMatchObject({ code: 'connection_lost' });
    await server.close();
  });
}

/** Comments between events, as proxies and routers send them to keep a connection open. */
function withNoise(bytes: Uint8Array): Uint8Array {
  const events = Buffer.from(bytes)
    .toString()
    .split(/(?<=\r?\n\r?\n)/u);
  const [first = '', second = '', ...rest] = events;
  const comment = first.includes('\r\n') ? ': still hère\r\n\r\n' : ': still hère\n\n';
  return Buffer.from([comment, first, second, comment, ...rest].join(''));
}
