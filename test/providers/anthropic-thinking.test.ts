/** How Claude models are asked to think: what each takes, and what is left out when it is refused. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReasoningOptions } from '../../src/messages/model.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { anthropicRequest } from '../../src/providers/anthropic/request.ts';
import { askedBudget } from '../../src/providers/budgets.ts';
import { say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import { chatRequestOf, collect, createTestDeps, testCatalog } from '../support/providers.ts';

const never = new AbortController().signal;
const shown = { type: 'adaptive', display: 'summarized' };
const models = testCatalog.modelsOf('anthropic').map(({ name }) => name.slice('anthropic/'.length));

function asked(
  model: string,
  reasoning: ReasoningOptions,
  learned: readonly string[] = [],
  mostOutputTokens = 32_000,
): unknown {
  const origin = { provider: 'anthropic', endpoint: 'https://api.anthropic.com', model };
  const request = chatRequestOf(model, 'Hi', { reasoning, mostOutputTokens });
  const { thinking, output_config } = anthropicRequest(request, origin, new Set(learned));
  return { thinking, effort: output_config?.effort };
}

describe('anthropicRequest', () => {
  it.each<[string, ReasoningOptions, unknown, string | undefined]>([
    // Nothing wished: what thinks by itself is asked to show it, the others are let be.
    ['claude-opus-5-5', {}, shown, undefined],
    ['claude-sonnet-5', {}, shown, undefined],
    ['claude-opus-4-8', {}, undefined, undefined],
    ['claude-sonnet-4-6', {}, undefined, undefined],
    ['claude-haiku-4-5', {}, undefined, undefined],
    ['unheard-of', { effort: 'high', budgetTokens: 5_000 }, undefined, undefined],
    // An effort is named beside adaptive thinking.
    ['claude-opus-5-5', { effort: 'max' }, shown, 'max'],
    ['claude-opus-4-8', { effort: 'xhigh' }, shown, 'xhigh'],
    ['claude-sonnet-4-6', { effort: 'xhigh' }, shown, 'high'],
    // Not to think: as each model has it, and the least effort where it has nothing.
    ['claude-sonnet-5', { effort: 'none' }, { type: 'disabled' }, undefined],
    ['claude-opus-5', { effort: 'none' }, { type: 'disabled' }, undefined],
    ['claude-sonnet-5-5', { effort: 'none' }, { type: 'between_tools' }, undefined],
    ['claude-opus-5-5', { effort: 'none' }, shown, 'low'],
    ['claude-haiku-4-5', { effort: 'none' }, { type: 'disabled' }, undefined],
    // Thoughts that nobody wants to read.
    ['claude-opus-5-5', { summary: 'none' }, { type: 'adaptive', display: 'omitted' }, undefined],
    // Budgets, where there is nothing else or where one is wished.
    [
      'claude-haiku-4-5',
      { effort: 'medium' },
      { type: 'enabled', budget_tokens: 8_192, display: 'summarized' },
      undefined,
    ],
    [
      'claude-opus-4-5',
      { effort: 'low' },
      { type: 'enabled', budget_tokens: 1_024, display: 'summarized' },
      'low',
    ],
    [
      'claude-opus-4-6',
      { budgetTokens: 10_000 },
      { type: 'enabled', budget_tokens: 10_000, display: 'summarized' },
      undefined,
    ],
    ['claude-opus-5-5', { budgetTokens: 10_000 }, shown, undefined],
  ])('asks %s with %j for %j and effort %s', (model, reasoning, thinking, effort) => {
    expect(asked(model, reasoning)).toEqual({ thinking, effort });
  });

  it('names no budget that leaves no room for an answer', () => {
    const none = { thinking: undefined, effort: undefined };
    expect(asked('claude-haiku-4-5', { effort: 'high' }, [], 2_047)).toEqual(none);
    expect(asked('claude-haiku-4-5', { effort: 'high' }, [], 2_048)).toMatchObject({
      thinking: { budget_tokens: 1_024 },
    });
    expect(asked('claude-haiku-4-5', { budgetTokens: 1 }, [], 8_000)).toMatchObject({
      thinking: { budget_tokens: 1_024 },
    });
    expect(asked('claude-haiku-4-5', { effort: 'max' }, [], 8_000)).toMatchObject({
      thinking: { budget_tokens: 4_000 },
    });
  });

  it('leaves out what was refused before', () => {
    const effort = { effort: 'high' } as const;
    expect(asked('claude-opus-5-5', effort, ['no_effort'])).toEqual({
      thinking: shown,
      effort: undefined,
    });
    expect(asked('claude-opus-5-5', effort, ['no_display'])).toEqual({
      thinking: { type: 'adaptive' },
      effort: 'high',
    });
    expect(asked('claude-sonnet-5', { effort: 'none' }, ['no_thinking_off'])).toEqual({
      thinking: shown,
      effort: 'low',
    });
    expect(asked('claude-opus-5-5', {}, ['no_thinking_field'])).toEqual({
      thinking: undefined,
      effort: undefined,
    });
  });
});

describe('askedBudget', () => {
  const budgetOf = (
    reasoning: ReasoningOptions,
    least: number,
    most: number,
    mostOutputTokens = 128_000,
  ) =>
    askedBudget({
      reasoning,
      abilities: {
        ...chatRequestOf('m').abilities,
        thinking: ['budget', 'off'],
        efforts: ['low', 'medium', 'high', 'max'],
        budgetTokens: { least, most },
      },
      mostOutputTokens,
    });

  it('stays within what the model takes', () => {
    expect(budgetOf({ effort: 'max' }, 128, 24_576)).toBe(24_576);
    expect(budgetOf({ budgetTokens: 5 }, 128, 24_576)).toBe(128);
    expect(budgetOf({ budgetTokens: 90_000 }, 128, 90_000)).toBe(64_000);
  });

  it.each([
    [64_000, 32_000],
    [63_999, 16_384],
    [32_000, 16_000],
    [31_999, 8_192],
    [16_000, 8_000],
    [15_999, 4_096],
    [4_000, 2_000],
    [3_999, 1_024],
    [2_048, 1_024],
    [2_047, undefined],
  ])('takes a step of at most half: of %i tokens %j', (mostOutputTokens, budget) => {
    expect(budgetOf({ effort: 'max' }, 1_024, 63_999, mostOutputTokens)).toBe(budget);
  });

  it('stays the same over steps that each leave a little less room', () => {
    const rooms = Array.from({ length: 15 }, (_, step) => 31_000 - step * 1_000);
    const budgets = rooms.map((room) => budgetOf({ effort: 'high' }, 1_024, 63_999, room));
    expect(new Set(budgets)).toEqual(new Set([8_192]));
  });

  it('is none where nothing is wished, or no thought', () => {
    expect(budgetOf({}, 128, 24_576)).toBeUndefined();
    expect(budgetOf({ effort: 'none', budgetTokens: 5_000 }, 128, 24_576)).toBeUndefined();
  });
});

describe('createAnthropicProvider', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const providerOf = (deps = createTestDeps()) =>
    createAnthropicProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('anthropic') });

  it('asks every model of the catalog in a way that it takes', async () => {
    const provider = providerOf();
    const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
    const wishes: ReasoningOptions[] = [
      {},
      { budgetTokens: 3_000 },
      { summary: 'none' },
      ...efforts.map((effort) => ({ effort })),
    ];
    for (const model of models) {
      for (const reasoning of wishes) {
        const request = chatRequestOf(model, 'Hi', { reasoning, mostOutputTokens: 32_000 });
        await collect(provider.stream(request, never));
      }
    }
    expect(server.requests).toHaveLength(models.length * wishes.length);
    expect(models.length).toBeGreaterThan(15);
    expect(server.requests.flatMap(({ objection }) => objection ?? [])).toEqual([]);
  });

  it.each<[string, ReasoningOptions, object]>([
    // The catalog says that each can rest; this server says it cannot.
    ['claude-opus-5-5', { effort: 'none' }, { thinking: shown, output_config: { effort: 'low' } }],
    ['claude-opus-5-5', { budgetTokens: 4_000 }, { model: 'claude-opus-5-5' }],
  ])('finds the cure for a form that %s refuses, once', async (model, reasoning, cured) => {
    const deps = createTestDeps();
    const told = chatRequestOf(model).abilities;
    const abilities = {
      ...told,
      thinking:
        reasoning.effort === 'none' ? ([...told.thinking, 'off'] as const) : (['budget'] as const),
    };
    const request = chatRequestOf(model, 'Hi', {
      reasoning,
      abilities,
      mostOutputTokens: 32_000,
    });
    await collect(providerOf(deps).stream(request, never));
    await collect(providerOf(deps).stream(request, never));
    const refused = server.requests.map(({ objection }) => objection !== undefined);
    expect(refused).toEqual([true, false, false]);
    expect(server.requests[1]?.body).toMatchObject(cured);
    expect(server.requests[2]?.body).toEqual(server.requests[1]?.body);
  });

  it.each([
    ['This model does not support the effort parameter.', 'output_config'],
    ['output_config: Extra inputs are not permitted', 'output_config'],
    ['thinking.adaptive.display: Extra inputs are not permitted', 'display'],
  ])('drops what a gateway says it does not know: %s', async (message, field) => {
    server.script({ kind: 'status', status: 400, message });
    const request = chatRequestOf('claude-opus-5-5', 'Hi', { reasoning: { effort: 'high' } });
    await collect(providerOf().stream(request, never));
    const has = server.requests.map(({ body }) => JSON.stringify(body).includes(`"${field}"`));
    expect(has).toEqual([true, false]);
    expect(server.requests[1]?.body).toMatchObject({ thinking: { type: 'adaptive' } });
  });
});
