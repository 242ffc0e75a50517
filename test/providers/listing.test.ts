/** Asking Anthropic and OpenAI for their models. */

import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { readModels } from '../../src/config/models.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCatalog, type ListingProvider } from '../../src/providers/catalog.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import {
  createModelListServer,
  json,
  type ModelListServer,
  type ModelLists,
} from '../emulators/model-lists.ts';
import { createTestDeps } from '../support/providers.ts';

const never = new AbortController().signal;
const yes = { supported: true };
const no = { supported: false };

/** As the API tells of a model; what is not named is not supported. */
function told(id: string, forms: readonly string[], efforts: readonly string[], rest: object = {}) {
  const has = (list: readonly string[], name: string) => (list.includes(name) ? yes : no);
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: '2026-09-22T00:00:00Z',
    lifecycle: 'active',
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
    capabilities: {
      thinking: {
        supported: forms.some((form) => form !== 'disabled'),
        types: {
          adaptive: has(forms, 'adaptive'),
          enabled: has(forms, 'enabled'),
          disabled: has(forms, 'disabled'),
          between_tools: has(forms, 'between_tools'),
        },
      },
      effort: {
        supported: efforts.length > 0,
        low: has(efforts, 'low'),
        medium: has(efforts, 'medium'),
        high: has(efforts, 'high'),
        xhigh: efforts.includes('xhigh') ? yes : null,
        max: has(efforts, 'max'),
      },
      image_input: yes,
      pdf_input: yes,
      server_tools: { supported: true, web_search: yes, code_execution: no },
    },
    ...rest,
  };
}

const sees = { images: true, documents: true, webSearch: true };

/** An answer that never comes, and when it was asked for. */
function silence(): { readonly answer: () => void; readonly asked: Promise<void> } {
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  return { answer, asked };
}

describe('listModels', () => {
  const open: ModelListServer[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });

  const setUp = async (lists: ModelLists, apiKey = 'key-1') => {
    const server = await createModelListServer(lists);
    open.push(server);
    const deps = createTestDeps();
    const anthropic = createAnthropicProvider(deps, { apiKey, baseUrl: server.url });
    const openai = createOpenaiProvider(deps, { apiKey, baseUrl: `${server.url}/v1` });
    return { server, deps, anthropic, openai };
  };
  const failureOf = async (provider: ListingProvider, signal = never): Promise<unknown> => {
    try {
      return await provider.listModels(signal);
    } catch (thrown) {
      return thrown;
    }
  };

  it('of Anthropic tells limits and abilities, page by page', async () => {
    const { server, anthropic } = await setUp({
      anthropic: [
        told('a', ['adaptive', 'between_tools'], ['low', 'high', 'xhigh']),
        told('b', ['enabled', 'disabled'], ['low', 'high'], { max_tokens: 64_000 }),
        told('c', ['enabled', 'disabled'], [], { max_tokens: 64_000 }),
        told('d', ['disabled'], []),
        told('e', [], [], { capabilities: null, max_input_tokens: null, max_tokens: null }),
      ],
      pageSize: 2,
    });
    const budgetTokens = { least: 1_024, most: 63_999 };
    const window = 1_000_000;
    expect(await anthropic.listModels(never)).toEqual([
      {
        id: 'a',
        window,
        mostOutputTokens: 128_000,
        abilities: {
          ...sees,
          thinking: ['adaptive', 'between_tools'],
          efforts: ['low', 'high', 'xhigh'],
          summary: true,
        },
      },
      {
        id: 'b',
        window,
        mostOutputTokens: 64_000,
        abilities: {
          ...sees,
          thinking: ['budget', 'effort', 'off'],
          efforts: ['low', 'high'],
          summary: true,
          budgetTokens,
        },
      },
      {
        id: 'c',
        window,
        mostOutputTokens: 64_000,
        abilities: {
          ...sees,
          thinking: ['budget', 'off'],
          efforts: ['low', 'medium', 'high'],
          summary: true,
          budgetTokens,
        },
      },
      {
        id: 'd',
        window,
        mostOutputTokens: 128_000,
        abilities: { ...sees, thinking: [], efforts: [], summary: false },
      },
      { id: 'e' },
    ]);
    expect(server.requests.map(({ path, query }) => [path, query['after_id']])).toEqual([
      ['/v1/models', undefined],
      ['/v1/models', 'b'],
      ['/v1/models', 'd'],
    ]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer key-1',
      'anthropic-version': '2026-10-21',
      'user-agent': 'deckhand',
    });
  });

  it('of OpenAI tells ids', async () => {
    const { server, openai } = await setUp({ openai: ['gpt-6.2-sol', 'gpt-6-luna'] });
    expect(await openai.listModels(never)).toEqual([{ id: 'gpt-6.2-sol' }, { id: 'gpt-6-luna' }]);
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/models']);
  });

  it('completes the catalog and keeps what only the file knows', async () => {
    const { anthropic } = await setUp({
      anthropic: [told('claude-opus-4-8', ['adaptive', 'disabled'], ['low', 'high'])],
    });
    const catalog = createCatalog(readModels(path.resolve(import.meta.dirname, '../..')));
    const before = catalog.factsOf('anthropic/claude-opus-4-8');
    catalog.complete('anthropic', await anthropic.listModels(never));
    const { abilities, prices } = catalog.factsOf('anthropic/claude-opus-4-8');
    expect(abilities).toEqual({ ...before.abilities, efforts: ['low', 'high'] });
    expect(abilities.defaultEffort).toBe('none');
    expect(prices).toEqual(before.prices);
  });

  it.each(['anthropic', 'openai'] as const)(
    'of %s fails with the codes of a message',
    async (name) => {
      const { server, ...providers } = await setUp({}, 'wrong');
      const provider = providers[name];
      expect(await failureOf(provider)).toMatchObject({
        code: 'auth_failed',
        facts: { provider: name },
      });
      server.answer((response) => {
        response.writeHead(429, { 'retry-after': '7', 'content-type': 'application/json' });
        response.end('{"error":{"message":"Slow down."}}');
      });
      expect(await failureOf(provider)).toMatchObject({
        code: 'model_rate_limited',
        retryAfterMs: 7_000,
      });
      server.answer((response) => json(response, 529, { error: { type: 'overloaded_error' } }));
      expect(await failureOf(provider)).toMatchObject({ code: 'overloaded' });
      server.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end('<html>Log in</html>');
      });
      expect(await failureOf(provider)).toMatchObject({ code: 'connection_lost' });
      server.answer((response) => response.destroy());
      expect(await failureOf(provider)).toMatchObject({ code: 'connection_lost' });
      await server.close();
      open.splice(0);
      expect(await failureOf(provider)).toMatchObject({ code: 'connection_lost' });
    },
  );

  it('ends with the signal’s reason, and when nothing comes for half a minute', async () => {
    const { server, deps, anthropic } = await setUp({});
    const first = silence();
    server.answer(first.answer);
    const controller = new AbortController();
    const reason = new BotError('stopped', 'Anna stopped it.');
    const stopped = failureOf(anthropic, controller.signal);
    await first.asked;
    controller.abort(reason);
    expect(await stopped).toBe(reason);
    expect(await failureOf(anthropic, controller.signal)).toBe(reason);

    const second = silence();
    server.answer(second.answer);
    const slow = failureOf(anthropic);
    await second.asked;
    await deps.clock.advance(29_999);
    expect(deps.clock.pending).toBe(1);
    await deps.clock.advance(1);
    expect(await slow).toMatchObject({ code: 'connection_lost' });
  });
});
