/** The catalog is completed by what providers list, daily, and holds where they fail. */

import { describe, expect, it } from 'vitest';
import { createCatalogRefresh } from '../../src/app/catalog-refresh.ts';
import { createCatalog } from '../../src/providers/catalog.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import type { ModelFetch } from '../../src/providers/transport.ts';
import { createTestDeps } from '../support/providers.ts';

function setUp(answers: readonly (() => Response)[]) {
  let asked = 0;
  const fetch: ModelFetch = () => {
    const answer = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    return Promise.resolve(answer?.() ?? new Response('', { status: 500 }));
  };
  const deps = createTestDeps(fetch);
  const catalog = createCatalog([]);
  const registry = createProviderRegistry(
    deps,
    { providers: { openrouter: { apiKey: 'k', speaks: 'chat' } }, model: 'openrouter/a/b' },
    catalog,
  );
  const refresh = createCatalogRefresh({ registry, catalog, clock: deps.clock, log: deps.log });
  return { deps, catalog, refresh, asked: () => asked };
}

const listOf = (window: number) => (): Response =>
  Response.json({ data: [{ id: 'a/b', context_length: window }] });
const events = ({ deps }: ReturnType<typeof setUp>): string[] =>
  deps.log.lines.map(({ event }) => event);

describe('the catalog', () => {
  it('is completed at the start and again a day later', async () => {
    const world = setUp([listOf(1_000), listOf(2_000)]);
    world.refresh.start();
    await world.deps.clock.advance(1);
    expect(world.catalog.factsOf('openrouter/a/b')).toMatchObject({ window: 1_000, isKnown: true });
    await world.deps.clock.advance(24 * 3600 * 1000 - 2);
    expect(world.asked()).toBe(1);
    await world.deps.clock.advance(2);
    expect(world.catalog.factsOf('openrouter/a/b').window).toBe(2_000);
    await world.refresh.stop();
    await world.deps.clock.advance(48 * 3600 * 1000);
    expect(world.asked()).toBe(2);
  });

  it('keeps what it knows when the list fails, and says so in the log', async () => {
    const world = setUp([listOf(1_000), () => new Response('nope', { status: 503 })]);
    world.refresh.start();
    await world.deps.clock.advance(25 * 3600 * 1000);
    expect(world.catalog.factsOf('openrouter/a/b').window).toBe(1_000);
    expect(events(world)).toContain('catalog_not_completed');
    await world.refresh.stop();
  });
});
