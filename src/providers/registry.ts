/**
 * From a model's name to the provider that speaks to it. Providers are made when first asked for;
 * their SDKs load with the first request.
 */

import { BotError } from '../base/errors.ts';
import type { Catalog, ListingProvider, ModelFacts } from './catalog.ts';
import { serverAt } from './compatible/profiles.ts';
import type { ProviderDeps } from './deps.ts';
import { createRehearsalProvider } from './rehearsal/provider.ts';
import { createServers, type Server, type Servers } from './servers.ts';
import type { ProviderSettings } from './settings.ts';

export interface ResolvedModel {
  readonly provider: ListingProvider;
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
    /** A clause: "ANTHROPIC_API_KEY is set" */
    readonly why: string;
  };
  /**
   * The model of a name `provider/model` or of an alias; the default one without a name. Throws BotError
   * model_unknown (no such provider, no model named) or auth_failed (its key is missing).
   */
  resolve(name?: string): ResolvedModel;
  /** The provider of this name; throws like `resolve`. */
  provider(name: string): ListingProvider;
  /**
   * Providers that were set up and can be used, in the order of the default model; the one of the
   * default model is always among them.
   */
  names(): readonly string[];
  /** The described models of these providers, for people to choose from. */
  models(): readonly ModelFacts[];
}

const mostAskedTokens = 32_000;
const rehearsal = 'rehearsal';

/** Throws like `resolve` when the settings name a default model that cannot be used, and
 * config_invalid when a named server makes no sense. */
export function createProviderRegistry(
  deps: ProviderDeps,
  settings: ProviderSettings,
  catalog: Catalog,
): ProviderRegistry {
  const servers = createServers(deps, settings);
  const made = new Map<string, ListingProvider>();
  const providerOf = (provider: string, name: string): ListingProvider => {
    const known = made.get(provider);
    if (known !== undefined) return known;
    const created =
      provider === rehearsal
        ? createRehearsalProvider(deps)
        : serverOf(servers, provider, name).create(name);
    made.set(provider, created);
    return created;
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
    const facts = factsOf(catalog, settings, name.slice(0, slash), model);
    return {
      provider: providerOf(name.slice(0, slash), name),
      name,
      model,
      facts,
      mostOutputTokens: Math.min(facts.mostOutputTokens, mostAskedTokens),
    };
  };
  const { name: named, why } = defaultModelOf(settings, servers);
  const { name: defaultName } = resolveName(named);
  const defaultModel = { name: defaultName, why };
  const defaultProvider = defaultName.slice(0, defaultName.indexOf('/'));
  const names = [
    ...new Set([
      ...servers.all.filter(({ isReady }) => isReady).map(({ name }) => name),
      defaultProvider,
    ]),
  ];
  return {
    defaultModel,
    resolve: (name = defaultModel.name) => resolveName(name),
    provider: (name) => providerOf(name, name),
    names: () => names,
    models: () => names.flatMap((name) => catalog.modelsOf(name)),
  };
}

/** A vendor's models by its other API, or at its own address, are the same models. */
function factsOf(
  catalog: Catalog,
  settings: ProviderSettings,
  provider: string,
  model: string,
): ModelFacts {
  const name = `${provider}/${model}`;
  const facts = catalog.factsOf(name);
  if (facts.isKnown) return facts;
  const at = provider === 'compatible' ? serverAt(settings.compatible?.baseUrl ?? '') : undefined;
  const vendor = provider === 'openai-chat' || at === 'openai-chat' ? 'openai' : at;
  if (vendor === undefined) return facts;
  return { ...catalog.factsOf(`${vendor}/${model}`), name };
}

function serverOf(servers: Servers, provider: string, name: string): Server {
  const server = servers.all.find((one) => one.name === provider);
  if (server !== undefined) return server;
  const known = [...servers.all.map((one) => one.name), rehearsal].join(', ');
  throw new BotError(
    'model_unknown',
    `No provider is called "${provider}" (in "${name}"). Write provider/model with one of: ${known}.`,
    { facts: { name } },
  );
}

function defaultModelOf(
  settings: ProviderSettings,
  { all }: Servers,
): ProviderRegistry['defaultModel'] {
  if (settings.model !== undefined) {
    return { name: settings.model, why: 'DECKHAND_MODEL (or models.model) names it' };
  }
  const ready = all.filter(({ isReady, isDefault }) => isReady && isDefault);
  const first = ready.find(({ defaultModel }) => defaultModel !== undefined);
  if (first?.defaultModel !== undefined) {
    return { name: `${first.name}/${first.defaultModel}`, why: `${first.setBy} is set` };
  }
  const [nameless] = ready;
  if (nameless !== undefined) {
    throw new BotError(
      'model_unknown',
      `${nameless.setBy} is set, but no model is named: set DECKHAND_MODEL=${nameless.name}/<model>.`,
      { facts: { provider: nameless.name } },
    );
  }
  const keys = all.flatMap(({ keyVariable }) => keyVariable ?? []);
  return {
    name: 'rehearsal/rehearsal',
    why: `no key is set (${[...new Set(keys)].join(', ')})`,
  };
}
