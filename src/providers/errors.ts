/**
 * What a model server answered, as a BotError with a closed code. Vendors word the same failure in
 * many ways; this is the only place that reads their texts. The status and the error's own type
 * decide, because a text may quote anything; order matters: rate limits come before overflow.
 */

import { BotError } from '../base/errors.ts';
import { cutToUnits } from '../base/text.ts';

/** The codes of model failures. */
export type FailureCode =
  | 'context_overflow'
  | 'model_rate_limited'
  | 'overloaded'
  | 'refused'
  | 'auth_failed'
  | 'quota_exhausted'
  | 'bad_request'
  | 'connection_lost'
  | 'model_unknown';

/** A failure as it stood on the wire: an HTTP answer or an error inside a stream. */
export interface WireFailure {
  /** HTTP status; absent for an error inside a stream. */
  readonly status?: number;
  readonly code?: string;
  readonly type?: string;
  /** The request field the server complains about. */
  readonly param?: string;
  /** Places in the request that it complains about, as the server writes them. */
  readonly paths?: readonly string[];
  /** Hashes of the images and documents that stand at these places. */
  readonly accused?: readonly string[];
  readonly message: string;
  readonly retryAfterMs?: number;
  readonly requestId?: string;
}

/** Cause of every BotError made here. Its own message holds no text of the server. */
export class WireError extends Error {
  readonly failure: WireFailure;

  constructor(failure: WireFailure) {
    super(`HTTP ${failure.status ?? 'stream'} ${failure.type ?? failure.code ?? ''}`.trim());
    this.name = 'WireError';
    this.failure = failure;
  }
}

/** Cause of a failure that is worth one more try, not a whole ladder of them. */
export class MalformedAnswer extends Error {
  constructor() {
    super('The model wrote what its own server could not read.');
    this.name = 'MalformedAnswer';
  }
}

export interface Spoken {
  readonly provider: string;
  readonly model: string;
  readonly endpoint: string;
  /** Where its key is set, for people: `ANTHROPIC_API_KEY`. */
  readonly keySetting?: string;
}

/** An empty account by the code or type of the error: final, whatever wait the answer names. */
const quotaNames = [
  /insufficient[_ ]quota/iu,
  /exceeded_current_quota/iu,
  /billing_(?:hard_)?limit/iu,
  /spend(?:ing)?_limit/iu,
  /arrearage/iu,
];

/** The same in words that no name of a tool or field is made of: a text may quote those. */
const quotaSentences = [
  /credit balance is too low/iu,
  /reached your (?:specified )?(?:api )?usage limit/iu,
  /(?:insufficient|not enough) (?:account )?(?:balance|credits?|funds)/iu,
  /(?:reached|exceed(?:s|ed)?|hit|over)\b.{0,40}\b(?:spend(?:ing)?|billing|credit) (?:limit|cap)/iu,
  /(?:spend(?:ing)?|billing|credit) (?:hard )?(?:limit|cap)\b.{0,20}(?:reached|exceeded)/iu,
  /used all (?:available )?credits/iu,
  /key limit exceeded/iu,
];

/** Gemini words its per-minute limits so too; a short wait in the answer tells them apart. */
const vagueQuota = /exceeded your current quota/iu;
/** Gemini's name of a limit; only what comes with a 429 can be one. */
const dailyQuota = /PerDay/u;

const ratePatterns = [
  /rate[_ -]?limit/iu,
  /tokens per min/iu,
  /requests per min/iu,
  /too many requests/iu,
  /too many tokens, please wait/iu,
  /throttl/iu,
];

