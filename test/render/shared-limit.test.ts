/** A rate limit holds for all replies of a workspace, posts included (rule 5). */

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

/** Fake time moves by so much between two looks. */
const lookMs = 100;

const posts = ({ adapter }: World): number =>
  adapter.calls.filter((call) => call === 'post').length;

describe('a limited post', () => {
  it('keeps the posts of other threads back until its retry-after has passed', async () => {
    const world = await setUp();
    world.adapter.fail({ call: 'post', nth: 1, code: 'rate_limited', retryAfterMs: 5000 });
    await world.say('one');
    await world.until(() => posts(world) === 1);
    const limitedAt = world.clock.now();
    await world.say('two');
    await world.until(() => world.model.requests.length === 2);
    await world.clock.advance(4000);
    expect(posts(world)).toBe(1);
    await world.until(() => world.adapter.shown.length === 2);
    expect(world.clock.now() - limitedAt).toBeGreaterThanOrEqual(5000 - lookMs);
    expect(posts(world)).toBe(3);
  });
});
