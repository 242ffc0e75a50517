/**
 * The one way to the Web API. The client's own retries are off: a retried post would show twice,
 * and one 429 would pause every call; waiting and repeating belong to the caller. Answers are
 * parsed by the schema that the caller gives; every failure is a BotError.
 */

import type { WebClient, WebClientOptions } from '@slack/web-api';
import type { z } from 'zod';
import { slackErrorOf } from './errors.ts';
import type { SlackMethod } from './methods.ts';
import type { Request, SdkFetch, Transport } from './transport.ts';

export type CallSlack = <Answer>(
  method: SlackMethod,
  args: Readonly<Record<string, unknown>>,
  answer: z.ZodType<Answer>,
) => Promise<Answer>;

const requestTimeoutMs = 30_000;

/** Options for every client made here or inside bolt. A new object each time: bolt writes into it. */
export function clientOptionsOf(
  apiUrl: string,
  transport: Transport,
  logger: NonNullable<WebClientOptions['logger']>,
): WebClientOptions {
  return {
    slackApiUrl: apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: requestTimeoutMs,
    allowAbsoluteUrls: false,
    logger,
    fetch: (url, init = {}) => transport.fetch(String(url), textRequestOf(init)),
  };
}

function textRequestOf({ body, ...rest }: NonNullable<Parameters<SdkFetch>[1]>): Request {
  if (body === undefined) return rest;
  if (typeof body !== 'string') throw new TypeError('Only text bodies are sent to the Web API.');
  return { ...rest, body };
}

export function createCallSlack(client: WebClient): CallSlack {
  return async (method, args, answer) => {
    let raw: unknown;
    try {
      raw = await client.apiCall(method, { ...args });
    } catch (error) {
      throw slackErrorOf(error, method);
    }
    const parsed = answer.safeParse(raw);
    if (!parsed.success) throw slackErrorOf(parsed.error, method);
    return parsed.data;
  };
}
