/** A proxy that speaks CONNECT and remembers where people went. */

import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface ConnectProxy {
  readonly url: string;
  /** Host and port of each tunnel. */
  readonly targets: readonly string[];
  close(): Promise<void>;
}

export async function openConnectProxy(): Promise<ConnectProxy> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => {
    response.writeHead(405).end();
  });
  server.on('connect', (request, near: Socket) => {
    const target = request.url ?? '';
    targets.push(target);
    const [host, port] = target.split(':');
    const far = connect({ host: host ?? '', port: Number(port) }, () => {
      near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      near.pipe(far);
      far.pipe(near);
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    targets,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
