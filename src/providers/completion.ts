/**
 * One model call as a run makes it: the prompt goes to the first of a chain of models; what fails
 * in passing is tried again, and what fails for good before anything was shown goes to the next
 * model of the chain. Each call that used tokens is told, failed ones too.
 */

import { type BotError, type ErrorCode, isBotError } from '../base/errors.ts';
import type { ChatPrompt, ChatProvider, ChatRequest, ChatStreamEvent } from '../messages/chat.ts';
import { noUsage, type Usage } from '../messages/usage.ts';
import type { ModelFacts } from './catalog.ts';
import { costOf } from './cost.ts';
import { type RetriedEvent, type RetryOptions, reasonOf, streamWithRetry } from './retry.ts';
import { estimatePrompt, factorOf, mostTokensOf } from './token-estimate.ts';

/** A model that can be asked. */
export interface Candidate {
  /** `provider/model`. */
  readonly name: string;
  readonly provider: ChatProvider;
  /** The vendor's id. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly mostOutputTokens: number;
}

/** A model that is named but cannot be asked at all: its key is gone, its provider unknown. */
export interface MissingModel {
  readonly name: string;
  readonly error: BotError;
}

/** After it the message starts again from nothing, with another model. */
export interface ModelSwitched {
  readonly kind: 'model_switched';
  readonly from: string;
  readonly to: string;
  /** A clause for people: "anthropic is overloaded". */
  readonly reason: string;
  readonly code: ErrorCode;
}

export type CompletionEvent = RetriedEvent | ModelSwitched;

/** A call that used tokens. */
export interface MeteredCall {
  /** `provider/model`. */
  readonly model: string;
  readonly usage: Usage;
  /** US dollars, as far as they are known. */
  readonly costUsd: number;
  /** False: tokens without a price, or a call that broke off before it told what it used. */
  readonly isCostKnown: boolean;
}

/** Awaited when a call is over, however it ended. */
export type OnCall = (call: MeteredCall) => Promise<void>;

/** One model call of a run. Throws what the last model of the chain threw. */
export type Completion = (
  prompt: ChatPrompt,
  signal: AbortSignal,
  onCall: OnCall,
) => AsyncGenerator<CompletionEvent, void>;

/** With another model at hand nobody waits for long. */
const handoverLadderMs: readonly number[] = [3_000];
const mostHandoverWaitMs = 10_000;

/** Room between prompt and answer for what the estimate misses. */
const windowMarginTokens = 1_000;
/** Below this an answer is not worth asking for: the prompt is too long. */
const leastOutputTokens = 1_000;

/**
 * The calls of one run. `chain` holds at least one model; a run that was handed over stays with the
 * model that took over.
 */
export function createCompletion(
  chain: readonly (Candidate | MissingModel)[],
  options: RetryOptions,
): Completion {
  let first = 0;
  return async function* (prompt, signal, onCall) {
    for (let place = first; ; place += 1) {
      const candidate = chain[place];
      const next = chain[place + 1];
      if (candidate === undefined) throw new Error('a chain without a model');
      let hasShown = false;
      try {
        const patience = next === undefined ? options : impatient(options);
        for await (const event of streamOf(candidate, prompt, signal, onCall, patience)) {
          hasShown ||= event.kind !== 'retry_waiting';
          yield event;
        }
        return;
      } catch (thrown) {
        if (next === undefined || hasShown || signal.aborted || !mayHandOver(thrown)) throw thrown;
        first = place + 1;
        const { name: from } = candidate;
        const { code } = thrown;
        yield { kind: 'model_switched', from, to: next.name, reason: reasonOf(thrown), code };
      }
    }
  };
}

async function* streamOf(
  candidate: Candidate | MissingModel,
  prompt: ChatPrompt,
  signal: AbortSignal,
  onCall: OnCall,
  options: RetryOptions,
): AsyncGenerator<RetriedEvent, void> {
  if ('error' in candidate) throw candidate.error;
  const metered = meteredProvider(candidate, onCall);
  yield* streamWithRetry(metered, requestOf(candidate, prompt), signal, options);
}

function impatient(options: RetryOptions): RetryOptions {
  const most = Math.min(options.mostWaitMs ?? mostHandoverWaitMs, mostHandoverWaitMs);
  return { ...options, ladderMs: handoverLadderMs, mostWaitMs: most };
}

/** A request that is wrong, or too long, is so for the next model too. */
function mayHandOver(thrown: unknown): thrown is BotError {
  return isBotError(
    thrown,
    'model_rate_limited',
    'overloaded',
    'connection_lost',
    'refused',
    'quota_exhausted',
    'auth_failed',
    'model_unknown',
  );
}

/** The prompt for this model; no more output is asked for than its window leaves room for. */
function requestOf(candidate: Candidate, prompt: ChatPrompt): ChatRequest {
  const { model, facts, mostOutputTokens } = candidate;
  const room = facts.window - promptTokens(candidate, prompt) - windowMarginTokens;
  return {
    ...prompt,
    model,
    abilities: facts.abilities,
    // Where there seems to be no room the server decides: the estimate may be wrong.
    mostOutputTokens:
      room < leastOutputTokens
        ? Math.min(mostOutputTokens, leastOutputTokens)
        : Math.min(mostOutputTokens, room),
  };
}

/** An estimate; a short prompt, which is the rule, is not looked at closely. */
function promptTokens({ name, facts, mostOutputTokens }: Candidate, prompt: ChatPrompt): number {
  const [vendor = ''] = name.split('/');
  const most = mostTokensOf(prompt) * factorOf(vendor);
  const isShort = most + mostOutputTokens + windowMarginTokens < facts.window;
  return Math.ceil(isShort ? most : estimatePrompt(prompt) * factorOf(vendor));
}

/** The provider, with what each call used told when it is over; a call that was refused used nothing. */
function meteredProvider({ name, provider, facts }: Candidate, onCall: OnCall): ChatProvider {
  return {
    name: provider.name,
    stream: async function* (request, signal): AsyncGenerator<ChatStreamEvent, void> {
      let usage: Usage | undefined;
      let hasStarted = false;
      let hasEnded = false;
      try {
        for await (const event of provider.stream(request, signal)) {
          hasStarted = true;
          if (event.kind === 'usage') usage = event.usage;
          hasEnded ||= event.kind === 'message_end';
          yield event;
        }
      } finally {
        const costUsd = usage && costOf(usage, facts.prices);
        if (hasStarted) {
          await onCall({
            model: name,
            usage: usage ?? noUsage,
            costUsd: costUsd ?? 0,
            isCostKnown: costUsd !== undefined && hasEnded,
          });
        }
      }
    },
  };
}
