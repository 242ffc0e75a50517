/** Search endpoints that an operator configures: SearXNG, Brave, Tavily. */

import { request } from 'undici';
import { z } from 'zod';
import { abortReasonOf } from '../../base/abort.ts';
import { BotError } from '../../base/errors.ts';

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

export type Search = (
  query: string,
  most: number,
  signal: AbortSignal,
) => Promise<readonly SearchHit[]>;

/** Which endpoint, and its key. */
export interface SearchSettings {
  readonly kind: 'searxng' | 'brave' | 'tavily';
  readonly url?: string;
  readonly apiKey?: string;
}

const timeoutMs = 20_000;

const searxngAnswer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});
const braveAnswer = z.object({
  web: z
    .object({
      results: z.array(
        z.object({ title: z.string(), url: z.string(), description: z.string().nullish() }),
      ),
    })
    .nullish(),
});
const tavilyAnswer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});

export const standardAddresses: Readonly<Record<SearchSettings['kind'], string | undefined>> = {
  searxng: undefined,
  // https://api-dashboard.search.brave.com/app/documentation/web-search
  brave: 'https://api.search.brave.com/res/v1/web/search',
  // https://docs.tavily.com/documentation/api-reference/endpoint/search
  tavily: 'https://api.tavily.com/search',
};

/** Rejects with tool_failed: a sentence for the model. */
export function createSearch({ kind, url, apiKey = '' }: SearchSettings): Search {
  const base = url ?? standardAddresses[kind] ?? '';
  switch (kind) {
    case 'searxng':
      return async (query, most, signal) => {
        const address = new URL('search', base.endsWith('/') ? base : `${base}/`);
        address.search = new URLSearchParams({ q: query, format: 'json' }).toString();
        const { results } = await ask(searxngAnswer, address, {}, undefined, signal);
        return results.slice(0, most).map(({ title, url: found, content }) => ({
          title,
          url: found,
          text: content ?? '',
        }));
      };
    case 'brave':
      return async (query, most, signal) => {
        const address = new URL(base);
        address.search = new URLSearchParams({ q: query, count: String(most) }).toString();
        const headers = { 'x-subscription-token': apiKey, accept: 'application/json' };
        const { web } = await ask(braveAnswer, address, headers, undefined, signal);
        return (web?.results ?? []).slice(0, most).map(({ title, url: found, description }) => ({
          title,
          url: found,
          text: description ?? '',
        }));
      };
    case 'tavily':
      return async (query, most, signal) => {
        const headers = {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
        };
        const body = JSON.stringify({ query, max_results: most });
        const { results } = await ask(tavilyAnswer, new URL(base), headers, body, signal);
        return results.slice(0, most).map(({ title, url: found, content }) => ({
          title,
          url: found,
          text: content ?? '',
        }));
      };
  }
}

/** The endpoint is the operator's own choice: it may stand on a private address. */
async function ask<Answer>(
  schema: z.ZodType<Answer>,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const answer = await request(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      signal,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      ...(body === undefined ? {} : { body }),
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new BotError('tool_failed', statusSentence(answer.statusCode));
    }
    const read = schema.safeParse(await answer.body.json());
    if (read.success) return read.data;
    throw new BotError(
      'tool_failed',
      'The search endpoint answered in a form that I do not know. Go on without it, and say so.',
    );
  } catch (thrown) {
    if (signal.aborted) throw abortReasonOf(signal);
    if (thrown instanceof BotError) throw thrown;
    throw new BotError(
      'tool_failed',
      'The search endpoint could not be reached. Go on without it, and say so.',
      { cause: thrown },
    );
  }
}

function statusSentence(status: number): string {
  if (status === 401 || status === 403) {
    return `The search endpoint refused its key (HTTP ${status}). Go on without it, and tell the people that an admin must look at tools.web.search.`;
  }
  return `The search endpoint answered with HTTP ${status}. Go on without it, and say so.`;
}
