/** The one HTTP server: health, readiness, and the routes that adapters bring. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, sleep } from '../base/clock.ts';
import { BotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { HttpRoute } from '../surface/adapter.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Part → one line for people. */
  readonly parts: Readonly<Record<string, string>>;
}

export interface Server {
  /** Resolves with the port that is listened on. A port that is taken is tried again for 10 s: the
   * process before may still be closing. */
  listen(host: string, port: number): Promise<number>;
  close(): Promise<void>;
}

export interface ServerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly routes: readonly HttpRoute[];
  readonly readiness: () => Promise<Readiness>;
}

const portTries = 20;
const portTryMs = 500;

export function createHttpServer(deps: ServerDeps): Server {
  const { clock, log } = deps;
  const routes: readonly HttpRoute[] = [...healthRoutes(deps), ...deps.routes];
  const server = createServer((request, response) => {
    void answer(routes, request, response, log);
  });
  server.headersTimeout = 20_000;

  const tryListen = (host: string, port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const onListening = (): void => {
        server.removeListener('error', onError);
        const address: AddressInfo | string | null = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      };
      const onError = (error: Error): void => {
        server.removeListener('listening', onListening);
        reject(error);
      };
      server.once('error', onError);
      server.once('listening', onListening);
      server.listen(port, host);
    });

  return {
    listen: async (host, port) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await tryListen(host, port);
        } catch (thrown) {
          if (!isTaken(thrown)) throw thrown;
          if (attempt >= portTries) {
            throw new BotError(
              'port_in_use',
              `Port ${port} on ${host} is in use by another program. Set PORT to a free one.`,
              { facts: { host, port }, cause: thrown },
            );
          }
          if (attempt === 1)
            log.warn('port_taken', { host, port, triesForMs: portTries * portTryMs });
          await sleep(clock, portTryMs);
        }
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isTaken(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE';
}

async function answer(
  routes: readonly HttpRoute[],
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
): Promise<void> {
  try {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const atPath = routes.filter((route) => matches(route.path, path));
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = atPath.find((candidate) => candidate.method === method);
    if (route) await route.handle(request, response);
    else
      sendText(
        response,
        atPath.length > 0 ? 405 : 404,
        atPath.length > 0 ? 'Wrong method.' : 'Not found.',
      );
  } catch (thrown) {
    log.error('request_failed', errorFacts(thrown));
    if (!response.headersSent) sendText(response, 500, 'Something inside failed.');
    else response.destroy();
  }
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

function healthRoutes({ readiness }: ServerDeps): readonly HttpRoute[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      handle: async (_request, response) => sendText(response, 200, 'alive'),
    },
    {
      method: 'GET',
      path: '/readyz',
      handle: async (_request, response) => {
        const state = await readiness();
        response.writeHead(state.ready ? 200 : 503, { 'content-type': 'application/json' });
        response.end(JSON.stringify(state));
      },
    },
  ];
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}
