/** A model for tests of the loop: plays given answers, one a call, and keeps the requests. */

import type { Clock } from '../../src/base/clock.ts';
import { sleep } from '../../src/base/clock.ts';
import type { ChatPrompt, ChatStreamEvent, StopReason } from '../../src/messages/chat.ts';
import type { ResolvedModel } from '../../src/runs/deps.ts';

export type ScriptedEvent =
  | { readonly text: string }
  | { readonly call: string; readonly input: unknown; readonly id?: string }
  | { readonly waitMs: number }
  | { readonly fail: Error }
  | { readonly stop: StopReason };

export interface ScriptedModel extends ResolvedModel {
  readonly requests: ChatPrompt[];
  /** Appends an answer. Without one left the model says "ok". */
  answer(...events: readonly ScriptedEvent[]): void;
}

const origin = { provider: 'scripted', endpoint: 'test', model: 'scripted' };

export function createScriptedModel(clock: Clock): ScriptedModel {
  const requests: ChatPrompt[] = [];
  const answers: (readonly ScriptedEvent[])[] = [];
  let calls = 0;

  async function* play(
    events: readonly ScriptedEvent[],
    signal: AbortSignal,
  ): AsyncGenerator<ChatStreamEvent> {
    yield { kind: 'message_start', origin };
    let stop: StopReason = 'end';
    for (const event of events) {
      if ('waitMs' in event) await sleep(clock, event.waitMs, signal);
      if ('fail' in event) throw event.fail;
      if ('text' in event) yield { kind: 'text_delta', text: event.text };
      if ('stop' in event) stop = event.stop;
      if ('call' in event) {
        calls += 1;
        const callId = event.id ?? `call_${calls}`;
        stop = 'tool_calls';
        yield { kind: 'tool_call_start', callId, name: event.call };
        yield { kind: 'tool_call_ready', callId, name: event.call, input: event.input };
      }
    }
    yield { kind: 'message_end', stop, reasoningMs: 0 };
  }

  return {
    name: 'scripted/scripted',
    why: 'a test',
    efforts: [],
    requests,
    complete: (prompt, signal) => {
      requests.push(structuredClone(prompt));
      return play(answers.shift() ?? [{ text: 'ok' }], signal);
    },
    answer: (...events) => {
      answers.push(events);
    },
  };
}
