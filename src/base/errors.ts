/**
 * The one error class. Each failure that somebody may have to act on has a code from a closed
 * list; code branches on the code, never on the text. The text is a sentence for people: what
 * failed, on what, and what can be done. Facts go to the log; they hold no words that people wrote
 * and no secrets.
 */

/** Every code, with what it means. src/README.md lists them for operators. */
export type ErrorCode =
  // start-up and configuration
  | 'config_invalid'
  | 'store_locked'
  | 'port_in_use'
  // storage
  | 'store_unavailable'
  | 'store_value_unreadable'
  // surfaces: what a platform answered
  | 'rate_limited' // retryAfterMs says when to try again
  | 'message_gone' // the message was deleted or cannot be found
  | 'message_uneditable' // it exists, but no further edit will ever be accepted
  | 'message_too_long'
  | 'message_refused' // refused for its content or form: never retry unchanged
  | 'surface_gone' // channel or thread deleted, or the bot lost access
  | 'stream_unavailable' // the platform takes no messages that grow by appending here
  | 'surface_unavailable' // network, 5xx: the outcome may be unknown
  // models
  | 'context_overflow'
  | 'model_rate_limited' // retryAfterMs
  | 'overloaded'
  | 'refused'
  | 'auth_failed'
  | 'quota_exhausted'
  | 'bad_request'
  | 'connection_lost'
  | 'model_unknown'
  // loop and tools
  | 'tool_failed'
  | 'tool_loop_detected'
  | 'path_outside_workspace'
  | 'stopped'
  | 'interrupted'
  | 'internal';

export interface BotErrorOptions {
  readonly facts?: Readonly<Record<string, string | number | boolean | null>>;
  /** Milliseconds the other side asked us to wait. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class BotError extends Error {
  readonly code: ErrorCode;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, sentence: string, options: BotErrorOptions = {}) {
    super(sentence, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'BotError';
    this.code = code;
    this.facts = options.facts ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Any thrown value as a BotError; what is not ours becomes `internal` with the original as cause. */
export function botErrorOf(thrown: unknown): BotError {
  if (thrown instanceof BotError) return thrown;
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  return new BotError('internal', 'Something inside failed unexpectedly.', {
    facts: { name },
    cause: thrown,
  });
}

/** True when the thrown value is a BotError with one of these codes. */
export function isBotError(thrown: unknown, ...codes: readonly ErrorCode[]): thrown is BotError {
  return thrown instanceof BotError && (codes.length === 0 || codes.includes(thrown.code));
}
