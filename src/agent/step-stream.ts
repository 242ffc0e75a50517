/**
 * One model call: its stream events become run events, and what came is gathered into the parts of
 * an assistant message, also when the stream breaks or is stopped in the middle.
 */

import { abortReasonOf } from '../base/abort.ts';
import { type BotError, botErrorOf } from '../base/errors.ts';
import type { ChatPrompt } from '../messages/chat.ts';
import type { RunEvent } from '../messages/run-event.ts';
import type { CompletionEvent } from '../providers/completion.ts';
import {
  createMessageAccumulator,
  type MessageAccumulator,
} from '../providers/message-accumulator.ts';
import type { ToolScheduler } from '../tools/scheduler.ts';
import type { RunDeps } from './contract.ts';

export interface StreamedMessage {
  readonly message: MessageAccumulator;
  /** Set when the stream did not come to its end. */
  readonly broken: BotError | undefined;
}

/** Streams one message; complete calls are handed to the scheduler at once. */
export async function* streamMessage(
  deps: RunDeps,
  prompt: ChatPrompt,
  scheduler: ToolScheduler,
  signal: AbortSignal,
  step: number,
): AsyncGenerator<RunEvent, StreamedMessage> {
  const message = createMessageAccumulator();
  try {
    const calls = deps.complete(prompt, signal, (call) => deps.onUsed(step, call));
    for await (const event of calls) {
      message.add(event);
      const told = runEventOf(event);
      if (told) yield told;
      if (event.kind === 'tool_call_ready') {
        const call = message.calls().find(({ part }) => part.callId === event.callId);
        if (call) scheduler.add(call.part, call.inputError);
      }
    }
    return { message, broken: signal.aborted ? botErrorOf(abortReasonOf(signal)) : undefined };
  } catch (thrown) {
    return { message, broken: botErrorOf(signal.aborted ? abortReasonOf(signal) : thrown) };
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
    case 'raw_part':
    case 'message_end':
      return undefined;
  }
}
