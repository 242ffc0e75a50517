/** Clicks, choices, forms and slash commands on Discord. */

import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Button } from '../../../src/surface/outbound.ts';
import { readCase } from '../../support/cases.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { anna, bo, type DiscordSetUp, key, ops, setUpDiscord } from './set-up.ts';

const open: DiscordSetUp[] = [];
const setUp = async (...options: Parameters<typeof setUpDiscord>): Promise<DiscordSetUp> => {
  const discord = await setUpDiscord(...options);
  open.push(discord);
  return discord;
};
afterEach(async () => {
  for (const discord of open.splice(0)) await discord.close();
});

const yes: Button = { controlId: 'q1.yes', label: 'Yes', style: 'primary' };
const other: Button = { controlId: 'form.q1', label: 'Other…', style: 'plain' };

/** A card with buttons in the thread of a mention. */
async function card(
  discord: DiscordSetUp,
  buttons: readonly Button[] = [yes],
  text = 'Go on?',
): Promise<{ readonly root: string; readonly cardId: string }> {
  const root = discord.guild.say(anna, ops, `${discord.guild.mention} hello`);
  await discord.heard(root);
  const { messageId } = await discord.adapter
    .surfaceOf(discord.conversation(ops, root), 'hello')
    .post(
      {
        blocks: [
          { kind: 'markdown', text },
          { kind: 'buttons', buttons },
        ],
        mentionable: [],
      },
      key('card'),
    );
  return { root, cardId: messageId };
}

describe('a click', () => {
  it('is answered before it is stored (B058)', async () => {
    const discord = await setUp();
    const { root, cardId } = await card(discord);
    const release = discord.holdStoring();
    discord.guild.click(anna, cardId, 'Yes');
    await discord.guild.until(() => discord.guild.interactions()[0]?.answered === 6);
    expect(discord.events.some((event) => event.kind === 'click')).toBe(false);
    expect(discord.guild.interactions()[0]?.answeredAfterMs).toBeLessThan(1_000);
    release();
    const click = await discord.first('click');
    expect(click.conversation).toEqual(discord.conversation(ops, root));
    expect(click.author.roles).toEqual(['discord:700000000000000001']);
  });

  it('is stored though its answer came too late or a second time (trap 18)', async () => {
    const discord = await setUp();
    const { cardId } = await card(discord);
    const route = 'POST /interactions/:id/:token/callback';
    discord.guild.fault(route, { kind: 'refused', code: 10062, status: 404 });
    discord.guild.fault(route, { kind: 'refused', code: 40060 });
    discord.guild.click(anna, cardId, 'Yes');
    discord.guild.click(bo, cardId, 'Yes');
    const clicks = () => discord.events.filter((event) => event.kind === 'click');
    await discord.guild.until(() => clicks().length === 2);
    const unanswered = discord.log.lines.filter(
      (line) => line.event === 'discord_interaction_unanswered',
    );
    expect(unanswered.map((line) => [line.level, line.facts['discordCode']])).toEqual([
      ['info', 10062],
      ['info', 40060],
    ]);
  });

  it('is answered privately for a quarter of an hour, then by a direct message', async () => {
    const clock = createFakeClock(Date.now());
    const discord = await setUp({ deps: { clock } });
    const { root, cardId } = await card(discord);
    discord.guild.click(anna, cardId, 'Yes');
    const { interactionId } = await discord.first('click');
    const surface = discord.adapter.surfaceOf(discord.conversation(ops, root));
    await clock.advance(14.5 * 60_000 - 1);
    await surface.whisper(`discord:${anna}`, 'one', interactionId);
    expect(discord.guild.model.privateMessages.map((line) => line.content)).toEqual(['one']);
    await clock.advance(1);
    await surface.whisper(`discord:${anna}`, 'two', interactionId);
    expect(discord.guild.model.privateMessages).toHaveLength(1);
    expect(discord.guild.privateLines(anna)).toEqual(['one', 'two']);
  });

  it('falls back to a direct message when the token is refused', async () => {
    const discord = await setUp();
    const { root, cardId } = await card(discord);
    discord.guild.click(anna, cardId, 'Yes');
    const { interactionId } = await discord.first('click');
    discord.guild.rules.mostTokenAgeMs = -1;
    const surface = discord.adapter.surfaceOf(discord.conversation(ops, root));
    await surface.whisper(`discord:${anna}`, 'by mail', interactionId);
    expect(discord.guild.model.privateMessages).toEqual([]);
    expect(discord.guild.privateLines(anna)).toEqual(['by mail']);
    // A refused interaction token says nothing about the bot's own.
    await surface.post({ blocks: [{ kind: 'notice', text: 'ok' }], mentionable: [] }, key('k2'));
  });

  it('names the conversation where the card is a reply in the channel', async () => {
    const discord = await setUp({ prepare: (guild) => guild.deny(ops, 'threads') });
    const { root, cardId } = await card(discord);
    discord.guild.click(anna, cardId, 'Yes');
    expect((await discord.first('click')).conversation).toEqual(discord.conversation(ops, root));
  });

  it('has its values in the order of the options', async () => {
    const discord = await setUp();
    const { root } = await card(discord);
    const { messageId } = await discord.adapter.surfaceOf(discord.conversation(ops, root)).post(
      {
        blocks: [
          {
            kind: 'choice',
            controlId: 'q2',
            submitLabel: 'Send',
            options: [
              { value: 'v1', label: 'Tea' },
              { value: 'v2', label: 'Milk' },
            ],
          },
        ],
        mentionable: [],
      },
      key('k2'),
    );
    discord.guild.select(anna, messageId, ['Milk', 'Tea']);
    expect((await discord.first('click')).values).toEqual(['v1', 'v2']);
  });

  it('fits Discord’s ids, whatever the conversation and the options are called (B061)', async () => {
    const { input, expected } = readCase(
      'B061',
      z.object({ question: z.string(), options: z.array(z.string()) }),
      z.object({
        everyCustomIdAtMost: z.number(),
        clickOnEachOptionReturnsItsIndex: z.array(z.number()),
      }),
    );
    const discord = await setUp();
    const buttons = input.options.map(
      (label, index): Button => ({
        controlId: `q_k3v9x0q2m4ab.${index}`,
        label,
        style: 'plain',
      }),
    );
    const { cardId } = await card(discord, buttons, input.question);
    const sent = discord.guild.model.messages.find((message) => message.id === cardId);
    const rows = z
      .array(
        z.object({ components: z.array(z.object({ custom_id: z.string(), label: z.string() })) }),
      )
      .parse(sent?.components);
    const controls = rows.flatMap((row) => row.components);
    for (const control of controls) {
      expect(control.custom_id.length).toBeLessThanOrEqual(expected.everyCustomIdAtMost);
      expect(control.label.length).toBeLessThanOrEqual(80);
      discord.guild.click(anna, cardId, control.label);
    }
    const clicks = () =>
      discord.events.flatMap((event) => (event.kind === 'click' ? [event.controlId] : []));
    await discord.guild.until(() => clicks().length === 3);
    expect(clicks().map((id) => Number(id.split('.')[1]))).toEqual(
      expected.clickOnEachOptionReturnsItsIndex,
    );
  });
});

