/** Choosing the model of a thread and how hard it thinks; what holds when a choice cannot. */

import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { createChoices } from '../../src/conversations/choices.ts';
import { auditEntrySchema } from '../../src/permissions/audit.ts';
import { createAppendLog } from '../../src/storage/append-log.ts';
import type { Button } from '../../src/surface/outbound.ts';
import {
  anna,
  ben,
  inThread,
  usingWorlds,
  type World,
  type WorldOptions,
} from '../support/world.ts';

const setUp = usingWorlds();

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
  });
});

describe('a chosen model that is gone', () => {
  const gone = new BotError('model_unknown', 'No provider is called "acme".');
  async function withGone(): Promise<{ world: World; lose: () => void }> {
    let isGone = false;
    const world = await withModels({
      modelOf: (name, standard) => {
        if (isGone && name === 'acme/one') throw gone;
        return { ...standard, name: name ?? standard.name, efforts: ['low', 'high'] };
      },
    });
    await command(world, '!model acme/one');
    return {
      world,
      lose: () => {
        isGone = true;
      },
    };
  }

  it('is told by every command, and can be chosen away', async () => {
    const { world, lose } = await withGone();
    lose();
    await command(world, '!status');
    expect(world.adapter.whispers.at(-1)?.text).toContain('No provider is called "acme".');
    await command(world, '!model');
    expect(world.adapter.texts('u1').at(-1)).toContain('acme/one (not available');
    await pick(world, 'As the settings say');
    await world.say('and now?', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
  });

  it('makes a run fail visibly, with the reason', async () => {
    const { world, lose } = await withGone();
    lose();
    await world.say('and now?', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toContain('No provider is called "acme".');
  });
});

describe('a choice that is not allowed any more', () => {
  it('is taken back with a line, when only admins choose', async () => {
    const governance = { modelChoice: 'everybody' as 'everybody' | 'admins' };
    const world = await withModels({ governance });
    await command(world, '!model acme/one');
    await command(world, '!thinking high');
    governance.modelChoice = 'admins';
    await world.say('go', inThread('u1'));
    await world.atRest();
    const shown = world.adapter.texts('u1').at(-1) ?? '';
    expect(shown).toContain('acme/one does not answer here any more: only admins choose that now.');
    expect(shown).toContain('Thinking here is as the settings say again');
    expect(askedWith(world)).toEqual({});
    await world.say('again', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
  });

  it('is taken back with a line, when the model is not offered any more', async () => {
    let offers = true;
    const world = await withModels({
      choosableModel: (given) => {
        if (offers) return given;
        throw new BotError('model_unknown', `${given} is not offered here.`);
      },
    });
    await command(world, '!model acme/one');
    offers = false;
    await world.say('go', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toContain('acme/one is not offered here.');
  });
});

describe('a choice that ended', () => {
  const byAnna = { id: anna.id, name: anna.name };
  async function withEnded(): Promise<World> {
    const governance = { modelChoice: 'everybody' as 'everybody' | 'admins' };
    const world = await withModels({ governance });
    await command(world, '!model acme/one');
    governance.modelChoice = 'admins';
    return world;
  }
  const told = (world: World) =>
    world.adapter.texts('u1').filter((text) => text.includes('does not answer here any more'));

  it('is told when the bot speaks, not where it stays silent', async () => {
    const world = await withEnded();
    world.model.answer({ call: 'StaySilent', input: { reason: 'a talk between people' } });
    await world.say('Anna, lunch?', { ...inThread('u1'), author: ben, mentionsBot: false });
    await world.atRest();
    expect(told(world)).toEqual([]);
    await world.say('and you?', inThread('u1'));
    await world.atRest();
    expect(told(world)).toHaveLength(1);
  });

  it('is told once where the bot asks in between', async () => {
    const world = await withEnded();
    const options = ['A', 'B'].map((label) => ({ label, description: label }));
    const question = { question: 'A or B?', header: 'Choice', multiSelect: false, options };
    world.model.answer(
      { text: 'Let me ask.' },
      { call: 'AskUserQuestion', input: { questions: [question] } },
    );
    world.model.answer({ text: 'A it is.' });
    await world.say('go', inThread('u1'));
    await world.clock.advance(5000);
    await world.say('1', inThread('u1'));
    await world.until(() => world.adapter.texts('u1').some((text) => text.includes('A it is.')));
    await world.clock.advance(5000);
    expect(told(world)).toHaveLength(1);
  });

  it('takes back nothing that was chosen since', async () => {
    const world = await withModels();
    const choices = createChoices({ store: world.store, log: world.log });
    const old = { value: 'acme/one', by: byAnna };
    await choices.setModel(key, { value: 'acme/Two-Large', by: byAnna });
    await choices.setEffort(key, { value: 'low', by: byAnna });
    await choices.takeBack(key, { model: old, effort: { value: 'low', by: byAnna } });
    expect(await choices.read(key)).toEqual({ model: { value: 'acme/Two-Large', by: byAnna } });
  });

  it('is not one whose key is missing today: it answers again when the key is back', async () => {
    let hasKey = true;
    const refuse = (): void => {
      if (!hasKey) throw new BotError('auth_failed', 'ACME_KEY is not set.');
    };
    const world = await withModels({
      modelOf: (name, standard) => {
        if (name === 'acme/one') refuse();
        return { ...standard, name: name ?? standard.name, efforts: [] };
      },
      choosableModel: (given) => {
        refuse();
        return given;
      },
    });
    await command(world, '!model acme/one');
    hasKey = false;
    await world.say('go', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toContain('ACME_KEY is not set.');
    hasKey = true;
    const choices = createChoices({ store: world.store, log: world.log });
    expect((await choices.read(key)).model?.value).toBe('acme/one');
  });
});

describe('a command that fails', () => {
  it('tells the one who gave it', async () => {
    const world = await setUp({
      store: (store) => ({
        ...store,
        get: (key) =>
          key.startsWith('choice:')
            ? Promise.reject(new BotError('store_unavailable', 'The store does not answer.'))
            : store.get(key),
      }),
    });
    await world.say('hello');
    await world.clock.advance(3000);
    await command(world, '!model');
    expect(world.adapter.whispers.at(-1)?.text).toBe(
      'That did not work: The store does not answer.',
    );
  });
});

describe('the settings of reasoning', () => {
  it('reach the request, the nearest field first; a nearer effort wins over a farther budget', async () => {
    const world = await setUp({
      profile: {
        reasoning: [
          { value: { budgetTokens: 9_000, verbosity: 'low', summary: 'none' }, source: 'top' },
          { value: { effort: 'max' }, source: 'channel' },
        ],
        webSearch: { value: true, source: 'channel' },
      },
    });
    await world.say('hello');
    await world.atRest();
    expect(askedWith(world)).toEqual({ effort: 'max', verbosity: 'low', summary: 'none' });
    expect(world.model.requests[0]?.webSearch).toBe(true);
  });
});
