/** Which model answers, and why. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { variables } from '../../src/config/environment.ts';
import { knownServers, serverNames } from '../../src/providers/compatible/profiles.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { type ProviderSettings, providerSettingsSchema } from '../../src/providers/settings.ts';
import { say } from '../emulators/model/script.ts';
import { createModelServer } from '../emulators/model-server.ts';
import {
  assistantText,
  chatRequestOf,
  collect,
  createTestDeps,
  testCatalog,
  userText,
} from '../support/providers.ts';

const registryOf = (settings: ProviderSettings) =>
  createProviderRegistry(createTestDeps(), settings, testCatalog);
const key = { apiKey: 'k' };
const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
const named = (providers: z.input<typeof providerSettingsSchema>['providers']): ProviderSettings =>
  providerSettingsSchema.parse({ providers });
const compatible = { baseUrl: 'http://127.0.0.1:11434/v1' };

describe('the default model', () => {
  it.each<[ProviderSettings, string, RegExp]>([
    [{}, 'rehearsal/rehearsal', /^no key is set \(/u],
    [{ anthropic: key, openai: key }, 'anthropic/claude-sonnet-5-5', /ANTHROPIC_API_KEY is set/u],
    [{ openai: key, gemini: key }, 'openai/gpt-6.2-sol', /OPENAI_API_KEY is set/u],
    [{ gemini: key, compatible }, 'gemini/gemini-3.6-flash', /GEMINI_API_KEY is set/u],
    [{ model: 'compatible/qwen/qwen3', compatible }, 'compatible/qwen/qwen3', /DECKHAND_MODEL/u],
    [{ model: 'rehearsal/rehearsal', anthropic: key }, 'rehearsal/rehearsal', /DECKHAND_MODEL/u],
    [named({ deepseek: key }), 'deepseek/deepseek-flash', /^DEEPSEEK_API_KEY is set/u],
    [named({ mistral: key, xai: key }), 'xai/grok-4.6', /^XAI_API_KEY is set/u],
    [named({ openrouter: key, glm: key }), 'glm/glm-5.3', /^ZAI_API_KEY is set/u],
    [{ ...named({ ollama: {}, qwen: key }), compatible }, 'qwen/qwen3.8-max', /DASHSCOPE_API_KEY/u],
    [{ ...named({ deepseek: key }), openai: key }, 'openai/gpt-6.2-sol', /OPENAI_API_KEY is set/u],
    [{ ...named({ ollama: {} }), model: 'ollama/qwen3:8b' }, 'ollama/qwen3:8b', /DECKHAND_MODEL/u],
    [{ model: 'vllm/m' }, 'vllm/m', /DECKHAND_MODEL/u],
    [{ openai: key, model: 'openai-chat/gpt-5.4' }, 'openai-chat/gpt-5.4', /DECKHAND_MODEL/u],
  ])('of %j is %s', (settings, name, why) => {
    const registry = registryOf(settings);
    expect(registry.defaultModel.name).toBe(name);
    expect(registry.defaultModel.why).toMatch(why);
    expect(registry.defaultModel.why).toMatch(/[a-z)]$/u); // a clause: it is put in brackets
    expect(registry.resolve().name).toBe(name);
  });

  it.each<[ProviderSettings, string, RegExp]>([
    [{ compatible }, 'model_unknown', /DECKHAND_MODEL=compatible\/<model>/u],
    [{ model: 'anthropic/claude-opus-5-5' }, 'auth_failed', /set ANTHROPIC_API_KEY/u],
    [{ model: 'openai/gpt-6.2-sol', gemini: key }, 'auth_failed', /set OPENAI_API_KEY/u],
    [{ model: 'compatible/m' }, 'model_unknown', /set COMPATIBLE_BASE_URL/u],
    [{ model: 'gpt-6' }, 'model_unknown', /names no model/u],
    [{ model: 'openai/' }, 'model_unknown', /names no model/u],
    [{ model: 'acme/one' }, 'model_unknown', /gemini, deepseek, .* compatible, rehearsal/u],
    [
      named({ openrouter: key }),
      'model_unknown',
      /OPENROUTER_API_KEY is set.*=openrouter\/<model>/u,
    ],
    [named({ ollama: {} }), 'model_unknown', /OLLAMA_BASE_URL .*DECKHAND_MODEL=ollama\/<model>/u],
    [named({ acme: { baseUrl: 'http://a' } }), 'model_unknown', /DECKHAND_MODEL=acme\/<model>/u],
    [{ model: 'xai/grok-4.6' }, 'auth_failed', /xai\/grok-4\.6 needs a key: set XAI_API_KEY/u],
    [{ model: 'glm/glm-5.3' }, 'auth_failed', /set ZAI_API_KEY/u],
    [{ model: 'openai-chat/gpt-5.4' }, 'auth_failed', /set OPENAI_API_KEY/u],
    [named({ acme: {} }), 'config_invalid', /models\.providers\.acme: it needs a baseUrl/u],
    [named({ xai: { ...key, speaks: 'anthropic' } }), 'config_invalid', /needs a baseUrl/u],
    [named({ gemini: key }), 'config_invalid', /taken; set models\.gemini/u],
    [
      named({ acme: { baseUrl: 'http://a', profile: 'acme' } }),
      'config_invalid',
      /no profile "acme"; there are deepseek, /u,
    ],
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

describe('what can be used', () => {
  it('is what was set up, and the default model’s provider', () => {
    const registry = registryOf({
      ...named({ qwen: key, ollama: {}, acme: { baseUrl: 'http://a' } }),
      gemini: key,
      model: 'vllm/m',
    });
    expect(registry.names()).toEqual(['gemini', 'qwen', 'ollama', 'acme', 'vllm']);
    const models = registry.models().map(({ name }) => name);
    expect(models).toContain('gemini/gemini-4-argon');
    expect(models).toContain('qwen/qwen3.8-max');
    expect(models.filter((name) => !/^(?:gemini|qwen)\//u.test(name))).toEqual([]);
    expect(registryOf({}).names()).toEqual(['rehearsal']);
  });

  it('is given by name, to ask for its models', () => {
    const registry = registryOf(named({ qwen: key }));
    expect(registry.provider('qwen').name).toBe('qwen');
    expect(registry.provider('qwen')).toBe(registry.resolve('qwen/qwen3.8-max').provider);
    expect(() => registry.provider('xai')).toThrow(/^xai needs a key: set XAI_API_KEY/u);
  });

  it('of OpenAI is one key for both of its APIs', () => {
    const registry = registryOf({ openai: key });
    expect(registry.names()).toEqual(['openai', 'openai-chat']);
    const { facts, provider } = registry.resolve('openai-chat/gpt-6.2-sol');
    expect(provider.name).toBe('openai-chat');
    expect(facts).toMatchObject({ name: 'openai-chat/gpt-6.2-sol', window: 1_050_000 });
  });

  it('knows a vendor’s models at its own address, whoever named it', () => {
    const at = (baseUrl: string) =>
      registryOf({ compatible: { baseUrl }, model: 'compatible/deepseek-flash' }).resolve().facts;
    expect(at('https://api.deepseek.com')).toMatchObject({
      name: 'compatible/deepseek-flash',
      isKnown: true,
      window: 1_000_000,
    });
    expect(at('https://api.example.org').isKnown).toBe(false);
  });
});

describe('a server of one’s own', () => {
  it.each([
    ['chat', '/base/chat/completions', 'compatible', '/v1'],
    ['anthropic', '/v1/messages', 'anthropic', ''],
    ['responses', '/v1/responses', 'openai', '/v1'],
  ] as const)('that speaks %s is asked at %s', async (speaks, path, wire, end) => {
    const server = await createModelServer();
    server.otherwise(say('Fine.'));
    const baseUrl = speaks === 'chat' ? `${server.url}/base` : `${server.url}${end}`;
    const { provider, model } = registryOf({
      ...named({ acme: { speaks, baseUrl, apiKey: 'own' } }),
      model: 'acme/m',
    }).resolve();
    const never = new AbortController().signal;
    await collect(provider.stream(chatRequestOf(model, 'Hi', { tools: [] }), never));
    expect(server.requests.map((seen) => [seen.wire, seen.path])).toEqual([[wire, path]]);
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer own');
    await server.close();
  });

  it('goes by its name, with its own headers over ours and the profile it follows', async () => {
    const server = await createModelServer();
    server.otherwise(say('Fine.'));
    const registry = registryOf({
      ...named({
        acme: {
          baseUrl: server.baseUrl('compatible'),
          headers: { Authorization: 'Key abc', 'X-Team': 'ops' },
          profile: 'deepseek',
        },
      }),
      model: 'acme/m',
    });
    const { provider, model } = registry.resolve();
    const never = new AbortController().signal;
    const events = await collect(provider.stream(chatRequestOf(model), never));
    expect(events[0]).toMatchObject({ kind: 'message_start', origin: { provider: 'acme' } });
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'Key abc',
      'x-team': 'ops',
    });
    const messages = [userText('a'), assistantText('b'), userText('c')];
    await collect(provider.stream(chatRequestOf(model, messages), never));
    expect(JSON.stringify(server.requests[1]?.body)).toContain('"reasoning_content":""');
    await server.close();
  });
});

describe('the variables', () => {
  it('set the keys and addresses of all known servers, keys as secrets', () => {
    const found = serverNames.flatMap((name) => {
      const { keyVariable, baseUrlVariable } = knownServers[name];
      return [
        ...(keyVariable === undefined ? [] : [{ name: keyVariable, isSecret: true }]),
        ...(baseUrlVariable === undefined ? [] : [{ name: baseUrlVariable, isSecret: false }]),
      ];
    });
    expect(found.length).toBeGreaterThan(9);
    for (const one of found) {
      expect(variables).toContainEqual(expect.objectContaining(one));
      expect(example).toMatch(new RegExp(`^(?:# )?${one.name}=`, 'mu'));
    }
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
