/**
 * Runs the tool calls of one step. Calls are handed over as they become complete; results come in
 * the model's order. Calls run one after the other once the message has ended.
 */

import { linkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { botErrorOf } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import { createAsyncQueue } from '../base/queues.ts';
import type { ToolCallPart, ToolResult } from '../messages/parts.ts';
import type { Suspension } from '../messages/questions.ts';
import type { RegisteredTool, ToolOutcome, ToolScene } from './contract.ts';

export type SchedulerEvent =
  | { readonly kind: 'started'; readonly callId: string; readonly activity: string }
  | { readonly kind: 'progress'; readonly callId: string; readonly line: string }
  | { readonly kind: 'finished'; readonly result: ToolResult; readonly silence: boolean }
  /** The calls after this one have not been started; they run when the run is resumed. */
  | { readonly kind: 'suspended'; readonly callId: string; readonly suspension: Suspension };

export interface ToolScheduler {
  /** Takes a call whose input is complete. */
  add(call: ToolCallPart, inputError?: string): void;
  /** Runs what was added and tells how it goes; ends when all calls have a result or one suspends. */
  events(): AsyncIterable<SchedulerEvent>;
}

export interface SchedulerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: readonly RegisteredTool[];
  readonly scene: Omit<ToolScene, 'callId'>;
  readonly signal: AbortSignal;
  /** A tool that has not ended after this is told to stop and its call fails. Default 120 s. */
  readonly timeoutMs: number;
}

export function textResult(
  call: { readonly callId: string; readonly name: string },
  outcome: ToolResult['outcome'],
  text: string,
): ToolResult {
  return { callId: call.callId, name: call.name, outcome, parts: [{ kind: 'text', text }] };
}

export function createToolScheduler(deps: SchedulerDeps): ToolScheduler {
  const calls: { readonly call: ToolCallPart; readonly inputError: string | undefined }[] = [];
  return {
    add: (call, inputError) => {
      calls.push({ call, inputError });
    },
    async *events() {
      for (const { call, inputError } of calls) {
        const end = yield* runCall(deps, call, inputError);
        yield end;
        if (end.kind === 'suspended') return;
      }
    },
  };
}

async function* runCall(
  deps: SchedulerDeps,
  call: ToolCallPart,
  inputError: string | undefined,
): AsyncGenerator<SchedulerEvent, SchedulerEvent> {
  const refusal = await refusalOf(deps, call, inputError);
  if (refusal) return { kind: 'finished', result: refusal, silence: false };
  const tool = deps.tools.find(({ name }) => name === call.name);
  if (!tool) throw new Error('a call without a tool was let through');
  yield { kind: 'started', callId: call.callId, activity: tool.describe(call.input) };

  const lines = createAsyncQueue<SchedulerEvent>();
  const finished = invokeBounded(deps, tool, call, (line) =>
    lines.push({ kind: 'progress', callId: call.callId, line }),
  ).finally(() => lines.end());
  yield* lines;
  return endOf(call, await finished);
}

/** Why this call may not even start, as its result. */
async function refusalOf(
  deps: SchedulerDeps,
  call: ToolCallPart,
  inputError: string | undefined,
): Promise<ToolResult | undefined> {
  if (deps.signal.aborted) return textResult(call, 'cancelled', 'Stopped before it started.');
  if (inputError !== undefined) {
    return textResult(
      call,
      'error',
      `The arguments are not valid JSON: ${inputError}. Call ${call.name} again.`,
    );
  }
  const tool = deps.tools.find(({ name }) => name === call.name);
  if (!tool) {
    const names = deps.tools.map(({ name }) => name).join(', ');
    return textResult(
      call,
      'error',
      `${call.name} is not available, or no longer. The tools are: ${names}.`,
    );
  }
  const scene = { ...deps.scene, callId: call.callId };
  if ((await tool.assess(call.input, scene)).needsApproval) {
    return textResult(
      call,
      'refused',
      `${call.name} needs a person's approval, which cannot be asked for here.`,
    );
  }
  return undefined;
}

/** Runs the tool; resolves to its outcome or, after timeout or abort, without waiting for it. */
async function invokeBounded(
  deps: SchedulerDeps,
  tool: RegisteredTool,
  call: ToolCallPart,
  progress: (line: string) => void,
): Promise<ToolOutcome | ToolResult> {
  const linked = linkedAbort(deps.signal);
  let cancelTimer = (): void => {};
  const bound = new Promise<ToolResult>((resolve) => {
    cancelTimer = deps.clock.setTimer(deps.timeoutMs, () => {
      const seconds = Math.round(deps.timeoutMs / 1000);
      resolve(
        textResult(call, 'error', `${call.name} did not end within ${seconds} s and was stopped.`),
      );
      linked.abort(new Error('tool timeout'));
    });
    const onStop = (): void => resolve(textResult(call, 'cancelled', 'Stopped while it ran.'));
    linked.signal.addEventListener('abort', onStop, { once: true });
  });
  const invoked = Promise.resolve()
    .then(() =>
      tool.invoke(call.input, {
        ...deps.scene,
        callId: call.callId,
        signal: linked.signal,
        runSignal: deps.signal,
        progress,
        checklist: () => {},
        sources: () => {},
      }),
    )
    .catch((thrown: unknown): ToolResult => {
      const error = botErrorOf(thrown);
      deps.log.warn('tool_failed', { tool: tool.name, ...errorFacts(thrown) });
      const text =
        error.code === 'internal' ? `${call.name} failed inside. Try another way.` : error.message;
      return textResult(call, 'error', text);
    });
  try {
    return await Promise.race([bound, invoked]);
  } finally {
    cancelTimer();
    linked.release();
  }
}

function endOf(call: ToolCallPart, outcome: ToolOutcome | ToolResult): SchedulerEvent {
  if ('callId' in outcome) return { kind: 'finished', result: outcome, silence: false };
  switch (outcome.kind) {
    case 'done': {
      const result: ToolResult = {
        callId: call.callId,
        name: call.name,
        outcome: 'ok',
        parts: outcome.parts,
      };
      return { kind: 'finished', result, silence: false };
    }
    case 'error':
      return { kind: 'finished', result: textResult(call, 'error', outcome.text), silence: false };
    case 'silence':
      return {
        kind: 'finished',
        result: textResult(call, 'ok', 'You stay silent.'),
        silence: true,
      };
    case 'suspend':
      return { kind: 'suspended', callId: call.callId, suspension: outcome.suspension };
  }
}
