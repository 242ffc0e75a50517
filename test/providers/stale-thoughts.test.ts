/** After an edit of what stood before them old thoughts go, new ones stay, and nothing is refused twice. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../src/messages/chat.ts';
import type { ImagePart } from '../../src/messages/parts.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import type { ListingProvider } from '../../src/providers/catalog.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { createStaleThoughts, thoughtsFrom } from '../../src/providers/stale-thoughts.ts';
import { call, message } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  assistantText,
  chatRequestOf,
  createTestDeps,
  okResult,
  storedParts,
  type TestDeps,
  userText,
  weatherTool,
} from '../support/providers.ts';

const never = new AbortController().signal;
const model = 'claude-sonnet-5-5';
const image = (name: string): ImagePart => ({
  ...{ kind: 'image', mediaType: 'image/png' },
  base64: Buffer.from(`the image ${name}.`).toString('base64'),
});

describe('thoughts behind an edited history', () => {
  let server: ModelServer;
  let deps: TestDeps;
  let provider: ListingProvider;
  beforeEach(async () => {
    server = await createModelServer();
    deps = createTestDeps();
    provider = createAnthropicProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('anthropic') });
  });
  afterEach(() => server.close());

  let count = 0;
  /** One answer with a thought, and what a loop would keep of it. */
  const step = async (
    history: ChatMessage[],
    rest: Partial<ChatRequest> = {},
    isCall = false,
  ): Promise<void> => {
    count += 1;
    const said = isCall
      ? call(`toolu_${count}`, 'clock')
      : ({ kind: 'text', text: `Answer ${count}.` } as const);
    server.otherwise(message({ kind: 'reasoning', text: `Thought ${count}.` }, said));
    const kept = createMessageAccumulator();
    for await (const event of provider.stream(chatRequestOf(model, history, rest), never)) {
      kept.add(event);
    }
    history.push({ role: 'assistant', parts: storedParts(kept.parts()) });
    if (isCall) history.push(okResult(`toolu_${count}`, 'clock', 'noon'));
    else history.push(userText('go on'));
  };
  const objections = (): number =>
    server.requests.filter(({ objection }) => objection !== undefined).length;
  const thoughtsIn = (index: number): number =>
    JSON.stringify(server.requests.at(index)?.body['messages']).split('"type":"thinking"').length -
    1;

  it.each<[string, Partial<ChatRequest>]>([
    ['another system prompt', { system: 'You are another test.' }],
    ['another list of tools', { tools: [weatherTool] }],
    ['a search of the vendor', { webSearch: true }],
  ])('are refused once by %s, and good again from the next step on', async (_what, edit) => {
    const history = [userText('a')];
    await step(history);
    await step(history, {}, true);
    expect([objections(), thoughtsIn(-1)]).toEqual([0, 1]);
    await step(history, edit);
    expect([objections(), thoughtsIn(-1)]).toEqual([1, 0]);
    await step(history, edit);
    expect([objections(), thoughtsIn(-1)]).toEqual([1, 1]);
    await step(history, edit);
    expect([objections(), thoughtsIn(-1)]).toEqual([1, 2]);
    // Another edit: the same again.
    await step(history);
    await step(history);
    expect([objections(), thoughtsIn(-1)]).toEqual([2, 1]);
    expect(server.requests).toHaveLength(9);
  });

  it('of another conversation are let be', async () => {
    const one = [userText('a')];
    const other = [userText('a')];
    await step(one);
    await step(other, { cacheKey: 'another' });
    await step(one, { system: 'New.' });
    await step(other, { cacheKey: 'another' });
    expect([objections(), thoughtsIn(-1)]).toEqual([1, 1]);
  });

  it('are stale where an image before them is refused, and cost no refusal of their own', async () => {
    const history: ChatMessage[] = [{ role: 'user', parts: [image('one')] }];
    await step(history);
    await step(history);
    server.script({
      kind: 'status',
      status: 400,
      message: 'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum',
    });
    await step(history);
    expect([objections(), thoughtsIn(-1)]).toEqual([0, 0]);
    await step(history);
    await step(history);
    expect([objections(), thoughtsIn(-1)]).toEqual([0, 2]);
    expect(server.requests).toHaveLength(6);
  });

  it('stay where a later answer says the same as the last stale one', async () => {
    const history = [userText('a')];
    await step(history);
    history.push(assistantText('Done.'), userText('b'));
    await step(history, { system: 'New.' });
    expect([objections(), thoughtsIn(-1)]).toEqual([1, 0]);
    await step(history, { system: 'New.' });
    expect([objections(), thoughtsIn(-1)]).toEqual([1, 1]);
    history.push(assistantText('Done.'), userText('c'));
    await step(history, { system: 'New.' });
    expect([objections(), thoughtsIn(-1)]).toEqual([1, 2]);
  });

  it('stay where the refused image came after them', async () => {
    const history = [userText('a')];
    await step(history);
    history.push({ role: 'user', parts: [image('two')] });
    server.script({ kind: 'status', status: 400, message: 'Could not process image' });
    await step(history);
    await step(history);
    expect([objections(), thoughtsIn(-1)]).toEqual([0, 2]);
  });
});

describe('createStaleThoughts', () => {
  const requestOf = (cacheKey: string, ...texts: readonly string[]): ChatRequest =>
    chatRequestOf(model, [userText('a'), ...texts.map(assistantText)], { cacheKey });

  it('knows of the conversations last spoken in, and forgets the others', () => {
    const stale = createStaleThoughts();
    for (let index = 0; index <= 1_000; index += 1) stale.remember(requestOf(`${index}`, 'b'));
    expect(stale.namesOf(requestOf('0'))).toEqual([]);
    expect(stale.namesOf(requestOf('1'))).toHaveLength(1);
    for (const text of ['c', 'd', 'e', 'f']) stale.remember(requestOf('1', text));
    expect(stale.namesOf(requestOf('1'))).toHaveLength(4);
  });

  it('tells the place behind the last stale answer', () => {
    const stale = createStaleThoughts();
    stale.remember(requestOf('k'));
    expect(stale.namesOf(requestOf('k'))).toEqual([]);
    stale.remember(requestOf('k', 'b', 'c'));
    const { messages } = requestOf('k', 'b', 'c', 'd');
    const learned = new Set(stale.namesOf(requestOf('k')));
    expect(thoughtsFrom(messages, learned)).toBe(3);
    expect(thoughtsFrom(messages, new Set())).toBe(0);
    expect(thoughtsFrom(messages, new Set(['no_reasoning']))).toBe(4);
    expect(thoughtsFrom(requestOf('k', 'x').messages, learned)).toBe(0);
  });

  it('takes an answer that says the same later for another one', () => {
    const stale = createStaleThoughts();
    stale.remember(requestOf('k', 'thought', 'Done.'));
    const learned = new Set(stale.namesOf(requestOf('k')));
    const later = requestOf('k', 'thought', 'Done.', 'new thought', 'Done.', 'Done.');
    expect(thoughtsFrom(later.messages, learned)).toBe(3);
    // The same place, in a history that was another one before it.
    expect(thoughtsFrom(requestOf('k', 'other', 'Done.').messages, learned)).toBe(0);
    stale.remember(later);
    const both = new Set(stale.namesOf(requestOf('k')));
    expect(thoughtsFrom(later.messages, both)).toBe(6);
  });
});
