/**
 * From a model's name to the provider that speaks to it. Providers are made when first asked for;
 * their SDKs load with the first request.
 */

import { BotError } from '../base/errors.ts';
import type { ChatProvider } from '../messages/chat.ts';
import { createAnthropicProvider } from './anthropic/provider.ts';
import type { Catalog, ModelFacts } from './catalog.ts';
import { createCompatibleProvider } from './compatible/provider.ts';
import type { ProviderDeps, ProviderOptions } from './deps.ts';
import { createGeminiProvider } from './gemini/provider.ts';
import { createOpenaiProvider } from './openai/provider.ts';
import { createRehearsalProvider } from './rehearsal/provider.ts';
import type { ProviderSettings } from './settings.ts';

export interface ResolvedModel {
  readonly provider: ChatProvider;
  /** `provider/model`. */
  readonly name: string;
  /** The vendor's id, for ChatRequest. */
  readonly model: string;
  readonly facts: ModelFacts;
  /** What to ask for: below the model's own maximum, because some vendors count it against the rate
   * limit in advance. */
  readonly mostOutputTokens: number;
}

export interface ProviderRegistry {
  readonly defaultModel: {
    /** `provider/model`. */
    readonly name: string;
    /** A sentence: "ANTHROPIC_API_KEY is set." */
    readonly why: string;
  };
  /**
   * The model of a name `provider/model` or of an alias; the default one without a name. Throws BotError
   * model_unknown (no such provider, no model named) or auth_failed (its key is missing).
   */
  resolve(name?: string): ResolvedModel;
  /** Described models of the providers that can be used now. */
  models(): readonly ModelFacts[];
}

const mostAskedTokens = 32_000;

const keyedProviders = ['anthropic', 'openai', 'gemini'] as const;
type Keyed = (typeof keyedProviders)[number];

const factsOf: Readonly<
  Record<
    Keyed,
    {
      readonly variable: string;
      readonly model: string;
      readonly create: (deps: ProviderDeps, options: ProviderOptions) => ChatProvider;
    }
  >
> = {
  anthropic: {
    variable: 'ANTHROPIC_API_KEY',
    model: 'claude-sonnet-5-5',
    create: createAnthropicProvider,
  },
  openai: { variable: 'OPENAI_API_KEY', model: 'gpt-6.2-sol', create: createOpenaiProvider },
  gemini: { variable: 'GEMINI_API_KEY', model: 'gemini-3.6-flash', create: createGeminiProvider },
};

/** Throws like `resolve` when the settings name a default model that cannot be used. */
export function createProviderRegistry(
  deps: ProviderDeps,
  settings: ProviderSettings,
  catalog: Catalog,
): ProviderRegistry {
  const made = new Map<string, ChatProvider>();
  const once = (name: string, create: () => ChatProvider): ChatProvider => {
    const provider = made.get(name) ?? create();
    made.set(name, provider);
    return provider;
  };
  const providerOf = (provider: string, name: string): ChatProvider => {
    const keyed = keyedProviders.find((one) => one === provider);
    if (keyed !== undefined) return once(keyed, () => keyedProvider(deps, settings, keyed, name));
    if (provider === 'compatible') return once(provider, () => compatibleProvider(deps, settings));
    if (provider === 'rehearsal') return once(provider, () => createRehearsalProvider(deps));
    const known = [...keyedProviders, 'compatible', 'rehearsal'].join(', ');
    throw new BotError(
      'model_unknown',
      `No provider is called "${provider}" (in "${name}"). Write provider/model with one of: ${known}.`,
      { facts: { name } },
    );
  };
  const resolveName = (given: string): ResolvedModel => {
    const name = catalog.nameOf(given);
    const slash = name.indexOf('/');
    // The model's id may hold slashes itself: `compatible/qwen/qwen3`.
    const model = name.slice(slash + 1);
    if (slash < 1 || model === '') {
      throw new BotError(
        'model_unknown',
        `"${name}" names no model. Write provider/model, like anthropic/claude-sonnet-5-5.`,
        { facts: { name } },
      );
    }
    const facts = catalog.factsOf(name);
    return {
      provider: providerOf(name.slice(0, slash), name),
      name,
      model,
      facts,
      mostOutputTokens: Math.min(facts.mostOutputTokens, mostAskedTokens),
    };
  };
  const defaultModel = defaultModelOf(settings);
  resolveName(defaultModel.name);
  const isUsable = (provider: string): boolean => {
    const keyed = keyedProviders.find((one) => one === provider);
    return keyed === undefined ? provider === 'rehearsal' : settings[keyed]?.apiKey !== undefined;
  };
  return {
    defaultModel,
    resolve: (name = defaultModel.name) => resolveName(name),
    models: () =>
      [...keyedProviders, 'rehearsal']
        .filter(isUsable)
        .flatMap((provider) => catalog.modelsOf(provider)),
  };
}

function defaultModelOf(settings: ProviderSettings): ProviderRegistry['defaultModel'] {
  if (settings.model !== undefined) {
    return { name: settings.model, why: 'DECKHAND_MODEL (or models.model) names it.' };
  }
  const keyed = keyedProviders.find((provider) => settings[provider]?.apiKey !== undefined);
  if (keyed !== undefined) {
    const { variable, model } = factsOf[keyed];
    return { name: `${keyed}/${model}`, why: `${variable} is set.` };
  }
  if (settings.compatible?.baseUrl !== undefined) {
    throw new BotError(
      'model_unknown',
      'COMPATIBLE_BASE_URL is set, but no model is named: set DECKHAND_MODEL=compatible/<model>.',
    );
  }
  return {
    name: 'rehearsal/rehearsal',
    why: 'No key is set (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY).',
  };
}

function keyedProvider(
  deps: ProviderDeps,
  settings: ProviderSettings,
  provider: Keyed,
  name: string,
): ChatProvider {
  const { variable, create } = factsOf[provider];
  const { apiKey, baseUrl } = settings[provider] ?? {};
  if (apiKey === undefined) {
    throw new BotError('auth_failed', `${name} needs a key: set ${variable}.`, {
      facts: { provider, variable },
    });
  }
  return create(deps, { apiKey, ...(baseUrl === undefined ? {} : { baseUrl }) });
}

function compatibleProvider(deps: ProviderDeps, settings: ProviderSettings): ChatProvider {
  const { baseUrl, apiKey } = settings.compatible ?? {};
  if (baseUrl === undefined) {
    throw new BotError(
      'model_unknown',
      'compatible/… needs the address of its server: set COMPATIBLE_BASE_URL.',
      { facts: { provider: 'compatible', variable: 'COMPATIBLE_BASE_URL' } },
    );
  }
  return createCompatibleProvider(deps, { baseUrl, ...(apiKey === undefined ? {} : { apiKey }) });
}
