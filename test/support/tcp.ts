/** Local TCP servers that misbehave: one that never answers, and a way to another that can be cut. */

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Accepts connections, reads everything and says nothing. */
export async function openBlackHole(): Promise<TcpServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    keep(sockets, socket);
    socket.resume();
  });
  return await listening(server, sockets, 0);
}

export interface TcpProxy extends TcpServer {
  /** Drops all connections and refuses new ones. */
  stop(): Promise<void>;
  /** Listens again on the same port. */
  start(): Promise<void>;
  /** Keeps connections, but passes nothing on in either direction. */
  freeze(): void;
  thaw(): void;
}

/** A way to a local port that tests can cut and mend. */
export async function openTcpProxy(toPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      if (!frozen) to.write(bytes);
    });
    from.on('close', () => to.destroy());
  };
  const make = (): Server =>
    createServer((near) => {
      const far = connect({ port: toPort, host: '127.0.0.1' });
      for (const socket of [near, far]) keep(sockets, socket);
      pass(near, far);
      pass(far, near);
    });
  let current = await listening(make(), sockets, 0);
  const { port } = current;
  return {
    port,
    stop: () => current.close(),
    start: async () => {
      current = await listening(make(), sockets, port);
    },
    freeze: () => {
      frozen = true;
    },
    thaw: () => {
      frozen = false;
    },
    close: () => current.close(),
  };
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  // A cut connection is what these servers are for.
  socket.on('error', () => socket.destroy());
  socket.on('close', () => sockets.delete(socket));
}

async function listening(server: Server, sockets: Set<Socket>, port: number): Promise<TcpServer> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return {
    port: address.port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}
