/**
 * Runs the tool calls of one step, each from the moment that it is complete, while the model still
 * writes. A call starts when it and all that run are safe beside each other; none overtakes one
 * that it may not run beside; results come in the model's order whatever finished first. Each call
 * gets exactly one result, or waits for people (rule 7).
 */

import { linkedAbort } from '../base/abort.ts';
import { BotError } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import type { Citation } from '../messages/chat.ts';
import type { ChecklistItem } from '../messages/checklist.ts';
import type { ToolCallPart, ToolResult } from '../messages/parts.ts';
import type { ApprovalAsk, Suspension } from '../messages/questions.ts';
import { type BoundedDeps, type CallEnd, callBounded } from './bounded-call.ts';
import type { Concurrency, RegisteredTool, ToolScene } from './contract.ts';
import { boundedOutcome } from './text-result.ts';

export type SchedulerEvent =
  | { readonly kind: 'started'; readonly callId: string; readonly activity: string }
  | { readonly kind: 'progress'; readonly callId: string; readonly line: string }
  | { readonly kind: 'checklist'; readonly items: readonly ChecklistItem[] }
  | { readonly kind: 'sources'; readonly sources: readonly Citation[] }
  | { readonly kind: 'finished'; readonly result: ToolResult };

/** May this call run? Decided before it starts, and again where another call ended meanwhile: what
 * a call does can hang on what the one before it left. */
export type Permit =
  | { readonly kind: 'run'; readonly isReadOnly: boolean }
  /** People must approve it first. */
  | { readonly kind: 'ask'; readonly ask: ApprovalAsk }
  /** It could not succeed; nobody is asked about it. The text tells the model what to do. */
  | { readonly kind: 'fault'; readonly text: string }
  /** The text tells the model why, and what to do instead. */
  | { readonly kind: 'refuse'; readonly text: string };

export interface StepEnd {
  /** Of the calls that have one, in the model's order. */
  readonly results: readonly ToolResult[];
  /** A tool ended the turn without a word. */
  readonly silence: boolean;
  /** What people must do before the other calls can run; the first in the model's order. */
  readonly waiting: { readonly callId: string; readonly suspension: Suspension } | undefined;
}

export interface ToolScheduler {
  /** Takes a call whose input is complete, and starts it as soon as it may run. */
  add(call: ToolCallPart, inputError?: string): void;
  /** No further call comes. */
  close(): void;
  /** The stream broke: what runs is ended with an unknown outcome, what waits is dropped. */
  interrupt(): void;
  /** Resolves after `close` or `interrupt`, when every call has its result or waits for people. */
  readonly ended: Promise<StepEnd>;
}

export interface SchedulerDeps extends BoundedDeps {
  readonly tools: readonly RegisteredTool[];
  readonly scene: Omit<ToolScene, 'callId'>;
  /** Ends what runs; what waits does not start. */
  readonly signal: AbortSignal;
  /** The run's own: what outlives its call ends with it. */
  readonly runSignal: AbortSignal;
  readonly permit: (call: ToolCallPart, tool: RegisteredTool, scene: ToolScene) => Promise<Permit>;
  /** Awaited before a call that may change something starts. */
  readonly willStart: (call: ToolCallPart) => Promise<void>;
  readonly tell: (event: SchedulerEvent) => void;
  /** Takes secrets out of what tools say: models do not see them. */
  readonly redact: (text: string) => string;
}

export interface SchedulerOptions {
  /** Milliseconds after which a call is told to stop, where its tool does not say otherwise. */
  readonly timeoutMs: number;
  /** Calls that may run at the same time. */
  readonly mostRunning: number;
}

/** deciding → queued → running → done; waiting: people must act before it can go on. */
type State =
  | { readonly kind: 'deciding' }
  | { readonly kind: 'queued'; readonly tool: RegisteredTool; readonly isReadOnly: boolean }
  | { readonly kind: 'running'; readonly abort: (reason: BotError) => void }
  | { readonly kind: 'waiting'; readonly suspension: Suspension }
  | { readonly kind: 'done'; readonly result: ToolResult };

