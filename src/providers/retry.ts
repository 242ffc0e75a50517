/**
 * Our own retries, visible and stoppable: before the first thing that anybody could have seen or
 * that has started a tool, a request that failed for a passing reason is made again. Afterwards
 * never: a stream that has shown something is not replayed.
 */

import { type Clock, sleep } from '../base/clock.ts';
import { type BotError, isBotError } from '../base/errors.ts';
import type { ChatProvider, ChatRequest, ChatStreamEvent } from '../messages/chat.ts';

interface RetryWaiting {
  readonly kind: 'retry_waiting';
  /** A sentence for people. */
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
  /** When the provider asks for a longer wait than this, the failure is final. Default 5 min. */
  readonly mostWaitMs?: number;
}

const defaultLadderMs: readonly number[] = [3_000, 10_000, 30_000, 60_000, 120_000];
const spread = 0.25;

/** Streams a message, retrying as told above; throws what the provider threw when it gives up. */
export async function* streamWithRetry(
  provider: ChatProvider,
  request: ChatRequest,
  signal: AbortSignal,
  options: RetryOptions,
): AsyncGenerator<RetriedEvent, void> {
  const ladderMs = options.ladderMs ?? defaultLadderMs;
  for (let attempt = 0; ; attempt += 1) {
    // Held back until something counts, so that a retried message starts only once.
    let held: ChatStreamEvent[] | undefined = [];
    try {
      for await (const event of provider.stream(request, signal)) {
        if (held !== undefined && !isShown(event)) {
          held.push(event);
          continue;
        }
        if (held !== undefined) yield* held;
        held = undefined;
        yield event;
      }
      return;
    } catch (thrown) {
      const stepMs = ladderMs[attempt];
      if (held === undefined || stepMs === undefined || !isPassing(thrown)) throw thrown;
      const delayMs = delayOf(thrown, stepMs, options);
      if (delayMs === undefined) throw thrown;
      yield { kind: 'retry_waiting', reason: thrown.message, delayMs };
      await sleep(options.clock, delayMs, signal);
    }
  }
}

function isShown(event: ChatStreamEvent): boolean {
  return event.kind !== 'message_start' && event.kind !== 'usage';
}

function isPassing(thrown: unknown): thrown is BotError {
  return isBotError(thrown, 'model_rate_limited', 'overloaded', 'connection_lost');
}

/** Never earlier than the provider asked; undefined when it asks for longer than we wait. */
function delayOf(error: BotError, stepMs: number, options: RetryOptions): number | undefined {
  const { retryAfterMs } = error;
  if (retryAfterMs === undefined) {
    return Math.round(stepMs * (1 + spread * (2 * options.random() - 1)));
  }
  if (retryAfterMs > (options.mostWaitMs ?? 300_000)) return undefined;
  return Math.round(retryAfterMs * (1 + spread * options.random()));
}