const overflowPatterns = [
  /context[_ ]length[_ ]exceeded/iu,
  /exceed_context_size_error/iu,
  /request_too_large/iu,
  /(?:prompt|input) (?:is )?too long/iu,
  /exceeds? context limit/iu,
  /exceed the configured limit of/iu,
  /input token count.{0,40}exceeds the maximum/iu,
  /exceeds the maximum allowed input length/iu,
  /maximum prompt length is/iu,
  /max(?:imum)? context length/iu,
  /reduce the length of the messages/iu,
  /token.{0,60}exceeds the limit of/iu,
  /(?:greater than|exceed(?:s|ed)?) (?:(?:the|its|your|model'?s?|maximum|available) ){0,3}context (?:length|size|window)/iu,
  /range of input length should be/iu,
  /context window exceeds limit/iu,
  /exceeded model token limit/iu,
];

const overloadPatterns = [/overloaded/iu, /over capacity/iu, /server_is_overloaded/iu];
const refusedNames = [
  /content[_ ]?(?:policy|filter)/iu,
  /moderation/iu,
  /data_inspection_failed/iu,
];
const refusedSentences = [
  /\b(?:input|prompt|content|request|message|text|output)s? (?:was|were|is|has been|have been) (?:flagged|blocked)/iu,
  /requires moderation/iu,
  /content (?:management )?policy/iu,
  /safety system/iu,
  /violat\w+\b.{0,40}\b(?:polic(?:y|ies)|guidelines)/iu,
  /inappropriate content|content exists risk/iu,
];
const keyPatterns = [/api[_ ]?key[_ ](?:not valid|invalid)/iu, /invalid[_ ]api[_ ]key/iu];

const someOf = (patterns: readonly RegExp[], text: string): boolean =>
  patterns.some((pattern) => pattern.test(text));

/** Statuses under which an overflow has been seen; undefined is an error inside a stream. */
const overflowStatuses: readonly (number | undefined)[] = [400, 413, 422, 500, undefined];

/**
 * How much the kind of failure is settled before its text is read: `final` will fail the same way
 * again, `passing` will not, `open` says nothing (an error inside a stream without a type).
 */
type Standing = 'limited' | 'overloaded' | 'passing' | 'final' | 'open';

/** The Responses API names what is wrong with an image by codes such as image_parse_error. */
const finalTypes = /invalid|bad_request|unsupported|not_found|image/iu;
const passingTypes = /server_error|internal|api_error|unavailable|timeout/iu;

/** Code and type, and a message that is but one word and so a name too. */
function namedBy({ code, type, message }: WireFailure): string {
  const name = /^\s*\S+\s*$/u.test(message) ? message : '';
  return `${code ?? ''} ${type ?? ''} ${name}`;
}

/** From the status and the error's own type and code; never from its text. */
function standingOf({ code, type }: WireFailure, status: number | undefined): Standing {
  const named = `${code ?? ''} ${type ?? ''}`;
  if (status === 429) return 'limited';
  if (status === 503 || status === 529) return 'overloaded';
  if (someOf(ratePatterns, named)) return 'limited';
  if (someOf(overloadPatterns, named)) return 'overloaded';
  if (status === undefined) {
    if (finalTypes.test(named)) return 'final';
    return passingTypes.test(named) ? 'passing' : 'open';
  }
  return status >= 500 || status === 408 || status === 409 ? 'passing' : 'final';
}

/** Google's names of errors, which may come without a number (google/rpc/code.proto). */
const statusOfName: ReadonlyMap<string, number> = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['RESOURCE_EXHAUSTED', 429],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
]);

/** The HTTP status, or the one that an error inside a 200 names. */
export function statusOf({ status, code, type }: WireFailure): number | undefined {
  if (status !== undefined) return status;
  if (/^[45]\d\d$/u.test(code ?? '')) return Number(code);
  return statusOfName.get(type ?? '');
}

/** The closed code of a failure. Status and type decide, the text only refines. */
export function codeOfFailure(failure: WireFailure): FailureCode {
  const status = statusOf(failure);
  const standing = standingOf(failure, status);
  const text = `${failure.code ?? ''} ${failure.type ?? ''} ${failure.message}`;
  return (
    limitCode(failure, status, standing, text) ??
    (standing === 'overloaded' ? 'overloaded' : undefined) ??
    overflowCode(failure, status, text) ??
    accessCode(failure, status, text) ??
    restCode(failure, status, standing, text)
  );
}

function limitCode(
  failure: WireFailure,
  status: number | undefined,
  standing: Standing,
  text: string,
): FailureCode | undefined {
  if (status === 402) return 'quota_exhausted';
  const isLimited = standing === 'limited';
  const names = isLimited ? text : namedBy(failure);
  const isEmpty = someOf(quotaNames, names) || someOf(quotaSentences, failure.message);
  if (isEmpty && (isLimited || status === undefined || status < 500)) return 'quota_exhausted';
  const isVague = vagueQuota.test(failure.message);
  if (isLimited) {
    const isFinal = dailyQuota.test(text) || (isVague && failure.retryAfterMs === undefined);
    return isFinal ? 'quota_exhausted' : 'model_rate_limited';
  }
  if (standing === 'final') return isVague ? 'quota_exhausted' : undefined;
  if (isVague && status === undefined) {
    return failure.retryAfterMs === undefined ? 'quota_exhausted' : 'model_rate_limited';
  }
  return someOf(ratePatterns, text) ? 'model_rate_limited' : undefined;
}

