/**
 * Linking of abort signals. `AbortSignal.any` on a signal that outlives a run keeps memory for ever
 * on Node 20, so a link is made by hand and must be released.
 */

import { BotError } from './errors.ts';

export interface LinkedAbort {
  readonly signal: AbortSignal;
  /** Aborts this link alone; the parent goes on. */
  abort(reason: Error): void;
  /** Removes the listener on the parent. Call it when the work is over. */
  release(): void;
}

/** An AbortController that also follows `parent`, until released. */
export function linkedAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const follow = (): void => controller.abort(abortReasonOf(parent));
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => parent.removeEventListener('abort', follow),
  };
}

/** The typed reason of an aborted signal. */
export function abortReasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof BotError) return reason;
  return new BotError('stopped', 'It was stopped.', { cause: reason });
}

/** Throws the signal's reason when it is aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortReasonOf(signal);
}