interface Slot {
  readonly call: ToolCallPart;
  concurrency: Concurrency;
  /** How many calls had run when it was judged. */
  judgedAfter: number;
  state: State;
}

export function textResult(
  call: { readonly callId: string; readonly name: string },
  outcome: ToolResult['outcome'],
  text: string,
): ToolResult {
  return { callId: call.callId, name: call.name, outcome, parts: [{ kind: 'text', text }] };
}

export function createToolScheduler(deps: SchedulerDeps, options: SchedulerOptions): ToolScheduler {
  const slots: Slot[] = [];
  let isClosed = false;
  let isInterrupted = false;
  let silence = false;
  /** Calls that ran and came to their end. */
  let ran = 0;
  let resolveEnded: (end: StepEnd) => void = () => {};
  let rejectEnded: (error: unknown) => void = () => {};
  const ended = new Promise<StepEnd>((resolve, reject) => {
    resolveEnded = resolve;
    rejectEnded = reject;
  });

  const finish = (slot: Slot, result: ToolResult): void => {
    slot.state = { kind: 'done', result };
    deps.tell({ kind: 'finished', result });
  };

  /** Starts what may start, in the model's order, and sees whether the step is over. */
  const advance = (): void => {
    const before: Slot[] = [];
    let running = slots.filter(({ state }) => state.kind === 'running').length;
    for (const slot of slots) {
      if (slot.state.kind === 'deciding') break;
      if (slot.state.kind === 'done') continue;
      if (slot.state.kind === 'queued') {
        const hasRoom = running < options.mostRunning && fitsBeside(slot, before);
        if (!hasRoom || !beginOrJudge(slot, slot.state)) break;
        running += 1;
      }
      before.push(slot);
    }
    if (isClosed && isOver(slots)) resolveEnded({ ...endOf(slots), silence });
  };

  /** False: it must be judged again first. */
  const beginOrJudge = (slot: Slot, state: State & { kind: 'queued' }): boolean => {
    const isCurrent = slot.judgedAfter === ran;
    if (isCurrent) begin(slot, state);
    else judge(slot, undefined);
    return isCurrent;
  };

  const begin = (slot: Slot, { tool, isReadOnly }: State & { kind: 'queued' }): void => {
    const linked = linkedAbort(deps.signal);
    slot.state = { kind: 'running', abort: (reason) => linked.abort(reason) };
    const ready = isReadOnly ? Promise.resolve() : deps.willStart(slot.call);
    ready
      .then(
        () => runCall(slot, tool, linked.signal),
        (thrown: unknown) => finish(slot, failedBefore(deps, slot.call, thrown)),
      )
      .finally(() => {
        linked.release();
        ran += 1;
      })
      .then(advance)
      .catch(rejectEnded);
  };

  const runCall = async (slot: Slot, tool: RegisteredTool, signal: AbortSignal): Promise<void> => {
    const { call } = slot;
    const { callId } = call;
    // A stop, or a broken stream, may have come while its beginning was noted.
    if (signal.aborted) {
      finish(slot, isInterrupted ? brokenBefore(call) : stoppedBefore(call));
      return;
    }
    deps.tell({ kind: 'started', callId, activity: tool.describe(call.input) });
    const whileRunning =
      <T>(tell: (value: T) => void) =>
      (value: T): void => {
        if (slot.state.kind === 'running') tell(value);
      };
    const scene = { ...deps.scene, callId };
    const end = await callBounded(
      deps,
      tool,
      call.input,
      {
        ...scene,
        signal,
        runSignal: deps.runSignal,
        progress: whileRunning((line) => deps.tell({ kind: 'progress', callId, line })),
        checklist: whileRunning((items) => deps.tell({ kind: 'checklist', items })),
        sources: whileRunning((sources) => deps.tell({ kind: 'sources', sources })),
      },
      tool.timeoutMsOf(call.input) ?? options.timeoutMs,
    );
    if (end.kind === 'suspend' && !deps.signal.aborted && !isInterrupted) {
      slot.state = { kind: 'waiting', suspension: end.suspension };
      return;
    }
    silence ||= end.kind === 'silence';
    // Before anything is cut: half a secret has no shape any more.
    const clean = withoutSecrets(end, deps.redact);
    finish(slot, await resultOf(slot.call, clean, isInterrupted, scene));
  };

  const judge = (slot: Slot, inputError: string | undefined): void => {
    slot.state = { kind: 'deciding' };
    slot.judgedAfter = ran;
    decide(slot, inputError).then(advance).catch(rejectEnded);
  };

  const decide = async (slot: Slot, inputError: string | undefined): Promise<void> => {
    const state = await decisionOf(deps, slot, inputError).catch(
      (thrown: unknown): State & { kind: 'done' } => ({
        kind: 'done',
        result: failedBefore(deps, slot.call, thrown),
      }),
    );
    // A stop or a broken stream may have come first.
    if (slot.state.kind !== 'deciding') return;
    if (state.kind === 'done') finish(slot, state.result);
    else slot.state = state;
  };

  /** What does not run yet never will. */
  const dropWaiting = (resultFor: (call: ToolCallPart) => ToolResult): void => {
    for (const slot of slots) {
      const { kind } = slot.state;
      if (kind === 'running' || kind === 'done') continue;
      finish(slot, resultFor(slot.call));
    }
  };

  const onStop = (): void => {
    dropWaiting(stoppedBefore);
    advance();
  };
  deps.signal.addEventListener('abort', onStop, { once: true });
  ended.finally(() => deps.signal.removeEventListener('abort', onStop)).catch(() => {}); // whoever awaits `ended` gets it

  return {
    add: (call, inputError) => {
      const slot: Slot = {
        call,
        concurrency: 'never',
        judgedAfter: ran,
        state: { kind: 'deciding' },
      };
      slots.push(slot);
      if (deps.signal.aborted) {
        onStop();
        return;
      }
      judge(slot, inputError);
    },
    close: () => {
      isClosed = true;
      advance();
    },
    interrupt: () => {
      isInterrupted = true;
      isClosed = true;
      dropWaiting(brokenBefore);
      const reason = new BotError('interrupted', 'The connection to the model broke.');
      for (const { state } of slots) if (state.kind === 'running') state.abort(reason);
      advance();
    },
    ended,
  };
}

