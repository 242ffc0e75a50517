/** Lanes: one after the other in a conversation, beside each other, and no wake-up lost. */

import { describe, expect, it } from 'vitest';
import { createLanes, type LaneWork } from '../../src/runs/lane.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import { createWakes } from '../../src/storage/wakes.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

function setUp(next: LaneWork['next'], concurrency = 2) {
  const clock = createFakeClock();
  const log = createKeptLog();
  const wakes = createWakes(createMemoryStore({ clock, log }));
  const lanes = createLanes({ clock, log, wakes, work: { next } }, { concurrency });
  return { clock, log, wakes, lanes };
}

describe('a lane', () => {
  it('keeps a wake-up that comes between its look and its rest, also for a next life', async () => {
    const world = setUp(async (key) => {
      // Something is stored, with its wake-up, while the lane has just found nothing.
      await world.clock.advance(0);
      if (looks === 0) await world.wakes.schedule(key, world.clock.now() + 1);
      looks += 1;
      return { kind: 'idle' };
    });
    let looks = 0;
    await world.wakes.schedule('a', world.clock.now() - 5);
    world.lanes.wake('a');
    await world.clock.settle();
    expect(await world.wakes.due(world.clock.now() + 10, 10)).toHaveLength(1);
  });

  it('rests until the time that its work names', async () => {
    const seen: number[] = [];
    const world = setUp(async () => {
      seen.push(world.clock.now());
      return seen.length === 1
        ? { kind: 'idle', wakeAtMs: world.clock.now() + 59_500 }
        : { kind: 'idle' };
    });
    await world.wakes.schedule('a', world.clock.now() - 5);
    world.lanes.start();
    await world.clock.advance(59_000);
    expect(seen).toHaveLength(1);
    await world.clock.advance(2000);
    expect(seen).toHaveLength(2);
    expect(await world.wakes.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });

  it('works for as many conversations beside each other as there is room for', async () => {
    let running = 0;
    let most = 0;
    const world = setUp(async (key) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => {
        world.clock.setTimer(1000, resolve);
      });
      running -= 1;
      done.add(key);
      return { kind: 'idle' };
    });
    const done = new Set<string>();
    for (const key of ['a', 'b', 'c', 'd', 'a']) world.lanes.wake(key);
    await world.clock.advance(10_000);
    expect(most).toBe(2);
    expect([...done].sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('tries again later, and rarer, when its work fails', async () => {
    const at: number[] = [];
    const world = setUp(async () => {
      at.push(world.clock.now());
      throw new Error('broken');
    });
    const began = world.clock.now();
    await world.wakes.schedule('a', began);
    world.lanes.start();
    await world.clock.advance(100_000);
    const seconds = at.map((time) => Math.round((time - began) / 1000));
    expect(seconds[0]).toBe(0);
    expect(seconds[1]).toBeLessThanOrEqual(3);
    expect(seconds.length).toBeLessThan(6);
    expect(world.log.lines.filter(({ event }) => event === 'lane_failed')).toHaveLength(
      seconds.length,
    );
  });
});
