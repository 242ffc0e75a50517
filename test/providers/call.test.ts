/** One request and its watch: silence, hanging up, listeners, connections; the same on each wire. */

import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createModelFetch, type ModelFetch } from '../../src/providers/transport.ts';
import { asking, never } from '../contract/provider-bench.ts';
import { providersUnderTest } from '../contract/providers-under-test.ts';
import { message, say } from '../emulators/model/script.ts';
import { bytesOf, createModelServer, type WireName } from '../emulators/model-server.ts';
import { collect, collectUntilThrow, createTestDeps, pieceFetch } from '../support/providers.ts';

/** A fetch whose answers tests write as time goes by; it remembers the signals it was given. */
function createSlowFetch() {
  const signals: (AbortSignal | null | undefined)[] = [];
  let writer: ReadableStreamDefaultController<Uint8Array> | undefined;
  const fetch: ModelFetch = (_input, init) => {
    signals.push(init?.signal);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        writer = controller;
      },
    });
    // As the real one does: an abort breaks the body off.
    init?.signal?.addEventListener('abort', () => writer?.error(init.signal?.reason));
    const headers = { 'content-type': 'text/event-stream' };
    return Promise.resolve(new Response(body, { headers }));
  };
  return { fetch, signals, write: (bytes: Uint8Array) => writer?.enqueue(bytes) };
}

const pings: Readonly<Record<WireName, Uint8Array>> = {
  anthropic: Buffer.from('event: ping\ndata: {"type": "ping"}\n\n'),
  openai: Buffer.from('event: keepalive\ndata: {"type": "keepalive"}\n\n'),
  compatible: Buffer.from(': OPENROUTER PROCESSING\n\n'),
  gemini: Buffer.from(': still here\n\n'),
};

describe.each(providersUnderTest)('a request of $wire', (under) => {
  const ask = asking(under);

  it.each([
    ['https://models.example', 120_000],
    ['http://127.0.0.1:8080', 600_000],
  ])('to %s may be silent for %i ms, and pings count as sound', async (baseUrl, idleMs) => {
    const slow = createSlowFetch();
    const deps = createTestDeps(slow.fetch);
    const reading = collectUntilThrow(under.create(deps, baseUrl).stream(ask(), never));
    await expect.poll(() => slow.signals.length).toBe(1);
    for (let ping = 0; ping < 3; ping += 1) {
      await deps.clock.advance(idleMs - 1);
      slow.write(pings[under.wire]);
      await deps.clock.settle();
    }
    await deps.clock.advance(idleMs - 1);
    expect(slow.signals[0]?.aborted).toBe(false);
    await deps.clock.advance(1);
    const { thrown } = await reading;
    expect(thrown).toMatchObject({ code: 'connection_lost' });
    expect(String(thrown)).toContain(`nothing came for ${idleMs / 1000} s`);
    expect(slow.signals[0]?.aborted).toBe(true);
    expect(deps.clock.pending).toBe(0);
  });

  it('may wait as long for its headers', async () => {
    let hasCalled = false;
    let isAborted = false;
    const fetch: ModelFetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        hasCalled = true;
        init?.signal?.addEventListener('abort', () => {
          isAborted = true;
          reject(init.signal?.reason);
        });
      });
    const deps = createTestDeps(fetch);
    const provider = under.create(deps, 'https://models.example');
    const reading = collectUntilThrow(provider.stream(ask(), never));
    await expect.poll(() => hasCalled).toBe(true);
    await deps.clock.advance(119_999);
    expect(isAborted).toBe(false);
    await deps.clock.advance(1);
    expect((await reading).thrown).toMatchObject({ code: 'connection_lost' });
  });

  it('has a signal of its own each time', async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    const pieces = [bytesOf(under.wire, say('Hello.'))];
    const deps = createTestDeps((input, init) => {
      signals.push(init?.signal);
      return pieceFetch(pieces)(input, init);
    });
    const controller = new AbortController();
    const provider = under.create(deps, 'https://models.example');
    for (let time = 0; time < 2; time += 1) {
      await collect(provider.stream(ask(), controller.signal));
    }
    expect(new Set([...signals, controller.signal])).toHaveLength(3);
    expect(controller.signal.aborted).toBe(false);
  });

  it('leaves no listener on the signal of a run, however many there are', async () => {
    const server = await createModelServer();
    const deps = createTestDeps();
    const provider = under.create(deps, server.baseUrl(under.wire));
    const controller = new AbortController();
    const endings = [
      say('Fine.'),
      { kind: 'status', status: 500 } as const,
      message({ kind: 'text', text: 'One' }, { kind: 'cut' }),
      message({ kind: 'text', text: 'One' }, { kind: 'error', type: 'overloaded', message: '.' }),
      { kind: 'status', status: 200, contentType: 'text/html', body: '<p>' } as const,
    ];
    for (let time = 0; time < 10; time += 1) server.script(...endings);
    let failures = 0;
    for (let time = 0; time < 50; time += 1) {
      const { thrown } = await collectUntilThrow(provider.stream(ask(), controller.signal));
      if (thrown !== undefined) failures += 1;
    }
    // A server without an end mark cannot be told from one that was cut.
    expect(failures).toBeGreaterThanOrEqual(30);
    expect(server.requests).toHaveLength(50);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(deps.clock.pending).toBe(0);
    await server.close();
  });

  it('does not touch the network before it is read', async () => {
    let calls = 0;
    const deps = createTestDeps((input, init) => {
      calls += 1;
      return pieceFetch([bytesOf(under.wire, say('Hello.'))])(input, init);
    });
    const stream = under.create(deps, 'https://models.example').stream(ask(), never);
    await deps.clock.settle();
    expect([calls, deps.clock.pending]).toEqual([0, 0]);
    await collect(stream);
    expect(calls).toBe(1);
  });
});

describe('the transport', () => {
  it.each(providersUnderTest)('uses a connection of $wire again after a message', async (under) => {
    let connections = 0;
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(bytesOf(under.wire, say('Hello.')));
      // The end comes a moment later than the last event.
      setImmediate(() => response.end());
    });
    server.on('connection', () => {
      connections += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const transport = createModelFetch();
    const deps = createTestDeps(transport.fetch);
    const provider = under.create(deps, `http://127.0.0.1:${port}`);
    for (let time = 0; time < 3; time += 1) {
      await collect(provider.stream(asking(under)(), never));
      await deps.clock.settle();
    }
    expect(connections).toBe(1);
    await transport.close();
    server.close();
  });

  it('keeps one set of connections for all providers', async () => {
    let connections = 0;
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
    });
    server.on('connection', () => {
      connections += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const transport = createModelFetch();
    const deps = createTestDeps(transport.fetch);
    for (let time = 0; time < 3; time += 1) {
      for (const under of providersUnderTest) {
        const provider = under.create(deps, `http://127.0.0.1:${port}`);
        const { thrown } = await collectUntilThrow(provider.stream(asking(under)(), never));
        expect(thrown).toMatchObject({ code: 'overloaded' });
        // The connection is free again a moment after its answer was read.
        await deps.clock.settle();
      }
    }
    expect([requests, connections]).toEqual([12, 1]);
    await transport.close();
    server.close();
  });
});
