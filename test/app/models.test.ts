/** The models as runs use them: chains, what may be chosen, waits. */

import { describe, expect, it } from 'vitest';
import { createModels } from '../../src/app/models.ts';
import { botErrorOf } from '../../src/base/errors.ts';
import type { CompletionEvent } from '../../src/providers/completion.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import type { ProviderSettings } from '../../src/providers/settings.ts';
import { say } from '../emulators/model/script.ts';
import { createModelServer } from '../emulators/model-server.ts';
import { chatRequestOf, createTestDeps, testCatalog } from '../support/providers.ts';
import { until } from '../support/until.ts';

function modelsOf(settings: ProviderSettings) {
  const deps = createTestDeps();
  const registry = createProviderRegistry(deps, settings, testCatalog);
  const models = createModels(
    { registry, catalog: testCatalog, clock: deps.clock, log: deps.log, random: () => 0.5 },
    settings,
  );
  return { deps, models };
}

const key = { apiKey: 'k' };

describe('models that may be chosen', () => {
  it('are the described ones of providers with a key, the default first', () => {
    const { models } = modelsOf({ gemini: key });
    const names = models.offered().map(({ name }) => name);
    expect(names[0]).toBe('gemini/gemini-3.6-flash');
    expect(names.every((name) => /^(?:gemini|rehearsal)\//u.test(name))).toBe(true);
  });

  it('are those that the configuration offers, and the default', () => {
    const { models } = modelsOf({ anthropic: key, gemini: key, offered: ['gemini/*'] });
    const names = models.offered().map(({ name }) => name);
    expect(names[0]).toBe('anthropic/claude-sonnet-5-5');
    expect(names.slice(1).every((name) => name.startsWith('gemini/'))).toBe(true);
    expect(models.choosable('sonnet')).toBe('anthropic/claude-sonnet-5-5');
    expect(models.choosable('gemini/brand-new')).toBe('gemini/brand-new');
    expect(() => models.choosable('anthropic/claude-haiku-5-5')).toThrow(/not offered here/u);
    expect(() => models.choosable('openai/gpt-6.2-sol')).toThrow(/OPENAI_API_KEY/u);
  });
});

describe('patterns of offered models', () => {
  it.each([
    [['haiku'], 'anthropic/claude-haiku-5-5', true],
    [['*'], 'anthropic/claude-haiku-5-5', true],
    [['anthropic/*'], 'anthropic/claude-haiku-5-5', true],
    [['openrouter/*'], 'openrouter/qwen/qwen3', true],
    [['openrouter/qwen/*'], 'openrouter/z-ai/glm-5.3', false],
    [['gemini/*'], 'anthropic/claude-haiku-5-5', false],
  ])('%j offer %s: %s', (offered, name, isOffered) => {
    const providers = { openrouter: { apiKey: 'k', speaks: 'chat' } } as const;
    const { models } = modelsOf({ anthropic: key, providers, offered, model: 'sonnet' });
    const choose = (): string => {
      try {
        return models.choosable(name);
      } catch (thrown) {
        return botErrorOf(thrown).code;
      }
    };
    expect(choose()).toBe(isOffered ? name : 'model_unknown');
  });

  it('let the default be chosen by its full name, though it is set by an alias', () => {
    const { models } = modelsOf({ anthropic: key, offered: [], model: 'sonnet' });
    expect(models.choosable('anthropic/claude-sonnet-5-5')).toBe('anthropic/claude-sonnet-5-5');
  });
});

describe('a model that cannot be asked', () => {
  it('gives way to the next of the chain', () => {
    const { models } = modelsOf({ anthropic: key, fallback: ['anthropic/claude-haiku-5-5'] });
    expect(models.modelOf('openai/gpt-6.2-sol').name).toBe('openai/gpt-6.2-sol');
  });

  it('is an error that says what to set, where there is no other', () => {
    const { models } = modelsOf({ anthropic: key });
    expect(() => models.modelOf('openai/gpt-6.2-sol')).toThrow(/set OPENAI_API_KEY/u);
  });
});

describe('the chain', () => {
  it('asks the next model when the first is overloaded, on another wire', async () => {
    const server = await createModelServer();
    try {
      const settingsOf = (wire: 'anthropic' | 'openai') => ({
        apiKey: 'k',
        baseUrl: server.baseUrl(wire),
      });
      const { deps, models } = modelsOf({
        anthropic: settingsOf('anthropic'),
        openai: settingsOf('openai'),
        fallback: ['anthropic/claude-sonnet-5-5', 'gemini/no-key', 'openai/gpt-6.2-sol'],
      });
      const overloaded = {
        kind: 'status',
        status: 529,
        type: 'overloaded_error',
        message: 'Overloaded',
      } as const;
      server.script(overloaded, overloaded, say('From the other one.'));
      const events: CompletionEvent[] = [];
      const running = (async () => {
        const { complete } = models.modelOf(undefined);
        const prompt = chatRequestOf('any');
        for await (const event of complete(prompt, new AbortController().signal, async () => {})) {
          events.push(event);
        }
      })();
      // Time moves on only while a wait is due: the network is real.
      await until(async () => {
        if (events.at(-1)?.kind === 'retry_waiting') await deps.clock.advance(5000);
        return events.some(({ kind }) => kind === 'message_end');
      }, 20_000);
      await running;
      expect(server.requests.map(({ wire }) => wire)).toEqual(['anthropic', 'anthropic', 'openai']);
      expect(events.find(({ kind }) => kind === 'model_switched')).toMatchObject({
        from: 'anthropic/claude-sonnet-5-5',
        to: 'openai/gpt-6.2-sol',
        reason: 'anthropic is overloaded',
      });
      expect(deps.log.lines.map(({ event }) => event)).toContain('fallback_not_available');
    } finally {
      await server.close();
    }
  });
});
