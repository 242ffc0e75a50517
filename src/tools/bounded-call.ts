/**
 * One call of a tool, bounded: it ends by itself, by its time, or when it is told to stop. A tool
 * that ignores its signal is given a moment, then abandoned and reported.
 */

import { linkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { BotError, botErrorOf } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { RegisteredTool, ToolContext, ToolOutcome } from './contract.ts';

export interface BoundedDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export type CallEnd =
  | ToolOutcome
  /** Its time was over. */
  | { readonly kind: 'timed_out'; readonly afterMs: number }
  /** It was told to stop. `settled`: it did. */
  | { readonly kind: 'told_to_stop'; readonly settled: boolean };

/** How long a tool may take to end after its signal. */
export const graceMs = 2000;

/** Runs the tool; resolves however it ends, never later than `graceMs` after the signal. */
export async function callBounded(
  { clock, log }: BoundedDeps,
  tool: RegisteredTool,
  input: unknown,
  context: ToolContext,
  timeoutMs: number,
): Promise<CallEnd> {
  const linked = linkedAbort(context.signal);
  let isOverdue = false;
  const cancelTimeout = clock.setTimer(timeoutMs, () => {
    // What was told to stop before is in its grace: its time no longer counts.
    if (linked.signal.aborted) return;
    isOverdue = true;
    linked.abort(new BotError('tool_failed', `Its time of ${timeoutMs} ms was over.`));
  });
  let cancelGrace = (): void => {};
  const abandoned = new Promise<'abandoned'>((resolve) => {
    const begin = (): void => {
      cancelGrace = clock.setTimer(graceMs, () => resolve('abandoned'));
    };
    if (linked.signal.aborted) begin();
    else linked.signal.addEventListener('abort', begin, { once: true });
  });
  const invoked = invokeSafely(log, tool, input, { ...context, signal: linked.signal });
  try {
    const end = await Promise.race([invoked, abandoned]);
    const isAbandoned = end === 'abandoned';
    if (isAbandoned) log.warn('tool_abandoned', { tool: tool.name, callId: context.callId });
    // What came to its end in spite of the signal has happened: its result is real.
    else if (end.kind === 'done' || !linked.signal.aborted) return end;
    if (isOverdue) return { kind: 'timed_out', afterMs: timeoutMs };
    return { kind: 'told_to_stop', settled: !isAbandoned };
  } finally {
    cancelTimeout();
    cancelGrace();
    linked.release();
  }
}

async function invokeSafely(
  log: Log,
  tool: RegisteredTool,
  input: unknown,
  context: ToolContext,
): Promise<ToolOutcome> {
  try {
    return await tool.invoke(input, context);
  } catch (thrown) {
    const error = botErrorOf(thrown);
    if (context.signal.aborted) return { kind: 'error', text: error.message };
    log.warn('tool_failed', { tool: tool.name, ...errorFacts(thrown) });
    const text =
      error.code === 'internal' ? `${tool.name} failed inside. Try another way.` : error.message;
    return { kind: 'error', text };
  }
}
