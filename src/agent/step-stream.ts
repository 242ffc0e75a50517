/**
 * One model call: its stream events become run events, and what came is gathered into the parts of
 * an assistant message, also when the stream breaks or is stopped in the middle.
 */

import { abortReasonOf } from '../base/abort.ts';
import { type BotError, botErrorOf } from '../base/errors.ts';
import type { ChatPrompt } from '../messages/chat.ts';
import type { RunEvent } from '../messages/run-event.ts';
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
): AsyncGenerator<RunEvent, StreamedMessage> {
  const message = createMessageAccumulator();
  try {
    for await (const event of deps.complete(prompt, signal)) {
      if (event.kind === 'retry_waiting') {
        yield { kind: 'retry_waiting', reason: event.reason, delayMs: event.delayMs };
        continue;
      }
      message.add(event);
      if (event.kind === 'text_delta') yield { kind: 'text_delta', text: event.text };
      if (event.kind === 'reasoning_delta') yield { kind: 'reasoning_delta', text: event.text };
      if (event.kind === 'usage') yield { kind: 'usage', usage: event.usage };
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
