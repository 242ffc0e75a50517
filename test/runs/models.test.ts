/** Which model answers: chosen in the thread, handed over, waited for, and what the reply says of it. */

import { afterEach, describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { createChoices } from '../../src/conversations/choices.ts';
import { auditEntrySchema } from '../../src/permissions/audit.ts';
import { createAppendLog } from '../../src/storage/append-log.ts';
import type { Button } from '../../src/surface/outbound.ts';
import {
  anna,
  ben,
  createWorld,
  inThread,
  type World,
  type WorldOptions,
} from '../support/world.ts';

const worlds: World[] = [];

async function setUp(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(options);
  worlds.push(world);
  world.runs.start();
  return world;
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

const key = 'web:local:general:u1';
const offered = [
  { name: 'acme/one', aliases: ['one'] },
  { name: 'acme/Two-Large', aliases: [] },
];

/** A world in which every named model is the scripted one under that name, with efforts. */
async function withModels(options: WorldOptions = {}): Promise<World> {
  const world = await setUp({
    offered,
    modelOf: (name, standard) => ({
      ...standard,
      name: name ?? standard.name,
      efforts: ['none', 'low', 'high'],
    }),
    ...options,
  });
  await world.say('hello');
  await world.atRest();
  return world;
}

const lastShown = (world: World) => world.adapter.shown.at(-1);
const buttonsOf = (world: World): readonly Button[] =>
  (lastShown(world)?.message.blocks ?? []).flatMap((block) =>
    block.kind === 'buttons' ? block.buttons : [],
  );

async function command(
  world: World,
  text: string,
  author: typeof anna | typeof ben = anna,
): Promise<void> {
  await world.say(text, { ...inThread('u1'), author });
  await world.clock.advance(1000);
}

async function pick(world: World, label: string, author: typeof anna | typeof ben = anna) {
  const card = lastShown(world);
  const button = buttonsOf(world).find((one) => one.label.includes(label));
  if (!card || !button) throw new Error(`no button ${label}`);
  await world.click(button.controlId, { author, cardId: card.messageId });
  await world.clock.advance(1000);
}

const audited = async (world: World) => {
  const log = createAppendLog({ store: world.store, log: world.log }, 'audit', auditEntrySchema);
  return (await log.read()).map(({ value }) => value);
};

const askedWith = (world: World) => world.model.requests.at(-1)?.reasoning;

describe('the picker', () => {
  it('offers the models as buttons, and the card then says who chose what', async () => {
    const world = await withModels();
    await command(world, '!model');
    expect(buttonsOf(world).map(({ label }) => label)).toEqual([
      'one (acme/one)',
      'acme/Two-Large',
      'As the settings say',
    ]);
    for (const { controlId } of buttonsOf(world))
      expect(controlId).toMatch(/^[a-z0-9_.-]{1,100}$/u);
    await pick(world, 'Two-Large', ben);
    expect(world.adapter.texts('u1').at(-1)).toContain(
      'acme/Two-Large answers here from the next message on, chosen by Ben.',
    );
    expect(buttonsOf(world)).toEqual([]);
    await command(world, '!status');
    expect(world.adapter.whispers.at(-1)?.text).toContain('acme/Two-Large (chosen here by Ben)');
    expect(await audited(world)).toMatchObject([
      { kind: 'choice_made', what: 'model', value: 'acme/Two-Large', by: 'web:ben' },
    ]);
  });

  it('shows a dozen buttons at most: the default, those with short names, then others', async () => {
    const many = Array.from({ length: 30 }, (_, index) => ({
      name: `acme/m${index}`,
      aliases: index >= 20 && index < 25 ? [`short${index}`] : [],
    }));
    const world = await withModels({ offered: many });
    await command(world, '!model');
    expect(buttonsOf(world).map(({ label }) => label.split(' ')[0])).toEqual([
      'acme/m0',
      ...[20, 21, 22, 23, 24].map((index) => `short${index}`),
      ...[1, 2, 3, 4, 5].map((index) => `acme/m${index}`),
      'As',
    ]);
    expect(world.adapter.texts('u1').at(-1)).toContain('Others by `!model NAME`');
  });

  it('chooses by name too, for this thread alone, and takes it back', async () => {
    const world = await withModels();
    await command(world, '!model acme/one');
    const choices = createChoices({ store: world.store, log: world.log });
    expect((await choices.read(key)).model?.value).toBe('acme/one');
    expect((await choices.read('web:local:general:u9')).model).toBeUndefined();
    await command(world, '!model default');
    expect((await choices.read(key)).model).toBeUndefined();
  });

  it('offers the efforts that the model lists, and the next run asks for the chosen one', async () => {
    const world = await withModels();
    await command(world, '!thinking');
    expect(buttonsOf(world).map(({ label }) => label)).toEqual([
      'none',
      'low',
      'high',
      'As the settings say',
    ]);
    await pick(world, 'high');
    await world.say('and now?', inThread('u1'));
    await world.atRest();
    expect(askedWith(world)).toEqual({ effort: 'high' });
  });

  it('refuses an effort that the model does not list, and says which it knows', async () => {
    const world = await withModels();
    await command(world, '!thinking max');
    expect(world.adapter.whispers.at(-1)?.text).toContain('none, low, high, default');
  });

  it('says so where thinking cannot be changed', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.atRest();
    await command(world, '!thinking');
    expect(world.adapter.whispers.at(-1)?.text).toContain('cannot be changed');
  });

  it('is for admins only where the configuration says so, by name and by button', async () => {
    const world = await withModels({
      governance: { modelChoice: 'admins', admins: ['web:ben'] },
    });
    await command(world, '!model acme/one');
    expect(world.adapter.whispers.at(-1)?.text).toContain('Admins choose it');
    await command(world, '!model', ben);
    await pick(world, 'Two-Large', anna);
    expect(world.adapter.whispers.at(-1)?.text).toBe('Admins choose that here.');
    expect(buttonsOf(world).length).toBe(3);
    await pick(world, 'Two-Large', ben);
    expect(buttonsOf(world)).toEqual([]);
  });

  it('changes nothing for a stranger, and keeps its buttons', async () => {
    const world = await withModels({
      profile: {
        allow: [
          { value: { users: ['web:anna'], channels: [], roles: [], spaces: [] }, source: 's' },
        ],
      },
    });
    await command(world, '!model');
    await pick(world, 'Two-Large', ben);
    expect(world.adapter.whispers.at(-1)?.text).toContain('not on the list');
    expect(buttonsOf(world).length).toBe(3);
    const choices = createChoices({ store: world.store, log: world.log });
    expect((await choices.read(key)).model).toBeUndefined();
  });

  it('lists the models outside a thread and says how to choose', async () => {
    const world = await setUp({ offered });
    await world.runs.onEvent({
      kind: 'command',
      eventKey: 'slash:1',
      conversation: { adapter: 'web', space: 'local', channel: 'general', thread: 'none' },
      author: anna,
      at: world.clock.now(),
      channelName: 'general',
      channelKind: 'public',
      text: 'model',
      interactionId: 'i1',
    });
    await world.clock.advance(1000);
    expect(world.adapter.whispers.at(-1)?.text).toContain('acme/Two-Large');
    expect(world.runs.commands.find(({ name }) => name === 'model')?.suggest?.('two')).toEqual([
      'acme/Two-Large',
    ]);
  });
});

describe('a wait for a model', () => {
  it('is shown in the thread before there is any text, and gives way to the answer', async () => {
    const world = await setUp();
    world.model.answer({ wait: 'anthropic is overloaded', delayMs: 10_000 }, { text: 'Here.' });
    await world.say('hello');
    await world.clock.advance(4000);
    expect(world.adapter.texts('u1').join()).toContain(
      'anthropic is overloaded, trying again in 10 s',
    );
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['Here.']);
  });

  it('is ended by a stop', async () => {
    const world = await setUp();
    world.model.answer({ wait: 'anthropic is overloaded', delayMs: 60_000 }, { text: 'Late.' });
    await world.say('hello');
    await world.clock.advance(4000);
    await command(world, '!stop');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['> Stopped by Anna.']);
  });
});

