/** A server of our own that carries an adapter's routes, as the process has one. */

import { createServer } from 'node:http';
import type { Adapter } from '../../../src/surface/adapter.ts';

export interface RoutesServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveRoutes(adapter: Pick<Adapter, 'routes'>): Promise<RoutesServer> {
  const server = createServer((request, response) => {
    const route = adapter.routes.find(
      (one) => one.method === request.method && one.path === request.url,
    );
    if (route === undefined) {
      response.writeHead(404).end();
      return;
    }
    route.handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
