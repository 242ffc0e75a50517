/** What people see of a run besides its text: that it was seen, that it is over, how it was. */

import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { auditEntrySchema } from '../../src/permissions/audit.ts';
import { ratingsKeyOf } from '../../src/runs/feedback.ts';
import { createAppendLog } from '../../src/storage/append-log.ts';
import { anna, ben, inThread, noLists, usingWorlds, type World } from '../support/world.ts';

const setUp = usingWorlds();
const stranger = { ...ben, id: 'web:zoe', name: 'Zoe' };
const onlyFriends = {
  allow: [{ value: { ...noLists, users: [anna.id, ben.id] }, source: 'test' }],
};
const overloaded = { fail: new BotError('overloaded', 'The model is overloaded.') };

/** Who the message would notify. */
const notified = (world: World, text: string): readonly string[] =>
  world.adapter.shown.flatMap(({ message }) =>
    message.blocks.some((block) => 'text' in block && block.text.includes(text))
      ? message.mentionable.map(({ id }) => id)
      : [],
  );

describe('the end of a run', () => {
  const worked = async (waitMs: number): Promise<World> => {
    const world = await setUp();
    world.model.answer({ text: 'Begun' }, { waitMs }, { text: ', done.' });
    await world.say('dig');
    await world.clock.advance(waitMs + 1000);
    await world.atRest();
    return world;
  };

  it('after a minute is the last edit', async () => {
    const world = await worked(60_000);
    expect(world.adapter.texts('u1')).toEqual(['Begun, done.']);
  });

  it('after more than a minute is a new message with the receipt, for the asker', async () => {
    const world = await worked(60_001);
    expect(world.adapter.texts('u1')).toEqual([
      'Begun, done.',
      expect.stringMatching(/^@Anna done · scripted\/scripted · 60 s · .*\n\[Details\]$/u),
    ]);
    expect(notified(world, 'done ·')).toEqual([anna.id]);
  });

  it.each([
    ['off', 120_000, 1],
    ['always', 1000, 2],
  ] as const)('is told as the setting %s wants', async (notify, waitMs, messages) => {
    const world = await setUp({ reply: { notify } });
    world.model.answer({ text: 'Begun' }, { waitMs }, { text: ', done.' });
    await world.say('dig');
    await world.clock.advance(waitMs + 1000);
    await world.atRest();
    expect(world.adapter.texts('u1')).toHaveLength(messages);
  });

  it('mentions nobody by a name that only looks like theirs', async () => {
    const world = await setUp({ reply: { notify: 'always' } });
    await world.say('dig', { author: { ...anna, name: '*Ann_a*' } });
    await world.atRest();
    expect(world.adapter.texts('u1')[1]).toContain('@\\*Ann\\_a\\* done');
  });

  it('is told to no bot, and not where nothing was to be said', async () => {
    const robot = { ...ben, id: 'web:robo', name: 'Robo', isBot: true };
    const world = await setUp({
      reply: { notify: 'always' },
      governance: { bots: [robot.id] },
    });
    await world.say('dig', { author: robot });
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['ok']);
    world.model.answer({ call: 'StaySilent', input: { reason: 'their talk' } });
    await world.say('thanks all', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['ok']);
  });

  it('in a failure is a new message where something stands already, an edit by setting', async () => {
    for (const [notify, texts] of [
      ['long', ['Part', '@Anna ⚠ The model is overloaded. (reference run_1)\n[Retry]']],
      ['off', ['Part\n> ⚠ The model is overloaded. (reference run_1)\n[Retry]']],
    ] as const) {
      const world = await setUp({ reply: { notify } });
      world.model.answer({ text: 'Part' }, { call: 'Glob', input: { pattern: '*' } });
      world.model.answer(overloaded);
      await world.say('dig');
      await world.atRest();
      expect(world.adapter.texts('u1')).toEqual(texts);
    }
  });

  it('is told exactly once, whatever call the process dies at', async () => {
    let died = 0;
    for (const when of ['before', 'after'] as const) {
      for (let call = 1; ; call += 1) {
        const world = await setUp({ reply: { notify: 'always' }, dieAt: { call, when } });
        const said = world.say('dig').catch(() => undefined);
        await Promise.race([said, world.clock.advance(20_000)]);
        await world.clock.advance(20_000);
        const isOver = !world.life.isDead;
        if (!isOver) {
          died += 1;
          world.restart();
          await world.clock.advance(100);
          // What was not stored yet is delivered again by the platform.
          await world.say('dig', { messageId: 'u1' });
          await world.clock.advance(40_000);
        }
        const told = world.adapter.texts('u1').filter((text) => text.startsWith('@Anna done'));
        expect([when, call, told.length]).toEqual([when, call, 1]);
        if (isOver) break;
      }
    }
    expect(died).toBeGreaterThan(20);
  });
});

