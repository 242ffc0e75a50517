/** The page's adapter on a real HTTP server, over a memory store. */

import http from 'node:http';
import { z } from 'zod';
import { createWebAdapter } from '../../../adapters/web/adapter.ts';
import { webSettingsSchema } from '../../../adapters/web/settings.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { randomId } from '../../../src/base/ids.ts';
import { createHttpServer, type Server } from '../../../src/server/server.ts';
import { createAppendLog } from '../../../src/storage/append-log.ts';
import { createMemoryStore } from '../../../src/storage/memory.ts';
import type { Store } from '../../../src/storage/store.ts';
import type { Adapter } from '../../../src/surface/adapter.ts';
import type { InboundEvent } from '../../../src/surface/inbound.ts';
import { createKeptLog } from '../../support/log.ts';

export interface Page {
  readonly port: number;
  /** Ends the server; idle connections too. */
  close(): Promise<void>;
  readonly adapter: Adapter;
  readonly events: InboundEvent[];
  readonly store: Store;
  failing: boolean;
  call(
    path: string,
    options?: { method?: string; headers?: Record<string, string>; body?: unknown },
  ): Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>;
  post(path: string, body: unknown): Promise<number>;
  state(): Promise<z.infer<typeof stateSchema>>;
}

const stateSchema = z.object({
  channels: z.array(z.object({ id: z.string(), name: z.string() })),
  messages: z.array(
    z.looseObject({ id: z.string(), thread: z.string().nullable(), author: z.string() }),
  ),
});

const servers: Server[] = [];

/** Closes every page that was opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()));
}

/** A page of its own; `settings` as in the configuration, `store` to go on with another's. */
export async function setUp(settings: object = {}, store?: Store): Promise<Page> {
  const log = createKeptLog();
  const kept = store ?? createMemoryStore({ clock: systemClock, log });
  const adapter = createWebAdapter(
    {
      clock: systemClock,
      log,
      newId: randomId,
      archive: createAppendLog({ store: kept, log }, 'page', z.json()),
      commands: () => [],
      botName: 'Deckhand',
    },
    webSettingsSchema.parse(settings),
  );
  const server = createHttpServer({
    clock: systemClock,
    log,
    routes: adapter.routes,
    readiness: async () => ({ ready: true, parts: {} }),
  });
  servers.push(server);
  const port = await server.listen('127.0.0.1', 0);
  const page: Page = {
    port,
    adapter,
    events: [],
    store: kept,
    failing: false,
    close: () => server.close(),
    call: (path, { method = 'GET', headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const request = http.request(
          { port, host: '127.0.0.1', path, method, headers },
          (response) => {
            let text = '';
            response.on('data', (piece: Buffer) => {
              text += piece.toString();
              if (path === '/api/events') request.destroy();
            });
            const end = (): void =>
              resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
            response.on('end', end);
            response.on('close', end);
          },
        );
        request.on('error', reject);
        request.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    post: async (path, body) => {
      const answer = await page.call(path, { method: 'POST', headers: own(port), body });
      return answer.status;
    },
    state: async () =>
      stateSchema.parse(JSON.parse((await page.call('/api/state', { headers: own(port) })).text)),
  };
  await adapter.start(async (event) => {
    if (page.failing) throw new Error('the store is down');
    page.events.push(event);
  });
  return page;
}

/** Headers of the page's own requests. */
export function own(port: number): Record<string, string> {
  return { 'content-type': 'application/json', origin: `http://127.0.0.1:${port}` };
}