function overflowCode(
  { code, type, message }: WireFailure,
  status: number | undefined,
  text: string,
): FailureCode | undefined {
  if (!overflowStatuses.includes(status)) return undefined;
  // "Too many tokens per minute" must never cost anybody their history.
  if (someOf(overflowPatterns, text) && !someOf(ratePatterns, text)) return 'context_overflow';
  // Cerebras says nothing at all.
  const isBare = code === undefined && type === undefined && message.trim() === '';
  return status === 413 || (status === 400 && isBare) ? 'context_overflow' : undefined;
}

function accessCode(
  failure: WireFailure,
  status: number | undefined,
  text: string,
): FailureCode | undefined {
  // OpenRouter's moderation and xAI's guidelines answer as if it were the key.
  if (status === 403 && isRefusal(failure)) return 'refused';
  if (status === 401 || status === 403) return 'auth_failed';
  if (
    someOf(keyPatterns, text) ||
    /authentication_error|permission_error/u.test(namedBy(failure))
  ) {
    return 'auth_failed';
  }
  if (status === 404) return /model|not_found_error/iu.test(text) ? 'model_unknown' : 'bad_request';
  return undefined;
}

function isRefusal(failure: WireFailure): boolean {
  return someOf(refusedNames, namedBy(failure)) || someOf(refusedSentences, failure.message);
}

function restCode(
  failure: WireFailure,
  status: number | undefined,
  standing: Standing,
  text: string,
): FailureCode {
  if (status === 408 || status === 409) return 'connection_lost';
  if (standing === 'passing') return 'overloaded';
  if (isRefusal(failure)) return 'refused';
  if (standing === 'final') return 'bad_request';
  // An error inside a stream: only what names the request as bad is final.
  if (someOf(overloadPatterns, text)) return 'overloaded';
  return /invalid|bad_request|unsupported/iu.test(text) ? 'bad_request' : 'overloaded';
}

/** The BotError of a failure; its cause is a WireError. */
export function errorOfFailure(spoken: Spoken, failure: WireFailure): BotError {
  const code = codeOfFailure(failure);
  return new BotError(code, sentenceOf(code, spoken, failure), {
    facts: {
      provider: spoken.provider,
      model: spoken.model,
      endpoint: spoken.endpoint,
      status: failure.status ?? null,
      type: failure.type ?? failure.code ?? null,
      param: failure.param ?? null,
      requestId: failure.requestId ?? null,
    },
    ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
    cause: new WireError(failure),
  });
}

function sentenceOf(code: FailureCode, spoken: Spoken, failure: WireFailure): string {
  const { provider, model, keySetting } = spoken;
  const where = keySetting === undefined ? '' : `: look at ${keySetting}`;
  const status = failure.status === undefined ? '' : ` (HTTP ${failure.status})`;
  switch (code) {
    case 'context_overflow':
      return `The conversation is too long for ${model}.`;
    case 'model_rate_limited':
      return `${provider} limits how often ${model} may be called.`;
    case 'quota_exhausted':
      return `The quota or credit at ${provider} is used up: check the plan and billing there${keySetting === undefined ? '' : ` (the key is ${keySetting})`}.`;
    case 'overloaded':
      return `${provider} is overloaded or has an internal error${status}.`;
    case 'auth_failed':
      return `${provider} refused the key${status}${where}. It must be right and may use ${model}.`;
    case 'model_unknown':
      return `${provider} does not know the model ${model}: look at DECKHAND_MODEL (models.model), the channel's model, or choose another by \`!model\`.`;
    case 'refused':
      return `${provider} refused this content by its policy.`;
    case 'connection_lost':
      return `The connection to ${provider} was lost${status}.`;
    case 'bad_request': {
      const detail = cutToUnits(failure.message.replace(/\s+/gu, ' ').trim(), 200);
      const said = detail === '' ? '.' : `: ${detail}${/[.!?…]$/u.test(detail) ? '' : '.'}`;
      return `${provider} refused the request to ${model}${status}${said} If this stays, look at DECKHAND_MODEL (models.model), or choose another model by \`!model\`.`;
    }
  }
}

/** connection_lost: the stream broke, fell silent or was no stream at all. */
export function connectionLost(spoken: Spoken, what: string, cause?: unknown): BotError {
  return new BotError('connection_lost', `${spoken.provider}: ${what}`, {
    facts: { provider: spoken.provider, model: spoken.model, endpoint: spoken.endpoint },
    ...(cause === undefined ? {} : { cause }),
  });
}
