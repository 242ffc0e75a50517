/**
 * One model call and the tools that it calls: stream events become run events, what came is
 * gathered into the parts of an assistant message, and each call starts as soon as it is complete.
 * All that happens is told in one stream, whoever caused it.
 */

import { abortReasonOf, linkedAbort } from '../base/abort.ts';
import { type BotError, botErrorOf } from '../base/errors.ts';
import { createAsyncQueue } from '../base/queues.ts';
import type { ChatPrompt } from '../messages/chat.ts';
import type { RunEvent } from '../messages/run-event.ts';
import type { CompletionEvent } from '../providers/completion.ts';
import type { MessageAccumulator } from '../providers/message-accumulator.ts';
import type { SchedulerEvent, ToolScheduler } from '../tools/scheduler.ts';
import type { RunDeps } from './contract.ts';
import { createPartialInputs } from './partial-input.ts';

export type Tell = (event: RunEvent) => void;

/** What a step does, given how to tell of it and a signal that ends with the step's reader. */
export type StepWork<T> = (tell: Tell, signal: AbortSignal) => Promise<T>;

/** Does the work while its events are read. A reader that leaves, or a failure, ends the work. */
export async function* telling<T>(
  work: StepWork<T>,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, T> {
  const told = createAsyncQueue<RunEvent>();
  const linked = linkedAbort(signal);
  const done = work((event) => told.push(event), linked.signal).finally(() => told.end());
  let isDone = false;
  try {
    yield* told;
    const result = await done;
    isDone = true;
    return result;
  } finally {
    if (!isDone) {
      linked.abort(abortReasonOf(signal));
      await done.catch(() => {}); // nobody is left to hear of it
    }
    linked.release();
  }
}

/**
 * Streams one message; complete calls are handed to the scheduler at once. Resolves with the error
 * when the stream did not come to its end.
 */
export async function streamMessage(
  deps: RunDeps,
  prompt: ChatPrompt,
  scheduler: ToolScheduler,
  message: MessageAccumulator,
  context: { readonly step: number; readonly tell: Tell; readonly signal: AbortSignal },
): Promise<BotError | undefined> {
  const { step, tell, signal } = context;
  const inputs = createPartialInputs(deps.tools);
  try {
    for await (const event of deps.complete(prompt, signal, (call) => deps.onUsed(step, call))) {
      message.add(event);
      const told = runEventOf(event);
      if (told) tell(told);
      if (event.kind === 'tool_call_start') inputs.start(event.callId, event.name);
      if (event.kind === 'tool_call_delta') {
        const activity = inputs.add(event.callId, event.json);
        if (activity !== undefined) {
          tell({ kind: 'tool_input_delta', callId: event.callId, activity });
        }
      }
      if (event.kind === 'tool_call_ready') {
        const call = message.calls().find(({ part }) => part.callId === event.callId);
        if (call) scheduler.add(call.part, call.inputError);
      }
    }
    return signal.aborted ? botErrorOf(abortReasonOf(signal)) : undefined;
  } catch (thrown) {
    return botErrorOf(signal.aborted ? abortReasonOf(signal) : thrown);
  }
}

/** What people are shown of it; undefined: nothing. */
function runEventOf(event: CompletionEvent): RunEvent | undefined {
  switch (event.kind) {
    case 'retry_waiting':
    case 'model_switched':
    case 'text_delta':
    case 'reasoning_delta':
    case 'usage':
      return event;
    case 'citations':
      return { kind: 'sources', sources: event.citations };
    case 'message_start':
    case 'reasoning_signature':
    case 'tool_call_start':
    case 'tool_call_delta':
    case 'tool_call_ready':
    case 'server_tool':
    case 'image_made': // sent as a file once the message is stored
    case 'raw_part':
    case 'message_end':
      return undefined;
  }
}

export function toolEventOf(event: SchedulerEvent): RunEvent {
  switch (event.kind) {
    case 'started':
      return { kind: 'tool_started', callId: event.callId, activity: event.activity };
    case 'progress':
      return { kind: 'tool_progress', callId: event.callId, line: event.line };
    case 'finished':
      return { kind: 'tool_finished', callId: event.result.callId, outcome: event.result.outcome };
    case 'checklist':
    case 'sources':
      return event;
  }
}
