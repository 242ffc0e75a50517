/**
 * Local doors to far web sockets: a client connects to 127.0.0.1 without TLS, and its bytes go
 * through an HTTP proxy (CONNECT) and TLS to the far host, whose name is put into the handshake.
 */

import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { BotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';

export interface Tunnels {
  /** The local address that leads to a far `ws:` or `wss:` address; a local one stays. */
  doorTo(url: string): Promise<string>;
  close(): Promise<void>;
}

const connectTimeoutMs = 20_000;
const mostHandshakeBytes = 16_384;

export function createTunnels(proxy: URL, log: Log): Tunnels {
  const doors = new Map<string, Promise<{ readonly server: Server; readonly port: number }>>();
  const ports = new Set<number>();
  const sockets = new Set<Socket>();

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };

  const pass = async (near: Socket, target: URL): Promise<void> => {
    keep(near);
    near.on('error', () => near.destroy());
    const handshake = await handshakeOf(near);
    const far = await throughProxy(proxy, target);
    keep(far);
    far.on('error', () => near.destroy());
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
    far.write(withHost(handshake, target.host));
    near.pipe(far);
    far.pipe(near);
  };

  const open = async (target: URL): Promise<{ readonly server: Server; readonly port: number }> => {
    const server = createServer((near) => {
      pass(near, target).catch((error: unknown) => {
        log.warn('discord_tunnel_failed', errorFacts(error));
        near.destroy();
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') {
      throw new BotError('internal', 'The local door to the proxy has no port.');
    }
    ports.add(address.port);
    return { server, port: address.port };
  };

  return {
    doorTo: async (url) => {
      const target = new URL(url);
      if (target.hostname === '127.0.0.1' && ports.has(Number(target.port))) return url;
      const name = createHash('sha256').update(`${target.protocol}//${target.host}`).digest('hex');
      const door = doors.get(name) ?? open(target);
      doors.set(name, door);
      const { port } = await door;
      const path = target.pathname === '/' ? '' : target.pathname;
      return `ws://127.0.0.1:${port}${path}${target.search}`;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      for (const door of doors.values()) {
        const { server } = await door;
        await new Promise<void>((resolve) => server.close(() => resolve()));
      }
      doors.clear();
    },
  };
}

/** The head of the client's request. */
function handshakeOf(near: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const fail = (): void => reject(new BotError('connection_lost', 'The socket closed early.'));
    const onData = (bytes: Buffer): void => {
      head = Buffer.concat([head, bytes]);
      if (!head.includes('\r\n\r\n') && head.length < mostHandshakeBytes) return;
      near.pause();
      near.off('data', onData);
      near.off('close', fail);
      resolve(head);
    };
    near.on('data', onData);
    near.on('close', fail);
  });
}

function withHost(handshake: Buffer, host: string): Buffer {
  const text = handshake.toString('latin1');
  return Buffer.from(text.replace(/^host:[^\r\n]*/imu, `Host: ${host}`), 'latin1');
}

function throughProxy(proxy: URL, target: URL): Promise<Socket> {
  const isSecure = target.protocol === 'wss:';
  const port = target.port === '' ? (isSecure ? '443' : '80') : target.port;
  const hostAndPort = `${target.hostname}:${port}`;
  const login =
    proxy.username === ''
      ? null
      : `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: proxy.hostname,
      port: proxy.port === '' ? (proxy.protocol === 'https:' ? 443 : 80) : Number(proxy.port),
      method: 'CONNECT',
      path: hostAndPort,
      headers: {
        Host: hostAndPort,
        ...(login === null
          ? {}
          : { 'Proxy-Authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
      },
      timeout: connectTimeoutMs,
    });
    request.on('timeout', () => request.destroy(new Error('The proxy did not answer.')));
    request.on('error', reject);
    request.on('connect', (response, socket) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        reject(
          new BotError('connection_lost', `The proxy answered ${response.statusCode ?? 0}.`, {
            facts: { status: response.statusCode ?? 0 },
          }),
        );
        return;
      }
      if (!isSecure) {
        resolve(socket);
        return;
      }
      const secure = connectTls({
        socket,
        servername: target.hostname,
        ALPNProtocols: ['http/1.1'],
      });
      secure.once('secureConnect', () => resolve(secure));
      secure.once('error', reject);
    });
    request.end();
  });
}
