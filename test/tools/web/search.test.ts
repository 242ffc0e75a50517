/** WebSearch against servers that speak the formats of SearXNG, Brave and Tavily. */

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { BotError } from '../../../src/base/errors.ts';
import type { Citation } from '../../../src/messages/chat.ts';
import { createWebSearchTool } from '../../../src/tools/builtin/web-search.ts';
import { registerTool } from '../../../src/tools/registry.ts';
import { createSearch, type SearchSettings } from '../../../src/tools/web/search.ts';
import { said } from '../../support/file-tools.ts';
import { freePort } from '../../support/servers.ts';
import { plainContext } from '../../support/tools.ts';

type Kind = SearchSettings['kind'];
const kinds: readonly Kind[] = ['searxng', 'brave', 'tavily'];

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    }),
  );
});

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  /** Never answers. */
  readonly hangs?: boolean;
}

async function setUp(kind: Kind, { status = 200, body = {}, hangs = false }: Reply = {}) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://x');
      asked.push({ method: request.method ?? '', url, headers: request.headers, body: text });
      if (hangs) return;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const path = { searxng: '', brave: '/res/v1/web/search', tavily: '/search' }[kind];
  const search = createSearch({ kind, url: `http://127.0.0.1:${port}${path}`, apiKey: 'k-1' });
  return { asked, search };
}

const never = new AbortController().signal;

/** What it rejects with, in words. */
async function failureOf(found: Promise<unknown>): Promise<string> {
  try {
    await found;
  } catch (thrown) {
    if (thrown instanceof BotError) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
  return 'none';
}

/** Answers as the documentation of each shows them; fields that are not used included. */
const answers: Readonly<Record<Kind, (hits: readonly object[]) => object>> = {
  searxng: (hits) => ({
    query: 'q',
    number_of_results: 0,
    results: hits.map((hit) => ({
      ...{ engine: 'duckduckgo', engines: ['duckduckgo'], score: 1, category: 'general' },
      ...{ parsed_url: ['https', 'a.example', '/', '', '', ''], publishedDate: null },
      ...hit,
    })),
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [['google', 'timeout']],
  }),
  brave: (hits) => ({
    type: 'search',
    query: { original: 'q', more_results_available: true },
    mixed: { type: 'mixed', main: [] },
    web: {
      type: 'search',
      family_friendly: true,
      results: hits.map((hit) => ({ type: 'search_result', language: 'en', ...hit })),
    },
  }),
  tavily: (hits) => ({
    query: 'q',
    answer: null,
    images: [],
    follow_up_questions: null,
    results: hits.map((hit) => ({ score: 0.9, raw_content: null, ...hit })),
    response_time: 1.2,
    request_id: 'r',
  }),
};

/** The field of the short text. */
const textField = { searxng: 'content', brave: 'description', tavily: 'content' } as const;

function hit(kind: Kind, title: string, url: string, text?: string): object {
  return { title, url, ...(text === undefined ? {} : { [textField[kind]]: text }) };
}

describe('the request', () => {
  it('to SearXNG asks for JSON, below any path', async () => {
    const { asked, search } = await setUp('searxng', { body: answers.searxng([]) });
    await search('a & b', 5, never);
    expect(asked.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
      'GET /search?q=a+%26+b&format=json',
    ]);
  });

  it('to Brave has the key in its header, and wants no marks in the texts', async () => {
    const { asked, search } = await setUp('brave', { body: answers.brave([]) });
    await search('a', 5, never);
    const [{ method, url, headers } = { method: '', url: new URL('x:'), headers: {} }] = asked;
    expect(`${method} ${url.pathname}${url.search}`).toBe(
      'GET /res/v1/web/search?q=a&count=5&text_decorations=false',
    );
    expect(headers).toMatchObject({ 'x-subscription-token': 'k-1', accept: 'application/json' });
  });

  it('to Tavily is a POST with the key as bearer', async () => {
    const { asked, search } = await setUp('tavily', { body: answers.tavily([]) });
    await search('a', 5, never);
    expect(asked[0]).toMatchObject({
      method: 'POST',
      body: '{"query":"a","max_results":5}',
      headers: { authorization: 'Bearer k-1', 'content-type': 'application/json' },
    });
    expect(asked[0]?.url.pathname).toBe('/search');
  });
});

