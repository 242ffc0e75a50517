/** A model for tests of the loop: plays given answers, one a call, and keeps the requests. */

import type { MeteredCall } from '../../src/agent/contract.ts';
import type { Clock } from '../../src/base/clock.ts';
import { sleep } from '../../src/base/clock.ts';
import type { ChatPrompt, Citation, StopReason } from '../../src/messages/chat.ts';
import type { Usage } from '../../src/messages/usage.ts';
import type { CompletionEvent } from '../../src/providers/completion.ts';
import type { ResolvedModel } from '../../src/runs/deps.ts';

export type ScriptedEvent =
  | { readonly text: string }
  | { readonly think: string }
  | { readonly call: string; readonly input: unknown; readonly id?: string }
  | { readonly waitMs: number }
  | { readonly fail: Error }
  | { readonly image: string; readonly mediaType?: string }
  | { readonly stop: StopReason }
  | { readonly sources: readonly Citation[] }
  /** What the call used and cost (null: unknown). */
  | { readonly used: Usage; readonly costUsd: number | null }
  | { readonly wait: string; readonly delayMs: number }
  | { readonly switchTo: string; readonly because: string };

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

  type OnCall = (call: MeteredCall) => Promise<void>;

  const callOf = (event: ScriptedEvent): readonly CompletionEvent[] => {
    if (!('call' in event)) return [];
    calls += 1;
    const callId = event.id ?? `call_${calls}`;
    return [
      { kind: 'tool_call_start', callId, name: event.call },
      { kind: 'tool_call_ready', callId, name: event.call, input: event.input },
    ];
  };

  async function* playWaits(event: ScriptedEvent, signal: AbortSignal, onCall: OnCall) {
    if ('waitMs' in event) await sleep(clock, event.waitMs, signal);
    if ('wait' in event) {
      yield { kind: 'retry_waiting', reason: event.wait, delayMs: event.delayMs } as const;
      await sleep(clock, event.delayMs, signal);
    }
    if ('used' in event) {
      yield { kind: 'usage', usage: event.used } as const;
      const isCostKnown = event.costUsd !== null;
      const costUsd = event.costUsd ?? 0;
      const model = 'scripted/scripted';
      await onCall({ model, usage: event.used, costUsd, isCostKnown });
    }
  }

  async function* play(
    events: readonly ScriptedEvent[],
    signal: AbortSignal,
    onCall: OnCall,
  ): AsyncGenerator<CompletionEvent> {
    yield { kind: 'message_start', origin };
    let stop: StopReason = events.some((event) => 'call' in event) ? 'tool_calls' : 'end';
    for (const event of events) {
      if ('fail' in event) throw event.fail;
      if ('stop' in event) stop = event.stop;
      yield* playWaits(event, signal, onCall);
      yield* wordsOf(event);
      if ('switchTo' in event) yield switchOf(event.switchTo, event.because);
      yield* callOf(event);
    }
    yield { kind: 'message_end', stop, reasoningMs: 0 };
  }

  return {
    name: 'scripted/scripted',
    why: 'a test',
    efforts: [],
    hasWebSearch: false,
    requests,
    complete: (prompt, signal, onCall) => {
      requests.push(structuredClone(prompt));
      return play(answers.shift() ?? [{ text: 'ok' }], signal, onCall);
    },
    answer: (...events) => {
      answers.push(events);
    },
  };
}

function wordsOf(event: ScriptedEvent): readonly CompletionEvent[] {
  if ('image' in event) {
    const { image: base64, mediaType = 'image/png' } = event;
    return [{ kind: 'image_made', mediaType, base64 }];
  }
  if ('think' in event) return [{ kind: 'reasoning_delta', text: event.think }];
  if ('text' in event) return [{ kind: 'text_delta', text: event.text }];
  return 'sources' in event ? [{ kind: 'citations', citations: event.sources }] : [];
}

function switchOf(to: string, reason: string): CompletionEvent {
  return { kind: 'model_switched', from: 'scripted/scripted', to, reason, code: 'overloaded' };
}
