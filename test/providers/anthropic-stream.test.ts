/** Streams of servers that keep to the Messages API only roughly. */

import { describe, expect, it } from 'vitest';
import type { ChatStreamEvent } from '../../src/messages/chat.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { bytesOf } from '../emulators/model-server.ts';
import { chatRequestOf, collect, createTestDeps, pieceFetch } from '../support/providers.ts';

const start = { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } };
const stop = { type: 'message_stop' };
const block = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, fields: object) => ({
  type: 'content_block_delta',
  index,
  delta: fields,
});
const closed = (index: number) => ({ type: 'content_block_stop', index });
const ended = (stop_reason: string, usage: object = { output_tokens: 5 }) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
});
const use = (index: number, id: string, name: string) =>
  block(index, { type: 'tool_use', id, name, input: {} });
const json = (index: number, partial_json: string) =>
  delta(index, { type: 'input_json_delta', partial_json });
const said = (index: number, text: string) => delta(index, { type: 'text_delta', text });

function read(...events: readonly object[]): Promise<ChatStreamEvent[]> {
  const bytes = bytesOf('anthropic', { kind: 'events', events });
  const provider = createAnthropicProvider(createTestDeps(pieceFetch([bytes])), { apiKey: 'k' });
  return collect(provider.stream(chatRequestOf('claude-sonnet-5-5'), new AbortController().signal));
}

const ready = (events: readonly ChatStreamEvent[]): readonly unknown[] =>
  events.flatMap((event) =>
    event.kind === 'tool_call_ready' ? [[event.callId, event.inputError ?? event.input]] : [],
  );

describe('anthropicEvents', () => {
  it('makes calls ready whose block never stopped, each once, before the end', async () => {
    const events = await read(
      start,
      block(0, { type: 'text', text: '' }),
      said(0, 'Let me see.'),
      use(1, 'a', 'clock'),
      json(1, '{}'),
      use(2, 'b', 'weather'),
      json(2, '{"city":'),
      json(2, '"Rome"}'),
      ended('tool_use'),
      stop,
    );
    expect(ready(events)).toEqual([
      ['a', {}],
      ['b', { city: 'Rome' }],
    ]);
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'tool_calls' });
  });

  it('makes such a call ready too where no stop reason came, or its arguments are none', async () => {
    expect(ready(await read(start, use(0, 'a', 'clock'), stop))).toEqual([['a', {}]]);
    const cut = await read(
      start,
      use(0, 'a', 'weather'),
      json(0, '{"ci'),
      ended('max_tokens'),
      stop,
    );
    expect(ready(cut)).toEqual([['a', expect.stringMatching(/\w/u)]]);
  });

  it('keeps arguments apart that come side by side, and calls that share a place', async () => {
    const beside = await read(
      start,
      use(0, 'a', 'weather'),
      use(1, 'b', 'weather'),
      json(0, '{"city":"Rome"}'),
      json(1, '{"city":"Oslo"}'),
      closed(0),
      closed(1),
      ended('tool_use'),
      stop,
    );
    expect(ready(beside)).toEqual([
      ['a', { city: 'Rome' }],
      ['b', { city: 'Oslo' }],
    ]);
    const same = await read(
      start,
      use(0, 'a', 'weather'),
      json(0, '{"city":"Rome"}'),
      use(0, 'b', 'weather'),
      json(0, '{"city":"Oslo"}'),
      ended('tool_use'),
      stop,
    );
    expect(ready(same)).toEqual(ready(beside));
  });

  it('seals a thought whose block never stopped before what comes next', async () => {
    const events = await read(
      start,
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      delta(0, { type: 'signature_delta', signature: 'S' }),
      block(1, { type: 'text', text: '' }),
      said(1, 'Hi.'),
      ended('end_turn'),
      stop,
    );
    expect(events.map(({ kind }) => kind).filter((kind) => kind !== 'usage')).toEqual([
      'message_start',
      'reasoning_delta',
      'reasoning_signature',
      'text_delta',
      'message_end',
    ]);
  });

  it('keeps counts that a later event has as 0', async () => {
    const events = await read(
      { ...start, message: { usage: { input_tokens: 10, cache_read_input_tokens: 7 } } },
      block(0, { type: 'text', text: 'Hi.' }),
      closed(0),
      ended('end_turn', { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 }),
      stop,
    );
    expect(events.findLast(({ kind }) => kind === 'usage')).toMatchObject({
      usage: { input: 10, cacheRead: 7, output: 5 },
    });
  });

  it('takes nothing that comes after the end', async () => {
    const events = await read(
      start,
      block(0, { type: 'text', text: 'Hi.' }),
      closed(0),
      ended('end_turn'),
      stop,
      block(1, { type: 'text', text: '' }),
      said(1, 'late'),
      use(2, 'late', 'clock'),
    );
    expect(JSON.stringify(events)).not.toContain('late');
  });
});
