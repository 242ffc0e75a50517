/** Images that models make: from Gemini's wire into stored parts, and back to it or to others. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../src/messages/chat.ts';
import { mostMediaChars } from '../../src/messages/media.ts';
import type { AssistantPart } from '../../src/messages/parts.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { message, say } from '../emulators/model/script.ts';
import { objectOf, objectsOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  createTestDeps,
  storedParts,
  testCatalog,
  userText,
} from '../support/providers.ts';

const never = new AbortController().signal;
const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB';
const drawer = 'gemini/gemini-3-pro-image';

describe('an image that a model made', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const answerOf = async (
    name: string,
    messages: readonly ChatMessage[],
    rest: Partial<ChatRequest> = {},
  ): Promise<readonly AssistantPart[]> => {
    const settingsOf = (wire: 'anthropic' | 'openai' | 'gemini' | 'compatible') => ({
      apiKey: 'k',
      baseUrl: server.baseUrl(wire),
    });
    const settings = {
      anthropic: settingsOf('anthropic'),
      openai: settingsOf('openai'),
      gemini: settingsOf('gemini'),
      compatible: settingsOf('compatible'),
    };
    const registry = createProviderRegistry(createTestDeps(), settings, testCatalog);
    const { provider, model } = registry.resolve(name);
    const accumulator = createMessageAccumulator();
    for await (const event of provider.stream(chatRequestOf(model, messages, rest), never)) {
      accumulator.add(event);
    }
    return storedParts(accumulator.parts());
  };
  const drawn = async (): Promise<readonly ChatMessage[]> => {
    const image = { kind: 'image', mediaType: 'image/png', base64 } as const;
    server.script(message({ kind: 'text', text: 'Here.' }, image));
    const parts = await answerOf(drawer, [userText('draw')]);
    return [userText('draw'), { role: 'assistant', parts }, userText('bluer')];
  };
  const body = () => server.requests.at(-1)?.body ?? {};
  const objections = () => server.requests.map(({ objection }) => objection);

  it('is a part of its message, under its signature', async () => {
    const [, made] = await drawn();
    expect(made).toMatchObject({
      parts: [
        { kind: 'text', text: 'Here.' },
        {
          ...{ kind: 'image', mediaType: 'image/png', base64 },
          raw: { data: { thoughtSignature: expect.any(String) } },
        },
      ],
    });
  });

  it('goes back to its model as it came', async () => {
    const messages = await drawn();
    server.script(say('Bluer.'));
    await answerOf(drawer, messages);
    const [, made] = objectsOf(objectOf(body())['contents']);
    expect(objectsOf(made?.['parts'])).toEqual([
      { text: 'Here.' },
      {
        inlineData: { mimeType: 'image/png', data: base64 },
        thoughtSignature: expect.any(String),
      },
    ]);
    expect(objections()).toEqual([undefined, undefined]);
  });

  it('goes to another model that draws under the stand-in for a signature', async () => {
    const messages = await drawn();
    server.script(say('Bluer.'));
    const other = { ...testCatalog.factsOf(drawer).abilities };
    await answerOf('gemini/gemini-3.6-flash', messages, { abilities: other });
    expect(JSON.stringify(body())).toContain('skip_thought_signature_validator');
    expect(objections()).toEqual([undefined, undefined]);
  });

  it.each([
    'gemini/gemini-3.6-flash',
    'anthropic/claude-sonnet-5-5',
    'openai/gpt-6.2-sol',
    'compatible/qwen3.8-max',
  ])('is a line for %s, which draws nothing', async (name) => {
    const messages = await drawn();
    server.script(say('I see.'));
    await answerOf(name, messages);
    const sent = JSON.stringify(body());
    expect(sent).toContain('[an image was made and posted here]');
    expect(sent).not.toContain(base64);
    expect(objections()).toEqual([undefined, undefined]);
  });

  it('that is a draft, made while thinking, is no answer', async () => {
    const draft = { inlineData: { mimeType: 'image/png', data: base64 }, thought: true };
    const parts = [draft, { text: 'Done.' }];
    server.script({
      kind: 'events',
      events: [{ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }],
    });
    expect(await answerOf(drawer, [userText('draw')])).toEqual([{ kind: 'text', text: 'Done.' }]);
  });

  it('that is no image by its type stays vendor data', async () => {
    const parts = [{ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }];
    server.script({
      kind: 'events',
      events: [{ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }],
    });
    expect(await answerOf(drawer, [userText('sing')])).toMatchObject([{ kind: 'raw' }]);
  });

  it('is left out once images are too large together, the oldest first', async () => {
    const large = 'x'.repeat(mostMediaChars / 2 + 4);
    const madeOf = (data: string): ChatMessage => ({
      role: 'assistant',
      parts: [{ kind: 'image', mediaType: 'image/png', base64: data }],
    });
    server.script(say('Yes.'));
    const messages = [userText('a'), madeOf(`old${large}`), userText('b'), madeOf(`new${large}`)];
    await answerOf(drawer, [...messages, userText('c')]);
    const sent = JSON.stringify(body());
    expect(sent).not.toContain('oldx');
    expect(sent).toContain('newx');
    expect(sent).toContain('[image left out: only the newest ones are shown]');
  });
});
