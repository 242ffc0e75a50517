/**
 * A server that knows nothing of models: it answers each POST with given bytes in given pieces over
 * a real TCP socket. Every piece is a write of its own, and reaches the reader of the same process
 * as a read of its own. It can stall, and end a body in order (FIN) or not (RST, or half a body).
 */

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** What happens on the socket, one thing after the other. */
export type RawStep =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** Nothing is sent until it resolves, or the client hangs up. */
  | { readonly kind: 'wait'; readonly until: Promise<void> }
  /** The connection is closed with FIN here; a chunked body stays without its end. */
  | { readonly kind: 'cut' }
  /** The connection is torn down with RST. */
  | { readonly kind: 'reset' };

export interface RawAnswer {
  readonly steps: readonly RawStep[];
  /** How the body is framed: up to the end of the connection, or in chunks. Default: close. */
  readonly framing?: 'close' | 'chunked';
  /** Default: 200. */
  readonly status?: number;
  /** Default: `text/event-stream`. */
  readonly contentType?: string;
}

export interface RawRequest {
  readonly path: string;
  readonly body: string;
  /** Resolves when the connection is closed, from whichever side. */
  readonly closed: Promise<void>;
}

export interface RawServer {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** Connections that were opened so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/** The whole bytes in these pieces, then the end. */
export function answerOf(pieces: readonly Uint8Array[]): RawAnswer {
  return { steps: pieces.map((bytes) => ({ kind: 'bytes', bytes })) };
}

/** One connection answers one request. */
export async function openRawServer(
  answerTo: (request: RawRequest) => RawAnswer,
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.setNoDelay(true);
    const closed = once(socket, 'close').then(
      () => undefined,
      () => undefined,
    );
    // A client that goes away in the middle is part of the game.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    readRequest(socket)
      .then(({ path, body }) => play(socket, answerTo({ path, body, closed }), closed))
      .catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    get connections() {
      return connections;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readRequest(socket: Socket): Promise<{ path: string; body: string }> {
  let bytes = Buffer.alloc(0);
  // Not `for await`: leaving that loop would destroy the socket.
  return await new Promise((resolve, reject) => {
    socket.on('close', () => reject(new Error('The client hung up.')));
    socket.on('data', (piece) => {
      bytes = Buffer.concat([bytes, piece]);
      const headEnd = bytes.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = bytes.toString('latin1', 0, headEnd);
      const length = Number(/^content-length: *(\d+)/imu.exec(head)?.[1] ?? 0);
      if (bytes.length < headEnd + 4 + length) return;
      resolve({ path: head.split(' ')[1] ?? '', body: bytes.toString('utf8', headEnd + 4) });
    });
  });
}

async function play(socket: Socket, answer: RawAnswer, closed: Promise<void>): Promise<void> {
  const isChunked = answer.framing === 'chunked';
  const { status = 200, contentType = 'text/event-stream' } = answer;
  const head = [
    `HTTP/1.1 ${status} X`,
    `content-type: ${contentType}`,
    isChunked ? 'transfer-encoding: chunked' : 'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  for (const step of answer.steps) {
    // The loop comes round: what was written is read before more is.
    await turn();
    if (socket.destroyed) return;
    switch (step.kind) {
      case 'bytes':
        socket.write(isChunked ? chunkOf(step.bytes) : step.bytes);
        break;
      case 'wait':
        await Promise.race([step.until, closed]);
        break;
      case 'cut':
        socket.end();
        return;
      case 'reset':
        socket.resetAndDestroy();
        return;
    }
  }
  await turn();
  socket.end(isChunked ? '0\r\n\r\n' : '');
}

function chunkOf(bytes: Uint8Array): Uint8Array {
  const size = Buffer.from(`${bytes.length.toString(16)}\r\n`);
  return Buffer.concat([size, bytes, Buffer.from('\r\n')]);
}
