/** What the loop stored goes back to the vendor it came from: after a cut, after a deletion. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/agent/run.ts';
import { messagesOf } from '../../src/context/request.ts';
import type { Entry } from '../../src/messages/entries.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { openaiRequest } from '../../src/providers/openai/request.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { call, message, say } from '../emulators/model/script.ts';
import { objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer, type WireName } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collect,
  createTestDeps,
  testCatalog,
  userText,
  weatherTool,
} from '../support/providers.ts';
import { anna } from '../support/world.ts';

const never = new AbortController().signal;
const models: Readonly<Record<WireName, string>> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.2-sol',
  compatible: 'qwen3.8-max',
  gemini: 'gemini-3.6-flash',
};
const wires = ['anthropic', 'openai', 'compatible', 'gemini'] as const;

describe('a stored conversation', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const setUp = (wire: WireName) => {
    const deps = createTestDeps();
    const { provider, model, facts } = createProviderRegistry(
      deps,
      {
        [wire]: { apiKey: 'k', baseUrl: server.baseUrl(wire) },
        model: `${wire}/${models[wire]}`,
      },
      testCatalog,
    ).resolve();
    const entries: Entry[] = [];
    const hear = (text: string): void => {
      entries.push({
        v: 1,
        at: deps.clock.now(),
        kind: 'user_message',
        messageId: `m${entries.length}`,
        author: anna,
        parts: [{ kind: 'text', text }],
        addressed: true,
      });
    };
    let see = (): void => undefined;
    const textSeen = new Promise<void>((resolve) => {
      see = resolve;
    });
    const turn = async (resume?: { readonly kind: 'interrupted' }): Promise<void> => {
      for await (const event of run(
        {
          clock: deps.clock,
          log: deps.log,
          complete: (prompt, signal) =>
            provider.stream(
              { ...prompt, model, abilities: facts.abilities, mostOutputTokens: 1_000 },
              signal,
            ),
          transcript: {
            read: () => entries,
            append: async (added) => {
              await deps.clock.advance(1);
              entries.push(...added);
            },
          },
          permit: async () => ({ kind: 'run', isReadOnly: true }),
          redact: (text) => text,
          takeWaiting: () => Promise.resolve({ messageIds: [], addressed: false }),
          tools: [],
          onUsed: () => Promise.resolve(),
          limitReached: () => Promise.resolve(undefined),
          tooManySteps: () => Promise.resolve('Too many steps.'),
        },
        {
          runId: 'r1',
          conversationKey: 'web:local:c:1',
          workspace: { folder: 'w', mounts: [] },
          modelName: `${wire}/${model}`,
          reasoning: {},
          webSearch: false,
          system: 'You are a test.',
          toolSpecs: [weatherTool],
          mostSteps: 20,
          toolTimeoutMs: 1_000,
          toolsAtOnce: 8,
          addressed: true,
          ...(resume === undefined ? {} : { resume }),
        },
        never,
      )) {
        if (event.kind === 'text_delta') see();
      }
    };
    const objections = (): unknown[] => server.requests.map(({ objection }) => objection);
    return { deps, entries, hear, turn, objections, textSeen };
  };

  it.each(wires)('goes on with %s after its stream was cut in the middle', async (wire) => {
    const { entries, hear, turn, objections, textSeen } = setUp(wire);
    server.script(
      message({ kind: 'reasoning', text: 'Hm.' }, call('c1', 'weather', { city: 'Oslo' })),
      message(
        { kind: 'reasoning', text: 'Aha.' },
        { kind: 'text', text: 'It rai' },
        { kind: 'wait', until: textSeen },
        call('c2', 'weather', { city: 'Rome' }),
        { kind: 'cut' },
      ),
      say('ns.'),
    );
    hear('weather?');
    await turn();
    expect(objections()).toEqual([undefined, undefined, undefined]);
    expect(entries.at(-1)).toMatchObject({ kind: 'assistant_message', stop: 'end' });
    expect(JSON.stringify(server.requests[2]?.body)).toContain('It rai');
    const cut = entries.find(
      (entry) => entry.kind === 'assistant_message' && entry.stop === 'broken',
    );
    expect(cut).toMatchObject({ parts: [{ kind: 'text', text: 'It rai' }] });
    expect(JSON.stringify(cut)).not.toContain('"raw"');
  });

  it.each(wires)('goes on with %s after a person deleted a message', async (wire) => {
    const { deps, entries, hear, turn, objections } = setUp(wire);
    server.otherwise(
      message({ kind: 'reasoning', text: 'Sum.' }, { kind: 'text', text: 'Rain, I think.' }),
    );
    server.script(
      message(
        { kind: 'reasoning', text: 'Hm.' },
        { kind: 'text', text: 'I look.' },
        call('c1', 'weather', { city: 'Oslo' }),
        call('c2', 'weather', { city: 'Rome' }),
      ),
    );
    hear('weather?');
    await turn();
    await deps.clock.advance(10);
    entries[0] = {
      v: 1,
      at: entries[0]?.at ?? 0,
      kind: 'tombstone',
      messageId: 'm0',
      deletedAt: deps.clock.now(),
    };
    await deps.clock.advance(10);
    hear('still there?');
    await turn();
    hear('and now?');
    await turn();
    expect(objections()).toEqual([undefined, undefined, undefined, undefined]);
    const sent = messagesOf(entries).slice(0, 3);
    expect(JSON.stringify(sent)).toContain('I look.');
    expect(JSON.stringify(sent)).not.toContain('"raw"');
  });

  it.each(wires)('keeps its prefix on %s where two answers follow each other', async (wire) => {
    const { entries, hear, turn, objections } = setUp(wire);
    server.script(
      { ...message({ kind: 'text', text: 'A long sto' }), stop: 'output_limit' },
      message({ kind: 'reasoning', text: 'More.' }, { kind: 'text', text: 'ry.' }),
      say('Welcome.'),
    );
    hear('tell me a story');
    await turn();
    // The process died before the run was marked as over: the next one makes one more step.
    await turn({ kind: 'interrupted' });
    expect(entries.map(({ kind }) => kind)).toEqual([
      'user_message',
      'assistant_message',
      'assistant_message',
    ]);
    hear('thanks');
    await turn();
    expect(objections()).toEqual([undefined, undefined, undefined]);
    const [, second, third] = server.requests.map(({ body }) =>
      objectsOf(body['messages'] ?? body['input'] ?? body['contents']),
    );
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(JSON.stringify(third)).toContain('ry.');
  });
});

describe('openaiRequest', () => {
  const origin = { provider: 'openai', endpoint: 'e', model: 'gpt-6.2-sol' };
  const raw = (data: Record<string, string>) => ({ origin, data });
  const inputFor = (model: string, isSealed: boolean) => {
    const own = { ...origin, model };
    const messages = [
      userText('go'),
      {
        role: 'assistant',
        parts: [
          {
            kind: 'reasoning',
            text: 'Hm.',
            ...(isSealed
              ? { raw: { ...raw({ type: 'reasoning', id: 'rs_1' }), origin: own } }
              : {}),
          },
          {
            kind: 'text',
            text: 'I look.',
            raw: { origin: own, data: { id: 'msg_1', phase: 'commentary' } },
          },
          {
            kind: 'tool_call',
            callId: 'c1',
            name: 'clock',
            input: {},
            raw: { origin: own, data: { id: 'fc_1' } },
          },
        ],
      } as const,
    ];
    return objectsOf(openaiRequest(chatRequestOf(model, messages), own, new Set()).input);
  };

  it('sends ids of items only behind the thought that they belong to', () => {
    expect(inputFor('gpt-6.2-sol', true).map(({ id }) => id)).toEqual([
      undefined,
      'rs_1',
      'msg_1',
      'fc_1',
      undefined,
    ]);
    const bare = inputFor('gpt-6.2-sol', false);
    expect(bare.map(({ id }) => id)).toEqual(Array(4).fill(undefined));
    expect(bare[1]).toEqual({ role: 'assistant', content: 'I look.', phase: 'commentary' });
    // A model that nobody described may think all the same.
    expect(inputFor('gpt-9', false).map(({ id }) => id)).toEqual(Array(4).fill(undefined));
  });

  it.each([
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
  ])('is sent again without thoughts and ids after %j', async (refusal) => {
    const server = await createModelServer();
    server.script({ kind: 'status', status: 400, message: refusal }, say('Fine.'));
    const baseUrl = server.baseUrl('openai');
    const provider = createOpenaiProvider(createTestDeps(), { apiKey: 'k', baseUrl });
    const own = { ...origin, endpoint: baseUrl };
    const messages = [
      userText('go'),
      {
        role: 'assistant',
        parts: [{ kind: 'text', text: 'Hi', raw: { origin: own, data: { id: 'msg_9' } } }],
      } as const,
      userText('on'),
    ];
    const events = await collect(provider.stream(chatRequestOf(origin.model, messages), never));
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: 'end' });
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('msg_9');
    await server.close();
  });
});
