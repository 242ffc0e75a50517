/** Google's own tools next to ours, and the sources of what a model says. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest, ChatStreamEvent } from '../../src/messages/chat.ts';
import { unitsBefore } from '../../src/providers/gemini/grounding.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { say } from '../emulators/model/script.ts';
import { objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  createTestDeps,
  storedParts,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const model = 'gemini-3.6-flash';

describe('Gemini’s own tools', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const ask = async (
    name: string,
    rest: Partial<ChatRequest> = {},
    messages: string | readonly ChatMessage[] = 'Hi',
  ): Promise<ChatStreamEvent[]> => {
    const baseUrl = server.baseUrl('gemini');
    const provider = createGeminiProvider(createTestDeps(), { apiKey: 'k', baseUrl });
    return collect(provider.stream(chatRequestOf(name, messages, rest), never));
  };
  const toolsSent = () => {
    const { tools, toolConfig } = server.requests.at(-1)?.body ?? {};
    return { names: objectsOf(tools).flatMap((tool) => Object.keys(tool).sort()), toolConfig };
  };
  const shown = { includeServerSideToolInvocations: true };
  const both = { webSearch: true, reasoning: { urlContext: true } } as const;

  it.each<[string, Partial<ChatRequest>, readonly string[], object | undefined]>([
    [model, both, ['functionDeclarations', 'googleSearch', 'urlContext'], shown],
    [model, { webSearch: true }, ['functionDeclarations', 'googleSearch'], shown],
    [model, { ...both, tools: [] }, ['googleSearch', 'urlContext'], undefined],
    [model, {}, ['functionDeclarations'], undefined],
    // Older ones take no functions next to them, and whom nobody described is not tried.
    ['gemini-2.5-flash', both, ['functionDeclarations'], undefined],
    ['gemini-2.5-flash', { ...both, tools: [] }, ['googleSearch', 'urlContext'], undefined],
    ['gemini-9-nobody', both, ['functionDeclarations'], undefined],
    ['gemini-9-nobody', { ...both, tools: [] }, [], undefined],
  ])('of %s with %j are %j', async (name, rest, names, toolConfig) => {
    await ask(name, rest);
    expect(toolsSent()).toEqual({ names, toolConfig });
    expect(server.requests.map(({ objection }) => objection)).toEqual([undefined]);
  });

  it('are left out from then on where they may not stand next to functions', async () => {
    server.script({
      kind: 'status',
      status: 400,
      message: 'Built-in tools (google_search) and Function Calling cannot be combined.',
    });
    await ask(model, both);
    expect(toolsSent()).toEqual({ names: ['functionDeclarations'], toolConfig: undefined });
  });

  const said = 'Grüße aus 東京 🗼: 14 Millionen.';
  const bytesBefore = (piece: string): number =>
    Buffer.byteLength(said.slice(0, said.indexOf(piece)));
  const source = (name: string) => ({ web: { uri: `https://${name}.example`, title: name } });
  const support = (piece: string, ...places: readonly number[]) => ({
    segment: {
      startIndex: bytesBefore(piece),
      endIndex: bytesBefore(piece) + Buffer.byteLength(piece),
      text: piece,
    },
    groundingChunkIndices: places,
  });
  const response = (parts: readonly unknown[], rest: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, ...rest }],
  });

  it('found sources: only those that a passage rests on, in the order of the text', async () => {
    const groundingChunks = [source('a'), source('b'), source('c'), { maps: {} }];
    server.script({
      kind: 'events',
      events: [
        response([{ text: said.slice(0, 6) }], { groundingMetadata: { groundingChunks } }),
        response([{ text: said.slice(6) }]),
        response([], {
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['tokyo people'],
            groundingChunks,
            groundingSupports: [support('14 Millionen', 0, 2), support('東京', 2, 3)],
          },
        }),
      ],
    });
    const events = await ask(model, { webSearch: true });
    expect(events.slice(-3)).toEqual([
      {
        kind: 'server_tool',
        name: 'google_search',
        input: { queries: ['tokyo people'] },
        result: {
          passages: [
            { start: 10, end: 12, urls: ['https://c.example'] },
            { start: 17, end: 29, urls: ['https://a.example', 'https://c.example'] },
          ],
        },
      },
      {
        kind: 'citations',
        citations: [
          { url: 'https://c.example', title: 'c' },
          { url: 'https://a.example', title: 'a' },
        ],
      },
      { kind: 'message_end', stop: 'end', reasoningMs: 0 },
    ]);
    expect(said.slice(10, 12)).toBe('東京');
    expect(said.slice(17, 29)).toBe('14 Millionen');
  });

  it('found nothing that the text rests on: nothing is cited', async () => {
    const groundingMetadata = { groundingChunks: [source('a')], webSearchQueries: ['x'] };
    server.script({
      kind: 'events',
      events: [response([{ text: 'Hm.' }], { finishReason: 'STOP', groundingMetadata })],
    });
    const kinds = (await ask(model, { webSearch: true })).map(({ kind }) => kind);
    expect(kinds).toContain('server_tool');
    expect(kinds).not.toContain('citations');
  });

  it('are told of with what they read, and go back as they came', async () => {
    const toolCall = { id: 's1', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['x'] } };
    const toolResponse = { id: 's1', toolType: 'GOOGLE_SEARCH_WEB', response: { found: 3 } };
    const urlMetadata = [{ retrievedUrl: 'https://a.example', urlRetrievalStatus: 'OK' }];
    const parts = [{ toolCall, thoughtSignature: 'c2ln' }, { toolResponse }, { text: 'Three.' }];
    const groundingMetadata = { webSearchQueries: ['x'] };
    server.script({
      kind: 'events',
      events: [
        response(parts, {
          finishReason: 'STOP',
          groundingMetadata,
          urlContextMetadata: { urlMetadata },
        }),
      ],
    });
    const events = await ask(model, both);
    expect(events.filter(({ kind }) => kind === 'server_tool')).toEqual([
      {
        kind: 'server_tool',
        name: 'google_search_web',
        input: { queries: ['x'] },
        result: { found: 3 },
      },
      { kind: 'server_tool', name: 'url_context', input: {}, result: urlMetadata },
    ]);
    const accumulator = createMessageAccumulator();
    for (const event of events) accumulator.add(event);
    const answer = storedParts(accumulator.parts());
    await ask(model, both, [userText('go'), { role: 'assistant', parts: answer }, userText('on')]);
    // The emulator has not given this seal; what counts is what it was sent first.
    const sent = objectsOf(server.requests[1]?.body['contents'])[1];
    expect(sent).toEqual({ role: 'model', parts });
  });
});

describe('unitsBefore', () => {
  it.each([
    ['plain', 3, 3],
    ['é1', 2, 1],
    ['東京', 3, 1],
    ['🗼x', 4, 2],
    // Within a character: before it.
    ['🗼x', 3, 0],
    ['x', 9, 1],
    ['', 0, 0],
  ])('of %j at byte %i is %i', (text, bytes, units) => {
    expect(unitsBefore(text, bytes)).toBe(units);
  });
});
