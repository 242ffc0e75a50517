/** Losses that Discord's own waiting times make slow: dead sockets, sessions that are over. */

import { afterEach, describe, expect, it } from 'vitest';
import { anna, type DiscordSetUp, ops, setUpDiscord } from './set-up.ts';

const open: DiscordSetUp[] = [];
const setUp = async (...options: Parameters<typeof setUpDiscord>): Promise<DiscordSetUp> => {
  const discord = await setUpDiscord(...options);
  open.push(discord);
  return discord;
};
afterEach(async () => {
  for (const discord of open.splice(0)) await discord.close();
});

describe('a lost socket', () => {
  it.each([
    [
      'the session is unknown',
      (discord: DiscordSetUp) => {
        discord.guild.sockets.forgetSessions();
        discord.guild.sockets.drop();
      },
    ],
    [
      'Discord says that it is over',
      (discord: DiscordSetUp) => discord.guild.sockets.invalidate(false),
    ],
  ])('is a gap when %s', async (_why, lose) => {
    const discord = await setUp();
    lose(discord);
    await discord.first('gap', 15_000);
    expect(discord.adapter.state().connected).toBe(true);
  });

  it('that is dead though open is noticed and resumed (B179)', async () => {
    const discord = await setUp({ guild: { heartbeatIntervalMs: 150 } });
    discord.guild.sockets.freeze();
    const id = discord.guild.say(anna, ops, 'into the dark');
    await discord.guild.until(() => discord.guild.sockets.starts.length === 2, 60_000);
    await discord.heard(id);
    expect(discord.guild.sockets.starts).toEqual(['identify', 'resume']);
    expect(discord.events.filter((event) => event.kind === 'gap')).toEqual([]);
  });
});
