/** Discord end to end: the real process and the real client library against an emulated guild. */

import { createDiscordGuild } from '../emulators/discord/guild.ts';
import {
  describePlatform,
  describeStrangers,
  type Person,
  type PlatformStage,
} from './platform-suite.ts';

const users: Readonly<Record<Person, string>> = {
  anna: '2001',
  ben: '2002',
  guest: '2003',
  bot: '2004',
};
const channel = '3001';

async function createDiscordStage(): Promise<PlatformStage> {
  const guild = await createDiscordGuild();
  guild.addUser({ id: users.anna, name: 'Anna' });
  guild.addUser({ id: users.ben, name: 'Ben' });
  guild.addUser({ id: users.guest, name: 'Gus' });
  guild.addUser({ id: users.bot, name: 'Robo', isBot: true });
  guild.addChannel({ id: channel, name: 'ops' });
  const hasThread = (id: string): boolean => guild.model.channels.has(id);
  /** A thread that people made before the bot came to it. */
  const threadOf = (id: string): string => {
    if (!hasThread(id)) guild.startThread(id, 'thread');
    return id;
  };
  return {
    environment: { DISCORD_TOKEN: guild.token, DISCORD_API_URL: guild.apiUrl },
    say: async (person, text, { thread, mention } = {}) =>
      guild.say(
        users[person],
        thread === undefined ? channel : threadOf(thread),
        mention ? `${guild.mention} ${text}` : text,
      ),
    edit: async (id, text) => {
      guild.editMessage(id, text);
    },
    remove: async (id) => {
      guild.deleteMessage(id);
    },
    answers: async (thread) => {
      if (!hasThread(thread)) return [];
      return guild.ofBot(thread).map(({ id }) => guild.drawn(id));
    },
    press: async (person, thread, label) => {
      const card = guild.ofBot(thread).findLast(({ id }) => guild.drawn(id).includes(`[${label}`));
      if (!card) throw new Error(`no button ${label}`);
      const full = guild
        .drawn(card.id)
        .match(/\[([^\]]+)\]/gu)
        ?.find((one) => one.startsWith(`[${label}`));
      guild.click(users[person], card.id, full?.slice(1, -1) ?? label);
    },
    privateLines: async (person) => guild.privateLines(users[person]),
    redeliver: async (id, times) => {
      for (let time = 0; time < times; time += 1) guild.redeliver(id);
    },
    limitEdit: (nth, seconds) =>
      guild.fault(
        'PATCH /channels/:id/messages/:id',
        { kind: 'rate_limited', retryAfterSeconds: seconds },
        { nth },
      ),
    drop: () => guild.sockets.drop(),
    close: () => guild.close(),
  };
}

describePlatform('Discord', createDiscordStage, { limits: true, connection: true });
describeStrangers('Discord', createDiscordStage, {
  config: `deny: { users: ["discord:${users.guest}"] }\n`,
  told: 'not on the list of people',
});
