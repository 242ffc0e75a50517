/** The vendor's own search on the Anthropic wire: asked for, told, kept, sent back, gone on with. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest, ChatStreamEvent } from '../../src/messages/chat.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { anthropicRequest } from '../../src/providers/anthropic/request.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import {
  blocksAnswer,
  citedText,
  failedSearchResult,
  searchCall,
  searchResult,
} from '../emulators/model/anthropic-events.ts';
import { call, message, say } from '../emulators/model/script.ts';
import { type JsonObject, objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  createTestDeps,
  okResult,
  storedParts,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const model = 'claude-sonnet-5-5';
const searching = { webSearch: true } as const;
const text = (words: string): JsonObject => ({ type: 'text', text: words });

describe('search on the Anthropic wire', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const ask = async (
    messages: readonly ChatMessage[],
    rest: Partial<ChatRequest> = searching,
  ): Promise<{ events: ChatStreamEvent[]; answer: ChatMessage }> => {
    const provider = createAnthropicProvider(createTestDeps(), {
      apiKey: 'k',
      baseUrl: server.baseUrl('anthropic'),
    });
    const events = await collect(provider.stream(chatRequestOf(model, messages, rest), never));
    const accumulator = createMessageAccumulator();
    for (const event of events) accumulator.add(event);
    return { events, answer: { role: 'assistant', parts: storedParts(accumulator.parts()) } };
  };
  /** The blocks of the last request's messages, by message. */
  const sent = (): (readonly JsonObject[])[] =>
    objectsOf(server.requests.at(-1)?.body['messages']).map(({ content }) => objectsOf(content));
  const objections = () => server.requests.map(({ objection }) => objection);
  const toolTypes = () => objectsOf(server.requests.at(-1)?.body['tools']).map(({ type }) => type);

  it('is offered where it is wished, within a bound, and nothing else with it', async () => {
    server.otherwise(say('Fine.'));
    await ask([userText('go')]);
    expect(objectsOf(server.requests[0]?.body['tools']).at(-1)).toEqual({
      type: 'web_search_20250305',
      name: 'web_search',
      max_uses: 8,
    });
    await ask([userText('go')], {});
    expect(toolTypes()).toEqual([undefined, undefined]);
    const abilities = { ...chatRequestOf(model).abilities, webSearch: false };
    await ask([userText('go')], { webSearch: true, abilities });
    expect(toolTypes()).toEqual([undefined, undefined]);
    const own = { name: 'web_search', description: 'Ours.', inputSchema: { type: 'object' } };
    await ask([userText('go')], { webSearch: true, tools: [own] });
    expect(toolTypes()).toEqual([undefined]);
    expect(objections()).toEqual(Array(4).fill(undefined));
  });

  it('is left out once the server has refused it', async () => {
    server.script({
      kind: 'status',
      status: 400,
      message: "tools.2: Input tag 'web_search_20250305' found using 'type' does not match",
    });
    server.otherwise(say('Fine.'));
    await ask([userText('go')]);
    expect(toolTypes()).toEqual([undefined, undefined]);
    expect(objectsOf(server.requests[1]?.body['tools'])[0]?.['input_schema']).toHaveProperty(
      'properties',
    );
  });

  it.each([
    ['a list', searchResult],
    ['an error', failedSearchResult],
  ])('is told when it is complete, and goes back untouched, with %s', async (_, result) => {
    server.script(
      blocksAnswer([text('I look.'), searchCall, result, text('So: '), citedText]),
      say('You are welcome.'),
    );
    const { events, answer } = await ask([userText('weather?')]);
    expect(events.filter(({ kind }) => kind === 'server_tool')).toEqual([
      {
        kind: 'server_tool',
        name: 'web_search',
        input: { query: 'weather in Oslo' },
        result: result.content,
      },
    ]);
    expect(events.filter(({ kind }) => kind === 'citations')).toEqual([
      {
        kind: 'citations',
        citations: [{ url: 'https://example.org/oslo', title: 'Oslo today' }],
      },
    ]);
    await ask([userText('weather?'), answer, userText('thanks')]);
    expect(sent()[1]).toEqual([text('I look.'), searchCall, result, text('So: '), citedText]);
    expect(objections()).toEqual([undefined, undefined]);
  });

  it('keeps texts apart that came apart, and sends no foreign sources', async () => {
    server.script(
      blocksAnswer([text('One.'), text('Two. '), citedText, text('Three.')]),
      say('Fine.'),
    );
    const { events, answer } = await ask([userText('go')]);
    const words = events.flatMap((event) => (event.kind === 'text_delta' ? [event.text] : []));
    expect(words.join('')).toBe('One.Two. It rains in Oslo.Three.');
    await ask([userText('go'), answer, userText('on')]);
    expect(sent()[1]).toEqual([text('One.'), text('Two. '), citedText, text('Three.')]);
    const elsewhere = { provider: 'anthropic', endpoint: 'https://elsewhere.example', model };
    const request = chatRequestOf(model, [userText('go'), answer, userText('on')]);
    const { messages } = anthropicRequest(request, elsewhere, new Set());
    expect(JSON.stringify(messages)).toContain('It rains in Oslo.');
    expect(JSON.stringify(messages)).not.toContain('encrypted_index');
  });

  it('goes on after a pause with exactly the same messages', async () => {
    server.script(
      blocksAnswer([text('I look.'), searchCall], { stop: 'pause_turn' }),
      blocksAnswer([searchResult, citedText]),
      say('Welcome.'),
    );
    const first = await ask([userText('weather?')]);
    expect(first.events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'paused' });
    const second = await ask([userText('weather?'), first.answer]);
    expect(sent().at(-1)).toEqual([text('I look.'), searchCall]);
    // The call stood in the message before.
    expect(second.events.find(({ kind }) => kind === 'server_tool')).toMatchObject({
      name: 'web_search',
      input: { query: 'weather in Oslo' },
    });
    await ask([userText('weather?'), first.answer, second.answer, userText('thanks')]);
    expect(sent()[1]).toEqual([text('I look.'), searchCall, searchResult, citedText]);
    expect(objections()).toEqual(Array(3).fill(undefined));
  });

  it('may wait for calls of ours that stand beside it', async () => {
    const ours = { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} };
    server.script(
      blocksAnswer([searchCall, ours], { stop: 'tool_use' }),
      blocksAnswer([searchResult, citedText]),
      say('Welcome.'),
    );
    const history: ChatMessage[] = [userText('weather and time?')];
    const first = await ask(history);
    history.push(first.answer, okResult('toolu_1', 'clock', 'noon'));
    const second = await ask(history);
    expect(sent()[1]).toEqual([searchCall, ours]);
    history.push(second.answer, userText('thanks'));
    await ask(history);
    expect(sent().map((blocks) => blocks.map(({ type }) => type))).toEqual([
      ['text'],
      ['server_tool_use', 'tool_use'],
      ['tool_result'],
      ['web_search_tool_result', 'text'],
      ['text'],
    ]);
    expect(objections()).toEqual(Array(3).fill(undefined));
  });

  it('that was stopped halfway does not make the conversation unusable', async () => {
    server.script(
      blocksAnswer([text('I look.'), searchCall]),
      blocksAnswer([searchCall]),
      message(call('c1', 'clock')),
      say('Fine.'),
    );
    const history: ChatMessage[] = [userText('weather?')];
    history.push((await ask(history)).answer, userText('never mind'));
    history.push((await ask(history)).answer, userText('really'));
    expect(sent()[1]).toEqual([text('I look.')]);
    history.push((await ask(history)).answer, okResult('c1', 'clock', 'noon'));
    await ask(history, {});
    // Nobody would run it any more, and a message of it alone is gone.
    expect(JSON.stringify(sent())).not.toContain('server_tool_use');
    expect(objections()).toEqual(Array(4).fill(undefined));
  });
});
