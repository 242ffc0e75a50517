/**
 * Completes the catalog by the lists of the providers that are set up: at the start and once a day,
 * in the background. Where a list cannot be had, what the file says holds.
 */

import { type Clock, sleep } from '../base/clock.ts';
import { BotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { Catalog } from '../providers/catalog.ts';
import type { ProviderRegistry } from '../providers/registry.ts';

export interface CatalogRefresh {
  /** Returns at once. */
  start(): void;
  /** Resolves when nothing is asked any more. */
  stop(): Promise<void>;
}

const dayMs = 24 * 3600 * 1000;

export function createCatalogRefresh(deps: {
  readonly registry: ProviderRegistry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Log;
}): CatalogRefresh {
  const { registry, catalog, clock, log } = deps;
  const ending = new AbortController();
  const { signal } = ending;
  let running: Promise<void> = Promise.resolve();

  const complete = async (provider: string): Promise<void> => {
    try {
      const listed = await registry.provider(provider).listModels(signal);
      catalog.complete(provider, listed);
      log.debug('catalog_completed', { provider, models: listed.length });
    } catch (thrown) {
      if (!signal.aborted) log.warn('catalog_not_completed', { provider, ...errorFacts(thrown) });
    }
  };
  const repeat = async (): Promise<void> => {
    while (!signal.aborted) {
      await Promise.all(registry.names().map(complete));
      await sleep(clock, dayMs, signal).catch(() => {}); // ended by stop
    }
  };
  return {
    start: () => {
      running = repeat();
    },
    stop: async () => {
      ending.abort(new BotError('stopped', 'The process ends.'));
      await running;
    },
  };
}
