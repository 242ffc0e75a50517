/**
 * The models as runs use them: the one that is asked, with those that take over when it fails, and
 * which of them people may choose.
 */

import picomatch from 'picomatch';
import type { Clock } from '../base/clock.ts';
import { BotError, botErrorOf } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import { offeredEfforts } from '../messages/model.ts';
import type { Catalog } from '../providers/catalog.ts';
import { createCompletion, type MissingModel } from '../providers/completion.ts';
import type {
  ProviderRegistry,
  ResolvedModel as ResolvedCandidate,
} from '../providers/registry.ts';
import type { ProviderSettings } from '../providers/settings.ts';
import type { OfferedModel, ResolvedModel } from '../runs/deps.ts';

export interface Models {
  /**
   * The model of a name, or the default one, with those that take over when it fails. `standIn`: the
   * one that took over in this run already. Throws a BotError that says which setting to look at,
   * where neither the model nor any other can be asked.
   */
  modelOf(name: string | undefined, standIn?: string): ResolvedModel;
  offered(): readonly OfferedModel[];
  /** The full name of a model that people may choose; throws a BotError with a sentence for them. */
  choosable(given: string): string;
}

export function createModels(
  deps: {
    readonly registry: ProviderRegistry;
    readonly catalog: Catalog;
    readonly clock: Clock;
    readonly log: Log;
    readonly random: () => number;
  },
  settings: ProviderSettings,
): Models {
  const { registry, catalog, clock, log, random } = deps;
  const fallback = settings.fallback === 'off' ? [] : (settings.fallback ?? []);
  const retry = { clock, random, mostWaitMs: (settings.mostWaitSeconds ?? 300) * 1000 };

  const askable = (name: string): readonly ResolvedCandidate[] => {
    try {
      return [registry.resolve(name)];
    } catch (thrown) {
      log.warn('fallback_not_available', { name, ...errorFacts(thrown) });
      return [];
    }
  };
  const named = (name: string | undefined): ResolvedCandidate | MissingModel => {
    try {
      return registry.resolve(name);
    } catch (thrown) {
      return { name: name ?? registry.defaultModel.name, error: botErrorOf(thrown) };
    }
  };
  const mayBeChosen = picomatch(
    (settings.offered ?? ['*']).map((pattern) => catalog.nameOf(pattern)),
    // A model's id may hold slashes: * stands for them too.
    { bash: true },
  );
  return {
    modelOf: (name, standIn) => {
      const first = named(name);
      const others = fallback.flatMap(askable).filter((one) => one.name !== first.name);
      if ('error' in first && others.length === 0) throw first.error;
      const whole = [first, ...others];
      const place = whole.findIndex((one) => one.name === standIn);
      return {
        name: first.name,
        why: name === undefined ? registry.defaultModel.why : 'named by the settings of this place',
        efforts: offeredEfforts(catalog.factsOf(first.name).abilities),
        hasWebSearch: catalog.factsOf(first.name).abilities.webSearch,
        complete: createCompletion(whole.slice(Math.max(0, place)), retry),
      };
    },
    offered: () => {
      const own = registry.resolve().facts;
      const others = registry.models().filter(({ name }) => name !== own.name && mayBeChosen(name));
      return [own, ...others];
    },
    choosable: (given) => {
      const { name } = registry.resolve(given);
      if (name === registry.defaultModel.name || mayBeChosen(name)) return name;
      throw new BotError('model_unknown', `${name} is not offered here. An admin can change that.`);
    },
  };
}
