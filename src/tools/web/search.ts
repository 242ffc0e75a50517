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

/** One hit in the words of all three; what is missing or no address of the web is left out. */
const rawHit = z.object({
  title: z.string().nullish(),
  url: z.string().nullish(),
  content: z.string().nullish(),
  description: z.string().nullish(),
});
type RawHit = z.infer<typeof rawHit>;

// https://docs.searxng.org/dev/search_api.html
const searxngAnswer = z.object({ results: z.array(rawHit) });
const braveAnswer = z.object({ web: z.object({ results: z.array(rawHit) }).nullish() });
const tavilyAnswer = z.object({ results: z.array(rawHit) });

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
        const { results } = await ask({ kind, url: address, signal }, searxngAnswer);
        return hitsOf(results, most);
      };
    case 'brave':
      return async (query, most, signal) => {
        const address = new URL(base);
        address.search = new URLSearchParams({
          q: query,
          count: String(most),
          // Else words that were searched for stand in <strong>.
          text_decorations: 'false',
        }).toString();
        const headers = { 'x-subscription-token': apiKey, accept: 'application/json' };
        const { web } = await ask({ kind, url: address, headers, signal }, braveAnswer);
        return hitsOf(web?.results ?? [], most);
      };
    case 'tavily':
      return async (query, most, signal) => {
        const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
        const body = JSON.stringify({ query, max_results: most });
        const { results } = await ask(
          { kind, url: new URL(base), headers, body, signal },
          tavilyAnswer,
        );
        return hitsOf(results, most);
      };
  }
}

function hitsOf(results: readonly RawHit[], most: number): readonly SearchHit[] {
  const hits = results.flatMap(({ title, url, content, description }): SearchHit[] =>
    // Addresses become links: `javascript:` and the like are none.
    url && /^https?:\/\//iu.test(url)
      ? [{ title: title || url, url, text: content ?? description ?? '' }]
      : [],
  );
  return hits.slice(0, most);
}

interface Question {
  readonly kind: SearchSettings['kind'];
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent by POST. */
  readonly body?: string;
  readonly signal: AbortSignal;
}

const unknownForm =
  'The search endpoint answered in a form that I do not know. Go on without it, and say so.';

/** The endpoint is the operator's own choice: it may stand on a private address. */
async function ask<Answer>(
  { kind, url, headers = {}, body, signal }: Question,
  schema: z.ZodType<Answer>,
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
      throw new BotError('tool_failed', statusSentence(kind, answer.statusCode));
    }
    const read = schema.safeParse(parsedJson(await answer.body.text()));
    if (read.success) return read.data;
    throw new BotError('tool_failed', unknownForm);
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

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new BotError('tool_failed', unknownForm, { cause: thrown });
  }
}

function statusSentence(kind: SearchSettings['kind'], status: number): string {
  if (kind === 'searxng' && status === 403) {
    return 'The search endpoint gives no JSON (HTTP 403). Go on without it, and tell the people that an admin must add json to search.formats in the settings of SearXNG.';
  }
  if (status === 401 || status === 403) {
    return `The search endpoint refused its key (HTTP ${status}). Go on without it, and tell the people that an admin must look at tools.web.search.`;
  }
  return `The search endpoint answered with HTTP ${status}. Go on without it, and say so.`;
}