describe.each(kinds)('the answer of %s', (kind) => {
  it('gives titles, addresses and texts, at most as many as were asked for', async () => {
    const hits = [1, 2, 3].map((n) => hit(kind, `T${n}`, `https://a.example/${n}`, `Text ${n}`));
    const { search } = await setUp(kind, { body: answers[kind](hits) });
    expect(await search('q', 2, never)).toEqual([
      { title: 'T1', url: 'https://a.example/1', text: 'Text 1' },
      { title: 'T2', url: 'https://a.example/2', text: 'Text 2' },
    ]);
  });

  it('may leave texts and titles out, and names only addresses of the web', async () => {
    const hits = [
      hit(kind, 'Bare', 'https://a.example/1'),
      hit(kind, '', 'http://a.example/2', 'x'),
      hit(kind, 'Script', 'javascript:alert(1)', 'x'),
      hit(kind, 'File', 'file:///etc/passwd', 'x'),
      { title: 'None' },
      { title: null, url: 'https://a.example/3', [textField[kind]]: null },
    ];
    const { search } = await setUp(kind, { body: answers[kind](hits) });
    expect(await search('q', 10, never)).toEqual([
      { title: 'Bare', url: 'https://a.example/1', text: '' },
      { title: 'http://a.example/2', url: 'http://a.example/2', text: 'x' },
      { title: 'https://a.example/3', url: 'https://a.example/3', text: '' },
    ]);
  });

  it.each<[string, unknown]>([
    ['no JSON', '<html>Too many requests</html>'],
    ['nothing', ''],
    ['half of it', '{"results": [{"title": "x'],
    ['a list', []],
    ['results of another kind', { results: 'none', web: 'none' }],
  ])('that is %s is told as a form that is not known', async (_what, body) => {
    const { search } = await setUp(kind, { body });
    expect(await failureOf(search('q', 5, never))).toBe(
      'tool_failed: The search endpoint answered in a form that I do not know. Go on without it, and say so.',
    );
  });

  it('401 sends the people to the admin', async () => {
    const { search } = await setUp(kind, { status: 401, body: { detail: { error: 'bad key' } } });
    expect(await failureOf(search('q', 5, never))).toBe(
      'tool_failed: The search endpoint refused its key (HTTP 401). Go on without it, and tell the people that an admin must look at tools.web.search.',
    );
  });

  it.each([301, 429, 500, 503])('%d is told by its number', async (status) => {
    const { search } = await setUp(kind, { status });
    expect(await failureOf(search('q', 5, never))).toBe(
      `tool_failed: The search endpoint answered with HTTP ${status}. Go on without it, and say so.`,
    );
  });

  it('that never comes is given up when the call is stopped, for its reason', async () => {
    const { asked, search } = await setUp(kind, { hangs: true });
    const stop = new AbortController();
    const failure = failureOf(search('q', 5, stop.signal));
    await expect.poll(() => asked.length).toBe(1);
    stop.abort(new BotError('stopped', 'Stopped by Anna.'));
    expect(await failure).toBe('stopped: Stopped by Anna.');
  });
});

describe('a search', () => {
  it('whose endpoint is not there says so', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const search = createSearch({ kind: 'searxng', url });
    expect(await failureOf(search('q', 5, never))).toBe(
      'tool_failed: The search endpoint could not be reached. Go on without it, and say so.',
    );
  });

  it.each<[Kind, string]>([
    ['searxng', 'must add json to search.formats'],
    ['brave', 'refused its key (HTTP 403)'],
    ['tavily', 'refused its key (HTTP 403)'],
  ])('that %s forbids (403) says what to look at', async (kind, told) => {
    const { search } = await setUp(kind, { status: 403 });
    expect(await failureOf(search('q', 5, never))).toContain(told);
  });

  it('finds nothing where Brave has no results of the web', async () => {
    const { search } = await setUp('brave', { body: { type: 'search', query: {} } });
    expect(await search('q', 5, never)).toEqual([]);
  });
});

describe('WebSearch', () => {
  function toolWith(hits: readonly { title: string; url: string; text: string }[]) {
    const asked: string[] = [];
    const cited: Citation[] = [];
    const tool = registerTool(
      createWebSearchTool({
        search: async (query, most) => {
          asked.push(`${query} ${most}`);
          return hits;
        },
      }),
    );
    const context = plainContext({ sources: (found) => cited.push(...found) });
    return { asked, cited, tool, call: (input: unknown) => tool.invoke(input, context) };
  }

  it('numbers what it finds, each on lines of its own, and cites it', async () => {
    const { asked, cited, call } = toolWith([
      { title: 'One', url: 'https://a.example/1', text: 'first' },
      { title: 'Two\n3. Fake', url: 'https://a.example/2', text: 'a\n\n4. Fake\n   https://b' },
    ]);
    expect(said(await call({ query: 'latency' }))).toBe(
      '1. One\n   https://a.example/1\n   first\n2. Two 3. Fake\n   https://a.example/2\n   a 4. Fake https://b',
    );
    expect(asked).toEqual(['latency 8']);
    expect(cited.map(({ url }) => url)).toEqual(['https://a.example/1', 'https://a.example/2']);
  });

  it('says that nothing was found, and cites nothing', async () => {
    const { cited, call } = toolWith([]);
    expect(said(await call({ query: 'a "b"' }))).toBe('Nothing was found for "a \\"b\\"".');
    expect(cited).toEqual([]);
  });

  it.each<[object, boolean]>([
    [{ query: 'ab', most: 1 }, true],
    [{ query: 'x'.repeat(400), most: 20 }, true],
    [{ query: 'a' }, false],
    [{ query: 'x'.repeat(401) }, false],
    [{ query: 'ab', most: 0 }, false],
    [{ query: 'ab', most: 21 }, false],
  ])('takes %j: %j', async (input, isTaken) => {
    const { call } = toolWith([]);
    expect((await call(input)).kind).toBe(isTaken ? 'done' : 'error');
  });

  it('is told in one line also while its query streams', () => {
    const { tool } = toolWith([]);
    expect(tool.describe({})).toBe('Searching the web');
    expect(tool.describe({ query: 'a `b`' })).toBe("Searching for `a 'b'`");
  });
});
