/**
 * Servers that tests use when they run: where the port is closed, the tests are skipped with one
 * line, but with CI=true they fail.
 */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A port that nothing listens on now: for programs that must come back on the same one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return address.port;
}

/** True when something listens on the local port. */
async function portIsOpen(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Whether tests of this server can run; throws in CI where they must. */
export async function serverRuns(name: string, port: number): Promise<boolean> {
  if (await portIsOpen(port)) return true;
  const line = `${name} does not listen on 127.0.0.1:${port}`;
  if (process.env['CI'] === 'true') throw new Error(`${line}, and its tests must run here.`);
  process.stderr.write(`${line}: its tests are skipped.\n`);
  return false;
}
