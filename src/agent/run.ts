/**
 * The loop: steps of one model call and its tools, until the model is done, people must act, or
 * somebody stops it. It yields what happens in order and never throws for a failed step; how it
 * ended is its return value.
 */

import { abortReasonOf } from '../base/abort.ts';
import { BotError, botErrorOf } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import { buildPrompt, interruptedResult } from '../context/request.ts';
import type { Entry, EntryOf } from '../messages/entries.ts';
import type { ToolCallPart } from '../messages/parts.ts';
import type { RunEvent, RunOutcome, StopWhy } from '../messages/run-event.ts';
import type { StepEnd } from '../tools/scheduler.ts';
import type { RunDeps, RunInput } from './contract.ts';
import { type FinishedStep, type Run, runOpenCalls, storeResults, streamStep } from './step.ts';
import { createStopRules } from './stop-rules.ts';

/** How the loop goes on after a step. */
type Verdict = 'next_step' | RunOutcome;

const cutOffNote = 'Your last message was cut off. Go on exactly where it stopped.';

export async function* run(
  deps: RunDeps,
  input: RunInput,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, RunOutcome> {
  const isShutdown = (): boolean => signal.aborted && stopWhyOf(signal) === 'shutdown';
  const rules = createStopRules();
  const current: Run = { deps, input, signal, rules, isShutdown, addressed: input.addressed };
  try {
    yield { kind: 'run_started', runId: input.runId, model: input.modelName };
    const resumed = yield* resume(current);
    if (resumed !== 'next_step') return resumed;
    const entries = deps.transcript.read();
    for (let step = lastStepOf(entries, input.runId) + 1; ; step += 1) {
      const end = yield* takeStep(current, step);
      if (end !== 'next_step') return end;
    }
  } catch (thrown) {
    if (signal.aborted) return stoppedBy(signal);
    deps.log.error('run_failed', { runId: input.runId, ...errorFacts(thrown) });
    return { kind: 'failed', error: botErrorOf(thrown) };
  }
}

/** The last step that a run has stored; 0 when none. */
export function lastStepOf(entries: readonly Entry[], runId: string): number {
  const last = entries.findLast(
    (entry) => entry.kind === 'assistant_message' && entry.runId === runId,
  );
  return last?.kind === 'assistant_message' ? last.step : 0;
}

/** How an aborted run ended, from the signal's reason. */
export function stoppedBy(signal: AbortSignal): RunOutcome {
  const reason = abortReasonOf(signal);
  const by = reason instanceof BotError ? reason.facts['by'] : undefined;
  return {
    kind: 'stopped',
    by: typeof by === 'string' ? by : 'the operator',
    why: stopWhyOf(signal),
  };
}

function stopWhyOf(signal: AbortSignal): StopWhy {
  const reason = abortReasonOf(signal);
  const why = reason instanceof BotError ? reason.facts['why'] : undefined;
  return why === 'trigger_deleted' || why === 'shutdown' ? why : 'person';
}

/** The reason to abort a run's signal with. */
export function stopReason(by: string, why: StopWhy): BotError {
  return new BotError('stopped', `Stopped by ${by}.`, { facts: { by, why } });
}

async function* takeStep(current: Run, step: number): AsyncGenerator<RunEvent, Verdict> {
  const { deps, input, signal } = current;
  if (signal.aborted) return stoppedBy(signal);
  if (step > input.mostSteps) {
    yield { kind: 'notice', text: await deps.tooManySteps(), action: 'continue' };
    return { kind: 'finished', silent: false };
  }
  const reached = await deps.limitReached();
  if (reached !== undefined) {
    yield { kind: 'notice', text: reached };
    return { kind: 'finished', silent: false };
  }
  yield* takeWaiting(current);
  yield { kind: 'step_started', step };
  const prompt = buildPrompt({
    entries: deps.transcript.read(),
    system: input.system,
    tools: input.toolSpecs,
    reasoning: input.reasoning,
    webSearch: input.webSearch,
    cacheKey: input.conversationKey,
  });
  const finished = yield* streamStep(current, step, prompt);
  if (signal.aborted) return stoppedBy(signal);
  if (finished.broken) return afterBroken(current, finished, finished.broken);
  return yield* afterWhole(current, step, finished);
}

async function afterBroken(
  current: Run,
  { goesOn, end }: FinishedStep,
  broken: BotError,
): Promise<Verdict> {
  if (!goesOn) return { kind: 'failed', error: broken };
  if (end.silence) return { kind: 'finished', silent: true };
  await note(current, cutOffNote);
  return 'next_step';
}

async function* afterWhole(
  current: Run,
  step: number,
  { message, calls, end }: FinishedStep,
): AsyncGenerator<RunEvent, Verdict> {
  const { input, rules } = current;
  if (calls.length > 0) return afterTools(current, calls, end);
  if (message.stop === 'paused') return 'next_step';
  if (message.stop === 'refused') {
    return { kind: 'failed', error: new BotError('refused', 'The model declined to answer this.') };
  }
  if (message.stop === 'tool_calls' && rules.mayNudge()) {
    await note(current, 'You announced a tool call, but none arrived. Call the tool, or answer.');
    return 'next_step';
  }
  // What arrived while the last words streamed is answered without further ado; at the step limit
  // it stays where it waits and begins a run of its own.
  if (step < input.mostSteps && (yield* takeWaiting(current))) return 'next_step';
  if (message.stop === 'output_limit' || message.stop === 'context_limit') {
    yield {
      kind: 'notice',
      text: 'The answer was cut at the model’s length limit.',
      action: 'continue',
    };
  }
  return { kind: 'finished', silent: false };
}

/** What the results of a step say about the run. */
async function afterTools(
  current: Run,
  calls: readonly ToolCallPart[],
  { results, silence, waiting }: StepEnd,
): Promise<Verdict> {
  if (waiting) return { kind: 'suspended', ...waiting };
  if (silence) return { kind: 'finished', silent: true };
  const verdict = current.rules.afterTools(calls, results);
  if (verdict.kind === 'end') return { kind: 'failed', error: verdict.error };
  if (verdict.kind === 'tell') await note(current, verdict.text);
  return 'next_step';
}

/** Brings a run that waited, or was cut off, to the point where the next step can begin. */
async function* resume(current: Run): AsyncGenerator<RunEvent, Verdict> {
  const { deps, input, signal } = current;
  if (!input.resume) return 'next_step';
  if (input.resume.kind === 'interrupted') await storeBegun(current);
  const last = deps.transcript.read().findLast((entry) => entry.kind === 'assistant_message');
  if (!last || last.runId !== input.runId) return 'next_step';
  const open = openCalls(deps.transcript.read(), last);
  if (input.resume.kind === 'interrupted') {
    if (open.length > 0) await storeResults(current, last.step, open.map(interruptedResult));
    if (last.stop === 'broken') await noteCutOff(current, last);
    return open.length > 0 ? 'next_step' : yield* endOfStored(current, last);
  }
  if (open.length === 0) return 'next_step';
  const end = yield* runOpenCalls(current, last.step, open);
  return signal.aborted ? stoppedBy(signal) : afterTools(current, open, end);
}

/**
 * A crash came while a message streamed that had changed something already: what was stored of it
 * becomes the message, so that nothing is done twice.
 */
async function storeBegun({ deps, input }: Run): Promise<void> {
  const { runId } = input;
  const entries = deps.transcript.read();
  const begun = entries.findLast((entry) => entry.kind === 'calls_begun' && entry.runId === runId);
  if (begun?.kind !== 'calls_begun' || begun.step <= lastStepOf(entries, runId)) return;
  const { step, parts, origin } = begun;
  await deps.transcript.append([
    {
      v: 1,
      at: deps.clock.now(),
      kind: 'assistant_message',
      runId,
      step,
      parts,
      origin,
      stop: 'broken',
    },
  ]);
}

/** Once: a crash may come behind the note. */
async function noteCutOff(current: Run, last: EntryOf<'assistant_message'>): Promise<void> {
  const entries = current.deps.transcript.read();
  const later = entries.slice(entries.lastIndexOf(last) + 1);
  if (!later.some(({ kind }) => kind === 'note')) await note(current, cutOffNote);
}

/** A stored message that ended the turn needs no further step, unless something waits. */
async function* endOfStored(
  current: Run,
  last: EntryOf<'assistant_message'>,
): AsyncGenerator<RunEvent, Verdict> {
  const entries = current.deps.transcript.read();
  const isNewest = entries.at(-1) === last;
  const hasCalls = last.parts.some((part) => part.kind === 'tool_call');
  if (!isNewest || hasCalls || last.stop !== 'end') return 'next_step';
  if (last.step < current.input.mostSteps && (yield* takeWaiting(current))) return 'next_step';
  return { kind: 'finished', silent: false };
}

/** True when something entered. */
async function* takeWaiting(current: Run): AsyncGenerator<RunEvent, boolean> {
  const { messageIds, addressed } = await current.deps.takeWaiting();
  current.addressed ||= addressed;
  for (const messageId of messageIds) yield { kind: 'steered', messageId };
  return messageIds.length > 0;
}

/** Calls of a stored message that have no result yet, in the model's order. */
export function openCalls(
  entries: readonly Entry[],
  message: EntryOf<'assistant_message'>,
): readonly ToolCallPart[] {
  const answered = new Set<string>();
  for (const entry of entries.slice(entries.indexOf(message) + 1)) {
    if (entry.kind === 'tool_results') for (const { callId } of entry.results) answered.add(callId);
  }
  return message.parts
    .filter((part) => part.kind === 'tool_call')
    .filter(({ callId }) => !answered.has(callId));
}

async function note({ deps }: Run, text: string): Promise<void> {
  await deps.transcript.append([{ v: 1, at: deps.clock.now(), kind: 'note', text, about: 'run' }]);
}
