/**
 * Our own retries, visible and stoppable: before the first thing that anybody could have seen or
 * that has started a tool, a request that failed for a passing reason is made again. Afterwards
 * never: a stream that has shown something is not replayed. Thoughts are not shown; they are held
 * back with all else until the first word or call.
 */

import { type Clock, sleep } from '../base/clock.ts';
import { BotError, isBotError } from '../base/errors.ts';
import type { ChatProvider, ChatRequest, ChatStreamEvent } from '../messages/chat.ts';
import { MalformedAnswer } from './errors.ts';

interface RetryWaiting {
  readonly kind: 'retry_waiting';
  /** A clause for people: "anthropic is overloaded". */
  readonly reason: string;
  readonly delayMs: number;
}

/** What streamWithRetry yields. After retry_waiting the message starts again from nothing. */
export type RetriedEvent = ChatStreamEvent | RetryWaiting;

export interface RetryOptions {
  readonly clock: Clock;
  /** 0 up to 1. */
  readonly random: () => number;
  /** Waits between attempts, each spread by 25 % to both sides. */
  readonly ladderMs?: readonly number[];
  /** The longest wait between attempts; when the provider asks for more, the failure is final.
   * Default 5 min. */
  readonly mostWaitMs?: number;
}

const defaultLadderMs: readonly number[] = [3_000, 10_000, 30_000, 60_000, 120_000];
const spread = 0.25;
/** A shorter wait than this is no wish of a provider to be taken at its word. */
const leastAskedMs = 500;
/** How many malformed messages are asked for anew. */
const mostMalformed = 1;

/** Streams a message, retrying as told above; throws what the provider threw when it gives up. */
export async function* streamWithRetry(
  provider: ChatProvider,
  request: ChatRequest,
  signal: AbortSignal,
  options: RetryOptions,
): AsyncGenerator<RetriedEvent, void> {
  const nextWait = createPatience(options);
  for (;;) {
    const shown = { any: false };
    try {
      yield* attempt(provider, request, signal, shown);
      return;
    } catch (thrown) {
      const waiting = shown.any ? undefined : nextWait(thrown);
      if (waiting === undefined) throw thrown;
      yield waiting;
      await sleep(options.clock, waiting.delayMs, signal);
    }
  }
}

/** Events are held back until one counts, so that a retried message starts only once. */
async function* attempt(
  provider: ChatProvider,
  request: ChatRequest,
  signal: AbortSignal,
  shown: { any: boolean },
): AsyncGenerator<ChatStreamEvent, void> {
  const held: ChatStreamEvent[] = [];
  for await (const event of provider.stream(request, signal)) {
    if (!shown.any) {
      if (isBareRefusal(event)) throw declined(provider.name, request.model);
      if (!isShown(event)) {
        held.push(event);
        continue;
      }
      shown.any = true;
      yield* held;
    }
    yield event;
  }
}

/** Gives the wait before the next attempt; undefined when there should be none. */
function createPatience(options: RetryOptions): (thrown: unknown) => RetryWaiting | undefined {
  let attempt = 0;
  let malformed = 0;
  return (thrown) => {
    if (!isPassing(thrown)) return undefined;
    if (thrown.cause instanceof MalformedAnswer) malformed += 1;
    const delayMs = delayOf(thrown, attempt, options);
    attempt += 1;
    if (delayMs === undefined || malformed > mostMalformed) return undefined;
    return { kind: 'retry_waiting', reason: reasonOf(thrown), delayMs };
  };
}

/** Words people read, images they are sent, calls that start a tool, and the end: after it nothing can fail. */
function isShown(event: ChatStreamEvent): boolean {
  switch (event.kind) {
    case 'text_delta':
      return event.text.trim() !== '';
    case 'image_made':
    case 'tool_call_start':
    case 'tool_call_delta':
    case 'tool_call_ready':
    case 'message_end':
      return true;
    case 'message_start':
    case 'reasoning_delta':
    case 'reasoning_signature':
    case 'citations':
    case 'server_tool':
    case 'raw_part':
    case 'usage':
      return false;
  }
}

/** A message that ends by a refusal before a word of it: another model may do better. */
function isBareRefusal(event: ChatStreamEvent): boolean {
  return event.kind === 'message_end' && event.stop === 'refused';
}

function declined(provider: string, model: string): BotError {
  return new BotError('refused', `${model} declined to answer this.`, {
    facts: { provider, model },
  });
}

/** Why there is a wait or another model, as a clause for people. */
export function reasonOf(error: BotError): string {
  const { provider, model } = error.facts;
  const who = typeof provider === 'string' ? provider : 'the model';
  const which = typeof model === 'string' ? model : who;
  switch (error.code) {
    case 'model_rate_limited':
      return `${who} limits how often it may be asked`;
    case 'connection_lost':
      return `the connection to ${who} was lost`;
    case 'refused':
      return `${which} declined to answer`;
    case 'quota_exhausted':
      return `the quota at ${who} is used up`;
    case 'auth_failed':
      return `${who} refused the key`;
    case 'model_unknown':
      return `${who} does not know ${which}`;
    default:
      return `${who} is overloaded`;
  }
}

function isPassing(thrown: unknown): thrown is BotError {
  return isBotError(thrown, 'model_rate_limited', 'overloaded', 'connection_lost');
}

/**
 * Never earlier than the provider asked; undefined when it asks for longer than we wait, or when
 * the ladder has no step for a further attempt.
 */
function delayOf(error: BotError, attempt: number, options: RetryOptions): number | undefined {
  const stepMs = (options.ladderMs ?? defaultLadderMs)[attempt];
  if (stepMs === undefined) return undefined;
  const mostWaitMs = options.mostWaitMs ?? 300_000;
  const { retryAfterMs = 0 } = error;
  // Who asks for no wait, again and again, does not know how long it takes.
  if (retryAfterMs < leastAskedMs) {
    const delayMs = Math.round(stepMs * (1 + spread * (2 * options.random() - 1)));
    return Math.min(delayMs, mostWaitMs);
  }
  if (retryAfterMs > mostWaitMs) return undefined;
  return Math.round(retryAfterMs * (1 + spread * options.random()));
}
