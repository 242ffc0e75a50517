/**
 * Servers that list their models: Anthropic's in pages by `after_id`, OpenAI's at once. A key is
 * wanted, and what was asked is kept.
 */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { z } from 'zod';

interface ListRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

export interface ModelListServer {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly requests: readonly ListRequest[];
  /** Answers the next requests, before the lists do. */
  answer(...answers: readonly ((response: ServerResponse) => void)[]): void;
  close(): Promise<void>;
}

export interface ModelLists {
  /** Entries of `GET /v1/models` under a key with an `anthropic-version`, so many on a page. */
  readonly anthropic?: readonly { readonly id: string }[];
  readonly pageSize?: number;
  readonly openai?: readonly string[];
}

export async function createModelListServer(lists: ModelLists): Promise<ModelListServer> {
  const requests: ListRequest[] = [];
  const answers: ((response: ServerResponse) => void)[] = [];
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    const query = Object.fromEntries(url.searchParams);
    requests.push({ path: url.pathname, query, headers: incoming.headers });
    const answer = answers.shift();
    if (answer !== undefined) {
      answer(response);
      return;
    }
    const isAnthropic = incoming.headers['anthropic-version'] !== undefined;
    const isKeyed = (incoming.headers.authorization ?? '') === 'Bearer key-1';
    const body = isAnthropic ? anthropicPage(lists, query) : openaiPage(lists);
    json(response, isKeyed ? 200 : 401, isKeyed ? body : { error: { message: 'Bad key.' } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (...given) => answers.push(...given),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function anthropicPage(
  { anthropic = [], pageSize = 1_000 }: ModelLists,
  query: Readonly<Record<string, string>>,
): unknown {
  const start = anthropic.findIndex(({ id }) => id === query['after_id']) + 1;
  const data = anthropic.slice(start, start + Math.min(pageSize, Number(query['limit'] ?? 20)));
  return {
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + data.length < anthropic.length,
  };
}

function openaiPage({ openai = [] }: ModelLists): unknown {
  const data = openai.map((id) => ({ id, object: 'model', created: 1, owned_by: 'openai' }));
  return { object: 'list', data };
}