describe('a form', () => {
  it('is the first and only answer to its click (trap 23)', async () => {
    const discord = await setUp();
    const { cardId } = await card(
      discord,
      [yes, other],
      `**What** colour should the \`door\` have, all things considered?`,
    );
    discord.guild.click(anna, cardId, 'Other…');
    await discord.guild.until(() => discord.guild.model.forms.length === 1);
    expect(discord.guild.interactions().map((one) => one.answered)).toEqual([9]);
    expect(discord.guild.model.forms[0]?.form).toMatchObject({
      title: 'Other…',
      components: [{ label: 'What colour should the door have, all things…' }],
    });
    discord.guild.submitForm(anna, 'green');
    const form = await discord.first('form');
    expect(form).toMatchObject({ controlId: 'form.q1', text: 'green', cardId });
    await discord.adapter
      .surfaceOf(form.conversation)
      .whisper(form.author.id, 'Noted.', form.interactionId);
    expect(discord.guild.privateLines(anna)).toEqual(['Noted.']);
  });

  it('is filled while it is not stored: the person hears of it', async () => {
    const discord = await setUp();
    const { cardId } = await card(discord, [other]);
    discord.guild.click(anna, cardId, 'Other…');
    await discord.guild.until(() => discord.guild.model.forms.length === 1);
    discord.failStoring(true);
    discord.guild.submitForm(anna, 'green');
    await discord.guild.until(() => discord.guild.privateLines(anna).length === 1);
    expect(discord.guild.privateLines(anna)).toEqual([
      'Could not save your answer, please try again.',
    ]);
  });
});

