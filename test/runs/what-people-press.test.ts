/** What people can do to a run with a click, a word or an emoji, and who may. */

import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { anna, ben, inThread, noLists, usingWorlds, type World } from '../support/world.ts';

const setUp = usingWorlds();
const stranger = { ...ben, id: 'web:zoe', name: 'Zoe' };
const robot = { ...ben, id: 'web:robo', name: 'Robo', isBot: true };
const onlyFriends = {
  allow: [{ value: { ...noLists, users: [anna.id, ben.id] }, source: 'test' }],
};

/** A run whose first words are shown and whose end never comes by itself. */
async function running(options: Parameters<typeof setUp>[0] = {}): Promise<World> {
  const world = await setUp(options);
  world.model.answer({ text: 'Part' }, { waitMs: 600_000 }, { text: ' never' });
  await world.say('count');
  await world.clock.advance(3000);
  expect(world.adapter.texts('u1')).toEqual(['Part\n[Stop]']);
  return world;
}

/** Posts take effect at once; the bot hears of them when the returned function is called. */
function holdAnswers(world: World): () => void {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const before = { ...world.adapter };
  world.adapter.surfaceOf = (conversation) => {
    const surface = before.surfaceOf(conversation);
    return {
      ...surface,
      post: async (message, options) => {
        const posted = await surface.post(message, options);
        await held;
        return posted;
      },
    };
  };
  world.restart();
  return () => release();
}

const stopped = (by: string): readonly string[] => [`Part\n> Stopped by ${by}.\n[Continue]`];

describe('the Stop button', () => {
  it('stands under the newest message while the run goes on, and ends it', async () => {
    const world = await running();
    await world.click('run.stop', { author: ben });
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(stopped('Ben'));
    expect(world.adapter.whispers).toEqual([]);
  });

  it('is no button of a stranger or a bot: told privately, nothing changed, still there', async () => {
    const world = await running({ profile: onlyFriends });
    await world.click('run.stop', { author: stranger });
    await world.click('run.stop', { author: robot });
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1')).toEqual(['Part\n[Stop]']);
    const told = 'You are not on the list of people I work for here. Nothing was changed.';
    expect(world.adapter.whispers).toEqual([
      { person: stranger.id, text: told },
      { person: robot.id, text: told },
    ]);
    await world.click('run.stop');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(stopped('Anna'));
  });

  it('of an earlier reply stops nothing that runs now', async () => {
    const world = await setUp();
    await world.say('first');
    await world.atRest();
    world.model.answer({ text: 'Part' }, { waitMs: 600_000 });
    await world.say('second', inThread('u1'));
    await world.clock.advance(3000);
    await world.click('run.stop', { cardId: 'm1' });
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')).toEqual(['ok', 'Part\n[Stop]']);
    expect(world.adapter.whispers).toEqual([{ person: anna.id, text: 'This is over already.' }]);
    await world.click('run.stop', { cardId: 'm2' });
    await world.atRest();
    expect(world.adapter.texts('u1')[1]).toContain('Stopped by Anna.');
  });

  it('holds over a crash right after the click', async () => {
    const world = await running();
    // The click's key, then the stop: the process dies as soon as that is stored.
    world.life.dieAt = { call: world.life.calls + 2, when: 'after' };
    await Promise.race([world.click('run.stop'), world.clock.advance(2000)]);
    await world.clock.advance(2000);
    expect(world.life.isDead).toBe(true);
    world.restart();
    await world.clock.advance(10_000);
    expect(world.model.requests).toHaveLength(1);
    expect(world.adapter.texts('u1').join()).toContain('Stopped by Anna.');
  });

  it('leaves a Continue button, which goes on once', async () => {
    const world = await running();
    await world.click('run.stop');
    await world.atRest();
    world.model.answer({ text: 'The rest.' });
    await world.click('run.continue', { author: ben });
    await world.atRest();
    await world.click('run.continue', { author: anna });
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual([...stopped('Anna'), 'The rest.']);
    expect(world.adapter.whispers).toEqual([{ person: anna.id, text: 'I am going on already.' }]);
  });
});

