/** Emoji that people put on messages on Discord. */

import { afterEach, describe, expect, it } from 'vitest';
import { anna, bo, type DiscordSetUp, ops, setUpDiscord } from './set-up.ts';

const open: DiscordSetUp[] = [];
const setUp = async (...options: Parameters<typeof setUpDiscord>): Promise<DiscordSetUp> => {
  const discord = await setUpDiscord(...options);
  open.push(discord);
  return discord;
};
afterEach(async () => {
  for (const discord of open.splice(0)) await discord.close();
});

describe('MESSAGE_REACTION_ADD', () => {
  it('is told for an X in any of its forms, with roles, and for no other emoji', async () => {
    const discord = await setUp();
    const id = discord.guild.say(bo, ops, 'hello');
    for (const emoji of ['👍', '❌', '✖️', '✖']) discord.guild.react(anna, id, emoji);
    const told = () => discord.events.filter((event) => event.kind === 'reaction');
    await discord.guild.until(() => told().length === 3);
    expect(told().map(({ emoji }) => emoji)).toEqual(['❌', '✖️', '✖']);
    expect(told()[0]?.author).toMatchObject({
      name: 'Anna',
      isBot: false,
      roles: ['discord:700000000000000001'],
    });
  });

  it('by another bot says that it is one', async () => {
    const robo = '500000000000000009';
    const discord = await setUp({
      prepare: (guild) => guild.addUser({ id: robo, name: 'Robo', isBot: true }),
    });
    const id = discord.guild.say(anna, ops, 'hello');
    discord.guild.react(robo, id, '❌');
    expect((await discord.first('reaction')).author.isBot).toBe(true);
  });
});
