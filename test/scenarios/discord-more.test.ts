/** Discord, the whole process: direct messages, slash commands, servers joined later. */

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDiscordGuild, type DiscordGuild } from '../emulators/discord/guild.ts';
import { message, say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import { type BotProcess, createBotFolder } from '../support/bot-process.ts';
import { until } from '../support/until.ts';

interface Bench {
  readonly guild: DiscordGuild;
  readonly model: ModelServer;
  readonly start: () => Promise<BotProcess>;
  /** Names of the files that people sent, from all workspaces. */
  readonly kept: () => readonly string[];
}

async function usingDiscord(test: (bench: Bench) => Promise<void>): Promise<void> {
  const [guild, model, folder] = await Promise.all([
    createDiscordGuild(),
    createModelServer(),
    createBotFolder(),
  ]);
  guild.addUser({ id: '2001', name: 'Anna' });
  guild.addChannel({ id: '3001', name: 'ops' });
  try {
    await test({
      guild,
      model,
      start: () =>
        folder.start({
          DISCORD_TOKEN: guild.token,
          DISCORD_API_URL: guild.apiUrl,
          COMPATIBLE_BASE_URL: model.baseUrl('compatible'),
          DECKHAND_MODEL: 'compatible/test-model',
        }),
      kept: () =>
        readdirSync(folder.path, { recursive: true, encoding: 'utf8' })
          .filter((name) => path.basename(path.dirname(name)) === 'inbox')
          .map((name) => path.basename(name)),
    });
  } finally {
    await folder.close();
    await Promise.all([guild.close(), model.close()]);
  }
}

describe('Discord, more of the whole process', { timeout: 60_000 }, () => {
  it('answers direct messages of people who share a server', () =>
    usingDiscord(async ({ guild, model, start }) => {
      await start();
      model.script(say('Hello Anna.'), say('Still here.'));
      const { channelId } = guild.sayDirect('2001', 'hello');
      await until(
        () => guild.messages(channelId).some(({ text }) => text === 'Hello Anna.'),
        15_000,
      );
      guild.sayDirect('2001', 'and now?');
      await until(
        () => guild.messages(channelId).some(({ text }) => text === 'Still here.'),
        15_000,
      );
      expect(JSON.stringify(model.requests[1]?.body)).toContain('Hello Anna.');
    }));

  it('fetches a file at once, also where its message waits until the address has run out', () =>
    usingDiscord(async ({ guild, model, start, kept }) => {
      await start();
      let open = (): void => {};
      const wait = new Promise<void>((resolve) => {
        open = resolve;
      });
      model.script(
        message({ kind: 'text', text: 'Looking. ' }, { kind: 'wait', until: wait }),
        say('Heard.'),
      );
      const thread = guild.say('2001', '3001', `${guild.mention} look`);
      const texts = (): string => {
        const isThere = guild.model.channels.has(thread);
        return isThere
          ? guild
              .messages(thread)
              .map(({ text }) => text)
              .join('|')
          : '';
      };
      await until(() => texts().includes('Looking.'), 15_000);
      const voice = guild.addFile({
        ...{ name: 'voice-message.ogg', mediaType: 'audio/ogg', content: 'OggS\0\x02' },
      });
      guild.say('2001', thread, '', { files: [voice] });
      await until(() => kept().length === 1, 15_000);
      guild.model.files.delete(voice.id);
      open();
      await until(() => texts().includes('Heard.'), 15_000);
      expect(JSON.stringify(model.requests[1]?.body)).toContain(
        `[file voice-message.ogg (audio/ogg, 6 bytes), kept as inbox/${kept()[0]}: an Ogg recording`,
      );
    }));

  it('answers slash commands to the one who asks', () =>
    usingDiscord(async ({ guild, start }) => {
      await start();
      guild.slash('2001', '3001', 'status');
      await until(() => guild.privateLines('2001').length > 0, 15_000);
      expect(guild.privateLines('2001').join()).toContain('compatible/test-model');
      expect(guild.ofBot('3001')).toEqual([]);
    }));

  it('ignores a server that it joins later', () =>
    usingDiscord(async ({ guild, model, start }) => {
      const bot = await start();
      model.otherwise(say('Here.'));
      guild.addGuild('9001', 'Elsewhere', ['2001']);
      guild.addChannel({ id: '9101', name: 'general', guildId: '9001' });
      const there = guild.say('2001', '9101', `${guild.mention} hello`);
      await until(() => bot.lines.some(({ event }) => event === 'message_refused'), 15_000);
      const here = guild.say('2001', '3001', `${guild.mention} hello`);
      await until(() => guild.model.channels.has(here) && guild.ofBot(here).length === 1, 15_000);
      expect(guild.model.channels.has(there)).toBe(false);
      expect(model.requests).toHaveLength(1);
    }));
});
