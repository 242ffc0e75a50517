/** Which model answers, and why. */

import { describe, expect, it } from 'vitest';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { type ProviderSettings, providerSettingsSchema } from '../../src/providers/settings.ts';
import { createTestDeps, testCatalog } from '../support/providers.ts';

const registryOf = (settings: ProviderSettings) =>
  createProviderRegistry(createTestDeps(), settings, testCatalog);
const key = { apiKey: 'k' };
const compatible = { baseUrl: 'http://127.0.0.1:11434/v1' };

describe('the default model', () => {
  it.each<[ProviderSettings, string, RegExp]>([
    [{}, 'rehearsal/rehearsal', /No key is set/u],
    [{ anthropic: key, openai: key }, 'anthropic/claude-sonnet-5-5', /ANTHROPIC_API_KEY is set/u],
    [{ openai: key, gemini: key }, 'openai/gpt-6.2-sol', /OPENAI_API_KEY is set/u],
    [{ gemini: key, compatible }, 'gemini/gemini-3.6-flash', /GEMINI_API_KEY is set/u],
    [{ model: 'compatible/qwen/qwen3', compatible }, 'compatible/qwen/qwen3', /DECKHAND_MODEL/u],
    [{ model: 'rehearsal/rehearsal', anthropic: key }, 'rehearsal/rehearsal', /DECKHAND_MODEL/u],
  ])('of %j is %s', (settings, name, why) => {
    const registry = registryOf(settings);
    expect(registry.defaultModel.name).toBe(name);
    expect(registry.defaultModel.why).toMatch(why);
    expect(registry.resolve().name).toBe(name);
  });

  it.each<[ProviderSettings, string, RegExp]>([
    [{ compatible }, 'model_unknown', /DECKHAND_MODEL=compatible\/<model>/u],
    [{ model: 'anthropic/claude-opus-5-5' }, 'auth_failed', /set ANTHROPIC_API_KEY/u],
    [{ model: 'openai/gpt-6.2-sol', gemini: key }, 'auth_failed', /set OPENAI_API_KEY/u],
    [{ model: 'compatible/m' }, 'model_unknown', /set COMPATIBLE_BASE_URL/u],
    [{ model: 'gpt-6' }, 'model_unknown', /names no model/u],
    [{ model: 'openai/' }, 'model_unknown', /names no model/u],
    [{ model: 'acme/one' }, 'model_unknown', /anthropic, openai, gemini, compatible, rehearsal/u],
  ])('of %j is refused as %s', (settings, code, sentence) => {
    const make = () => registryOf(settings);
    expect(make).toThrow(expect.objectContaining({ code }));
    expect(make).toThrow(sentence);
  });
});

describe('resolve', () => {
  it('gives provider, vendor id and limits, each provider made once', () => {
    const registry = registryOf({ anthropic: key, openai: key });
    const model = registry.resolve('openai/gpt-6.2-sol');
    expect(model).toMatchObject({
      name: 'openai/gpt-6.2-sol',
      model: 'gpt-6.2-sol',
      facts: { window: 1_050_000, isKnown: true },
      mostOutputTokens: 32_000,
    });
    expect(model.provider.name).toBe('openai');
    expect(registry.resolve('openai/gpt-5.5').provider).toBe(model.provider);
    expect(registry.resolve('rehearsal/rehearsal').provider.name).toBe('rehearsal');
  });
});

describe('providerSettingsSchema', () => {
  it('takes nothing at all, and refuses unknown keys', () => {
    expect(providerSettingsSchema.parse({})).toEqual({});
    expect(providerSettingsSchema.safeParse({ anthropic: { key: 'x' } }).success).toBe(false);
    expect(providerSettingsSchema.safeParse({ openai: { baseUrl: 'nonsense' } }).success).toBe(
      false,
    );
  });
});