describe('another model that took over', () => {
  it('is named in the receipt and the audit', async () => {
    const world = await setUp();
    world.model.answer(
      { switchTo: 'acme/one', because: 'anthropic is overloaded' },
      { text: 'Here.' },
    );
    await world.say('hello');
    await world.atRest();
    const shown = world.adapter.texts('u1').join('\n');
    expect(shown).toContain('Here.');
    expect(shown).toContain(
      'Answered by acme/one in place of scripted/scripted, because anthropic is overloaded.',
    );
    expect(await audited(world)).toMatchObject([
      {
        kind: 'model_handed_over',
        from: 'scripted/scripted',
        to: 'acme/one',
        reason: 'overloaded',
      },
    ]);
  });

  it('is not there with `fallback: off`: the refusal is plain', async () => {
    const world = await setUp();
    world.model.answer({ fail: new BotError('refused', 'm-1 declined to answer this.') });
    await world.say('hello');
    await world.atRest();
    expect(world.adapter.texts('u1').join()).toContain(
      'm-1 declined to answer this. Try asking differently.',
    );
  });
});

describe('the receipt', () => {
  const usage = { input: 1200, cacheRead: 0, cacheWrite: 0, output: 300, reasoning: 0 };

  it('tells model, tools, time, tokens and cost where it is always wanted', async () => {
    const world = await setUp({ receipt: 'always' });
    world.model.answer({ call: 'Glob', input: { pattern: '*' } }, { used: usage, costUsd: 0.01 });
    world.model.answer({ waitMs: 3000 }, { text: 'Done.' }, { used: usage, costUsd: 0.02 });
    await world.say('look');
    await world.atRest();
    expect(world.adapter.texts('u1').join('\n')).toMatch(
      /scripted\/scripted · 1 tool call · \d+ s · 3\.0k tokens · \$0\.03/u,
    );
  });

  it('says that a cost is unknown, or at least what is known', async () => {
    const world = await setUp({ receipt: 'always' });
    world.model.answer({ text: 'A.' }, { used: usage, costUsd: null });
    await world.say('look');
    await world.atRest();
    expect(world.adapter.texts('u1').join('\n')).toContain('1.5k tokens · cost unknown');
  });

  it('is left out as a rule', async () => {
    const world = await setUp();
    world.model.answer({ text: 'A.' }, { used: usage, costUsd: 1 });
    await world.say('look');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['A.']);
  });
});

describe('sources of a vendor’s own search', () => {
  it('stand under the answer once each, as links', async () => {
    const world = await setUp();
    const first = { url: 'https://example.org/a', title: 'A [guide]' };
    const second = { url: 'https://example.org/b', title: 'B' };
    world.model.answer({ text: 'It rains.' }, { sources: [first, second] }, { sources: [first] });
    await world.say('weather?');
    await world.atRest();
    expect(world.adapter.texts('u1').join('\n')).toContain(
      'Sources: [A  guide](<https://example.org/a>) · [B](<https://example.org/b>)',
    );
  });
});