function stoppedBefore(call: ToolCallPart): ToolResult {
  return textResult(call, 'cancelled', 'Stopped before it started.');
}

/** What cannot be judged or noted does not run, and takes nothing else with it. */
function failedBefore({ log }: SchedulerDeps, call: ToolCallPart, thrown: unknown): ToolResult {
  log.error('call_not_started', { tool: call.name, callId: call.callId, ...errorFacts(thrown) });
  const text = `${call.name} was not run: whether it may could not be found out, or not be noted. Try again later, or another way.`;
  return textResult(call, 'error', text);
}

function brokenBefore(call: ToolCallPart): ToolResult {
  const text = 'The connection broke before it started. Call it again if it is still needed.';
  return textResult(call, 'cancelled', text);
}

/** Runs beside all of these, or behind none that it may not run beside. */
function fitsBeside(slot: Slot, others: readonly Slot[]): boolean {
  if (others.length === 0) return true;
  return [slot, ...others].every(({ concurrency }) => concurrency === 'always');
}

/** Nothing runs or is decided, and nothing that waits could start. */
function isOver(slots: readonly Slot[]): boolean {
  const open = slots.filter(({ state }) => state.kind !== 'done');
  const isBusy = open.some(({ state }) => state.kind === 'running' || state.kind === 'deciding');
  return !isBusy && (open.length === 0 || open.some(({ state }) => state.kind === 'waiting'));
}

