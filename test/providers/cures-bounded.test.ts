/** Cures never multiply: one request is tried a fixed number of times, and by one loop alone. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage, ChatProvider } from '../../src/messages/chat.ts';
import { knownServers } from '../../src/providers/compatible/profiles.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { type StatusAnswer, say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collectUntilThrow,
  createTestDeps,
  type TestDeps,
} from '../support/providers.ts';

const never = new AbortController().signal;
const model = 'gpt-6-astra';
const refusal = (message: string): StatusAnswer => ({ kind: 'status', status: 400, message });

describe('cures of a model that is asked by the Responses API', () => {
  let server: ModelServer;
  let deps: TestDeps;
  beforeEach(async () => {
    server = await createModelServer();
    deps = createTestDeps();
  });
  afterEach(() => server.close());

  const learned = () => deps.learned.read(`${server.url}/openai`, model);
  const known = () => deps.learned.add(`${server.url}/openai`, model, 'use_responses');
  const optionsOf = () => ({ apiKey: 'k', baseUrl: `${server.url}/openai` });
  const askOf = (provider: ChatProvider, messages: string | readonly ChatMessage[] = 'Hi') => {
    const request = chatRequestOf('gpt-6.2-sol', messages, {
      ...{ model, reasoning: { effort: 'high' } },
    });
    return collectUntilThrow(provider.stream(request, never));
  };
  const chat = () => {
    const profile = knownServers['openai-chat'];
    return createCompatibleProvider(deps, { ...optionsOf(), name: 'openai-chat', profile });
  };
  const withImages = (count: number): readonly ChatMessage[] => {
    const base64 = (place: number) => Buffer.from(`the image ${place}.`).toString('base64');
    const images = Array.from(
      { length: count },
      (_, place) => ({ kind: 'image', mediaType: 'image/png', base64: base64(place) }) as const,
    );
    return [{ role: 'user', parts: images }];
  };

  it.each([1, 3, 10])('are as many as by that API alone, of %i refused images', async (count) => {
    await known();
    server.otherwise(refusal('Invalid image: could not process image.'));
    await askOf(chat(), withImages(count));
    const tried = server.requests.length;
    expect(tried).toBe(Math.min(count + 1, 10));
    deps = createTestDeps();
    await askOf(createOpenaiProvider(deps, optionsOf()), withImages(count));
    expect(server.requests.length - tried).toBe(tried);
  });

  it('are few where one refusal names many fields, and none is stored', async () => {
    await known();
    server.otherwise(
      refusal(
        'Bad: reasoning_effort, enable_search, stream_options, prompt_cache_key, verbosity and content must be a string',
      ),
    );
    expect((await askOf(chat())).thrown).toMatchObject({ code: 'bad_request' });
    // Its effort, its verbosity and its key are what that API knows of these.
    expect(server.requests).toHaveLength(4);
    expect(await learned()).toEqual(['use_responses']);
  });

  it('are none of what Chat Completions alone is asked for', async () => {
    await known();
    server.script(refusal('stream_options are not allowed'), say('Fine.'));
    expect((await askOf(chat())).thrown).toMatchObject({ code: 'bad_request' });
    expect(server.requests).toHaveLength(1);
    expect(await learned()).toEqual(['use_responses']);
  });

  it('are stored with the switch to it, where both came in one request', async () => {
    // This server refuses the model's tools by Chat Completions on its own.
    server.script(refusal("Unknown parameter: 'prompt_cache_key'."), say('Fine.'));
    expect((await askOf(chat())).thrown).toBeUndefined();
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/openai/chat/completions',
      '/openai/responses',
      '/openai/responses',
    ]);
    expect(await learned()).toEqual(['use_responses', 'no_cache_key']);
  });

  it('end at nine by whichever API, where each try is refused for something else', async () => {
    let limit = 900;
    server.otherwise(() => {
      limit -= 10;
      return refusal(`max_tokens must be less than or equal to ${limit}`);
    });
    await askOf(chat());
    expect(server.requests).toHaveLength(10);
  });
});
