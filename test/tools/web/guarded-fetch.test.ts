/** Fetches reach public addresses only, whatever names, redirects and second look-ups say (B161). */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { isBotError } from '../../../src/base/errors.ts';
import { mediaSettings } from '../../../src/messages/settings.ts';
import { createWebFetchTool } from '../../../src/tools/builtin/web-fetch.ts';
import type { ToolOutcome } from '../../../src/tools/contract.ts';
import { registerTool } from '../../../src/tools/registry.ts';
import { isPublicAddress } from '../../../src/tools/web/addresses.ts';
import { createGuardedFetch } from '../../../src/tools/web/guarded-fetch.ts';
import { hostMatches } from '../../../src/tools/web/hosts.ts';
import caseB161 from '../../cases/B161.json' with { type: 'json' };
import { createFakeClock } from '../../support/fake-clock.ts';
import { pdfThatSays } from '../../support/pdf.ts';
import { plainContext, plainScene } from '../../support/tools.ts';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))),
  );
});

type Page = {
  readonly status?: number;
  readonly headers?: object;
  readonly body?: string | Buffer;
};

async function setUp(options: {
  readonly pages?: Readonly<Record<string, Page>>;
  readonly names?: Readonly<Record<string, readonly (string | readonly string[])[]>>;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly known?: readonly string[];
}) {
  const dialled: string[] = [];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}${request.url}`;
    asked.push(url);
    const page = options.pages?.[url] ?? { status: 404 };
    response.writeHead(page.status ?? 200, {
      'content-type': 'text/html; charset=utf-8',
      ...page.headers,
    });
    response.end(page.body ?? '');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const lookUps = new Map<string, number>();
  const fetch = createGuardedFetch({
    resolve: async (name) => {
      const rounds = options.names?.[name] ?? [];
      const count = lookUps.get(name) ?? 0;
      lookUps.set(name, count + 1);
      const round = rounds[Math.min(count, rounds.length - 1)] ?? [];
      return typeof round === 'string' ? [round] : round;
    },
    dial: (address) => {
      dialled.push(address);
      return { host: '127.0.0.1', port };
    },
  });
  const clock = createFakeClock();
  const tool = registerTool(
    createWebFetchTool(
      {
        clock,
        fetch,
        media: () => mediaSettings.parse({}),
        knownAddresses: async () => options.known ?? [],
      },
      () => ({
        allow: options.allow ?? [],
        deny: options.deny ?? [],
      }),
    ),
  );
  // As the scheduler does it: what is thrown is the call's error.
  const read = (url: string): Promise<ToolOutcome> =>
    tool.invoke({ url }, plainContext()).catch((thrown: unknown) => {
      if (!isBotError(thrown, 'tool_failed')) throw thrown;
      return { kind: 'error', text: thrown.message };
    });
  return { read, tool, clock, asked, dialled };
}

const text = (outcome: ToolOutcome): string =>
  outcome.kind === 'done'
    ? outcome.parts.map((part) => (part.kind === 'text' ? part.text : part.kind)).join('')
    : outcome.kind === 'error'
      ? outcome.text
      : outcome.kind;

describe('public addresses', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.5',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '192.0.0.192',
    '198.18.0.1',
    '203.0.113.7',
    '224.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '::1',
    '::',
    'fd00::1',
    'fe80::1',
    '::ffff:169.254.169.254',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001::1',
    'ff02::1',
    'fec0::1',
    'not-an-address',
    '',
  ])('are not %j', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1:248:1893:25c8:1946'])('are %j', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );
});

describe('B161', () => {
  const { dns, redirects, urls } = caseB161.input;
  const names = {
    'ok.example': dns['ok.example'],
    'mixed.example': [dns['mixed.example']],
    'rebind.example': dns['rebind.example'],
    'localhost.': ['127.0.0.1'],
    localhost: ['127.0.0.1'],
  };
  const pages = {
    ...Object.fromEntries(
      Object.entries(redirects).map(([from, location]) => [
        from,
        { status: 302, headers: { location } },
      ]),
    ),
    'http://ok.example/page': { body: '<p>Fine.</p>' },
    'http://rebind.example/': { body: '<p>Public.</p>' },
  };

  it.each(urls.map((url, index) => [url, caseB161.expected.allowed[index]] as const))(
    '%s: %s',
    async (url, allowed) => {
      const { read, dialled } = await setUp({ names, pages });
      const outcome = await read(url);
      expect(outcome.kind).toBe(allowed === false ? 'error' : 'done');
      expect(text(outcome)).toMatch(allowed === false ? /./u : /Fine\.|Public\./u);
      // Whatever was asked: nothing but the public address was ever connected to.
      expect(new Set(dialled)).toEqual(new Set(dialled.length > 0 ? ['93.184.216.34'] : []));
    },
  );

  it('looks a name up anew for each connection, and refuses what it leads to then', async () => {
    const { read } = await setUp({
      names: { 'rebind.example': ['93.184.216.34', '169.254.169.254'] },
      pages: {
        'http://rebind.example/a': {
          status: 302,
          headers: { location: 'http://rebind.example/b', connection: 'close' },
        },
        'http://rebind.example/b': { body: 'secret' },
      },
    });
    expect(text(await read('http://rebind.example/a'))).toContain('not on the public internet');
  });
});

describe('WebFetch', () => {
  const names = { 'docs.example': ['93.184.216.34'] };

  it('gives HTML as readable Markdown, with absolute links', async () => {
    const story = `<p>${'A long and true story. '.repeat(30)}</p>`;
    const { read } = await setUp({
      names,
      pages: {
        'http://docs.example/guide': {
          body: `<html><head><title>Guide</title><script>evil()</script></head><body><nav><a href="/x">Menu</a></nav><article><h1>Set-up</h1>${story}<p>See <a href="more.html">more</a>.</p><pre><code>npm start</code></pre><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table></article></body></html>`,
        },
      },
    });
    const said = text(await read('http://docs.example/guide'));
    expect(said).toContain('# Guide');
    expect(said).toContain('[more](http://docs.example/more.html)');
    expect(said).toContain('npm start');
    expect(said).toMatch(/\| A \| B \|/u);
    expect(said).not.toContain('evil');
  });

  it('decodes what is not UTF-8, and gives plain text as it is', async () => {
    const { read } = await setUp({
      names,
      pages: {
        'http://docs.example/latin': {
          headers: { 'content-type': 'text/plain; charset=iso-8859-1' },
          body: Buffer.from('Gr\u00fc\u00dfe', 'latin1'),
        },
      },
    });
    expect(text(await read('http://docs.example/latin'))).toContain('Grüße');
  });

  it('gives the text of a PDF, whatever the server calls it', async () => {
    const { read } = await setUp({
      names,
      pages: {
        'http://docs.example/report': {
          headers: { 'content-type': 'application/octet-stream' },
          body: pdfThatSays('Quarterly numbers'),
        },
      },
    });
    expect(text(await read('http://docs.example/report'))).toContain(
      '--- page 1 ---\nQuarterly numbers',
    );
  });

  it('says what a refused or unreadable document is', async () => {
    const { read } = await setUp({
      names,
      pages: {
        'http://docs.example/zip': {
          headers: { 'content-type': 'application/zip' },
          body: Buffer.from('PK\u0003\u0004\u0000\u0000'),
        },
        'http://docs.example/private': { status: 403 },
      },
    });
    expect(text(await read('http://docs.example/zip'))).toContain('cannot be read as text');
    expect(text(await read('http://docs.example/private'))).toContain('HTTP 403. It is not public');
    expect(text(await read('http://docs.example/none'))).toContain('HTTP 404. It is not there');
  });

  it('keeps a page for 15 minutes and not longer', async () => {
    const pages = { 'http://docs.example/': { body: '<p>Hello there.</p>' } };
    const { read, clock, asked } = await setUp({ names, pages });
    await read('http://docs.example/');
    await clock.advance(15 * 60_000 - 1);
    await read('http://docs.example/#part');
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await read('http://docs.example/');
    expect(asked).toHaveLength(2);
  });

  it('gives nothing from a host that is denied by now', async () => {
    const pages = { 'http://docs.example/': { body: '<p>Hello there.</p>' } };
    const deny: string[] = [];
    const { read } = await setUp({ names, pages, deny });
    expect(text(await read('http://docs.example/'))).toContain('Hello there.');
    deny.push('docs.example');
    expect(text(await read('http://docs.example/'))).toContain('tools.web.deny');
  });

  it('does not follow to another site, and says where it leads', async () => {
    const { read } = await setUp({
      names,
      pages: {
        'http://docs.example/away': {
          status: 301,
          headers: { location: 'http://other.example/?q=1' },
        },
      },
    });
    expect(text(await read('http://docs.example/away'))).toContain(
      'redirects to another site: http://other.example/?q=1',
    );
  });

  it('does not fetch a denied host, even by a redirect', async () => {
    const { read, asked } = await setUp({ names, deny: ['*.example'] });
    expect(text(await read('http://docs.example/'))).toContain('tools.web.deny');
    expect(asked).toEqual([]);
  });

  it('reads no more than its limit of a long answer', async () => {
    const { read } = await setUp({
      names,
      pages: {
        'http://docs.example/long': {
          headers: { 'content-type': 'text/plain' },
          body: 'x'.repeat(10_000_001),
        },
      },
    });
    expect(text(await read('http://docs.example/long'))).toContain('only the first 10000000 bytes');
  });

  it.each([
    ['an allowed host', { allow: ['docs.example'] }, false],
    ['an address that a person wrote', { known: ['http://docs.example/a?b=c#part'] }, false],
    ['another address of the same host', { known: ['http://docs.example/other'] }, true],
    ['an address of nobody', {}, true],
  ])('asks as it should for %s', async (_what, options, asks) => {
    const { tool } = await setUp(options);
    const assessment = await tool.assess({ url: 'http://docs.example/a?b=c' }, plainScene);
    expect(assessment).toMatchObject({
      isReadOnly: true,
      needsApproval: asks,
      subjects: ['docs.example'],
    });
  });
});

describe('host patterns', () => {
  it.each([
    ['docs.example.org', 'docs.example.org', true],
    ['docs.example.org', 'DOCS.example.org.', true],
    ['*.example.org', 'a.b.example.org', true],
    ['*.example.org', 'example.org', false],
    ['*.example.org', 'badexample.org', false],
    ['docs.example.org', 'docs.example.org.evil.net', false],
  ])('%s matches %s: %s', (pattern, host, matches) =>
    expect(hostMatches(pattern, host)).toBe(matches),
  );
});
