/**
 * An emulated Discord: REST v10 and the gateway on a local port, with Discord's limits and refusals.
 * Point the adapter's `apiUrl` (DISCORD_API_URL) at it. Tests act as people (`say`, `click`, …),
 * switch on faults, and read what people would see.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { createFaults, type FaultWhen } from '../faults.ts';
import { drawnText, nameOf, notifiedBy } from './drawn.ts';
import type { Fault } from './faults.ts';
import { createGateway, type Gateway } from './gateway.ts';
import {
  type Channel,
  createModel,
  type Denied,
  findMessage,
  type Guild,
  isThread,
  type Json,
  kinds,
  type Model,
  type OpenInteraction,
  type StoredFile,
  type StoredMessage,
} from './model.ts';
import { createPeople, type People } from './people.ts';
import { directChannel } from './routes-app.ts';
import type { Rules } from './routes-messages.ts';
import { type ApiCall, startServer } from './server.ts';
import { channelWire, guildWire, messageWire, userWire } from './wire.ts';

export interface GuildOptions {
  readonly heartbeatIntervalMs?: number;
  /** False: the portal's switch "Message Content Intent" is off. */
  readonly hasMessageContent?: boolean;
}

interface ShownMessage {
  readonly id: string;
  /** Name of who wrote it. */
  readonly author: string;
  readonly isBot: boolean;
  readonly text: string;
}

