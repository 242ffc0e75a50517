/**
 * The models as runs use them: the one that is asked, with those that take over when it fails, and
 * which of them people may choose.
 */

import picomatch from 'picomatch';
import type { Clock } from '../base/clock.ts';
import { BotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import { offeredEfforts } from '../messages/model.ts';
import { type Candidate, createCompletion } from '../providers/completion.ts';
import type { ProviderRegistry } from '../providers/registry.ts';
import type { ProviderSettings } from '../providers/settings.ts';
import type { OfferedModel, ResolvedModel } from '../runs/deps.ts';

export interface Models {
  /** Throws a BotError that says which setting to look at. */
  modelOf(name: string | undefined): ResolvedModel;
  offered(): readonly OfferedModel[];
  /** The full name of a model that people may choose; throws a BotError with a sentence for them. */
  choosable(given: string): string;
}

export function createModels(
  deps: {
    readonly registry: ProviderRegistry;
    readonly clock: Clock;
    readonly log: Log;
    readonly random: () => number;
  },
  settings: ProviderSettings,
): Models {
  const { registry, clock, log, random } = deps;
  const fallback = settings.fallback === 'off' ? [] : (settings.fallback ?? []);
  const mostWaitMs = (settings.mostWaitSeconds ?? 300) * 1000;
  /** A model of the chain that cannot be asked was told of at the start; the others stand in. */
  const standIns = (first: Candidate): readonly Candidate[] =>
    fallback.flatMap((name) => {
      try {
        const model = registry.resolve(name);
        return model.name === first.name ? [] : [model];
      } catch (thrown) {
        log.warn('fallback_not_available', { name, ...errorFacts(thrown) });
        return [];
      }
    });
  const mayBeChosen = picomatch([...(settings.offered ?? ['**'])]);
  return {
    modelOf: (name) => {
      const first = registry.resolve(name);
      const chain = [first, ...standIns(first)];
      return {
        name: first.name,
        why: name === undefined ? registry.defaultModel.why : 'named by the settings of this place',
        efforts: offeredEfforts(first.facts.abilities),
        complete: createCompletion(chain, { clock, random, mostWaitMs }),
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
