/**
 * Every server that could be spoken to: the vendors with APIs of their own, the known Chat
 * Completions servers, `compatible`, and those that the settings name. Which are set up, and how to
 * make their provider.
 */

import { BotError } from '../base/errors.ts';
import { createAnthropicProvider } from './anthropic/provider.ts';
import type { ListingProvider } from './catalog.ts';
import { isServerName, knownServers, type ServerName, serverNames } from './compatible/profiles.ts';
import { createCompatibleProvider } from './compatible/provider.ts';
import type { ProviderDeps } from './deps.ts';
import { createGeminiProvider } from './gemini/provider.ts';
import { createOpenaiProvider } from './openai/provider.ts';
import type { NamedProviderSettings, ProviderSettings } from './settings.ts';

export interface Server {
  /** The word before the slash of its models. */
  readonly name: string;
  /** Its key, or the address that takes a key's place, is set. */
  readonly isReady: boolean;
  /** Its model may be the default one. */
  readonly isDefault: boolean;
  /** The variable or setting by which it is ready: `XAI_API_KEY`, `models.providers.acme`. */
  readonly setBy: string;
  readonly keyVariable: string | undefined;
  readonly defaultModel: string | undefined;
  /** Throws auth_failed or model_unknown, naming what to set. `wanted`: for whose sake. */
  create(wanted: string): ListingProvider;
}

export interface Servers {
  /** In the order in which a default model is looked for. */
  readonly all: readonly Server[];
}

type Keyed = NonNullable<ProviderSettings['anthropic']>;

const vendors = [
  {
    name: 'anthropic',
    variable: 'ANTHROPIC_API_KEY',
    model: 'claude-sonnet-5-5',
    create: createAnthropicProvider,
  },
  {
    name: 'openai',
    variable: 'OPENAI_API_KEY',
    model: 'gpt-6.2-sol',
    create: createOpenaiProvider,
  },
  {
    name: 'gemini',
    variable: 'GEMINI_API_KEY',
    model: 'gemini-3.6-flash',
    create: createGeminiProvider,
  },
] as const;

const ownSection = [...vendors.map(({ name }) => name), 'compatible', 'rehearsal'];

/** Throws config_invalid when a named server makes no sense. */
export function createServers(deps: ProviderDeps, settings: ProviderSettings): Servers {
  const named = Object.entries(settings.providers ?? {});
  for (const [name, server] of named) checkNamed(name, server);
  return {
    all: [
      ...vendors.map((vendor) => vendorServer(deps, vendor, settings[vendor.name] ?? {})),
      ...serverNames.map((name) => knownServer(deps, name, settings)),
      compatibleServer(deps, settings.compatible ?? {}),
      ...named
        .filter(([name]) => !isServerName(name))
        .map(([name, server]) => namedServer(deps, name, server)),
    ],
  };
}

function checkNamed(name: string, { profile, baseUrl, speaks }: NamedProviderSettings): void {
  const problem = (what: string): BotError =>
    new BotError('config_invalid', `models.providers.${name}: ${what}`, { facts: { name } });
  if (ownSection.includes(name)) throw problem(`this name is taken; set models.${name} instead.`);
  if (profile !== undefined && !isServerName(profile)) {
    throw problem(`there is no profile "${profile}"; there are ${serverNames.join(', ')}.`);
  }
  if (baseUrl === undefined && (!isServerName(name) || speaks !== 'chat')) {
    throw problem('it needs a baseUrl, the address of its API.');
  }
}

/** A gateway may want its key in a header of its own. */
function hasKey({ apiKey, baseUrl, headers }: Keyed): boolean {
  return apiKey !== undefined || (baseUrl !== undefined && headers !== undefined);
}

