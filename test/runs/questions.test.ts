/** Questions to people: buttons and typed lines answer them, also after restarts and days. */

import { afterEach, describe, expect, it } from 'vitest';
import {
  anna,
  ben,
  createWorld,
  inThread,
  type World,
  type WorldOptions,
} from '../support/world.ts';

const worlds: World[] = [];
const dayMs = 24 * 3600 * 1000;

const deploy = {
  question: 'Where shall I deploy?',
  header: 'Target',
  options: [
    { label: 'Staging', description: 'safe' },
    { label: 'Production', description: '' },
  ],
};

async function setUp(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(options);
  worlds.push(world);
  world.runs.start();
  return world;
}

/** Asks; the card is the last message of the thread. */
async function ask(world: World, ...questions: readonly object[]): Promise<void> {
  world.model.answer(
    { text: 'One thing first.' },
    { call: 'AskUserQuestion', input: { questions }, id: 'c1' },
  );
  world.model.answer({ text: 'Thank you.' });
  await world.say('deploy');
  await world.until(() => world.adapter.texts('u1').length === 2);
  await world.clock.advance(1000);
}

function resultTold(world: World): string {
  return JSON.stringify(world.model.requests[1]?.messages.findLast(({ role }) => role === 'tool'));
}

/** The control with this label on the newest card. */
function controlOf(world: World, label: string): string {
  for (const { message } of world.adapter.shown.toReversed()) {
    for (const block of message.blocks) {
      if (block.kind === 'choice') return block.controlId;
      const button =
        block.kind === 'buttons' ? block.buttons.find((one) => one.label === label) : undefined;
      if (button) return button.controlId;
    }
  }
  throw new Error(`no button ${label}`);
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

describe('a question', () => {
  it('shows a card with numbered options, and the worker is free', async () => {
    const world = await setUp({ concurrency: 1 });
    await ask(world, deploy);
    expect(world.adapter.texts('u1')).toEqual([
      'One thing first.',
      '**Target**\n\nWhere shall I deploy?\n\n1. **Staging**: safe\n2. **Production**\n[1. Staging] [2. Production] [Other…]',
    ]);
    await world.say('something else', { messageId: 'u9' });
    await world.clock.advance(5000);
    expect(world.adapter.texts('u9')).toEqual(['Thank you.']);
  });

  it('is answered by one click; the card shows who chose what and has no controls', async () => {
    const world = await setUp();
    await ask(world, deploy);
    await world.click(controlOf(world, '2. Production'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1')).toEqual([
      'One thing first.',
      'Where shall I deploy?\n\n**Production** (Anna)',
      'Thank you.',
    ]);
    expect(resultTold(world)).toContain('Production (answered by Anna)');
  });

  it('is answered after a restart, hours later, with the same prompt and tools', async () => {
    const world = await setUp();
    await ask(world, deploy);
    const control = controlOf(world, '1. Staging');
    world.restart();
    await world.clock.advance(dayMs / 8);
    await world.click(control);
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1').at(-1)).toBe('Thank you.');
    expect(world.model.requests[1]?.system).toBe(world.model.requests[0]?.system);
    expect(world.model.requests[1]?.tools).toEqual(world.model.requests[0]?.tools);
  });

  it.each([
    ['2', 'Production'],
    ['staging', 'Staging'],
    ['neither, use the lab', 'neither, use the lab'],
  ])('is answered by the typed line %j of the asker', async (typed, told) => {
    const world = await setUp();
    await ask(world, deploy);
    await world.say(typed, inThread('u1'));
    await world.clock.advance(5000);
    expect(resultTold(world)).toContain(`${told} (answered by Anna)`);
    expect(world.model.requests[1]?.messages.at(-1)?.role).toBe('tool');
  });

  it('lets the lines of others wait and go along as steering', async () => {
    const world = await setUp();
    await ask(world, deploy);
    await world.say('take care', { ...inThread('u1'), author: ben });
    await world.clock.advance(5000);
    expect(world.model.requests).toHaveLength(1);
    await world.click(controlOf(world, '1. Staging'));
    await world.clock.advance(5000);
    expect(JSON.stringify(world.model.requests[1]?.messages.at(-1))).toContain('Ben: take care');
  });

  it('is answered by somebody else’s line that mentions the bot', async () => {
    const world = await setUp();
    await ask(world, deploy);
    await world.say('1', { ...inThread('u1'), author: ben, mentionsBot: true });
    await world.clock.advance(5000);
    expect(resultTold(world)).toContain('Staging (answered by Ben)');
  });

  it('is not changed by a stranger, a bot or a late click; each gets a private line', async () => {
    const world = await setUp();
    await ask(world, deploy);
    const control = controlOf(world, '1. Staging');
    await world.click(control, { author: { ...ben, id: 'web:mallory', name: 'Mallory' } });
    await world.click(control, { author: { ...anna, isBot: true, id: 'web:bot' } });
    await world.clock.advance(1000);
    expect(world.adapter.texts('u1')[1]).toContain('[1. Staging]');
    await world.click(control);
    await world.click(control);
    await world.clock.advance(5000);
    await world.click(control);
    await world.clock.advance(1000);
    expect(world.adapter.whispers.map(({ person, text }) => [person, text])).toEqual([
      ['web:mallory', 'This question is for somebody else. Nothing was changed.'],
      ['web:bot', 'This question is for somebody else. Nothing was changed.'],
      ['web:anna', 'Anna has answered this already.'],
      ['web:anna', 'This was answered already.'],
    ]);
    expect(world.model.requests).toHaveLength(2);
  });

  it('is answered by the asker alone where the setting says so', async () => {
    const world = await setUp({ answerers: 'asker' });
    await ask(world, deploy);
    await world.say('me too', { ...inThread('u1'), author: ben });
    await world.click(controlOf(world, '1. Staging'), { author: ben });
    await world.clock.advance(5000);
    expect(world.model.requests).toHaveLength(1);
    expect(world.adapter.whispers).toHaveLength(1);
  });

  it('with several parts is answered one by one on one card and sent together', async () => {
    const world = await setUp();
    const when = {
      ...deploy,
      question: 'When?',
      header: 'Time',
      options: [
        { label: 'Now', description: '' },
        { label: 'Later', description: '' },
      ],
    };
    await ask(world, deploy, when);
    await world.click(controlOf(world, '1. Staging'));
    await world.clock.advance(2000);
    expect(world.model.requests).toHaveLength(1);
    expect(world.adapter.texts('u1')[1]).toContain('**Time** (2 of 2)');
    await world.click(controlOf(world, '2. Later'));
    await world.clock.advance(5000);
    expect(resultTold(world)).toContain('Staging (answered by Anna)\\n\\nWhen?\\n→ Later');
    expect(world.adapter.texts('u1')).toHaveLength(3);
  });

  it('with several choices takes all of them', async () => {
    const world = await setUp();
    await ask(world, { ...deploy, multiSelect: true });
    await world.click(controlOf(world, ''), { values: [] });
    await world.clock.advance(1000);
    expect(world.adapter.whispers.at(-1)?.text).toBe('Nothing was chosen. Choose at least one.');
    await world.click(controlOf(world, ''), { values: ['0', '1'] });
    await world.clock.advance(5000);
    expect(resultTold(world)).toContain('Staging, Production (answered by Anna)');
  });

  it('takes free text from a form', async () => {
    const world = await setUp();
    await ask(world, deploy);
    await world.runs.onEvent({
      kind: 'form',
      eventKey: 'form:1',
      conversation: { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' },
      author: anna,
      at: world.clock.now(),
      controlId: controlOf(world, 'Other…'),
      text: 'the lab',
      cardId: 'm2',
      interactionId: 'i',
    });
    await world.clock.advance(5000);
    expect(resultTold(world)).toContain('the lab (answered by Anna)');
  });

  it('expires at its time, says so, and the thread stays usable', async () => {
    const world = await setUp({ expireDays: 0.125 });
    await ask(world, deploy);
    const control = controlOf(world, '1. Staging');
    await world.clock.advance(dayMs / 9);
    expect(world.adapter.texts('u1')[1]).toContain('[1. Staging]');
    await world.clock.advance(dayMs / 64);
    expect(world.adapter.texts('u1')[1]).toBe('> This question expired without an answer.');
    await world.click(control);
    await world.clock.advance(1000);
    expect(world.adapter.whispers.at(-1)?.text).toContain('has expired');
    await world.say('again', inThread('u1'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1').at(-1)).toBe('Thank you.');
  });

  it('is taken away by !stop', async () => {
    const world = await setUp();
    await ask(world, deploy);
    await world.say('!stop', inThread('u1'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1')).toEqual([
      'One thing first.',
      '> This question is no longer needed.',
      '> Stopped by Anna.\n[Continue]',
    ]);
    expect(world.model.requests).toHaveLength(1);
  });

  it('is taken away when the message that led to it is deleted', async () => {
    const world = await setUp();
    await ask(world, deploy);
    await world.runs.onEvent({
      kind: 'message_deleted',
      eventKey: 'deleted:u1',
      conversation: { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' },
      messageId: 'u1',
      at: world.clock.now(),
    });
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1')[1]).toBe('> This question is no longer needed.');
  });
});

describe('a crash at any call while a question is asked and answered', () => {
  it('ends in one card, one answer, one reply', { timeout: 120_000 }, async () => {
    const play = async (world: World): Promise<void> => {
      world.model.answer(
        { text: 'First.' },
        { call: 'AskUserQuestion', input: { questions: [deploy] }, id: 'c1' },
      );
      for (let time = 0; time < 3; time += 1) world.model.answer({ text: 'Thank you.' });
      world.runs.start();
      await Promise.race([world.say('deploy', { messageId: 'u1' }), world.clock.settle()]);
      await world.clock.advance(3000);
      const shown = world.adapter.shown.some(({ message }) =>
        message.blocks.some(({ kind }) => kind === 'buttons'),
      );
      if (!shown || world.life.isDead) return;
      await Promise.race([world.click(controlOf(world, '1. Staging')), world.clock.settle()]);
      await world.clock.advance(5000);
    };
    const whole = await setUp();
    await play(whole);
    const { calls } = whole.life;
    expect(whole.adapter.texts('u1')).toHaveLength(3);
    for (let call = 5; call <= calls; call += 1) {
      const world = await setUp({ dieAt: { call, when: call % 2 === 0 ? 'before' : 'after' } });
      await play(world);
      world.restart();
      await world.clock.advance(10_000);
      const open = world.adapter.shown.some(({ message }) =>
        message.blocks.some(({ kind }) => kind === 'buttons'),
      );
      // A click that was lost is made again by the person.
      if (open) await world.click(controlOf(world, '1. Staging'));
      await world.clock.advance(10_000);
      const texts = world.adapter.texts('u1');
      const where = `death at call ${call} of ${calls}: ${JSON.stringify(texts)}`;
      expect(
        texts.filter((text) => text.includes('Thank you.')),
        where,
      ).toHaveLength(1);
      expect(
        texts.filter((text) => text.includes('Where shall I deploy?')).length,
        where,
      ).toBeLessThanOrEqual(1);
      expect(texts.join().includes('['), where).toBe(false);
      expect(await world.store.get('run:web:local:general:u1'), where).toBeUndefined();
    }
  });
});
