/** The check-up of the models: each provider's key and address, and each model that is named. */

import { type BotError, botErrorOf } from '../base/errors.ts';
import type { Finding } from '../base/finding.ts';
import type { ProviderRegistry } from '../providers/registry.ts';
import type { Settings } from './settings.ts';

const listTimeoutMs = 15_000;

type Listed = { readonly ids: readonly string[] } | { readonly error: BotError };

/** Tells one line a provider and a model, as soon as it is known. */
export async function examineModels(
  registry: ProviderRegistry,
  { config }: Settings,
  tell: (finding: Finding) => void,
): Promise<void> {
  const names = namedModels(registry, config);
  for (const provider of registry.names()) {
    const listed = await listOf(registry, provider);
    tell(providerFinding(provider, listed));
    if ('error' in listed) continue;
    for (const name of names) {
      const { model } = registry.resolve(name);
      if (name.startsWith(`${provider}/`)) tell(modelFinding(name, model, listed.ids));
    }
  }
  const { usdPerRun, usdPerDay } = config.limits;
  if (usdPerRun === undefined && usdPerDay === undefined) return;
  for (const name of names) {
    if (registry.resolve(name).facts.prices !== undefined) continue;
    tell({
      state: 'warning',
      what: 'limits',
      text: `A limit in US dollars is set, but the prices of ${name} are unknown, so its use does not count: add them to config/models.yaml.`,
    });
  }
}

/** The default, those of channels and those that take over, by their full names. */
function namedModels(registry: ProviderRegistry, config: Settings['config']): readonly string[] {
  const { fallback = 'off' } = config.models;
  const named = [
    registry.defaultModel.name,
    ...config.channels.flatMap(({ model }) => (model === undefined ? [] : [model])),
    ...(fallback === 'off' ? [] : fallback),
  ];
  return [...new Set(named.map((name) => registry.resolve(name).name))];
}

async function listOf(registry: ProviderRegistry, provider: string): Promise<Listed> {
  try {
    const signal = AbortSignal.timeout(listTimeoutMs);
    const models = await registry.provider(provider).listModels(signal);
    return { ids: models.map(({ id }) => id) };
  } catch (thrown) {
    return { error: botErrorOf(thrown) };
  }
}

function providerFinding(provider: string, listed: Listed): Finding {
  const what = `provider ${provider}`;
  if ('ids' in listed)
    return { state: 'ok', what, text: `It answers; models: ${listed.ids.length}.` };
  const { error } = listed;
  // Some servers have no list, which is no fault; so does a wrong address.
  if (error.code === 'bad_request') {
    return {
      state: 'warning',
      what,
      text: `${error.message} If its address is right (the …_BASE_URL variable, or baseUrl), only a message will show whether key and model are.`,
    };
  }
  const isLost = ['connection_lost', 'overloaded', 'internal'].includes(error.code);
  const cure = isLost
    ? ' Look at the network, HTTPS_PROXY and its address (…_BASE_URL, baseUrl).'
    : '';
  return { state: 'problem', what, text: `${error.message}${cure}` };
}

function modelFinding(name: string, model: string, ids: readonly string[]): Finding {
  const what = `model ${name}`;
  if (ids.includes(model)) return { state: 'ok', what, text: 'Its provider lists it.' };
  return {
    state: 'warning',
    what,
    text: 'Its provider does not list it: look at its name (DECKHAND_MODEL, models.model, models.fallback, the channel’s model).',
  };
}