function endOf(slots: readonly Slot[]): Pick<StepEnd, 'results' | 'waiting'> {
  const results = slots.flatMap(({ state }) => (state.kind === 'done' ? [state.result] : []));
  const waits = slots.flatMap(({ call, state }) =>
    state.kind === 'waiting' ? [{ callId: call.callId, suspension: state.suspension }] : [],
  );
  const [first] = waits;
  if (first?.suspension.kind !== 'approvals') return { results, waiting: first };
  // All approvals of a step are asked for at once.
  const asks = waits.flatMap(({ suspension }) =>
    suspension.kind === 'approvals' ? suspension.asks : [],
  );
  const suspension = { kind: 'approvals', asks } as const;
  return { results, waiting: { callId: first.callId, suspension } };
}

/** Whether the call may run; sets how it runs beside others. */
async function decisionOf(
  deps: SchedulerDeps,
  slot: Slot,
  inputError: string | undefined,
): Promise<Exclude<State, { kind: 'deciding' | 'running' }>> {
  const { call } = slot;
  const done = (outcome: ToolResult['outcome'], text: string): State & { kind: 'done' } => ({
    kind: 'done',
    result: textResult(call, outcome, text),
  });
  if (inputError !== undefined) {
    const text = `The arguments are not valid JSON: ${inputError}. Call ${call.name} again.`;
    return done('error', text);
  }
  const tool = deps.tools.find(({ name }) => name === call.name);
  if (!tool) {
    const names = deps.tools.map(({ name }) => name).join(', ');
    const text = `${call.name} is not available, or no longer. The tools are: ${names}.`;
    return done('error', text);
  }
  const fault = tool.faultOf(call.input);
  if (fault !== undefined) return done('error', fault);
  const scene = { ...deps.scene, callId: call.callId };
  slot.concurrency = await tool.concurrencyOf(call.input, scene);
  const permit = await deps.permit(call, tool, scene);
  switch (permit.kind) {
    case 'run':
      return { kind: 'queued', tool, isReadOnly: permit.isReadOnly };
    case 'ask':
      return { kind: 'waiting', suspension: { kind: 'approvals', asks: [permit.ask] } };
    case 'fault':
      return done('error', permit.text);
    case 'refuse':
      return done('refused', permit.text);
  }
}

function withoutSecrets(end: CallEnd, redact: (text: string) => string): CallEnd {
  if (end.kind === 'error') return { kind: 'error', text: redact(end.text) };
  if (end.kind !== 'done') return end;
  const parts = end.parts.map((part) =>
    part.kind === 'text' ? { ...part, text: redact(part.text) } : part,
  );
  return { kind: 'done', parts };
}

/** What the model is told of a call that ended. */
async function resultOf(
  call: ToolCallPart,
  end: CallEnd,
  isInterrupted: boolean,
  scene: ToolScene,
): Promise<ToolResult> {
  if (end.kind === 'told_to_stop') {
    const left = end.settled ? '' : ' It did not stop when told to, and was abandoned.';
    return isInterrupted
      ? textResult(call, 'interrupted', `interrupted: outcome unknown.${left}`)
      : textResult(call, 'cancelled', `Stopped while it ran.${left}`);
  }
  if (end.kind === 'timed_out') {
    const seconds = Math.round(end.afterMs / 1000);
    return textResult(
      call,
      'error',
      `${call.name} did not end within ${seconds} s and was stopped.`,
    );
  }
  const { workspace, callId } = scene;
  const outcome = await boundedOutcome(end, { workspace, callId, toolName: call.name });
  switch (outcome.kind) {
    case 'done':
      return { callId: call.callId, name: call.name, outcome: 'ok', parts: outcome.parts };
    case 'error':
      return textResult(call, 'error', outcome.text);
    case 'silence':
      return textResult(call, 'ok', 'You stay silent.');
    case 'suspend':
      return textResult(call, 'cancelled', 'Stopped before it was asked.');
  }
}
