/** Limits from the start: runs per person and hour, steps and money; and what was used. */

import { describe, expect, it } from 'vitest';
import { createUsageLedger } from '../../src/conversations/usage-ledger.ts';
import { ben, inThread, usingWorlds, type World } from '../support/world.ts';

const setUp = usingWorlds();

const usage = { input: 1000, cacheRead: 200, cacheWrite: 0, output: 300, reasoning: 100 };

async function ask(world: World, more: Parameters<World['say']>[1] = {}): Promise<string> {
  const { messageId } = await world.say('go', more);
  await world.atRest();
  const thread = more?.conversation?.thread ?? messageId;
  return world.adapter.texts(thread).join('\n');
}

describe('runs per person and hour', () => {
  it('end at the limit with who can raise it, and start again after an hour', async () => {
    const world = await setUp({ limits: { runsPerPersonHour: 2 } });
    expect(await ask(world)).toBe('ok');
    expect(await ask(world)).toBe('ok');
    const told = await ask(world);
    expect(told).toContain('Anna has started 2 runs within an hour');
    expect(told).toContain('an admin can raise it (`limits.runsPerPersonHour`)');
    expect(world.model.requests).toHaveLength(2);
    expect(await ask(world, { author: ben })).toBe('ok');
    await world.clock.advance(3600 * 1000);
    expect(await ask(world)).toBe('ok');
  });

  it('count what runs, not what was refused, and survive a restart', async () => {
    const world = await setUp({ limits: { runsPerPersonHour: 1 } });
    expect(await ask(world)).toBe('ok');
    for (let count = 0; count < 3; count += 1) expect(await ask(world)).toContain('within an hour');
    world.restart();
    expect(await ask(world)).toContain('within an hour');
    await world.clock.advance(3600 * 1000);
    expect(await ask(world)).toBe('ok');
  });

  it('of one person do not silence another: the first who has runs left is answered', async () => {
    const world = await setUp({ limits: { runsPerPersonHour: 1 }, concurrency: 1 });
    await ask(world);
    // While the only lane is busy elsewhere, both wait.
    world.model.answer({ waitMs: 3000 }, { text: 'long' });
    await world.say('busy', { author: { ...ben, id: 'web:carl', name: 'Carl' } });
    await world.clock.advance(1000);
    const mention = { ...inThread('u1'), mentionsBot: true };
    await world.say('mine first', mention);
    await world.say('and mine', { ...mention, author: ben });
    await world.atRest();
    await world.clock.advance(8000);
    expect(world.adapter.texts('u1')).toEqual(['ok', 'ok']);
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('and mine');
  });

  it.each([
    ['addressed', true],
    ['not addressed', false],
  ])('leave alone who writes while one is refused (%s)', async (_what, mentionsBot) => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const world = await setUp({
      limits: { runsPerPersonHour: 1 },
      modelOf: (_name, standard) => {
        const say = meanwhile;
        meanwhile = undefined;
        void say?.();
        return standard;
      },
    });
    await ask(world);
    const place = { ...inThread('u1'), mentionsBot };
    meanwhile = () => world.say('mine, Ben', { ...place, author: ben });
    await world.say('mine, Anna', place);
    await world.atRest();
    await world.clock.advance(8000);
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
    expect(world.model.requests).toHaveLength(2);
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('mine, Ben');
  });

  it('say nothing in a talk between people that was not for the bot', async () => {
    const world = await setUp({ limits: { runsPerPersonHour: 1 } });
    await ask(world);
    const before = world.adapter.shown.length;
    for (const text of ['to Ben: lunch?', 'at noon', 'fine']) {
      await world.say(text, inThread('u1'));
      await world.atRest();
    }
    expect(world.adapter.shown).toHaveLength(before);
    expect(world.model.requests).toHaveLength(1);
  });

  it('hold over a crash at any point of the refusal', async () => {
    let points = 0;
    for (const when of ['before', 'after'] as const) {
      for (let call = 1; call < 60; call += 1) {
        const world = await setUp({ limits: { runsPerPersonHour: 1 } });
        await world.say('one');
        await world.clock.advance(8000);
        world.restart({ call, when });
        void world.say('two', { messageId: 'two' });
        await world.clock.advance(5000);
        const hasDied = world.life.isDead;
        world.restart();
        await world.clock.advance(15_000);
        expect(world.model.requests, `died ${when} call ${call}`).toHaveLength(1);
        if (!hasDied) break;
        points += 1;
      }
    }
    expect(points).toBeGreaterThan(10);
  });

  it('keep what was said: the next run sees it', async () => {
    const world = await setUp({ limits: { runsPerPersonHour: 1 } });
    await ask(world);
    await world.say('remember the blue door', inThread('u1'));
    await world.atRest();
    await world.clock.advance(3600 * 1000);
    await world.say('which door?', inThread('u1'));
    await world.atRest();
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('blue door');
  });
});

