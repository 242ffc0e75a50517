/** The check-up of Discord. */

import { afterEach, describe, expect, it } from 'vitest';
import { checkDiscord } from '../../../adapters/discord/doctor.ts';
import { createDiscordGuild, type DiscordGuild } from '../../emulators/discord/guild.ts';
import { createKeptLog } from '../../support/log.ts';

const open: DiscordGuild[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((guild) => guild.close()));
});

async function setUp(): Promise<DiscordGuild> {
  const guild = await createDiscordGuild();
  open.push(guild);
  return guild;
}

const check = (token: string, apiUrl: string) =>
  checkDiscord({ log: createKeptLog() }, { token, apiUrl });

describe('checkDiscord', () => {
  it('names the bot, its intent and its servers when all is well', async () => {
    const guild = await setUp();
    const findings = await check(guild.token, guild.apiUrl);
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
    expect(findings[1]?.text).toContain('The intent is on');
  });

  it('says how to switch on the intent', async () => {
    const guild = await setUp();
    guild.model.bot.flags = 0;
    const findings = await check(guild.token, guild.apiUrl);
    expect(findings[1]).toMatchObject({ state: 'problem' });
    expect(findings[1]?.text).toContain('Message Content Intent');
  });

  it('says which setting holds a token that Discord refuses, without repeating it', async () => {
    const guild = await setUp();
    const findings = await check('wrong-token', guild.apiUrl);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ state: 'problem' });
    expect(findings[0]?.text).toContain('DISCORD_TOKEN');
    expect(JSON.stringify(findings)).not.toContain('wrong-token');
  });

  it('says so when Discord does not answer', async () => {
    const [finding] = await check('t', 'http://127.0.0.1:1/api');
    expect(finding?.text).toContain('did not answer');
  });
});
