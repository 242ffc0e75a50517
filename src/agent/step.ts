/**
 * One step: a model call and its tools, running side by side. The message is stored as soon as its
 * stream has ended, before the loop branches (rule 6); each of its calls gets one result (rule 7). A
 * stream that broke is never replayed: what came is kept, and the next step goes on from there.
 */

import type { BotError } from '../base/errors.ts';
import type { ChatPrompt } from '../messages/chat.ts';
import {
  type AssistantPart,
  type ToolCallPart,
  type ToolResult,
  withoutBoundReasoning,
} from '../messages/parts.ts';
import type { RunEvent } from '../messages/run-event.ts';
import {
  createMessageAccumulator,
  type MessageAccumulator,
} from '../providers/message-accumulator.ts';
import { createToolScheduler, type StepEnd, type ToolScheduler } from '../tools/scheduler.ts';
import type { RunDeps, RunInput } from './contract.ts';
import { streamMessage, type Tell, telling, toolEventOf } from './step-stream.ts';
import type { StopRules } from './stop-rules.ts';

/** Everything the parts of one run share. */
export interface Run {
  readonly deps: RunDeps;
  readonly input: RunInput;
  readonly signal: AbortSignal;
  readonly rules: StopRules;
  /** The process ends; the run is taken up again at the next start. */
  readonly isShutdown: () => boolean;
  /** Whether the people of this turn, steerers included, addressed the bot. */
  addressed: boolean;
}

export interface FinishedStep {
  readonly message: MessageAccumulator;
  readonly calls: readonly ToolCallPart[];
  /** Set when the stream did not come to its end. */
  readonly broken: BotError | undefined;
  /** The run may go on behind what broke. */
  readonly goesOn: boolean;
  readonly end: StepEnd;
}

/** Asks the model and runs what it calls. */
export async function* streamStep(
  run: Run,
  step: number,
  prompt: ChatPrompt,
): AsyncGenerator<RunEvent, FinishedStep> {
  return yield* telling((tell, signal) => workOnStep(run, step, prompt, tell, signal), run.signal);
}

/** Runs calls of a stored message that have no result yet. */
export async function* runOpenCalls(
  run: Run,
  step: number,
  calls: readonly ToolCallPart[],
): AsyncGenerator<RunEvent, StepEnd> {
  const end = yield* telling(async (tell, signal) => {
    const scheduler = schedulerOf(run, step, tell, signal, async () => {});
    for (const call of calls) scheduler.add(call);
    scheduler.close();
    return scheduler.ended;
  }, run.signal);
  await storeEnd(run, step, end);
  return end;
}

async function workOnStep(
  run: Run,
  step: number,
  prompt: ChatPrompt,
  tell: Tell,
  signal: AbortSignal,
): Promise<FinishedStep> {
  const { deps, rules } = run;
  const message = createMessageAccumulator();
  const begun = beginnings(run, step, message);
  const scheduler = schedulerOf(run, step, tell, signal, () => begun.willStart());
  const broken = await streamMessage(deps, prompt, scheduler, message, { step, tell, signal });
  if (broken) scheduler.interrupt();
  else {
    scheduler.close();
    rules.ended();
  }
  const kept = keptOf(run, message, broken, begun.any());
  if (kept) {
    await storeMessage(run, step, kept.parts, message, kept.stop);
    begun.isStored();
    tell({ kind: 'step_finished', step, text: message.text(), goesOn: kept.goesOn });
  }
  const end = await scheduler.ended;
  if (kept) await storeEnd(run, step, end);
  const calls = message.calls().map(({ part }) => part);
  return { message, calls, broken, goesOn: kept?.goesOn ?? false, end };
}

interface Kept {
  readonly parts: readonly AssistantPart[];
  readonly stop: string;
  readonly goesOn: boolean;
}

