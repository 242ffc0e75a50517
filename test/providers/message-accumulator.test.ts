/** Folding a stream into stored parts. */

import { describe, expect, it } from 'vitest';
import type { ChatStreamEvent } from '../../src/messages/chat.ts';
import { assistantPartSchema } from '../../src/messages/parts.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';

const origin = { provider: 'p', endpoint: 'e', model: 'm' };
const raw = (data: string) => ({ origin, data });

function folded(...events: ChatStreamEvent[]) {
  const accumulator = createMessageAccumulator();
  for (const event of events) accumulator.add(event);
  return accumulator;
}

describe('createMessageAccumulator', () => {
  it('keeps the order and puts vendor data on its part', () => {
    const accumulator = folded(
      { kind: 'message_start', origin },
      { kind: 'reasoning_delta', text: 'a' },
      { kind: 'reasoning_delta', text: 'b' },
      { kind: 'reasoning_signature', raw: raw('s1') },
      { kind: 'reasoning_signature', raw: raw('s2') },
      { kind: 'reasoning_delta', text: 'c' },
      { kind: 'raw_part', part: 'own', raw: raw('redacted') },
      { kind: 'text_delta', text: 'One ' },
      { kind: 'text_delta', text: 'two' },
      { kind: 'raw_part', part: 'text', raw: raw('t1') },
      { kind: 'text_delta', text: 'three' },
      { kind: 'tool_call_start', callId: 'a', name: 'x' },
      { kind: 'tool_call_delta', callId: 'a', json: '{}' },
      { kind: 'tool_call_start', callId: 'b', name: 'y' },
      { kind: 'tool_call_ready', callId: 'b', name: 'y', input: { n: 1 }, raw: raw('cb') },
      { kind: 'tool_call_ready', callId: 'a', name: 'x', input: {}, inputError: 'cut' },
      { kind: 'text_delta', text: '!' },
      { kind: 'raw_part', part: 'text', raw: raw('t2') },
      { kind: 'raw_part', part: 'text', raw: raw('t3') },
      { kind: 'message_end', stop: 'tool_calls', reasoningMs: 7 },
    );
    expect(accumulator.parts()).toEqual([
      { kind: 'reasoning', text: 'ab', raw: raw('s1') },
      { kind: 'reasoning', text: '', raw: raw('s2') },
      { kind: 'reasoning', text: 'c' },
      { kind: 'raw', raw: raw('redacted') },
      { kind: 'text', text: 'One two', raw: raw('t1') },
      { kind: 'text', text: 'three' },
      { kind: 'tool_call', callId: 'a', name: 'x', input: {} },
      { kind: 'tool_call', callId: 'b', name: 'y', input: { n: 1 }, raw: raw('cb') },
      { kind: 'text', text: '!', raw: raw('t2') },
      { kind: 'text', text: '', raw: raw('t3') },
    ]);
    expect(assistantPartSchema.array().parse(accumulator.parts())).toEqual(accumulator.parts());
    expect(accumulator.text()).toBe('One twothree!');
    expect(accumulator.calls().map(({ part, inputError }) => [part.callId, inputError])).toEqual([
      ['a', 'cut'],
      ['b', undefined],
    ]);
    expect(accumulator).toMatchObject({ stop: 'tool_calls', origin, reasoningMs: 7 });
  });

  it('leaves out calls that never became ready', () => {
    const accumulator = folded(
      { kind: 'text_delta', text: 'I look.' },
      { kind: 'tool_call_start', callId: 'a', name: 'x' },
      { kind: 'tool_call_delta', callId: 'a', json: '{"ci' },
    );
    expect(accumulator.parts()).toEqual([{ kind: 'text', text: 'I look.' }]);
    expect(accumulator.calls()).toEqual([]);
    expect(accumulator.stop).toBeUndefined();
  });

  it('starts again after a retry', () => {
    const accumulator = folded({
      kind: 'usage',
      usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    });
    accumulator.add({ kind: 'retry_waiting', reason: 'Busy.', delayMs: 1 });
    expect(accumulator.usage).toBeUndefined();
  });
});