function vendorServer(
  deps: ProviderDeps,
  { name, variable, model, create }: (typeof vendors)[number],
  set: Keyed,
): Server {
  const setBy = set.apiKey === undefined ? `models.${name}` : variable;
  return {
    name,
    isReady: hasKey(set),
    isDefault: true,
    setBy,
    keyVariable: variable,
    defaultModel: model,
    create: (wanted) => {
      if (!hasKey(set)) throw keyMissing(wanted, name, variable);
      return create(deps, { ...set, apiKey: set.apiKey ?? 'none', keySetting: setBy });
    },
  };
}

function knownServer(deps: ProviderDeps, name: ServerName, settings: ProviderSettings): Server {
  const known = knownServers[name];
  const own = settings.providers?.[name];
  // OpenAI's key and address serve both of its APIs.
  const shared = name === 'openai-chat' ? settings.openai : undefined;
  const set = { speaks: 'chat', profile: name, ...shared, ...own } as const;
  const { keyVariable, defaultModel } = known;
  const section = `models.providers.${name}`;
  return {
    name,
    // A local server is set up by being named.
    isReady: keyVariable === undefined ? own !== undefined : hasKey(set),
    isDefault: shared === undefined,
    setBy:
      keyVariable === undefined
        ? `${known.baseUrlVariable ?? name} (or ${section})`
        : set.apiKey === undefined
          ? section
          : keyVariable,
    keyVariable,
    defaultModel,
    create: (wanted) => {
      if (keyVariable !== undefined && !hasKey(set)) throw keyMissing(wanted, name, keyVariable);
      const keySetting = set.apiKey === undefined ? section : (keyVariable ?? section);
      return speaker(deps, name, { ...set, baseUrl: set.baseUrl ?? known.baseUrl, keySetting });
    },
  };
}

function compatibleServer(deps: ProviderDeps, set: Keyed): Server {
  const { baseUrl } = set;
  return {
    name: 'compatible',
    isReady: baseUrl !== undefined,
    isDefault: true,
    setBy: 'COMPATIBLE_BASE_URL',
    keyVariable: undefined,
    defaultModel: undefined,
    create: () => {
      const keySetting = 'COMPATIBLE_API_KEY';
      if (baseUrl !== undefined)
        return createCompatibleProvider(deps, { ...set, baseUrl, keySetting });
      throw new BotError(
        'model_unknown',
        'compatible/… needs the address of its server: set COMPATIBLE_BASE_URL.',
        { facts: { provider: 'compatible', variable: 'COMPATIBLE_BASE_URL' } },
      );
    },
  };
}

function namedServer(deps: ProviderDeps, name: string, server: NamedProviderSettings): Server {
  return {
    name,
    isReady: true,
    isDefault: true,
    setBy: `models.providers.${name}`,
    keyVariable: undefined,
    defaultModel: undefined,
    create: () => {
      const keySetting = `models.providers.${name}.apiKey`;
      return speaker(deps, name, { ...server, baseUrl: server.baseUrl ?? '', keySetting });
    },
  };
}

/** The provider for what a server speaks. */
function speaker(
  deps: ProviderDeps,
  name: string,
  server: NamedProviderSettings & { readonly baseUrl: string; readonly keySetting: string },
): ListingProvider {
  const { speaks, profile, ...set } = server;
  switch (speaks) {
    case 'anthropic':
      return createAnthropicProvider(deps, { ...set, name, apiKey: set.apiKey ?? 'none' });
    case 'responses':
      return createOpenaiProvider(deps, { ...set, name, apiKey: set.apiKey ?? 'none' });
    case 'chat': {
      const rules =
        profile !== undefined && isServerName(profile) ? knownServers[profile] : undefined;
      return createCompatibleProvider(deps, {
        ...set,
        name,
        ...(rules === undefined ? {} : { profile: rules }),
      });
    }
  }
}

function keyMissing(wanted: string, provider: string, variable: string): BotError {
  return new BotError('auth_failed', `${wanted} needs a key: set ${variable}.`, {
    facts: { provider, variable },
  });
}
