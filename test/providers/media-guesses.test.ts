/** What a failure that only names images in passing, or is one of size, costs: few requests, no image. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { type StatusAnswer, say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collectUntilThrow,
  createTestDeps,
  type TestDeps,
} from '../support/providers.ts';

const never = new AbortController().signal;
const base64Of = (place: number): string => Buffer.from(`the image ${place}.`).toString('base64');

describe('images in a request that fails', () => {
  let server: ModelServer;
  let deps: TestDeps;
  beforeEach(async () => {
    server = await createModelServer();
    deps = createTestDeps();
  });
  afterEach(() => server.close());

  const ask = (count: number) => {
    const images = Array.from(
      { length: count },
      (_, place) => ({ kind: 'image', mediaType: 'image/png', base64: base64Of(place) }) as const,
    );
    const provider = createCompatibleProvider(deps, { baseUrl: server.baseUrl('compatible') });
    const request = chatRequestOf('m', [{ role: 'user', parts: images }]);
    return collectUntilThrow(provider.stream(request, never));
  };
  /** How many images each request showed. */
  const shown = (): readonly number[] =>
    server.requests.map(({ body }) => {
      const text = JSON.stringify(body);
      return [...Array(20).keys()].filter((place) => text.includes(base64Of(place))).length;
    });
  const learned = () => deps.learned.read(server.baseUrl('compatible'), 'm');
  const failing = (status: number, text: string): StatusAnswer => ({
    ...{ kind: 'status', status, message: text },
  });
  const failingInside = (code: number | string, text: string): StatusAnswer => ({
    ...{ kind: 'status', status: 200, contentType: 'text/event-stream' },
    body: `data: ${JSON.stringify({ error: { code, message: text } })}\n\n`,
  });

  it.each([
    [502, 'Upstream error: the image service is temporarily unavailable'],
    [503, 'The vision model is loading, image input is not supported right now'],
    [429, 'Too many images at a time'],
    ['server_error', 'Something broke while reading the image'],
  ])('all stay where it passes, inside a stream: %s, %s', async (code, text) => {
    server.script(failingInside(code, text), say('Fine.'));
    expect((await ask(2)).thrown).toMatchObject({
      code: code === 429 ? 'model_rate_limited' : 'overloaded',
    });
    expect(shown()).toEqual([2]);
    expect(await learned()).toEqual([]);
  });

  it.each([
    [502, 'image input is not supported: no upstream'],
    [503, 'image model overloaded, vision is not supported right now'],
    [529, 'The image model is overloaded'],
  ])('all stay where it passes: %i, %s', async (status, text) => {
    server.script(failing(status, text), say('Fine.'));
    expect((await ask(2)).thrown).toMatchObject({ code: 'overloaded' });
    expect(shown()).toEqual([2]);
    expect(await learned()).toEqual([]);
  });

  it('lose one where the error inside the stream is of the request', async () => {
    const text = 'The image cannot be read';
    server.script(failingInside(400, text), say('Fine.'));
    expect((await ask(2)).thrown).toBeUndefined();
    expect(shown()).toEqual([2, 1]);
  });

  it.each([
    [500, 'Internal error while reading the request body: size exceeds limit'],
    [502, 'The request is too large for the upstream right now'],
    [503, 'payload too large'],
  ])('all stay where the server failed with words about size: %i, %s', async (status, text) => {
    server.otherwise(failing(status, text));
    expect((await ask(10)).thrown).toMatchObject({ code: 'overloaded' });
    expect(shown()).toEqual([10]);
  });

  it.each<[number, readonly number[]]>([
    [1, [1, 0]],
    [2, [2, 1, 0]],
    [3, [3, 2, 1, 0]],
    [10, [10, 5, 3, 0]],
    [20, [20, 10, 5, 0]],
  ])('are sent few times where a refusal for size never ends, of %i', async (count, expected) => {
    server.otherwise(failing(413, 'Payload too large'));
    expect((await ask(count)).thrown).toMatchObject({ code: 'context_overflow' });
    expect(shown()).toEqual(expected);
    expect(await learned()).toEqual([]);
  });

  it('go by halves for their size, and those that went stay away', async () => {
    server.script(failing(413, 'Payload too large'), failing(413, 'Payload too large'));
    server.otherwise(say('Fine.'));
    await ask(10);
    await ask(10);
    expect(shown()).toEqual([10, 5, 3, 3]);
  });
});
