/** The HTTP server: health, routes, and a port that is taken. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer, type Readiness, type Server } from '../../src/server/server.ts';
import type { HttpRoute } from '../../src/surface/adapter.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';
import { until } from '../support/until.ts';

const closing: Server[] = [];

function setUp(
  routes: readonly HttpRoute[] = [],
  readiness: Readiness = { ready: true, parts: {} },
) {
  const clock = createFakeClock();
  const log = createKeptLog();
  const server = createHttpServer({ clock, log, routes, readiness: async () => readiness });
  closing.push(server);
  return { clock, log, server };
}

async function listen(server: Server): Promise<string> {
  return `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
}

afterEach(async () => {
  await Promise.all(closing.splice(0).map((server) => server.close()));
});

describe('the server', () => {
  it('is alive, and ready only when every part is', async () => {
    const ready = await listen(setUp().server);
    expect((await fetch(`${ready}/healthz`)).status).toBe(200);
    expect((await fetch(`${ready}/readyz`)).status).toBe(200);
    const parts = { store: 'not reachable', slack: 'connected as deckhand to Acme' };
    const notReady = await listen(setUp([], { ready: false, parts }).server);
    const answer = await fetch(`${notReady}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([503, { ready: false, parts }]);
    expect((await fetch(`${notReady}/healthz`)).status).toBe(200);
  });

  it('tells a wrong path from a wrong method', async () => {
    const address = await listen(setUp().server);
    expect((await fetch(`${address}/nothing`)).status).toBe(404);
    expect((await fetch(`${address}/healthz`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${address}/healthz`, { method: 'HEAD' })).status).toBe(200);
  });

  it('answers 500 for a route that fails, without a word of why, and goes on', async () => {
    const route: HttpRoute = {
      method: 'GET',
      path: '/broken',
      handle: async () => {
        throw new Error('a secret detail');
      },
    };
    const { server, log } = setUp([route]);
    const address = await listen(server);
    const answer = await fetch(`${address}/broken`);
    expect([answer.status, await answer.text()]).toEqual([500, 'Something inside failed.\n']);
    expect(log.lines[0]?.event).toBe('request_failed');
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
  });

  it('waits for a port that the process before still holds (B176)', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const address: AddressInfo | string | null = holder.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { server, clock, log } = setUp();
    const listening = server.listen('127.0.0.1', port);
    await until(() => log.lines.some(({ event }) => event === 'port_taken'));
    await new Promise((resolve) => holder.close(resolve));
    await clock.advance(500);
    expect(await listening).toBe(port);
  });

  it('gives up on a port after 10 s, and says what to do', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const address: AddressInfo | string | null = holder.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { server, clock } = setUp();
    let ended = '';
    const listening = server.listen('127.0.0.1', port).catch((thrown: Error) => {
      ended = thrown.message;
    });
    await until(async () => {
      await clock.advance(500);
      return ended !== '';
    });
    await listening;
    expect(ended).toBe(
      `Port ${port} on 127.0.0.1 is in use by another program. Set PORT to a free one.`,
    );
    await new Promise((resolve) => holder.close(resolve));
  });
});
