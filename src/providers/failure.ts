/**
 * Reads a WireFailure out of an HTTP answer, or of what an SDK threw inside a stream. Bodies come as
 * `{error: {…}}`, as a bare object, as an array of one (Google-style), as plain text or HTML.
 */

import { z } from 'zod';
import type { WireFailure } from './errors.ts';

const nameSchema = z.union([z.string(), z.number().transform(String)]).optional();
const detailsSchema = z.array(z.looseObject({})).optional().catch(undefined);
/** Anthropic's details: what kind of failure, and the places in the request. */
const placesSchema = z.object({
  error_code: z.string().optional().catch(undefined),
  paths: z.array(z.string()).optional().catch(undefined),
});

const errorSchema = z.looseObject({
  message: z.string().optional().catch(undefined),
  type: nameSchema.catch(undefined),
  code: nameSchema.catch(undefined),
  status: z.union([z.string(), z.number()]).optional().catch(undefined),
  param: z.string().optional().catch(undefined),
  details: z.unknown().optional(),
});

const bodySchema = z.looseObject({
  error: z.union([errorSchema, z.string()]).optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  detail: z.string().optional().catch(undefined),
});

const thrownSchema = z.looseObject({
  status: z.number().optional().catch(undefined),
  message: z.string().catch(''),
  error: z.unknown().optional(),
  code: nameSchema.catch(undefined),
  type: nameSchema.catch(undefined),
});

const mostBodyChars = 64_000;

/** The failure of an HTTP answer; reads its body. `nowMs` resolves a date in retry-after. */
export async function failureOfResponse(response: Response, nowMs: number): Promise<WireFailure> {
  const body = (await response.text()).slice(0, mostBodyChars);
  return failureOfBody(body, response.status, response.headers, nowMs);
}

/** The failure that a body names. */
function failureOfBody(
  body: string,
  status: number | undefined,
  headers: Headers,
  nowMs: number,
): WireFailure {
  const named = namedIn(parseJson(body)) ?? { message: textOfPage(body) };
  const retryAfterMs =
    retryAfterOfHeaders(headers, nowMs) ?? named.retryAfterMs ?? waitInText(named.message);
  const requestId = headers.get('request-id') ?? headers.get('x-request-id');
  return {
    ...named,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === null ? {} : { requestId }),
  };
}

/**
 * The failure that stands in an answer of status 200 which is no stream; undefined where it is but
 * a page or a whole message, whatever words are in it.
 */
export function failureOfGoodAnswer(
  body: string,
  headers: Headers,
  nowMs: number,
): WireFailure | undefined {
  return isError(parseJson(body)) ? failureOfBody(body, undefined, headers, nowMs) : undefined;
}

/** The failure that the last event to name one names. The first event of the text may be cut. */
export function failureInEvents(text: string): WireFailure | undefined {
  const events = text.split(/\r\n\r\n|\n\n|\r\r/u).reverse();
  for (const event of events) {
    const data = event.trim().replace(/^data:/u, '');
    const failure = failureOfGoodAnswer(data, new Headers(), 0);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** `{error: {…}}`, `{error: "…"}`, or an object that calls itself an error. */
function isError(body: unknown): boolean {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const parsed = z.looseObject({}).safeParse(first);
  if (!parsed.success) return false;
  const { error, type, object } = parsed.data;
  if (type === 'error' || object === 'error') return true;
  if (typeof error === 'string') return error.trim() !== '';
  return typeof error === 'object' && error !== null && namedIn({ error }) !== undefined;
}

/** The failure an SDK threw while it read a stream; undefined when it is no API error. */
export function failureOfThrown(thrown: unknown): WireFailure | undefined {
  const parsed = thrownSchema.safeParse(thrown);
  if (!parsed.success || !(thrown instanceof Error)) return undefined;
  const { status, message, error, code, type } = parsed.data;
  // The vendor's error classes carry the body; genai has it as JSON at the end of its message.
  const named = namedIn(error) ?? namedIn(parseJson(message.slice(message.indexOf('{'))));
  if (named === undefined) return undefined;
  return {
    ...named,
    ...(named.code === undefined && code !== undefined ? { code } : {}),
    ...(named.type === undefined && type !== undefined ? { type } : {}),
    ...(status === undefined ? {} : { status }),
  };
}

/** The failure inside a parsed body, or undefined when it names none. */
export function namedIn(body: unknown): WireFailure | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const parsed = bodySchema.safeParse(first);
  if (!parsed.success) return undefined;
  const { error, message, detail } = parsed.data;
  if (typeof error === 'string') return { message: error };
  // `{type: "error", error: {…}}`, `{error: {…}}` or the error object itself.
  const own = error ?? errorSchema.safeParse(first).data;
  const text = own?.message ?? message ?? detail;
  if (own === undefined || (text === undefined && own.type === undefined && own.code === undefined))
    return undefined;
  const type = own.type ?? (typeof own.status === 'string' ? own.status : undefined);
  const extra = detailFacts(detailsSchema.parse(own.details) ?? []);
  const { error_code: code = own.code, paths } = placesSchema.safeParse(own.details).data ?? {};
  return {
    message: [text ?? '', ...extra.words].join(' ').trim(),
    ...(type === undefined ? {} : { type }),
    ...(code === undefined ? {} : { code }),
    ...(paths === undefined ? {} : { paths }),
    ...(own.param === undefined ? {} : { param: own.param }),
    ...(extra.retryAfterMs === undefined ? {} : { retryAfterMs: extra.retryAfterMs }),
  };
}

/** Google's details: RetryInfo carries the wait, QuotaFailure and ErrorInfo the kind of limit. */
function detailFacts(details: readonly Record<string, unknown>[]): {
  retryAfterMs?: number;
  words: string[];
} {
  const words: string[] = [];
  let retryAfterMs: number | undefined;
  for (const detail of details) {
    const delay = detail['retryDelay'];
    if (typeof delay === 'string') retryAfterMs = secondsToMs(delay.replace(/s$/u, ''));
    if (typeof detail['reason'] === 'string') words.push(detail['reason']);
    const violations = z
      .array(z.looseObject({ quotaId: z.string() }))
      .safeParse(detail['violations']);
    for (const { quotaId } of violations.data ?? []) words.push(quotaId);
  }
  return { words, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Milliseconds of `retry-after-ms` or `retry-after` (seconds or a date). */
function retryAfterOfHeaders(headers: Headers, nowMs: number): number | undefined {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  if (/^\s*\d+(?:\.\d+)?\s*$/u.test(value)) return secondsToMs(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

const waitPattern =
  /(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])[\s,]*(?:and\s+)?)+)/iu;
const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** "Please try again in 1.5s", "in 1m12.5s", "retry after 6 seconds" of OpenAI-like servers. */
function waitInText(text: string): number | undefined {
  const wait = waitPattern.exec(text)?.[1];
  if (wait === undefined) return undefined;
  let ms = 0;
  for (const [, amount, unit = ''] of wait.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/giu)) {
    const isMs = /^(?:ms|milli)/iu.test(unit);
    ms += Number(amount) * (isMs ? 1 : (unitMs[unit.charAt(0).toLowerCase()] ?? 0));
  }
  return Math.ceil(ms);
}

function secondsToMs(text: string): number | undefined {
  const seconds = Number.parseFloat(text);
  return Number.isFinite(seconds) ? Math.ceil(seconds * 1000) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the caller takes the text as it is.
  }
}

/** A proxy's error page without its markup. */
function textOfPage(body: string): string {
  return body
    .replace(/<(style|script|head)\b[\s\S]*?<\/\1>/giu, ' ')
    .replace(/<[^>]*>/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
}