export interface DiscordGuild extends People {
  /** REST base without a version, as in DISCORD_API_URL. */
  readonly apiUrl: string;
  readonly token: string;
  readonly guildId: string;
  readonly botId: string;
  readonly botRoleId: string;
  /** How a person writes the bot's mention. */
  readonly mention: string;
  readonly model: Model;
  readonly calls: readonly ApiCall[];
  readonly rules: Rules;
  readonly sockets: Omit<Gateway, 'dispatch' | 'upgrade' | 'end'>;
  addUser(user: {
    readonly id: string;
    readonly name: string;
    readonly nick?: string;
    readonly roles?: readonly string[];
    readonly isBot?: boolean;
    /** Takes no direct messages. */
    readonly isClosed?: boolean;
    /** False: not in the guild. */
    readonly isMember?: boolean;
  }): void;
  addChannel(channel: {
    readonly id: string;
    readonly name: string;
    readonly kind?: 'text' | 'voice' | 'announcement' | 'forum';
    readonly isPrivate?: boolean;
    readonly denied?: readonly Denied[];
    /** Another guild than the first. */
    readonly guildId?: string;
  }): void;
  addForum(id: string, name: string): void;
  addRole(id: string, name: string): void;
  /** Another guild that the bot is in, or joins now. */
  addGuild(id: string, name: string, members?: readonly string[]): void;
  addFile(file: {
    readonly name: string;
    readonly mediaType?: string;
    readonly content: string | Uint8Array;
  }): StoredFile;
  /** The file's address as it stands in messages runs out. */
  expireFile(fileId: string): void;
  deny(channelId: string, ...what: readonly Denied[]): void;
  archive(threadId: string): void;
  lock(threadId: string): void;
  removeThread(threadId: string): void;
  /** By route: `POST /channels/:id/messages`. */
  fault(route: string, fault: Fault, when?: FaultWhen): void;
  /** Real rate limits on a route, with their headers. */
  limit(route: string, calls: number, windowMs: number): void;
  /** The messages of a channel or a thread, oldest first, without system messages. */
  messages(channelOrThread: string): readonly ShownMessage[];
  /** Messages of the bot in a channel or a thread, as stored. */
  ofBot(channelOrThread: string): readonly StoredMessage[];
  /** What a message shows. */
  drawn(messageId: string): string;
  /** Who a message would notify: user ids, `&role`, `everyone`. */
  notified(messageId: string): readonly string[];
  /** What only this person sees: private answers and direct messages of the bot. */
  privateLines(userId: string): readonly string[];
  /** Interactions in order: when and how each was answered. */
  interactions(): readonly OpenInteraction[];
  dispatchRaw(type: string, event: Json): void;
  until(holds: () => boolean, mostMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function createDiscordGuild(options: GuildOptions = {}): Promise<DiscordGuild> {
  const botId = '900000000000000001';
  const guildId = '800000000000000001';
  const botRoleId = '800000000000000009';
  const model = createModel({ id: botId, applicationId: '900000000000000002', name: 'deckhand' });
  const token = 'emulated-discord-token';
  const calls: ApiCall[] = [];
  const faults = createFaults<Fault>();
  const limits = new Map<string, { calls: number; windowMs: number }>();
  const rules: Rules = {
    mostEditAgeMs: null,
    mostFileBytes: 10 * 1024 * 1024,
    mostThreads: 1_000,
    blocked: null,
    mostInteractionAgeMs: 3_000,
    mostTokenAgeMs: 15 * 60_000,
  };
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  let port = 0;
  const baseUrl = (): string => `http://127.0.0.1:${port}`;
  const gateway = createGateway({
    token,
    options: {
      heartbeatIntervalMs: options.heartbeatIntervalMs ?? 41_250,
      hasMessageContent: options.hasMessageContent ?? true,
    },
    nextId: () => model.nextId(),
    readyOf: (sessionId) => readyWire(model, sessionId, port),
    guilds: () => [...model.guilds.values()].map((guild) => guildWire(model, guild)),
    changed,
  });
  const dispatch = (type: string, event: Json, blind?: Json): void =>
    gateway.dispatch(type, event, blind);
  const announce = (type: string, message: StoredMessage): void => {
    if (!isVisible(model, message.channelId)) return;
    const event = messageWire(model, message, { asEvent: true, baseUrl: baseUrl() });
    dispatch(type, event, withoutContent(model, message, event));
  };
  const server = await startServer({
    ...{ model, faults, gateway, token, calls, limits, changed },
    call: { rules, announce, dispatch },
  });
  port = server.port;
  const people = createPeople({ model, baseUrl, announce, dispatch });

  const message = (id: string): StoredMessage => {
    const found = findMessage(model, id);
    if (found === undefined) throw new Error(`There is no message ${id}.`);
    return found;
  };
  const channel = (id: string): Channel => {
    const found = model.channels.get(id);
    if (found === undefined) throw new Error(`There is no channel ${id}.`);
    return found;
  };
  const guildNamed = (id: string): Guild => {
    const found = model.guilds.get(id);
    if (found === undefined) throw new Error(`There is no guild ${id}.`);
    return found;
  };
  const makeGuild = (id: string, name: string): Guild => ({
    id,
    name,
    roles: new Map([[id, { id, name: '@everyone', botId: null }]]),
    members: new Map([[botId, { nick: null, roles: [] }]]),
  });
  const changeThread = (id: string, change: (thread: Channel) => void): void => {
    change(channel(id));
    dispatch('THREAD_UPDATE', channelWire(channel(id)));
  };

  model.users.set(botId, {
    ...{ id: botId, username: 'deckhand', globalName: null, isBot: true, isClosed: false },
  });
  const home = makeGuild(guildId, 'Acme');
  home.roles.set(botRoleId, { id: botRoleId, name: 'deckhand', botId });
  model.guilds.set(guildId, home);

  return {
    ...people,
    ...{ model, calls, rules, token, guildId, botId, botRoleId },
    apiUrl: `${baseUrl()}/api`,
    mention: `<@${botId}>`,
    sockets: gateway,
    addUser: ({ id, name, nick, roles = [], isBot = false, isClosed = false, isMember = true }) => {
      const username = name.toLowerCase().replaceAll(' ', '_');
      model.users.set(id, { id, username, globalName: name, isBot, isClosed });
      if (isMember) home.members.set(id, { nick: nick ?? null, roles: [...roles] });
    },
    addChannel: ({ id, name, kind = 'text', isPrivate = false, denied = [], ...place }) => {
      const added: Channel = {
        ...{ id, name, isPrivate, type: kinds[kind], denied: new Set(denied) },
        ...{
          guildId: place.guildId ?? guildId,
          parentId: null,
          recipient: null,
          autoArchiveMinutes: 1440,
        },
        ...{ isArchived: false, isLocked: false },
      };
      model.channels.set(id, added);
      if (!added.denied.has('view')) dispatch('CHANNEL_CREATE', channelWire(added));
    },
    addForum: (id, name) => {
      model.channels.set(id, {
        ...{ id, name, isPrivate: false, type: kinds.forum, denied: new Set<Denied>() },
        ...{ guildId, parentId: null, recipient: null, autoArchiveMinutes: 1440 },
        ...{ isArchived: false, isLocked: false },
      });
      dispatch('CHANNEL_CREATE', channelWire(channel(id)));
    },
    addRole: (id, name) => {
      home.roles.set(id, { id, name, botId: null });
    },
    addGuild: (id, name, members = []) => {
      const guild = makeGuild(id, name);
      for (const userId of members) guild.members.set(userId, { nick: null, roles: [] });
      model.guilds.set(id, guild);
      dispatch('GUILD_CREATE', guildWire(model, guildNamed(id)));
    },
    addFile: ({ name, mediaType, content }) => {
      const file: StoredFile = {
        id: model.nextId(),
        name,
        mediaType: mediaType ?? null,
        content: typeof content === 'string' ? Buffer.from(content) : content,
        signature: 'first',
      };
      model.files.set(file.id, file);
      return file;
    },
    expireFile: (fileId) => {
      const file = model.files.get(fileId);
      if (file === undefined) throw new Error(`There is no file ${fileId}.`);
      file.signature = `later-${model.nextId()}`;
    },
    deny: (channelId, ...what) => {
      for (const one of what) channel(channelId).denied.add(one);
    },
    archive: (threadId) => {
      changeThread(threadId, (thread) => {
        thread.isArchived = true;
      });
    },
    lock: (threadId) => {
      changeThread(threadId, (thread) => {
        thread.isArchived = true;
        thread.isLocked = true;
      });
    },
    removeThread: (threadId) => {
      const { parentId, type } = channel(threadId);
      model.channels.delete(threadId);
      dispatch('THREAD_DELETE', { id: threadId, guild_id: guildId, parent_id: parentId, type });
    },
    fault: (route, fault, when) => faults.add(route, fault, when),
    limit: (route, most, windowMs) => {
      limits.set(route, { calls: most, windowMs });
    },
    messages: (channelOrThread) =>
      model.messages
        .filter((one) => one.channelId === channelOrThread && !one.isDeleted && one.type !== 21)
        .map((one) => ({
          id: one.id,
          author: one.webhook?.name ?? nameOf(model, one.authorId),
          isBot: one.authorId === botId,
          text: drawnText(model, one),
        })),
    ofBot: (channelOrThread) =>
      model.messages.filter(
        (one) => one.channelId === channelOrThread && one.authorId === botId && !one.isDeleted,
      ),
    drawn: (messageId) => drawnText(model, message(messageId)),
    notified: (messageId) => notifiedBy(model, message(messageId)),
    privateLines: (userId) => {
      const direct = directChannel(model, userId);
      return [
        ...model.privateMessages.filter(
          (line) => line.userId === userId && !line.isWaiting && !line.isDeleted,
        ),
        ...model.messages.filter(
          (one) => one.channelId === direct && one.authorId === botId && !one.isDeleted,
        ),
      ]
        .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
        .map((line) => drawnText(model, line));
    },
    interactions: () => [...model.interactions.values()],
    dispatchRaw: (type, event) => dispatch(type, event),
    until: (holds, mostMs) => becomesTrue(watchers, holds, mostMs),
    close: async () => {
      gateway.end();
      await server.close();
    },
  };
}

async function becomesTrue(
  watchers: Set<() => void>,
  holds: () => boolean,
  mostMs = 5_000,
): Promise<void> {
  const end = Date.now() + mostMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`It did not become true within ${mostMs} ms.`);
    await new Promise<void>((resolve) => {
      const go = (): void => {
        watchers.delete(go);
        resolve();
      };
      watchers.add(go);
      void wait(20).then(go);
    });
  }
}

function readyWire(model: Model, sessionId: string, port: number): Json {
  const bot = model.users.get(model.bot.id);
  return {
    v: 10,
    user: bot === undefined ? {} : userWire(bot),
    guilds: [...model.guilds.keys()].map((id) => ({ id, unavailable: true })),
    session_id: sessionId,
    resume_gateway_url: `ws://127.0.0.1:${port}/resume`,
    application: { id: model.bot.applicationId, flags: 1 << 19 },
  };
}

function isVisible(model: Model, channelId: string): boolean {
  const channel = model.channels.get(channelId);
  const parentId = channel !== undefined && isThread(channel) ? channel.parentId : null;
  const parent = parentId === null ? undefined : model.channels.get(parentId);
  return channel?.denied.has('view') !== true && parent?.denied.has('view') !== true;
}

/** What a bot without the Message Content Intent gets. */
function withoutContent(model: Model, message: StoredMessage, event: Json): Json {
  const isDirect = model.channels.get(message.channelId)?.guildId === null;
  const isForBot =
    isDirect ||
    message.authorId === model.bot.id ||
    new RegExp(`<@!?${model.bot.id}>`, 'u').test(message.content);
  return isForBot ? event : { ...event, content: '', attachments: [], components: [], embeds: [] };
}
