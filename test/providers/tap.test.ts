/** Listening in on a body: what is heard, what is remembered, and the blank line at the end. */

import { describe, expect, it } from 'vitest';
import { tapBody } from '../../src/providers/tap.ts';
import { piecesOf } from '../emulators/model-server.ts';

function bodyOf(pieces: readonly Uint8Array[]) {
  const state = { cancelled: false };
  const rest = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = rest.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
    cancel: () => {
      state.cancelled = true;
    },
  });
  return { body, state };
}

async function readInLoop(body: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  for await (const piece of body) text += Buffer.from(piece).toString('latin1');
  return text;
}

async function readByReader(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += Buffer.from(value).toString('latin1');
  }
}

describe('tapBody', () => {
  it.each([
    ['a loop', readInLoop],
    ['a reader', readByReader],
  ])('hears each piece and adds one blank line for %s', async (_name, read) => {
    const { body } = bodyOf(piecesOf(Buffer.from('data: {}'), [3, 5]));
    let heard = 0;
    tapBody(body, () => {
      heard += 1;
    });
    expect(await read(body)).toBe('data: {}\n\n');
    expect(heard).toBe(3);
  });

  it('knows the end mark wherever it is cut', async () => {
    const bytes = Buffer.from(`data: ${'x'.repeat(30)}\r\n\r\ndata: [DONE]\r\n\r\n`);
    const single = piecesOf(bytes, 'each');
    const cuts = single.map((_, at) => piecesOf(bytes, [at]));
    for (const [place, pieces] of [single, ...cuts].entries()) {
      const { body } = bodyOf(pieces);
      const tap = tapBody(body, () => undefined);
      expect(tap.endsWithDone()).toBe(false);
      await readInLoop(body);
      expect(tap.endsWithDone(), `cut ${place}`).toBe(true);
    }
  });

  it.each(['', 'data: [DONE]\n\ndata: {}\n\n', 'data: [DONE', 'data: "[DONE]"'])(
    'takes %j for no end mark',
    async (text) => {
      const { body } = bodyOf([Buffer.from(text)]);
      const tap = tapBody(body, () => undefined);
      await readInLoop(body);
      expect(tap.endsWithDone()).toBe(false);
    },
  );

  it.each([
    ['data: {}\n\ndata: [DONE]\n\n', 1],
    ['data:[DONE]', 1],
    ['data: {"text":"It ends in data: [DONE]', 0],
    ['data: [1]\n\n', 0],
  ])('tells at once of an end mark on a line of its own: %j', async (text, times) => {
    const bytes = Buffer.from(text);
    for (const cut of [[], [bytes.length - 4]]) {
      const { body } = bodyOf(piecesOf(bytes, cut));
      let marks = 0;
      const marked = (): void => {
        marks += 1;
      };
      tapBody(body, () => undefined, { marked });
      const reader = body.getReader();
      for (let piece = 0; piece <= cut.length; piece += 1) await reader.read();
      expect(Math.min(1, marks)).toBe(times);
    }
  });

  it('remembers what came last, at least 16,384 bytes of it', async () => {
    const piece = (letter: string, bytes: number) => Buffer.from(letter.repeat(bytes));
    const { body } = bodyOf([piece('a', 9), piece('b', 1), piece('c', 16_383), piece('d', 0)]);
    const tap = tapBody(body, () => undefined, { keepsRecent: true });
    expect(tap.recentText()).toBe('');
    await readInLoop(body);
    expect(tap.recentText()).toBe(`b${'c'.repeat(16_383)}`);
  });

  it('hangs up when its reader leaves', async () => {
    const endless = Array.from({ length: 9 }, () => Buffer.from('x'));
    const left = bodyOf(endless);
    tapBody(left.body, () => undefined);
    for await (const _ of left.body) break;
    expect(left.state.cancelled).toBe(true);
    const cancelled = bodyOf(endless);
    tapBody(cancelled.body, () => undefined);
    await cancelled.body.cancel();
    expect(cancelled.state.cancelled).toBe(true);
  });

  it('passes on what breaks the body', async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new TypeError('terminated')),
    });
    tapBody(body, () => undefined);
    await expect(readByReader(body)).rejects.toThrow('terminated');
  });
});
