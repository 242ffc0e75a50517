/**
 * The loop: steps of one model call and its tools, until the model is done, people must act, or
 * somebody stops it. It yields what happens in order and never throws for a failed step; how it
 * ended is its return value. Each assistant message is stored before the loop branches (rule 6),
 * each call gets one result before the next model call (rule 7).
 */

import { abortReasonOf } from '../base/abort.ts';
import { BotError, botErrorOf } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import { buildPrompt, interruptedResult } from '../context/request.ts';
import type { Entry, EntryOf } from '../messages/entries.ts';
import {
  type AssistantPart,
  type ToolCallPart,
  type ToolResult,
  withoutBoundReasoning,
} from '../messages/parts.ts';
import type { RunEvent, RunOutcome, StopWhy } from '../messages/run-event.ts';
import type { MessageAccumulator } from '../providers/message-accumulator.ts';
import { createToolScheduler, type ToolScheduler, textResult } from '../tools/scheduler.ts';
import type { RunDeps, RunInput } from './contract.ts';
import { streamMessage } from './step-stream.ts';
import { createStopRules, type StopRules } from './stop-rules.ts';

/** Everything the parts of one run share. */
interface Run {
  readonly deps: RunDeps;
  readonly input: RunInput;
  readonly signal: AbortSignal;
  readonly rules: StopRules;
  /** Whether the people of this turn, steerers included, addressed the bot. */
  addressed: boolean;
}

type StepEnd = 'next_step' | RunOutcome;

