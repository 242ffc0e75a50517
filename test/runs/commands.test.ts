/** Commands, by message and by slash, and what they tell to whom. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../src/tools/contract.ts';
import { registerTool } from '../../src/tools/registry.ts';
import { anna, ben, inThread, noLists, usingWorlds, type World } from '../support/world.ts';

const setUp = usingWorlds();

async function slash(
  world: World,
  text: string,
  thread = 'u1',
  author: typeof anna | typeof ben = anna,
): Promise<void> {
  await world.runs.onEvent({
    kind: 'command',
    eventKey: `slash:${text}:${world.clock.now()}`,
    conversation: { adapter: 'web', space: 'local', channel: 'general', thread },
    author,
    at: world.clock.now(),
    channelName: 'general',
    channelKind: 'public',
    text,
    interactionId: 'i1',
  });
  await world.clock.advance(1000);
}

const told = (world: World): string => world.adapter.whispers.at(-1)?.text ?? '';

describe('commands', () => {
  it('are listed by help, for the one who asks alone; admin commands for admins', async () => {
    const world = await setUp({ governance: { admins: ['web:ben'] } });
    await slash(world, 'help', 'none');
    for (const name of ['stop', 'new', 'status', 'config', 'why'])
      expect(told(world)).toContain(`\`!${name}\``);
    expect(told(world)).not.toContain('spaces');
    await slash(world, '', 'none', ben);
    expect(told(world)).toContain('spaces');
    expect(world.adapter.shown).toEqual([]);
    expect(world.runs.commands.map(({ name }) => name)).toEqual([
      'help',
      'stop',
      'new',
      'status',
      'config',
      'why',
      'usage',
      'grants',
      'spaces',
      'model',
      'thinking',
    ]);
  });

  it('mean the same by mention, in a thread and by slash', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.clock.advance(2000);
    await world.say('!status', { messageId: 'u7' });
    await world.clock.advance(1000);
    await world.say('!status', inThread('u1'));
    await world.clock.advance(1000);
    await slash(world, 'status');
    expect(world.adapter.whispers.map(({ text }) => text)).toEqual([
      expect.stringContaining('running now, over all threads'),
      expect.stringContaining('here: nothing to do'),
      expect.stringContaining('here: nothing to do'),
    ]);
    expect(told(world)).toContain('model: scripted/scripted (a test)');
    expect(world.model.requests).toHaveLength(1);
  });

  it('an unknown one is told to who addressed the bot; in a thread it is just text', async () => {
    const world = await setUp();
    await world.say('!dance');
    await world.clock.advance(1000);
    expect(told(world)).toBe('There is no command `dance`. `help` lists them.');
    await world.say('hello', { messageId: 'u5' });
    await world.clock.advance(2000);
    await world.say('!important read this', inThread('u5'));
    await world.clock.advance(2000);
    expect(JSON.stringify(world.model.requests.at(-1))).toContain('!important read this');
  });

  it('delivered twice is carried out once', async () => {
    const world = await setUp();
    await world.say('!help', { messageId: 'u1' });
    await world.say('!help', { messageId: 'u1' });
    await world.clock.advance(1000);
    expect(world.adapter.whispers).toHaveLength(1);
  });

  it('new: the model sees nothing from before', async () => {
    const world = await setUp();
    await world.say('the password is tulip');
    await world.clock.advance(2000);
    await world.say('!new', inThread('u1'));
    await world.clock.advance(2000);
    expect(world.adapter.texts('u1').at(-1)).toBe('> Fresh start, asked for by Anna.');
    await world.say('what was it?', inThread('u1'));
    await world.clock.advance(2000);
    expect(JSON.stringify(world.model.requests.at(-1))).not.toContain('tulip');
    expect(world.model.requests.at(-1)?.messages).toHaveLength(1);
  });

  it('new waits for the end of what runs', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Working' }, { waitMs: 60_000 });
    await world.say('go');
    await world.clock.advance(1000);
    await world.say('!new', inThread('u1'));
    await world.clock.advance(1000);
    expect(told(world)).toContain('Say `!stop` first');
  });

  it('stop says so where nothing runs', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.clock.advance(2000);
    await slash(world, 'stop');
    expect(told(world)).toBe('Nothing is running here.');
    await slash(world, 'stop', 'none');
    expect(told(world)).toBe('Use this in a thread that I take part in.');
  });

  it('why names the rules; sources of lists are for admins', async () => {
    const allow = [
      { value: { ...noLists, users: ['web:anna', 'web:ben'] }, source: 'channels[0], line 7' },
    ];
    const world = await setUp({ profile: { allow }, governance: { admins: ['web:ben'] } });
    await world.say('hello');
    await world.clock.advance(2000);
    await slash(world, 'why');
    expect(told(world)).toContain(
      '- answered because: mention\n- allowed because: allow list\n- model: scripted/scripted',
    );
    expect(told(world)).toContain('- limits: 25 steps a run, 120 s a tool');
    await slash(world, 'why', 'u1', ben);
    expect(told(world)).toContain('allow list (channels[0], line 7)');
  });

  it('config shows each value with its source; ids of people to admins alone', async () => {
    const world = await setUp({
      profile: {
        instructions: [{ value: 'Be terse.', source: 'channels[1], line 9' }],
        followUps: { value: 'mention', source: 'configuration' },
        deny: [{ value: { ...noLists, users: ['web:mallory'] }, source: 'configuration' }],
      },
      governance: { admins: ['web:ben'] },
    });
    await slash(world, 'config', 'none');
    expect(told(world)).toContain('- follow-ups: mention (configuration)');
    expect(told(world)).toContain('- instructions (channels[1], line 9): Be terse.');
    expect(told(world)).not.toContain('mallory');
    await slash(world, 'config', 'none', ben);
    expect(told(world)).toContain('deny (configuration): users web:mallory');
  });

  it('of the admin tier are refused to others', async () => {
    const world = await setUp({ governance: { admins: ['web:ben'] } });
    await slash(world, 'spaces', 'none');
    expect(told(world)).toBe('`spaces` is for admins.');
    await slash(world, 'spaces', 'none', ben);
    expect(told(world)).toBe('- web:local (Local): served');
    await slash(world, 'spaces allow discord:42', 'none', ben);
    expect(told(world)).toBe('From now on I serve discord:42.');
    await slash(world, 'spaces allow slack:42', 'none', ben);
    expect(told(world)).toBe('slack serves the space of its token alone.');
  });

  it('are refused to people who may not use the bot', async () => {
    const world = await setUp({
      profile: { deny: [{ value: { ...noLists, users: ['web:anna'] }, source: 'configuration' }] },
    });
    await slash(world, 'status', 'none');
    expect(told(world)).toContain('not on the list');
  });
});

describe('refusals', () => {
  it('are one private line an hour', async () => {
    const world = await setUp({
      profile: { deny: [{ value: { ...noLists, users: ['web:anna'] }, source: 'configuration' }] },
    });
    await world.say('hello');
    await world.say('hello?', { messageId: 'u2' });
    await world.clock.advance(59 * 60_000);
    await world.say('hello??', { messageId: 'u3' });
    await world.clock.advance(1000);
    expect(world.adapter.whispers).toHaveLength(1);
    await world.clock.advance(60_000);
    await world.say('hello???', { messageId: 'u4' });
    await world.clock.advance(1000);
    expect(world.adapter.whispers).toHaveLength(2);
    expect(world.model.requests).toEqual([]);
  });
});

describe('a stop of the process', () => {
  it('lets running work end within its time', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Nearly ' }, { waitMs: 1500 }, { text: 'done.' });
    await world.say('go');
    await world.clock.advance(500);
    const stopped = world.runs.stop();
    await world.clock.advance(2500);
    await stopped;
    expect(world.adapter.texts('u1')).toEqual(['Nearly done.']);
  });

  it('ends the rest, and the next life makes the step anew in the same message', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Nearly ' }, { waitMs: 60_000 }, { text: 'never' });
    await world.say('go');
    await world.clock.advance(500);
    const stopped = world.runs.stop();
    await world.clock.advance(5000);
    await stopped;
    expect(world.adapter.texts('u1')).toEqual([
      'Nearly\n_Restarting; I go on in a moment_\n[Stop]',
    ]);
    world.model.answer({ text: 'All done.' });
    world.restart();
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1')).toEqual(['All done.']);
  });

  it('takes no new run, but keeps what is said for the next life', async () => {
    const world = await setUp();
    const stopped = world.runs.stop();
    await world.say('hello');
    await world.clock.advance(3000);
    await stopped;
    expect(world.adapter.texts('u1')).toEqual([]);
    world.restart();
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')).toEqual(['ok']);
  });

  it('tells the model and the thread of a tool call that was running', async () => {
    const hang: Tool<object> = {
      name: 'Hang',
      description: '',
      input: z.object({}),
      category: 'core',
      concurrency: 'never',
      isReadOnly: true,
      needsApproval: false,
      describe: () => 'Hanging',
      invoke: () => new Promise(() => {}),
    };
    const world = await setUp({ tools: [registerTool(hang)] });
    world.model.answer({ text: 'I try.' }, { call: 'Hang', input: {} });
    world.model.answer({ text: 'I do not know how it went.' });
    await world.say('go');
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')).toEqual(['I try.\n_Hanging_\n[Stop]']);
    world.restart();
    await world.clock.advance(5000);
    expect(JSON.stringify(world.model.requests[1])).toContain(
      'interrupted: the process stopped; outcome unknown',
    );
    expect(world.adapter.texts('u1')).toEqual([
      'I try.\n\nI do not know how it went.\n> I was restarted in the middle of this and went on.',
    ]);
  });
});
