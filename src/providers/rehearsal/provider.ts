/**
 * The rehearsal model: a provider without a server. It streams at about the speed of a real one,
 * calls real tools and asks real questions, by the rules in plan.ts.
 */

import { throwIfAborted } from '../../base/abort.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import type { NewId } from '../../base/ids.ts';
import type { ChatRequest, ChatStreamEvent } from '../../messages/chat.ts';
import type { Usage } from '../../messages/usage.ts';
import type { ListingProvider } from '../catalog.ts';
import { planOf } from './plan.ts';

export interface RehearsalDeps {
  readonly clock: Clock;
  readonly newId: NewId;
}

/** About 40 words a second. */
const msPerWord = 25;
const charsPerToken = 4;

export function createRehearsalProvider(deps: RehearsalDeps): ListingProvider {
  return {
    name: 'rehearsal',
    stream: (request, signal) => rehearse(deps, request, signal),
    listModels: () => Promise.resolve([{ id: 'rehearsal' }]),
  };
}

async function* rehearse(
  deps: RehearsalDeps,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<ChatStreamEvent, void> {
  throwIfAborted(signal);
  const plan = planOf(request);
  const origin = { provider: 'rehearsal', endpoint: 'local', model: request.model };
  yield { kind: 'message_start', origin };
  for (const word of plan.text.match(/\s*\S+\s*$|\s*\S+/gu) ?? []) {
    await sleep(deps.clock, msPerWord, signal);
    yield { kind: 'text_delta', text: word };
  }
  for (const { name, input } of plan.calls) {
    const callId = deps.newId('call');
    await sleep(deps.clock, msPerWord, signal);
    yield { kind: 'tool_call_start', callId, name };
    yield { kind: 'tool_call_delta', callId, json: JSON.stringify(input) };
    yield { kind: 'tool_call_ready', callId, name, input };
  }
  yield { kind: 'usage', usage: usageOf(request, plan.text) };
  const stop = plan.calls.length > 0 ? 'tool_calls' : 'end';
  yield { kind: 'message_end', stop, reasoningMs: 0 };
}

/** An estimate: there is no tokenizer, but budgets should see something move. */
function usageOf(request: ChatRequest, text: string): Usage {
  const promptChars = request.system.length + JSON.stringify(request.messages).length;
  return {
    input: Math.ceil(promptChars / charsPerToken),
    cacheRead: 0,
    cacheWrite: 0,
    output: Math.ceil(text.length / charsPerToken),
    reasoning: 0,
  };
}
