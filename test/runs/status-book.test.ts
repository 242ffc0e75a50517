/** The platform's sign that the bot is at work never stays behind. */

import { afterEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from '../support/world.ts';

const worlds: World[] = [];

async function setUp(): Promise<World> {
  const world = await createWorld();
  worlds.push(world);
  return world;
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

const noted = async ({ store }: World): Promise<readonly string[]> =>
  (await store.rangeOfIndex('working', { most: 10 })).map(({ member }) => member);

describe('the sign that the bot is at work', () => {
  it('is on while it works and off at the end, and stands in no book then', async () => {
    const world = await setUp();
    await world.say('one');
    await world.until(() => world.adapter.statuses.includes('idle'));
    await world.clock.settle();
    expect(world.adapter.statuses[0]).toBe('working');
    expect(world.adapter.statuses.at(-1)).toBe('idle');
    expect(await noted(world)).toEqual([]);
  });

  it('is taken away again until the platform has taken that', async () => {
    const world = await setUp();
    world.adapter.statusWorks = false;
    await world.say('one');
    await world.until(() => world.adapter.statuses.includes('idle'));
    await world.clock.settle();
    expect(await noted(world)).toHaveLength(1);
    const idles = (): number => world.adapter.statuses.filter((one) => one === 'idle').length;
    const before = idles();
    await world.clock.advance(5_000);
    expect(idles()).toBe(before + 1);
    world.adapter.statusWorks = true;
    await world.clock.advance(30_000);
    expect(idles()).toBe(before + 2);
    expect(await noted(world)).toEqual([]);
    await world.clock.advance(10 * 60_000);
    expect(idles()).toBe(before + 2);
  });

  it('of an earlier life is swept at the start', async () => {
    const world = await setUp();
    const member = 'web:local:c1:m77';
    await world.store.addToIndex({ index: 'working', member, score: world.clock.now() });
    world.restart();
    await world.until(() => world.adapter.statuses.includes('idle'));
    await world.clock.settle();
    expect(await noted(world)).toEqual([]);
  });
});
