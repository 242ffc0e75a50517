/**
 * What is known of each model: the file `config/models.yaml`, completed by what the vendors' own
 * lists tell. A model that nobody described can be used; its abilities and prices are unknown.
 */

import type { ChatProvider } from '../messages/chat.ts';
import { type Abilities, unknownAbilities } from '../messages/model.ts';
import type { ModelEntry, Prices } from './settings.ts';

/** What a vendor's list endpoint told of a model; the rest stands in the file or is unknown. */
export interface ListedModel {
  /** The vendor's id. */
  readonly id: string;
  readonly window?: number;
  readonly mostOutputTokens?: number;
  readonly abilities?: Partial<Abilities>;
  readonly prices?: Prices;
}

/** A provider whose server lists its models: for the catalog, and for checking a key. */
export interface ListingProvider extends ChatProvider {
  /** All models that this key may use. Throws a BotError like `stream`. */
  listModels(signal: AbortSignal): Promise<readonly ListedModel[]>;
}

export interface ModelFacts {
  /** `provider/model`. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Tokens of prompt and answer together. */
  readonly window: number;
  /** Most tokens of one answer that the model can give. */
  readonly mostOutputTokens: number;
  readonly abilities: Abilities;
  readonly prices?: Prices;
  /** Whether anybody described it. */
  readonly isKnown: boolean;
}

export interface Catalog {
  /** `provider/model` of a name or alias; a name that nobody knows is returned as it is. */
  nameOf(nameOrAlias: string): string;
  factsOf(name: string): ModelFacts;
  /** Facts of all described models of a provider, in the file's order, then the listed ones. */
  modelsOf(provider: string): readonly ModelFacts[];
  /** Takes over what a provider's list endpoint told. */
  complete(provider: string, listed: readonly ListedModel[]): void;
}

const unknownFacts = {
  aliases: [],
  window: 128_000,
  mostOutputTokens: 8_000,
  abilities: unknownAbilities,
  isKnown: false,
} as const;

export function createCatalog(entries: readonly ModelEntry[]): Catalog {
  const facts = new Map<string, ModelFacts>();
  const aliases = new Map<string, string>();
  for (const { id, provider, date: _date, ...rest } of entries) {
    const name = `${provider}/${id}`;
    facts.set(name, { ...rest, name, isKnown: true });
    for (const alias of rest.aliases) aliases.set(alias, name);
  }
  return {
    nameOf: (name) => aliases.get(name) ?? name,
    factsOf: (name) => facts.get(name) ?? { ...unknownFacts, name },
    modelsOf: (provider) =>
      [...facts.values()].filter(({ name }) => name.startsWith(`${provider}/`)),
    complete: (provider, listed) => {
      for (const { id, abilities, ...rest } of listed) {
        // A name alone describes nothing; it may be a model for embeddings.
        if (abilities === undefined && Object.keys(rest).length === 0) continue;
        const name = `${provider}/${id}`;
        const known = facts.get(name) ?? { ...unknownFacts, name };
        const prices = rest.prices && { ...known.prices, ...rest.prices };
        facts.set(name, {
          ...known,
          ...rest,
          ...(prices ? { prices } : {}),
          abilities: { ...known.abilities, ...abilities },
          isKnown: true,
        });
      }
    },
  };
}
