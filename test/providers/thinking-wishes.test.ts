/** Wishes that a model knows no name for, and budgets beside a lowered output. */

import { describe, expect, it } from 'vitest';
import type { Abilities, ReasoningOptions } from '../../src/messages/model.ts';
import { unknownAbilities } from '../../src/messages/model.ts';
import { anthropicRequest } from '../../src/providers/anthropic/request.ts';
import { knownServers, type ServerName } from '../../src/providers/compatible/profiles.ts';
import { chatRequest } from '../../src/providers/compatible/request.ts';
import { geminiRequest } from '../../src/providers/gemini/request.ts';
import { objectOf } from '../emulators/model/wire.ts';
import { chatRequestOf } from '../support/providers.ts';

const origin = { provider: 'p', endpoint: 'https://example.org', model: 'm' };
const withTools: readonly string[] = ['model', 'stream', 'messages', 'max_tokens'];

function bodyOf(
  server: ServerName,
  abilities: Partial<Abilities>,
  reasoning: ReasoningOptions,
  learned: readonly string[] = [],
): object {
  const request = chatRequestOf('m', 'Hi', {
    abilities: { ...unknownAbilities, ...abilities },
    reasoning,
    tools: [],
    mostOutputTokens: 64_000,
  });
  const body = objectOf(chatRequest(request, origin, knownServers[server], new Set(learned)));
  const { stream_options: _options, ...rest } = body;
  return Object.fromEntries(Object.entries(rest).filter(([key]) => !withTools.includes(key)));
}

describe('a model that can only be on or off', () => {
  const onOrOff = { thinking: ['off'] } as const;
  it.each<[ServerName, object, object]>([
    [
      'glm',
      { thinking: { type: 'enabled', clear_thinking: false } },
      { thinking: { type: 'disabled' } },
    ],
    ['deepseek', { thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
    ['qwen', { enable_thinking: true }, { enable_thinking: false }],
    ['openrouter', { reasoning: { enabled: true } }, { reasoning: { effort: 'none' } }],
    [
      'vllm',
      { chat_template_kwargs: { enable_thinking: true } },
      { chat_template_kwargs: { enable_thinking: false } },
    ],
  ])('is on at %s whatever else is wished than none', (server, on, off) => {
    for (const effort of ['minimal', 'low', 'high', 'max'] as const) {
      expect(bodyOf(server, onOrOff, { effort })).toEqual(on);
    }
    expect(bodyOf(server, onOrOff, { effort: 'none' })).toEqual(off);
  });

  it('is asked for a budget where it has one, by whatever name', () => {
    const abilities = { thinking: ['budget', 'off'] } as const;
    expect(bodyOf('qwen', abilities, { effort: 'medium' })).toEqual({
      enable_thinking: true,
      thinking_budget: 8_192,
    });
    expect(bodyOf('qwen', abilities, { effort: 'high', budgetTokens: 0 })).toEqual({
      enable_thinking: false,
    });
  });
});

describe('a budget beside an output limit that was learned', () => {
  const wish = { mostOutputTokens: 64_000, reasoning: { effort: 'high' } } as const;
  const learned = new Set(['most_output:8192', 'most_output:20000']);

  it('takes at most half of what is really asked for', () => {
    const gemini = geminiRequest(chatRequestOf('gemini-2.5-flash', 'Hi', wish), origin, learned);
    expect(gemini.config).toMatchObject({
      maxOutputTokens: 8_192,
      thinkingConfig: { thinkingBudget: 4_096 },
    });
    const claude = anthropicRequest(chatRequestOf('claude-haiku-4-5', 'Hi', wish), origin, learned);
    expect(claude).toMatchObject({ max_tokens: 8_192, thinking: { budget_tokens: 4_096 } });
    const abilities = { thinking: ['budget'], efforts: ['high'] } as const;
    const { reasoning } = wish;
    expect(bodyOf('qwen', abilities, reasoning, [...learned])).toMatchObject({
      thinking_budget: 4_096,
    });
    expect(bodyOf('openrouter', abilities, reasoning, [...learned])).toMatchObject({
      reasoning: { max_tokens: 4_096 },
    });
  });

  it('of no tokens turns thinking off, and is the least one where that cannot be', () => {
    const configOf = (model: string): unknown =>
      geminiRequest(
        chatRequestOf(model, 'Hi', { ...wish, reasoning: { budgetTokens: 0 } }),
        origin,
        new Set(),
      ).config.thinkingConfig;
    expect(configOf('gemini-2.5-flash')).toEqual({ thinkingBudget: 0 });
    expect(configOf('gemini-2.5-pro')).toMatchObject({ thinkingBudget: 128 });
    const rests = { ...wish, reasoning: { effort: 'high', budgetTokens: 0 } } as const;
    expect(
      anthropicRequest(chatRequestOf('claude-haiku-4-5', 'Hi', rests), origin, new Set()).thinking,
    ).toEqual({ type: 'disabled' });
  });
});
