/** The way to the network: through the proxy that was passed in, past the one in the environment. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idleMsOf } from '../../src/providers/call.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import {
  createModelFetch,
  endpointOf,
  isNearAddress,
  type ProxyOptions,
} from '../../src/providers/transport.ts';
import { say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import { chatRequestOf, collect, createTestDeps } from '../support/providers.ts';

/** A proxy that tunnels, and remembers where to. */
async function createProxy() {
  const targets: string[] = [];
  const server = createServer();
  server.on('connect', (request, client, head) => {
    targets.push(request.url ?? '');
    const [host, port] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}`, targets, close: () => server.close() };
}

describe('createModelFetch', () => {
  let model: ModelServer;
  let proxy: Awaited<ReturnType<typeof createProxy>>;

  beforeEach(async () => {
    [model, proxy] = await Promise.all([createModelServer(), createProxy()]);
    model.otherwise(say('Hello.'));
  });
  afterEach(async () => {
    await model.close();
    proxy.close();
  });

  const askThrough = async (options: ProxyOptions | undefined): Promise<void> => {
    const transport = createModelFetch(options === undefined ? {} : { proxy: options });
    const provider = createCompatibleProvider(createTestDeps(transport.fetch), {
      baseUrl: model.baseUrl('compatible'),
    });
    const never = new AbortController().signal;
    const events = await collect(provider.stream(chatRequestOf('m'), never));
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
    await transport.close();
  };

  it('goes through the proxy', async () => {
    await askThrough({ httpProxy: proxy.url });
    expect(proxy.targets).toEqual([model.url.replace('http://', '')]);
  });

  it('goes past the proxy to hosts in noProxy', async () => {
    await askThrough({ httpProxy: proxy.url, noProxy: 'example.com, 127.0.0.1' });
    expect(proxy.targets).toEqual([]);
    expect(model.requests).toHaveLength(1);
  });

  it('reads nothing from the environment', async () => {
    const before = process.env['HTTP_PROXY'];
    process.env['HTTP_PROXY'] = proxy.url;
    try {
      await askThrough(undefined);
      await askThrough({});
    } finally {
      if (before === undefined) delete process.env['HTTP_PROXY'];
      else process.env['HTTP_PROXY'] = before;
    }
    expect(proxy.targets).toEqual([]);
    expect(model.requests).toHaveLength(2);
  });
});

describe('addresses', () => {
  it.each([
    ['http://localhost:11434/v1', true],
    ['http://127.0.0.1:8080', true],
    ['http://[::1]:8080', true],
    ['http://10.1.2.3', true],
    ['http://172.31.0.1', true],
    ['http://172.32.0.1', false],
    ['http://192.168.1.2', true],
    ['http://ollama:11434', true],
    ['http://box.local', true],
    ['https://api.openai.com/v1', false],
    ['https://10.example.com', false],
    ['nonsense', false],
  ])('%s is near: %s', (url, isNear) => {
    expect(isNearAddress(url)).toBe(isNear);
  });

  it('that are near may be silent for longer', () => {
    expect(idleMsOf('http://localhost:8080')).toBe(600_000);
    expect(idleMsOf('https://api.anthropic.com')).toBe(120_000);
  });

  it('lose credentials and query in origins', () => {
    expect(endpointOf('https://user:secret@host.example/v1/?key=x')).toBe(
      'https://host.example/v1',
    );
  });
});