describe('a slash command', () => {
  const commands = () => [
    { name: 'stop', usage: 'stop', summary: 'Stops the run' },
    { name: 'config', usage: 'config [name]', summary: 'Shows settings' },
  ];

  it('is told with its words, its place, and no thread in a channel', async () => {
    const discord = await setUp({ deps: { commands } });
    discord.guild.slash(anna, ops, 'config model');
    const command = await discord.first('command');
    expect(command).toMatchObject({
      ...{ text: 'config model', channelName: 'ops', channelKind: 'public' },
      conversation: discord.conversation(ops, 'none'),
    });
    expect(command.eventKey).toMatch(/^discord:interaction:\d+$/u);
    // The first answer fills the waiting line, the next ones are lines of their own (trap 18).
    const surface = discord.adapter.surfaceOf(command.conversation);
    await surface.whisper(`discord:${anna}`, 'first', command.interactionId);
    await surface.whisper(`discord:${anna}`, 'second', command.interactionId);
    expect(discord.guild.privateLines(anna)).toEqual(['first', 'second']);
    expect(discord.guild.ofBot(ops)).toEqual([]);
  });

  it('belongs to the thread that it is given in', async () => {
    const discord = await setUp({ deps: { commands } });
    const { root } = await card(discord);
    discord.guild.slash(anna, root, 'stop');
    expect((await discord.first('command')).conversation).toEqual(discord.conversation(ops, root));
  });

  it('belongs to the direct conversation that it is given in', async () => {
    const discord = await setUp({ deps: { commands } });
    const { channelId } = discord.guild.sayDirect(anna, 'hi');
    discord.guild.slash(anna, channelId, 'stop');
    const command = await discord.first('command');
    expect(command.conversation).toMatchObject({ space: 'direct', thread: 'main' });
    expect(command.sharedSpaces).toEqual([discord.guild.guildId]);
  });

  it('says privately that it could not be stored', async () => {
    const discord = await setUp({ deps: { commands } });
    discord.failStoring(true);
    discord.guild.slash(anna, ops, 'stop');
    await discord.guild.until(() => discord.guild.privateLines(anna).length === 1);
    expect(discord.guild.privateLines(anna)[0]).toContain('please try again');
  });

  it('splits a long private answer', async () => {
    const discord = await setUp({ deps: { commands } });
    discord.guild.slash(anna, ops, 'config');
    const command = await discord.first('command');
    const line = 'word '.repeat(60).trim();
    const long = Array.from({ length: 12 }, (_, index) => `${index} ${line}`).join('\n\n');
    await discord.adapter
      .surfaceOf(command.conversation)
      .whisper(`discord:${anna}`, long, command.interactionId);
    const lines = discord.guild.privateLines(anna);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join('\n\n')).toBe(long);
  });

  it('is completed while it is typed, with 25 words at most', async () => {
    const words = Array.from({ length: 30 }, (_, index) => `acme/model-${index}`);
    const discord = await setUp({
      deps: {
        commands: () => [
          {
            ...{ name: 'model', usage: 'model [NAME]', summary: 'Chooses a model' },
            suggest: async (typed, { author, place }) => {
              expect(author.id).toBe(`discord:${anna}`);
              expect(place).toMatchObject({ channel: ops, channelKind: 'public' });
              return [...words, 'x'.repeat(101)].filter((word) => word.includes(typed));
            },
          },
          { name: 'stop', usage: 'stop', summary: 'Stops the run' },
        ],
      },
    });
    const [command] = discord.guild.model.commands;
    expect(command).toMatchObject({
      options: [{ name: 'model', options: [{ name: 'args', autocomplete: true }] }, {}],
    });
    discord.guild.typeSlash(anna, ops, 'model');
    await discord.guild.until(() => discord.guild.model.choices.length > 0);
    expect(discord.guild.model.choices).toEqual(words.slice(0, 25));
    discord.guild.typeSlash(anna, ops, 'model model-2');
    await discord.guild.until(() => discord.guild.model.choices.length === 11);
    expect(discord.guild.model.choices).toContain('acme/model-29');
    discord.guild.typeSlash(anna, ops, 'stop x');
    await discord.guild.until(() => discord.guild.model.choices.length === 0);
  });

  it('is written once, and again only when it changed', async () => {
    const discord = await setUp({ deps: { commands } });
    const puts = () =>
      discord.guild.calls.filter((call) => call.route === 'PUT /applications/:id/commands').length;
    expect(puts()).toBe(1);
    expect(discord.guild.model.commands).toMatchObject([
      {
        name: 'deckhand',
        options: [
          { name: 'stop', options: [] },
          { name: 'config', options: [{ name: 'args', type: 3, required: false }] },
        ],
      },
    ]);
    await discord.adapter.stop();
    await discord.adapter.start(discord.onEvent);
    expect(puts()).toBe(1);
  });

  it('does not hold up the start when it cannot be written', async () => {
    const discord = await setUp({
      deps: { commands },
      prepare: (guild) =>
        guild.fault('PUT /applications/:id/commands', { kind: 'status', status: 500 }),
    });
    expect(discord.adapter.state().connected).toBe(true);
    expect(discord.log.lines.map((line) => line.event)).toContain('discord_commands_not_written');
  });
});