describe('thumbs', () => {
  const rated = async (options: Parameters<typeof setUp>[0] = {}): Promise<World> => {
    const world = await setUp({ reply: { feedback: 'on' }, ...options });
    await world.say('hello');
    await world.atRest();
    return world;
  };
  const control = 'run.feedback.run_1';
  const ratings = (world: World) => world.store.get(ratingsKeyOf('run_1'));

  it('stand under an answer where the setting wants them, not under a refusal or a failure', async () => {
    const world = await rated();
    expect(world.adapter.texts('u1')).toEqual(['ok\n[👍] [👎]']);
    world.model.answer(overloaded);
    await world.say('again', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1')[1]).not.toContain('👍');
    const without = await setUp();
    await without.say('hello');
    await without.atRest();
    expect(without.adapter.texts('u1')).toEqual(['ok']);
  });

  it('store one rating a person, changeable, audited and told privately, over restarts', async () => {
    const world = await rated();
    await world.click(control, { values: ['good'] });
    await world.click(control, { values: ['good'], author: ben });
    await world.clock.settle();
    world.restart();
    await world.click(control, { values: ['bad'] });
    await world.clock.settle();
    expect(await ratings(world)).toMatchObject({
      ratings: [
        { by: ben.id, rating: 'good' },
        { by: anna.id, rating: 'bad' },
      ],
    });
    const audited = await auditOf(world);
    expect(audited.filter(({ kind }) => kind === 'feedback_given')).toMatchObject([
      { by: anna.id, rating: 'good', runId: 'run_1' },
      { by: ben.id, rating: 'good', runId: 'run_1' },
      { by: anna.id, rating: 'bad', runId: 'run_1' },
    ]);
    expect(world.adapter.whispers.map(({ person, text }) => [person, text.slice(0, 2)])).toEqual([
      [anna.id, '👍'],
      [ben.id, '👍'],
      [anna.id, '👎'],
    ]);
  });

  it('count both of two people who press at once, and one of two presses of one', async () => {
    const world = await rated();
    await Promise.all([
      world.click(control, { values: ['good'] }),
      world.click(control, { values: ['bad'], author: ben }),
      world.click(control, { values: ['good'] }),
    ]);
    await world.clock.settle();
    expect(await ratings(world)).toMatchObject({ ratings: [{ by: anna.id }, { by: ben.id }] });
  });

  it('are not a stranger’s, nor pressed from another conversation', async () => {
    const world = await rated({ profile: onlyFriends });
    await world.click(control, { values: ['bad'], author: stranger });
    await world.say('elsewhere');
    await world.atRest();
    const thread = 'u3';
    await world.click(control, {
      values: ['bad'],
      conversation: { adapter: 'web', space: 'local', channel: 'general', thread },
    });
    await world.click(control, { values: ['best'] });
    await world.clock.settle();
    expect(await ratings(world)).toBeUndefined();
    expect(world.adapter.whispers).toHaveLength(3);
  });
});

/** All that was written into the audit. */
async function auditOf(world: World) {
  const log = createAppendLog({ store: world.store, log: world.log }, 'audit', auditEntrySchema);
  return (await log.read({})).map(({ value }) => value);
}

const used = (input: number, output: number) => ({
  ...{ input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
});

describe('the details of a run', () => {
  const answered = async (more: Parameters<typeof setUp>[0] = {}): Promise<World> => {
    const world = await setUp({ receipt: 'always', ...more });
    world.model.answer(
      { call: 'Glob', input: { pattern: '*.md' }, id: 'c1' },
      { used: used(1000, 50), costUsd: 0.01 },
    );
    world.model.answer(
      { text: 'None.' },
      { sources: [{ url: 'https://a.example/x', title: 'A page' }] },
      { used: used(1200, 10), costUsd: 0.02 },
    );
    await world.say('look');
    await world.atRest();
    return world;
  };

  it('are opened privately by a button beside the receipt, over a restart', async () => {
    const world = await answered();
    expect(world.adapter.texts('u1')[0]).toMatch(/2\.3k tokens · \$0\.03\n\[Details\]$/u);
    world.restart();
    await world.click('run.details.run_1', { author: ben });
    await world.clock.settle();
    const [told] = world.adapter.whispers;
    expect(told?.person).toBe(ben.id);
    const lines = told?.text.split('\n') ?? [];
    expect(lines[0]).toBe('**Details of this answer** (reference run_1)');
    expect(lines[2]).toMatch(/^finished, 2 steps, \d+\.\d s$/u);
    expect(told?.text).toContain('- scripted/scripted: 2.3k tokens, $0.03');
    expect(told?.text).toMatch(/\*\*Tools\*\*\n- .*\*\.md.*: done, \d+\.\d s/u);
    expect(told?.text).toContain('[A page](<https://a.example/x>)');
    expect(world.adapter.texts('u1')).toHaveLength(1);
  });

  it('are kept for 120 days, as the reply’s pages are', async () => {
    const kept = new Map<string, number | undefined>();
    await answered({
      store: (store) => ({
        ...store,
        set: (key, value, options) => {
          kept.set(key, options?.ttlMs);
          return store.set(key, value, options);
        },
      }),
    });
    const days = (key: string): number => (kept.get(key) ?? 0) / (24 * 3600 * 1000);
    expect([days('details:run_1'), days('reply:run_1.1')]).toEqual([120, 120]);
  });

  it('name what people approved', async () => {
    const world = await setUp({
      receipt: 'always',
      permissions: { rules: [{ ask: ['FileWrite'] }] },
    });
    world.model.answer({ call: 'FileWrite', input: { path: 'a.txt', content: 'x' } });
    world.model.answer({ text: 'Written.' });
    await world.say('write');
    await world.until(() => world.adapter.texts('u1').join().includes('[Approve]'));
    await world.clock.advance(1000);
    const card = world.adapter.shown.at(-1);
    const buttons = card?.message.blocks.flatMap((block) =>
      block.kind === 'buttons' ? block.buttons : [],
    );
    const { messageId: cardId = '' } = card ?? {};
    await world.click(buttons?.[0]?.controlId ?? '', { cardId });
    await world.until(() => world.adapter.texts('u1').at(-1)?.startsWith('Written.') === true);
    await world.clock.advance(5000);
    await world.click('run.details.run_1');
    await world.clock.settle();
    expect(world.adapter.whispers.at(-1)?.text).toContain('FileWrite: approved by Anna');
  });

  it('are for those who may, and only there', async () => {
    const world = await answered({ profile: onlyFriends });
    await world.click('run.details.run_1', { author: stranger });
    await world.click('run.details.run_1', {
      conversation: { adapter: 'web', space: 'local', channel: 'other', thread: 'u9' },
    });
    await world.click('run.details.run_9');
    await world.clock.settle();
    expect(world.adapter.whispers.map(({ text }) => text)).not.toContainEqual(
      expect.stringContaining('Models'),
    );
    expect(world.adapter.whispers).toHaveLength(3);
  });
});

describe('that a message was seen', () => {
  it('is shown by the platform’s sign where nothing else is set', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.atRest();
    expect(world.adapter.statuses).toEqual(['working', 'idle']);
    expect(world.adapter.reactions).toEqual([]);
  });

  it('is shown while the history of an older thread is still read', async () => {
    const world = await setUp();
    let release = (): void => {};
    const before = { ...world.adapter };
    world.adapter.surfaceOf = (conversation) => ({
      ...before.surfaceOf(conversation),
      history: () =>
        new Promise((resolve) => {
          release = () => resolve([]);
        }),
    });
    world.restart();
    await world.say('help', { ...inThread('old'), mentionsBot: true });
    await world.clock.advance(1000);
    expect(world.adapter.statuses).toEqual(['working']);
    release();
    await world.atRest();
    expect(world.adapter.statuses.at(-1)).toBe('idle');
  });

  it('is an emoji at once, taken off at the end, where that is set', async () => {
    const world = await setUp({ reply: { seen: 'reaction' } });
    world.model.answer({ text: 'Part' }, { waitMs: 5000 }, { text: '.' });
    await world.say('hello');
    await world.clock.settle();
    expect(world.adapter.reactions).toEqual(['+👀:u1']);
    await world.atRest();
    expect(world.adapter.reactions).toEqual(['+👀:u1', '-👀:u1']);
    expect(world.adapter.statuses).toEqual([]);
  });

  it('is both where both are wanted', async () => {
    const world = await setUp({ reply: { seen: 'both' } });
    await world.say('hello');
    await world.atRest();
    expect(world.adapter.reactions).toEqual(['+👀:u1', '-👀:u1']);
    expect(world.adapter.statuses).toEqual(['working', 'idle']);
  });

  it('is taken off after silence, a failure, a stop and a restart too', async () => {
    const world = await setUp({ reply: { seen: 'reaction' } });
    world.model.answer({ text: 'ok' });
    await world.say('hello');
    await world.atRest();
    world.model.answer({ call: 'StaySilent', input: { reason: 'their talk' } });
    await world.say('to you all', inThread('u1'));
    await world.atRest();
    world.model.answer(overloaded);
    await world.say('and now', inThread('u1'));
    await world.atRest();
    world.model.answer({ text: 'Part' }, { waitMs: 600_000 });
    await world.say('dig', inThread('u1'));
    await world.clock.advance(2000);
    world.restart();
    await world.clock.advance(5000);
    const on = world.adapter.reactions.filter((one) => one.startsWith('+'));
    const off = world.adapter.reactions.filter((one) => one.startsWith('-'));
    expect(on.map((one) => one.slice(1))).toEqual(off.map((one) => one.slice(1)));
    expect(on).toHaveLength(4);
  });

  it('is the waiting sign for what arrives during a run, until it enters', async () => {
    const world = await setUp({ reply: { seen: 'both' } });
    world.model.answer({ text: 'Part' }, { waitMs: 5000 }, { text: '.' });
    await world.say('hello');
    await world.clock.advance(1000);
    await world.say('and that', inThread('u1'));
    await world.clock.settle();
    expect(world.adapter.reactions).toEqual(['+👀:u1', '+waiting:u2']);
    await world.atRest();
    expect(world.adapter.reactions.slice(2)).toEqual(['-waiting:u2', '-👀:u1']);
  });

  it('is the waiting sign for what waits for room', async () => {
    const world = await setUp({ concurrency: 1 });
    world.model.answer({ text: 'Part' }, { waitMs: 5000 }, { text: '.' });
    await world.say('hello');
    await world.clock.advance(1000);
    await world.say('another thing');
    await world.clock.settle();
    expect(world.adapter.reactions).toEqual(['+waiting:u2']);
    await world.atRest();
    expect(world.adapter.reactions).toEqual(['+waiting:u2', '-waiting:u2']);
  });
});

describe('an empty answer (B018)', () => {
  it.each(['', '   ', '\n'])(
    'of %j to a mention is one line; its sign is taken away',
    async (text) => {
      const world = await setUp({ reply: { seen: 'both' } });
      world.model.answer({ text });
      await world.say('hello');
      await world.atRest();
      expect(world.adapter.texts('u1')).toEqual([
        '> I have no answer to that. Could you put it differently?',
      ]);
      expect(world.adapter.statuses).toEqual(['working', 'idle']);
      expect(world.adapter.reactions).toEqual(['+👀:u1', '-👀:u1']);
    },
  );

  it('where the bot was not addressed is nothing at all', async () => {
    const world = await setUp({ reply: { seen: 'both' } });
    await world.say('hello');
    await world.atRest();
    world.model.answer({ text: ' \n' });
    await world.say('so it goes', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['ok']);
    expect(world.adapter.statuses).toEqual(['working', 'idle', 'working', 'idle']);
    expect(world.adapter.reactions.at(-1)).toBe('-👀:u2');
  });
});

describe('config', () => {
  it('shows each setting of the reply with where it comes from', async () => {
    const world = await setUp({ reply: { notify: 'always' } });
    await world.say('!config');
    await world.clock.advance(1000);
    const { text = '' } = world.adapter.whispers[0] ?? {};
    expect(text).toContain('- reply.notify: always (test)');
    expect(text).toContain('- reply.activity: line (default)');
  });
});