describe('money', () => {
  it('ends a run that has spent its limit, after the step that did', async () => {
    const world = await setUp({ limits: { usdPerRun: 0.05 } });
    const step = { call: 'Glob', input: { pattern: '*' } };
    world.model.answer(step, { used: usage, costUsd: 0.03 });
    world.model.answer(step, { used: usage, costUsd: 0.03 });
    world.model.answer({ text: 'never asked' });
    const told = await ask(world);
    expect(told).toContain('limit of $0.05 for one run');
    expect(told).toContain('`limits.usdPerRun`');
    expect(world.model.requests).toHaveLength(2);
  });

  it('starts nothing when the day’s limit is used up, until midnight UTC', async () => {
    const world = await setUp({ limits: { usdPerDay: 0.1 } });
    world.model.answer({ text: 'dear' }, { used: usage, costUsd: 0.2 });
    expect(await ask(world)).toBe('dear');
    const told = await ask(world, { author: ben });
    expect(told).toContain('limit of $0.10 a day');
    expect(world.model.requests).toHaveLength(1);
    await world.clock.advance(24 * 3600 * 1000);
    expect(await ask(world)).toBe('ok');
  });

  it('does not count what is unknown', async () => {
    const world = await setUp({ limits: { usdPerDay: 0.1 } });
    world.model.answer({ text: 'who knows' }, { used: usage, costUsd: null });
    await ask(world);
    expect(await ask(world)).toBe('ok');
  });
});

describe('steps', () => {
  it('end with the limit’s name', async () => {
    const world = await setUp({ limits: { stepsPerRun: 1 } });
    world.model.answer({ call: 'Glob', input: { pattern: '*' } });
    expect(await ask(world)).toContain('an admin can raise it (`limits.stepsPerRun`)');
  });
});

describe('the ledger', () => {
  it('sums per run, conversation, channel, person, model and day, unknown costs apart', async () => {
    const world = await setUp();
    world.model.answer({ text: 'a' }, { used: usage, costUsd: 0.5 });
    await ask(world);
    world.model.answer({ text: 'b' }, { used: usage, costUsd: null });
    await ask(world, { author: ben });
    const { store, clock, log } = world;
    const ledger = createUsageLedger({ store, clock, log });
    const all = await ledger.sum({ kind: 'all' });
    expect(all).toEqual({
      calls: 2,
      usage: { input: 2000, cacheRead: 400, cacheWrite: 0, output: 600, reasoning: 200 },
      costUsd: 0.5,
      unknownCalls: 1,
    });
    expect(await ledger.sum({ kind: 'channel', id: 'web:local:general' })).toEqual(all);
    expect(await ledger.sum({ kind: 'model', id: 'scripted/scripted' })).toEqual(all);
    expect((await ledger.sum({ kind: 'person', id: 'web:ben' })).unknownCalls).toBe(1);
    expect((await ledger.sum({ kind: 'conversation', id: 'web:local:general:u1' })).costUsd).toBe(
      0.5,
    );
    await clock.advance(24 * 3600 * 1000);
    expect((await ledger.sum({ kind: 'all' })).calls).toBe(0);
    expect((await ledger.sum({ kind: 'all' }, 2)).calls).toBe(2);
  });

  it('follows what another process writes', async () => {
    const { store, clock, log } = await setUp();
    const [one, two] = [0, 1].map(() => createUsageLedger({ store, clock, log }));
    const conversation = { adapter: 'web', space: 'local', channel: 'c', thread: 't' };
    const used = { runId: 'r', step: 1, conversation, person: 'p', model: 'm/m', usage };
    expect((await one?.sum({ kind: 'all' }))?.calls).toBe(0);
    await two?.record({ ...used, costUsd: 1, isCostKnown: true });
    expect((await one?.sum({ kind: 'all' }))?.calls).toBe(1);
    await two?.record({ ...used, costUsd: 1, isCostKnown: true });
    expect((await one?.sum({ kind: 'run', id: 'r' }))?.costUsd).toBe(2);
  });

  it('is shown by the usage command: one’s own to everybody, everything to admins', async () => {
    const world = await setUp({ governance: { admins: ['web:ben'] } });
    world.model.answer({ text: 'a' }, { used: usage, costUsd: 0.5 });
    await ask(world);
    await world.say('!usage', inThread('u1'));
    await world.clock.advance(1000);
    const told = world.adapter.whispers.at(-1)?.text ?? '';
    expect(told).toContain(
      'this thread: today 1.6k tokens, $0.50; last 30 days 1.6k tokens, $0.50',
    );
    expect(told).toContain('you: today 1.6k tokens');
    expect(told).not.toContain('everything');
    await world.say('!usage 7', { ...inThread('u1'), author: ben });
    await world.clock.advance(1000);
    const admin = world.adapter.whispers.at(-1)?.text ?? '';
    expect(admin).toContain('you: today nothing; last 7 days nothing');
    expect(admin).toContain('everything: today 1.6k tokens');
    expect(admin).toContain('scripted/scripted: 1.6k tokens, $0.50');
    await world.say('!usage never', inThread('u1'));
    await world.clock.advance(1000);
    expect(world.adapter.whispers.at(-1)?.text).toContain('1 to 90 days');
  });
});
