/** What was missed while the connection was lost is read back. */

import { afterEach, describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { createWorld, inThread, type World } from '../support/world.ts';

const worlds: World[] = [];

async function setUp(): Promise<World> {
  const world = await createWorld();
  worlds.push(world);
  world.runs.start();
  return world;
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

describe('what was missed', () => {
  it('is read from where the place stood before the connection, whatever arrives live first', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.clock.advance(2000);
    const asked: string[] = [];
    world.adapter.messagesAfter = async (_place, after) => {
      asked.push(after);
      return [];
    };
    world.life.isDead = true;
    world.restart(undefined, { start: false });
    await world.runs.prepare();
    await world.say('live', { ...inThread('u1'), messageId: 'u9' });
    world.runs.start();
    await world.clock.advance(2000);
    expect(new Set(asked)).toEqual(new Set(['u1']));
  });

  it('is read from where the place stood when the connection was lost', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.clock.advance(2000);
    const asked: [string | null, string][] = [];
    world.adapter.messagesAfter = async ({ thread }, after) => {
      asked.push([thread, after]);
      return [];
    };
    world.restart();
    await world.clock.advance(2000);
    asked.length = 0;
    const since = world.clock.now();
    await world.clock.advance(3000);
    await world.say('live again', { ...inThread('u1'), messageId: 'u9' });
    await world.clock.advance(2000);
    await world.runs.onEvent({ kind: 'gap', adapter: 'web', since });
    await world.clock.advance(1000);
    expect(new Map(asked)).toEqual(
      new Map([
        ['u1', 'u1'],
        [null, 'u1'],
      ]),
    );
    // Without a moment it is read from where the place stands.
    asked.length = 0;
    await world.runs.onEvent({ kind: 'gap', adapter: 'web' });
    await world.clock.advance(1000);
    expect(new Map(asked).get('u1')).toBe('u9');
  });

  it('is tried again where it could not be read', async () => {
    const world = await setUp();
    const said = await world.say('hello');
    await world.clock.advance(2000);
    let tries = 0;
    world.adapter.messagesAfter = async ({ thread }) => {
      if (thread === null) return [];
      tries += 1;
      if (tries === 1) throw new BotError('surface_unavailable', 'not now');
      return [
        { ...said, ...inThread('u1'), messageId: 'u5', eventKey: 'web:general:u5', text: 'missed' },
      ];
    };
    world.restart();
    await world.clock.advance(59_000);
    expect(world.model.requests).toHaveLength(1);
    await world.clock.advance(5000);
    expect(JSON.stringify(world.model.requests.at(-1))).toContain('missed');
  });

  it('is at most 50 places, newest activity first; the rest is logged', async () => {
    const world = await setUp();
    for (let index = 0; index < 55; index += 1) {
      await world.say('hello', { messageId: `t${index}` });
      await world.clock.advance(1000);
    }
    const threads: (string | null)[] = [];
    world.adapter.messagesAfter = async ({ thread }) => {
      threads.push(thread);
      return [];
    };
    world.restart();
    await world.clock.advance(2000);
    // 55 threads and their channel are used; the newest come first.
    expect(threads).toHaveLength(50);
    expect(threads.slice(0, 2)).toContain('t54');
    expect(threads).not.toContain('t5');
    expect(world.log.lines).toContainEqual(expect.objectContaining({ event: 'read_back_cut' }));
  });
});