describe('a word alone', () => {
  it.each(['stop', 'Stop.', 'STOP!!', ' cancel', 'Cancel…', 'cancel!'])(
    'ends what runs: %j',
    async (word) => {
      const world = await running();
      await world.say(word, { ...inThread('u1'), author: ben });
      await world.atRest();
      expect(world.adapter.texts('u1')).toEqual(stopped('Ben'));
    },
  );

  it.each(['stop it', 'please stop', 'stopped', 'cancel the order'])(
    'is not in %j, which steers',
    async (line) => {
      const world = await running();
      await world.say(line, inThread('u1'));
      await world.clock.advance(3000);
      expect(world.adapter.texts('u1')).toEqual(['Part\n[Stop]']);
      expect(world.adapter.reactions).toEqual(['+waiting:u2']);
    },
  );

  it('is a message like any other where nothing runs', async () => {
    const world = await setUp();
    await world.say('first');
    await world.atRest();
    world.model.answer({ text: 'What should I stop?' });
    await world.say('stop', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['ok', 'What should I stop?']);
  });

  it('of a stranger or a bot stops nothing', async () => {
    const world = await running({ profile: onlyFriends });
    await world.say('stop', { ...inThread('u1'), author: stranger });
    await world.say('stop', { ...inThread('u1'), author: robot });
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')).toEqual(['Part\n[Stop]']);
  });

  it('is the answer where the open question has it as an option, and ends any other', async () => {
    const ask = (label: string) => ({
      call: 'AskUserQuestion',
      input: {
        questions: [{ question: 'Go?', header: 'Go', options: [{ label: 'Yes' }, { label }] }],
      },
    });
    const world = await setUp();
    world.model.answer(ask('Cancel'));
    world.model.answer({ text: 'Cancelled it.' });
    await world.say('go');
    await world.clock.advance(3000);
    await world.say('cancel', inThread('u1'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1').at(-1)).toBe('Cancelled it.');
    world.model.answer(ask('No'));
    await world.say('again', inThread('u1'));
    await world.clock.advance(3000);
    await world.say('cancel', inThread('u1'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1').at(-1)).toBe('> Stopped by Anna.\n[Continue]');
  });
});

describe('an X on a message', () => {
  it.each(['m1', 'u1'])('ends the run whose reply or question %s is', async (messageId) => {
    const world = await running();
    await world.react(messageId, { author: ben });
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(stopped('Ben'));
  });

  it('is any of its forms, and no other emoji', async () => {
    const world = await running();
    for (const emoji of ['👎', '✅', '🛑']) await world.react('m1', { emoji });
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')).toEqual(['Part\n[Stop]']);
    await world.react('m1', { emoji: '✖️' });
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(stopped('Anna'));
  });

  it('by a bot or a stranger ends nothing; the stranger is told once', async () => {
    const world = await running({ profile: onlyFriends });
    await world.react('m1', { author: robot });
    await world.react('m1', { author: stranger });
    await world.react('u1', { author: stranger });
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')).toEqual(['Part\n[Stop]']);
    expect(world.adapter.whispers.map(({ person }) => person)).toEqual([stranger.id]);
  });

  it('on anything else ends nothing: other messages, other channels, what is over', async () => {
    const world = await running();
    await world.say('more', inThread('u1'));
    await world.react('u2');
    await world.react('m9');
    await world.react('m1', { place: { adapter: 'web', space: 'local', channel: 'other' } });
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')).toEqual(['Part\n[Stop]']);
    await world.click('run.stop');
    await world.atRest();
    await world.react('m1');
    await world.say('hello', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
  });

  it('delivered again ends nothing more', async () => {
    const world = await running();
    await world.react('u1', { eventKey: 'reaction:x' });
    await world.atRest();
    world.model.answer({ text: 'Part two' }, { waitMs: 5000 }, { text: ', the end.' });
    await world.click('run.continue');
    await world.clock.advance(1000);
    await world.react('u1', { eventKey: 'reaction:x' });
    await world.atRest();
    expect(world.adapter.texts('u1')[1]).toBe('Part two, the end.');
  });

  it('quicker than the answer to the post that it is on ends the run all the same', async () => {
    const world = await setUp();
    const answer = holdAnswers(world);
    world.model.answer({ text: 'Part' }, { waitMs: 600_000 }, { text: ' never' });
    await world.say('count');
    await world.clock.advance(1000);
    await world.react('m1');
    await world.clock.advance(1000);
    answer();
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(stopped('Anna'));
  });

  it('ends a run that waits for room', async () => {
    const world = await setUp({ concurrency: 1 });
    world.model.answer({ text: 'Long' }, { waitMs: 30_000 });
    await world.say('first');
    await world.clock.advance(1000);
    await world.say('second');
    await world.clock.advance(1000);
    expect(world.adapter.reactions).toEqual(['+waiting:u2']);
    await world.react('u2');
    await world.clock.advance(60_000);
    expect(world.adapter.texts('u2')).toEqual(['> Stopped by Anna.\n[Continue]']);
    expect(world.adapter.reactions).toEqual(['+waiting:u2', '-waiting:u2']);
  });
});

describe('the Retry button', () => {
  const overloaded = { fail: new BotError('overloaded', 'The model is overloaded.') };

  it('runs the same turn again, with what was done already; a second click is told so', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Looking.' }, { call: 'Glob', input: { pattern: '*' } });
    world.model.answer(overloaded);
    await world.say('look');
    await world.atRest();
    const failure = '@Anna ⚠ The model is overloaded. (reference run_1)\n[Retry]';
    expect(world.adapter.texts('u1')).toEqual(['Looking.', failure]);
    world.model.answer({ text: 'Here it is.' });
    await Promise.all([world.click('run.retry', { author: ben }), world.click('run.retry')]);
    await world.atRest();
    await world.click('run.retry');
    await world.clock.advance(2000);
    expect(world.adapter.texts('u1')).toEqual(['Looking.', failure, 'Here it is.']);
    expect(world.model.requests).toHaveLength(3);
    const said = (await world.entries('u1')).filter(({ kind }) => kind === 'user_message');
    expect(said).toHaveLength(1);
    const told = 'This was tried again already. Write to me if you still need it.';
    expect(world.adapter.whispers.map(({ text }) => text)).toEqual([told, told]);
  });

  it('counts though it is pressed before the platform has answered for it', async () => {
    const world = await setUp();
    const release = holdAnswers(world);
    world.model.answer(overloaded);
    await world.say('look');
    await world.clock.advance(1000);
    expect(world.adapter.texts('u1')[0]).toContain('[Retry]');
    const pressed = world.click('run.retry');
    await world.clock.advance(1000);
    release();
    await world.clock.advance(1000);
    await pressed;
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
  });

  it('is over once something new was said', async () => {
    const world = await setUp();
    world.model.answer(overloaded);
    await world.say('look');
    await world.atRest();
    await world.say('never mind', inThread('u1'));
    await world.atRest();
    await world.click('run.retry');
    await world.clock.advance(2000);
    expect(world.model.requests).toHaveLength(2);
    expect(world.adapter.whispers[0]?.text).toContain('tried again already');
  });

  it('fails again with a button of its own, and is for those who may', async () => {
    const world = await setUp({ profile: onlyFriends });
    world.model.answer(overloaded);
    await world.say('look');
    await world.atRest();
    await world.click('run.retry', { author: stranger });
    await world.click('run.retry', { author: robot });
    await world.clock.advance(2000);
    expect(world.model.requests).toHaveLength(1);
    world.model.answer(overloaded);
    await world.click('run.retry');
    await world.atRest();
    expect(world.adapter.texts('u1')).toHaveLength(2);
    await world.click('run.retry', { cardId: 'm2' });
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
  });

  it('is taken up after a crash right behind the click', async () => {
    const world = await setUp();
    world.model.answer(overloaded);
    await world.say('look');
    await world.atRest();
    for (let call = 1; call <= 8; call += 1) {
      world.life.dieAt = { call: world.life.calls + call, when: 'after' };
      await Promise.race([world.click('run.retry'), world.clock.advance(3000)]);
      await world.clock.advance(3000);
      world.restart();
      await world.clock.advance(5000);
      if (world.adapter.texts('u1').includes('ok')) break;
    }
    const answers = world.adapter.texts('u1').filter((text) => text === 'ok');
    expect(answers).toHaveLength(1);
    expect(world.adapter.texts('u1').join()).not.toContain('restarted');
  });

  it('is not offered where the same turn would end the same way', async () => {
    const world = await setUp();
    world.model.answer({ fail: new BotError('context_overflow', 'This thread is too long.') });
    await world.say('look');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual([
      '> ⚠ This thread is too long. Say `!new` to start afresh here, or ask in a new thread. (reference run_1)',
    ]);
  });

  it('names a reference that stands in the log; no stack trace is shown', async () => {
    const world = await setUp();
    world.model.answer({ fail: new BotError('internal', 'Something inside failed unexpectedly.') });
    await world.say('look');
    await world.atRest();
    const [shown = ''] = world.adapter.texts('u1');
    const [, reference = ''] = /\(reference (\S+)\)/u.exec(shown) ?? [];
    expect(reference).toMatch(/^run_[0-9a-z]{1,12}$/u);
    expect(shown).not.toMatch(/\.ts|at .*:\d+/u);
    const logged = world.log.lines.find(
      ({ event, facts }) => event === 'run_ended' && facts?.['runId'] === reference,
    );
    expect(logged?.facts).toMatchObject({ outcome: 'failed', code: 'internal' });
  });
});
