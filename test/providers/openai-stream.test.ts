/** Streams of servers that keep to the Responses API only roughly. */

import { describe, expect, it } from 'vitest';
import type { ChatStreamEvent } from '../../src/messages/chat.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { bytesOf } from '../emulators/model-server.ts';
import { chatRequestOf, collect, createTestDeps, pieceFetch } from '../support/providers.ts';

const created = { type: 'response.created', response: {} };
const completed = { type: 'response.completed', response: {} };
const added = (item: object, rest: object = {}) => ({
  type: 'response.output_item.added',
  item,
  ...rest,
});
const done = (item: object, rest: object = {}) => ({
  ...added(item, rest),
  type: 'response.output_item.done',
});
const args = (delta: string, rest: object = {}) => ({
  type: 'response.function_call_arguments.delta',
  delta,
  ...rest,
});
const said = (delta: string) => ({ type: 'response.output_text.delta', delta });
const use = (call_id: string, name: string, rest: object = {}) => ({
  ...{ type: 'function_call', call_id, name, arguments: '' },
  ...rest,
});
const rome = '{"city":"Rome"}';

function read(...events: readonly object[]): Promise<ChatStreamEvent[]> {
  const bytes = bytesOf('openai', { kind: 'events', events });
  const provider = createOpenaiProvider(createTestDeps(pieceFetch([bytes])), { apiKey: 'k' });
  return collect(provider.stream(chatRequestOf('gpt-6.2-sol'), new AbortController().signal));
}

const started = (events: readonly ChatStreamEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === 'tool_call_start' ? [event.callId] : []));
const ready = (events: readonly ChatStreamEvent[]): readonly unknown[] =>
  events.flatMap((event) =>
    event.kind === 'tool_call_ready' ? [[event.callId, event.name, event.input]] : [],
  );
const textIn = (events: readonly ChatStreamEvent[]): string =>
  events.map((event) => (event.kind === 'text_delta' ? event.text : '')).join('');

const both = [
  ['c1', 'clock', {}],
  ['c2', 'weather', { city: 'Rome' }],
];

describe('openaiEvents', () => {
  it.each<[string, object, object]>([
    ['has no places', {}, {}],
    ['has one place for all', { output_index: 0 }, { output_index: 0 }],
    ['has places', { output_index: 0 }, { output_index: 1 }],
  ])('makes each call ready once where the stream %s', async (_what, first, second) => {
    const events = await read(
      created,
      added(use('c1', 'clock', { id: 'f1' }), first),
      added(use('c2', 'weather', { id: 'f2' }), second),
      args('{}', { item_id: 'f1', ...first }),
      args(rome, { item_id: 'f2', ...second }),
      done(use('c1', 'clock', { id: 'f1', arguments: '{}' }), first),
      done(use('c2', 'weather', { id: 'f2', arguments: rome }), second),
      completed,
    );
    expect(started(events)).toEqual(['c1', 'c2']);
    expect(ready(events)).toEqual(both);
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'tool_calls' });
  });

  it('makes them ready without ids of items, and with ids that change', async () => {
    const bare = await read(
      created,
      added(use('c1', 'clock')),
      args('{}'),
      added(use('c2', 'weather')),
      args(rome),
      completed,
    );
    expect(ready(bare)).toEqual(both);
    const changing = await read(
      created,
      added(use('c1', 'clock', { id: 'x1' }), { output_index: 0 }),
      args('{}', { item_id: 'x2', output_index: 0 }),
      done(use('c1', 'clock', { id: 'x3', arguments: '{}' }), { output_index: 0 }),
      added(use('c2', 'weather', { id: 'x4' }), { output_index: 1 }),
      args(rome, { item_id: 'x5', output_index: 1 }),
      done(use('c2', 'weather', { id: 'x6', arguments: rome }), { output_index: 1 }),
      completed,
    );
    expect(ready(changing)).toEqual(both);
    expect(started(changing)).toEqual(['c1', 'c2']);
  });

  it.each([{}, { output_index: 0 }])('takes an item that is done twice once: %j', async (place) => {
    const finished = done(use('c1', 'clock', { id: 'f1', arguments: '{}' }), place);
    const text = done(
      { type: 'message', content: [{ type: 'output_text', text: 'Hi.' }] },
      { ...place, ...('output_index' in place ? { output_index: 1 } : {}) },
    );
    const events = await read(created, finished, finished, text, text, completed);
    expect(ready(events)).toEqual([['c1', 'clock', {}]]);
    expect(started(events)).toEqual(['c1']);
    expect(textIn(events)).toBe('Hi.');
  });

  it('shows a message and a thought that come only when they are done', async () => {
    const events = await read(
      created,
      done({ type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'Hm.' }] }),
      done({ type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hello.' }] }),
      completed,
    );
    expect(events).toContainEqual({ kind: 'reasoning_delta', text: 'Hm.' });
    expect(textIn(events)).toBe('Hello.');
    const refused = await read(
      created,
      done({ type: 'message', id: 'm', content: [{ type: 'refusal', refusal: 'No.' }] }),
      completed,
    );
    expect(textIn(refused)).toBe('No.');
    expect(refused.at(-1)).toMatchObject({ stop: 'refused' });
  });

  it('shows each message once, however it comes', async () => {
    const message = (id: string, text: string) => ({
      ...{ type: 'message', id },
      content: [{ type: 'output_text', text }],
    });
    const events = await read(
      created,
      added({ type: 'message', id: 'm1' }),
      said('One.'),
      done(message('m1', 'One.')),
      done(message('m2', 'Two.')),
      completed,
    );
    expect(textIn(events)).toBe('One.Two.');
  });

  it('takes what comes only with the end', async () => {
    const output = [
      { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hello.' }] },
      use('c1', 'clock', { arguments: '{}' }),
    ];
    const events = await read(created, { ...completed, response: { output } });
    expect(textIn(events)).toBe('Hello.');
    expect(ready(events)).toEqual([['c1', 'clock', {}]]);
    const told = await read(created, said('Hello.'), { ...completed, response: { output } });
    expect(textIn(told)).toBe('Hello.');
    expect(ready(told)).toEqual([['c1', 'clock', {}]]);
  });

  it('takes nothing that comes after the end', async () => {
    const late = done(use('late', 'clock', { arguments: '{}' }));
    const events = await read(created, said('Hi.'), completed, said('late'), late, completed);
    expect(JSON.stringify(events)).not.toContain('late');
    expect(events.filter(({ kind }) => kind === 'message_end')).toHaveLength(1);
  });
});