/** What of the message is stored; undefined: nothing, the step counts for nothing. */
function keptOf(
  { rules, signal, isShutdown }: Run,
  message: MessageAccumulator,
  broken: BotError | undefined,
  hasBegun: boolean,
): Kept | undefined {
  if (!broken) {
    const stop = message.stop ?? 'unknown';
    return { parts: message.parts(), stop, goesOn: stop === 'paused' };
  }
  // Where nothing came, the request was tried often enough already.
  const hasContent =
    message.text().trim() !== '' ||
    message.parts().some(({ kind }) => kind === 'tool_call' || kind === 'image');
  // At a shutdown the next start makes the step anew, unless something was done already.
  if (!hasContent || (isShutdown() && !hasBegun)) return undefined;
  const goesOn = !signal.aborted && isPassing(broken) && rules.mayGoOn();
  const parts = wholeParts(message.parts());
  return { parts, stop: goesOn || isShutdown() ? 'broken' : 'stopped', goesOn };
}

/**
 * Of a message that broke off: up to its last complete call everything is whole, thoughts and seals
 * included (the wires are sequential). Behind it there may be half a text, whose item ids and seals
 * would be refused without the thoughts before them.
 */
function wholeParts(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  const whole = parts.findLastIndex(({ kind }) => kind === 'tool_call') + 1;
  const rest = withoutBoundReasoning(parts.slice(whole)).filter(
    ({ kind }) => kind === 'text' || kind === 'image',
  );
  return [...parts.slice(0, whole), ...rest];
}

/** Worth going on after: what came before it stays good. */
function isPassing({ code }: BotError): boolean {
  return code === 'connection_lost' || code === 'overloaded' || code === 'model_rate_limited';
}

interface Beginnings {
  /** Stores what came of the message before a call of it changes anything. */
  willStart(): Promise<void>;
  any(): boolean;
  /** The message itself is stored. */
  isStored(): void;
}

function beginnings({ deps, input }: Run, step: number, message: MessageAccumulator): Beginnings {
  let any = false;
  let stored = false;
  return {
    willStart: async () => {
      any = true;
      if (stored) return;
      const parts = wholeParts(message.parts());
      const { runId } = input;
      const origin = originOf(message, input);
      await deps.transcript.append([
        { v: 1, at: deps.clock.now(), kind: 'calls_begun', runId, step, parts, origin },
      ]);
    },
    any: () => any,
    isStored: () => {
      stored = true;
    },
  };
}

function schedulerOf(
  { deps, input, addressed, signal: runSignal }: Run,
  step: number,
  tell: Tell,
  signal: AbortSignal,
  willStart: () => Promise<void>,
): ToolScheduler {
  const { workspace, conversationKey, runId } = input;
  return createToolScheduler(
    {
      clock: deps.clock,
      log: deps.log,
      tools: deps.tools,
      scene: { workspace, conversationKey, runId, step, addressed },
      signal,
      runSignal,
      permit: deps.permit,
      willStart,
      redact: deps.redact,
      tell: (event) => tell(toolEventOf(event)),
    },
    { timeoutMs: input.toolTimeoutMs, mostRunning: input.toolsAtOnce },
  );
}

async function storeMessage(
  { deps, input }: Run,
  step: number,
  parts: readonly AssistantPart[],
  message: MessageAccumulator,
  stop: string,
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
      origin: originOf(message, input),
      ...(message.usage ? { usage: message.usage } : {}),
    },
  ]);
}

function originOf(message: MessageAccumulator, { modelName }: RunInput) {
  return message.origin ?? { provider: 'unknown', endpoint: '', model: modelName };
}

/** After a shutdown the outcome of what ran is unknown; the next start says so to the model. */
async function storeEnd(run: Run, step: number, { results }: StepEnd): Promise<void> {
  const known = run.isShutdown()
    ? results.filter(({ outcome }) => outcome === 'ok' || outcome === 'error')
    : results;
  if (known.length > 0) await storeResults(run, step, known);
}

export async function storeResults(
  { deps, input }: Run,
  step: number,
  results: readonly ToolResult[],
): Promise<void> {
  const { runId } = input;
  await deps.transcript.append([
    { v: 1, at: deps.clock.now(), kind: 'tool_results', runId, step, results },
  ]);
}