export async function* run(
  deps: RunDeps,
  input: RunInput,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, RunOutcome> {
  const rules = createStopRules();
  const current: Run = { deps, input, signal, rules, addressed: input.addressed };
  try {
    yield { kind: 'run_started', runId: input.runId, model: input.modelName };
    const resumed = yield* resume(current);
    if (resumed !== 'next_step') return resumed;
    for (let step = input.firstStep; ; step += 1) {
      const end = yield* takeStep(current, step);
      if (end !== 'next_step') return end;
    }
  } catch (thrown) {
    if (signal.aborted) return stoppedBy(signal);
    deps.log.error('run_failed', { runId: input.runId, ...errorFacts(thrown) });
    return { kind: 'failed', error: botErrorOf(thrown) };
  }
}

/** How an aborted run ended, from the signal's reason. */
export function stoppedBy(signal: AbortSignal): RunOutcome {
  const reason = abortReasonOf(signal);
  const facts = reason instanceof BotError ? reason.facts : {};
  const why = facts['why'];
  return {
    kind: 'stopped',
    by: typeof facts['by'] === 'string' ? facts['by'] : 'the operator',
    why: why === 'trigger_deleted' || why === 'shutdown' ? why : 'person',
  };
}

/** The reason to abort a run's signal with. */
export function stopReason(by: string, why: StopWhy): BotError {
  return new BotError('stopped', `Stopped by ${by}.`, { facts: { by, why } });
}

async function* takeStep(current: Run, step: number): AsyncGenerator<RunEvent, StepEnd> {
  const { deps, input, signal, rules } = current;
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
  const scheduler = schedulerOf(current);
  const prompt = buildPrompt({
    entries: deps.transcript.read(),
    system: input.system,
    tools: input.toolSpecs,
    reasoning: input.reasoning,
    webSearch: input.webSearch,
    cacheKey: input.conversationKey,
  });
  const { message, broken } = yield* streamMessage(deps, prompt, scheduler, signal, step);
  if (broken) return yield* endBrokenStep(current, step, scheduler, message, broken);
  rules.ended();
  await storeMessage(current, step, message.parts(), message);
  const isPaused = message.stop === 'paused';
  yield { kind: 'step_finished', step, text: message.text(), goesOn: isPaused };

  if (isPaused) return 'next_step';
  const calls = message.calls().map(({ part }) => part);
  if (calls.length > 0) return yield* runTools(current, step, scheduler, calls);
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

/**
 * A stop keeps what was shown; a stream that broke in passing is never replayed: its text and its
 * complete calls are kept, the calls get their results, and the next step goes on from there. Other
 * errors end the run.
 */
async function* endBrokenStep(
  current: Run,
  step: number,
  scheduler: ToolScheduler,
  message: MessageAccumulator,
  broken: BotError,
): AsyncGenerator<RunEvent, StepEnd> {
  const { signal, rules } = current;
  // Where nothing came, the request was tried often enough already.
  const isKept = message.text().trim() !== '' || message.calls().length > 0;
  const isWhole = !signal.aborted && isPassing(broken);
  const goesOn = isWhole && isKept && rules.mayGoOn();
  // Without the thoughts before them, item ids and seals of texts would be refused.
  const shown = withoutBoundReasoning(message.parts()).filter(
    ({ kind }) => kind === 'text' || (kind === 'tool_call' && isWhole),
  );
  const calls = shown.filter((part) => part.kind === 'tool_call');
  // On shutdown nothing of the step is kept: the next start makes the step anew.
  if (isKept && !isShutdown(signal)) {
    await storeMessage(current, step, shown, message, goesOn ? 'broken' : 'stopped');
    yield { kind: 'step_finished', step, text: message.text(), goesOn };
  }
  if (signal.aborted) return stoppedBy(signal);
  if (!goesOn) {
    const results = calls.map((call) =>
      textResult(call, 'cancelled', 'The connection broke first.'),
    );
    if (results.length > 0) await storeResults(current, step, results);
    return { kind: 'failed', error: broken };
  }
  const end = calls.length > 0 ? yield* runTools(current, step, scheduler, calls) : 'next_step';
  if (end === 'next_step') {
    await note(current, 'Your last message was cut off. Go on exactly where it stopped.');
  }
  return end;
}

/** Worth going on after: what came before it stays good. */
function isPassing({ code }: BotError): boolean {
  return code === 'connection_lost' || code === 'overloaded' || code === 'model_rate_limited';
}

function isShutdown(signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  const end = stoppedBy(signal);
  return end.kind === 'stopped' && end.why === 'shutdown';
}

async function* runTools(
  current: Run,
  step: number,
  scheduler: ToolScheduler,
  calls: readonly ToolCallPart[],
): AsyncGenerator<RunEvent, StepEnd> {
  const { signal, rules } = current;
  const results: ToolResult[] = [];
  let silence = false;
  for await (const event of scheduler.events()) {
    switch (event.kind) {
      case 'started':
        yield { kind: 'tool_started', callId: event.callId, activity: event.activity };
        break;
      case 'progress':
        yield { kind: 'tool_progress', callId: event.callId, line: event.line };
        break;
      case 'finished':
        silence ||= event.silence;
        results.push(event.result);
        yield { kind: 'tool_finished', callId: event.result.callId, outcome: event.result.outcome };
        break;
      case 'suspended':
        if (signal.aborted) {
          const call = calls.find(({ callId }) => callId === event.callId);
          if (call) results.push(textResult(call, 'cancelled', 'Stopped before it was asked.'));
          await storeResults(current, step, results);
          return stoppedBy(signal);
        }
        if (results.length > 0) await storeResults(current, step, results);
        return { kind: 'suspended', callId: event.callId, suspension: event.suspension };
    }
  }
  // After a shutdown the outcome of what ran is unknown; the next start says so to the model.
  if (!isShutdown(signal)) await storeResults(current, step, results);
  if (signal.aborted) return stoppedBy(signal);
  if (silence) return { kind: 'finished', silent: true };
  const verdict = rules.afterTools(calls, results);
  if (verdict.kind === 'end') return { kind: 'failed', error: verdict.error };
  if (verdict.kind === 'tell') await note(current, verdict.text);
  return 'next_step';
}

/** Brings a run that waited, or was cut off, to the point where the next step can begin. */
async function* resume(current: Run): AsyncGenerator<RunEvent, StepEnd> {
  const { deps, input } = current;
  if (!input.resume) return 'next_step';
  const last = deps.transcript.read().findLast((entry) => entry.kind === 'assistant_message');
  if (!last || last.runId !== input.runId) return 'next_step';
  const open = openCalls(deps.transcript.read(), last);
  if (input.resume.kind === 'interrupted') {
    if (open.length === 0) return yield* endOfStored(current, last);
    await storeResults(current, last.step, open.map(interruptedResult));
    return 'next_step';
  }
  if (open.length === 0) return 'next_step';
  const scheduler = schedulerOf(current);
  for (const call of open) scheduler.add(call);
  return yield* runTools(current, last.step, scheduler, open);
}

/** A stored message that ended the turn needs no further step, unless something waits. */
async function* endOfStored(
  current: Run,
  last: EntryOf<'assistant_message'>,
): AsyncGenerator<RunEvent, StepEnd> {
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

function schedulerOf({ deps, input, signal, addressed }: Run): ToolScheduler {
  const { workspace, conversationKey, runId } = input;
  return createToolScheduler({
    clock: deps.clock,
    log: deps.log,
    tools: deps.tools,
    scene: { workspace, conversationKey, runId, addressed },
    signal,
    timeoutMs: input.toolTimeoutMs,
  });
}

async function storeMessage(
  { deps, input }: Run,
  step: number,
  parts: readonly AssistantPart[],
  message: MessageAccumulator,
  stop: string = message.stop ?? 'unknown',
): Promise<void> {
  await deps.transcript.append([
    {
      v: 1,
      at: deps.clock.now(),
      kind: 'assistant_message',
      runId: input.runId,
      step,
      parts,
      stop,
      origin: message.origin ?? { provider: 'unknown', endpoint: '', model: input.modelName },
      ...(message.usage ? { usage: message.usage } : {}),
    },
  ]);
}

async function storeResults(
  { deps, input }: Run,
  step: number,
  results: readonly ToolResult[],
): Promise<void> {
  const { runId } = input;
  await deps.transcript.append([
    { v: 1, at: deps.clock.now(), kind: 'tool_results', runId, step, results },
  ]);
}

async function note({ deps }: Run, text: string): Promise<void> {
  await deps.transcript.append([{ v: 1, at: deps.clock.now(), kind: 'note', text, about: 'run' }]);
}
