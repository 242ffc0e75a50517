/** Where scenarios play: each platform's emulator with the people of #ops, spoken to in one way. */

import { createDiscordGuild } from '../emulators/discord/guild.ts';
import { createSlackWorkspace } from '../emulators/slack/workspace.ts';
import { createPageClient } from '../support/page-client.ts';
import { keepDiscordLimits, keepSlackLimits } from '../support/platform-limits.ts';
import { freePort } from '../support/servers.ts';

export type Person = 'anna' | 'ben' | 'guest' | 'bot';

interface ShownFile {
  readonly name: string;
  readonly text: string;
  /** Which of the thread's answers it comes with. */
  readonly answer: number;
}

export interface PlatformStage {
  /** Points the process at the emulator. */
  readonly environment: Readonly<Record<string, string>>;
  /** Writes in #ops, or in a thread there; the message's id, which names its thread. */
  say(
    person: Person,
    text: string,
    options?: { readonly thread?: string; readonly mention?: boolean },
  ): Promise<string>;
  edit(id: string, text: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** The bot's messages in a thread as people see them, oldest first. */
  answers(thread: string): Promise<readonly string[]>;
  /** Presses a button of the thread's newest card whose label begins so. */
  press(person: Person, thread: string, label: string): Promise<void>;
  /** The same button, held: pressed later, it is the click of somebody who still saw it. */
  hold(person: Person, thread: string, label: string): Promise<() => Promise<void>>;
  /** Presses a button that opens a form, and sends the form with this text. */
  fill(person: Person, thread: string, label: string, text: string): Promise<void>;
  /** Puts an X on the bot's newest message of a thread. */
  cross(person: Person, thread: string): Promise<void>;
  /** Files in a thread, oldest first. */
  files(thread: string): Promise<readonly ShownFile[]>;
  /** Lines that only this person sees. */
  privateLines(person: Person): Promise<readonly string[]>;
  /** Delivers a message's event again. */
  readonly redeliver?: (id: string, times: number) => Promise<void>;
  /** The nth edit from now on is refused for some seconds. */
  readonly limitEdit?: (nth: number, seconds: number) => void;
  /** Breaks the connection without a word. */
  readonly drop?: () => void;
  close(): Promise<void>;
}

const slackUsers: Readonly<Record<Person, string>> = {
  anna: 'U_ANNA',
  ben: 'U_BEN',
  guest: 'U_GUEST',
  bot: 'U_OTHERBOT',
};

export async function createSlackStage(): Promise<PlatformStage> {
  const workspace = await createSlackWorkspace({
    ackTimeoutMs: 2500,
    retryDelaysMs: [100, 500, 2000],
  });
  keepSlackLimits(workspace);
  workspace.addUser({ id: 'U_ANNA', name: 'Anna' });
  workspace.addUser({ id: 'U_BEN', name: 'Ben' });
  workspace.addUser({ id: 'U_GUEST', name: 'Gus', isGuest: true });
  workspace.addUser({ id: 'U_OTHERBOT', name: 'Robo', isBot: true });
  workspace.addChannel({
    id: 'C1',
    name: 'ops',
    members: ['U_ANNA', 'U_BEN', 'U_GUEST', 'U_OTHERBOT'],
  });
  const ofBot = (thread: string) =>
    workspace.thread('C1', thread).filter(({ isBot, author }) => isBot && author !== 'Robo');
  const cardButton = (person: Person, thread: string, label: string): (() => void) => {
    const card = ofBot(thread).findLast(({ text }) => text.includes(`[${label}`));
    if (!card) throw new Error(`no button ${label}`);
    return workspace.reach(slackUsers[person], card.ts, buttonIn(card.text, label));
  };
  return {
    environment: {
      SLACK_BOT_TOKEN: workspace.botToken,
      SLACK_APP_TOKEN: workspace.appToken,
      SLACK_API_URL: workspace.apiUrl,
    },
    say: async (person, text, { thread, mention } = {}) =>
      workspace.say(
        slackUsers[person],
        'C1',
        mention ? `${workspace.mention} ${text}` : text,
        thread === undefined ? {} : { thread },
      ),
    edit: async (id, text) => workspace.editMessage(id, text),
    remove: async (id) => workspace.deleteMessage(id),
    answers: async (thread) => ofBot(thread).map(({ text }) => text),
    press: async (person, thread, label) => cardButton(person, thread, label)(),
    hold: async (person, thread, label) => {
      const press = cardButton(person, thread, label);
      return async () => press();
    },
    fill: async (person, thread, label, text) => {
      const { views } = workspace.model;
      const before = views.length;
      cardButton(person, thread, label)();
      await workspace.until(() => views.length > before);
      workspace.submitForm(slackUsers[person], text);
    },
    cross: async (person, thread) => {
      const newest = ofBot(thread).at(-1);
      if (!newest) throw new Error('the bot said nothing there');
      workspace.react(slackUsers[person], newest.ts, 'x');
    },
    files: async (thread) =>
      ofBot(thread).flatMap(({ ts }, answer) =>
        workspace
          .filesOf(ts)
          .map(({ name, content }) => ({ name, text: Buffer.from(content).toString(), answer })),
      ),
    privateLines: async (person) => workspace.privateLines(slackUsers[person]),
    redeliver: async (id, times) => workspace.redeliver(id, times),
    limitEdit: (nth, seconds) =>
      workspace.fault('chat.update', { kind: 'rate_limited', retryAfterSeconds: seconds }, { nth }),
    drop: () => workspace.sockets.drop(),
    close: () => workspace.close(),
  };
}

export const discordUsers: Readonly<Record<Person, string>> = {
  anna: '2001',
  ben: '2002',
  guest: '2003',
  bot: '2004',
};
const discordChannel = '3001';

export async function createDiscordStage(): Promise<PlatformStage> {
  const guild = await createDiscordGuild();
  keepDiscordLimits(guild);
  guild.addUser({ id: discordUsers.anna, name: 'Anna' });
  guild.addUser({ id: discordUsers.ben, name: 'Ben' });
  guild.addUser({ id: discordUsers.guest, name: 'Gus' });
  guild.addUser({ id: discordUsers.bot, name: 'Robo', isBot: true });
  guild.addChannel({ id: discordChannel, name: 'ops' });
  const hasThread = (id: string): boolean => guild.model.channels.has(id);
  /** A thread that people made before the bot came to it. */
  const threadOf = (id: string): string => {
    if (!hasThread(id)) guild.startThread(id, 'thread');
    return id;
  };
  const cardButton = (person: Person, thread: string, label: string): (() => void) => {
    const card = guild.ofBot(thread).findLast(({ id }) => guild.drawn(id).includes(`[${label}`));
    if (!card) throw new Error(`no button ${label}`);
    return guild.reach(discordUsers[person], card.id, buttonIn(guild.drawn(card.id), label));
  };
  return {
    environment: { DISCORD_TOKEN: guild.token, DISCORD_API_URL: guild.apiUrl },
    say: async (person, text, { thread, mention } = {}) =>
      guild.say(
        discordUsers[person],
        thread === undefined ? discordChannel : threadOf(thread),
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
    press: async (person, thread, label) => cardButton(person, thread, label)(),
    hold: async (person, thread, label) => {
      const press = cardButton(person, thread, label);
      return async () => press();
    },
    fill: async (person, thread, label, text) => {
      cardButton(person, thread, label)();
      const isOpen = (): boolean =>
        guild.model.forms.some(({ userId }) => userId === discordUsers[person]);
      await guild.until(isOpen);
      guild.submitForm(discordUsers[person], text);
    },
    cross: async (person, thread) => {
      const newest = guild.ofBot(thread).at(-1);
      if (!newest) throw new Error('the bot said nothing there');
      guild.react(discordUsers[person], newest.id, '❌');
    },
    files: async (thread) =>
      guild.ofBot(thread).flatMap(({ files }, answer) =>
        files.map(({ name, content }) => ({
          name,
          text: Buffer.from(content).toString(),
          answer,
        })),
      ),
    privateLines: async (person) => guild.privateLines(discordUsers[person]),
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

/** The page has one person: whoever speaks is "You". */
export async function createPageStage(): Promise<PlatformStage> {
  const port = await freePort();
  const page = createPageClient(`http://127.0.0.1:${port}/`);
  const act = async (path: string, body: object): Promise<void> => {
    const status = await page.post(path, body);
    if (status !== 200) throw new Error(`${path} was refused with ${status}`);
  };
  return {
    environment: { PORT: String(port) },
    say: async (_person, text, { thread, mention } = {}) => {
      const id = await page.say(thread ?? null, mention ? `@deckhand ${text}` : text);
      if (id === '') throw new Error(`"${text}" was not taken`);
      return id;
    },
    edit: (id, text) => act('/api/edits', { id, text }),
    remove: (id) => act('/api/removals', { id }),
    answers: (thread) => page.answers(thread),
    press: async (_person, thread, label) => {
      await (await page.reach(thread, label))();
    },
    hold: async (_person, thread, label) => {
      const press = await page.reach(thread, label);
      return () => press();
    },
    fill: async (_person, thread, label, text) => {
      await (await page.reach(thread, label))(text);
    },
    cross: async (_person, thread) => {
      const { messages } = await page.state();
      const newest = messages.findLast(
        (message) => message.thread === thread && message.author === 'bot' && !message.isPrivate,
      );
      await act('/api/reactions', { id: newest?.id ?? '', emoji: '❌', on: true });
    },
    files: (thread) => page.files(thread),
    privateLines: () => page.privateLines(),
    close: async () => {},
  };
}

/** The whole label of the button that begins so, in a drawn card. */
function buttonIn(drawn: string, label: string): string {
  const buttons = drawn.match(/\[[^\]\n]+\]/gu) ?? [];
  return buttons.find((button) => button.startsWith(`[${label}`))?.slice(1, -1) ?? label;
}
