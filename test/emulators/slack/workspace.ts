/**
 * An emulated Slack workspace: a real Web API, real Socket Mode and signed HTTP events on a local
 * port, with Slack's limits and refusals. Point the adapter's `apiUrl` (SLACK_API_URL) at it. Tests
 * act as people (`say`, `click`, …), switch on faults, and read what people would see.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { createFaults, type FaultWhen } from '../faults.ts';
import { createDeliveryDesk, type Delivery, type DeliveryOptions } from './delivery.ts';
import { drawnText, notifiedBy } from './drawn.ts';
import type { Fault } from './faults.ts';
import type { FileRules } from './file-methods.ts';
import {
  createModel,
  findMessage,
  type Model,
  type SlackFile,
  type SlackUser,
  type StoredMessage,
  type StreamRules,
  threadOf,
} from './model.ts';
import { createPeople, type People } from './people.ts';
import { type ApiCall, type ResponseAddress, startServer } from './server.ts';
import { createMethods, directChannel } from './web-methods.ts';

export interface WorkspaceOptions extends Partial<DeliveryOptions> {
  readonly botUserId?: string;
  /** A trigger opens a modal within this time; Slack: 3 s. */
  readonly mostTriggerAgeMs?: number;
  /** Scopes of the bot token, told with every answer. */
  readonly scopes?: readonly string[];
  /** The workspace has Slack's own streaming; default false. */
  readonly streaming?: boolean;
}

interface ShownMessage {
  readonly ts: string;
  /** Name of who wrote it. */
  readonly author: string;
  readonly isBot: boolean;
  readonly text: string;
}

export interface SlackWorkspace extends People {
  /** Base of the Web API, ends in /api/. */
  readonly apiUrl: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly signingSecret: string;
  readonly teamId: string;
  /** How a person writes the bot's mention. */
  readonly mention: string;
  readonly model: Model;
  readonly calls: readonly ApiCall[];
  readonly deliveries: readonly Delivery[];
  addUser(user: { readonly id: string; readonly name: string } & Partial<SlackUser>): void;
  addChannel(channel: {
    readonly id: string;
    readonly name: string;
    readonly kind?: 'channel' | 'group' | 'mpim';
    readonly members?: readonly string[];
    /** Whether the bot is in it; default true. */
    readonly withBot?: boolean;
  }): void;
  addGroup(id: string, handle: string, members?: readonly string[]): void;
  /** What files it takes, and how fast it shows them. */
  readonly fileRules: FileRules;
  /** How long and how large a stream may become. */
  readonly streamRules: StreamRules;
  /** Bytes of the files that a message shows. */
  filesOf(ts: string): readonly SlackFile[];
  /** The direct channel of a person and the bot. */
  directWith(userId: string): string;
  addFile(file: {
    readonly name: string;
    readonly mimetype: string;
    readonly content: string | Uint8Array;
    readonly isStub?: boolean;
    readonly redirectTo?: string;
    readonly withheld?: SlackFile['withheld'];
  }): SlackFile;
  fault(method: string, fault: Fault, when?: FaultWhen): void;
  /** Makes a method unusable for this app: `missing_scope`, `unknown_method`. */
  withhold(method: string, word: string): void;
  limit(method: string, calls: number, windowMs: number): void;
  /** Tells the app that events of this minute are kept back. */
  limitEvents(minuteStartMs: number): void;
  /** Sends events to this address too, signed. */
  eventsTo(url: string, signingSecret?: string): void;
  readonly sockets: {
    readonly open: number;
    /** Breaks the connections without a word. */
    drop(): void;
    /** The connections stay, but nothing is answered any more. */
    freeze(): void;
    /** Asks for a new connection, as Slack does every few hours. */
    announceRefresh(reason?: string): void;
    /** Sends a text as it is. */
    sendRaw(text: string): void;
    refuse(on: boolean): void;
    /** Greets every new connection and turns it away at once, with this reason; null: no more. */
    turnAway(reason: string | null): void;
    /** Off for an app that serves HTTP only. */
    use(on: boolean): void;
  };
  /** What a message shows. */
  drawn(ts: string): string;
  /** Who a message would notify: user ids, `!here`, `!channel` … */
  notified(ts: string): readonly string[];
  /** The thread under a root, as people see it. */
  thread(channel: string, rootTs: string): readonly ShownMessage[];
  /** Messages of the bot in a channel, in order. */
  ofBot(channel: string): readonly StoredMessage[];
  privateLines(userId: string): readonly string[];
  until(holds: () => boolean, mostMs?: number): Promise<void>;
  /** Resolves when every delivery is acknowledged or given up. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const defaults: DeliveryOptions = { ackTimeoutMs: 3_000, retryDelaysMs: [50, 60_000, 300_000] };

export async function createSlackWorkspace(
  options: WorkspaceOptions = {},
): Promise<SlackWorkspace> {
  const model = createModel(
    {
      userId: options.botUserId ?? 'U_BOT',
      botId: 'B_BOT',
      appId: 'A_BOT',
      name: 'deckhand',
    },
    { id: 'T_ACME', name: 'Acme' },
  );
  const tokens = { bot: 'xoxb-emulated-bot', app: 'xapp-emulated-app' };
  const signingSecret = 'emulated-signing-secret';
  const calls: ApiCall[] = [];
  const faults = createFaults<Fault>();
  const unavailable = new Map<string, string>();
  if (options.streaming !== true) {
    for (const name of ['startStream', 'appendStream', 'stopStream']) {
      unavailable.set(`chat.${name}`, 'feature_not_enabled');
    }
  }
  const streamRules: StreamRules = { mostAgeMs: 300_000, mostChars: 12_000 };
  const limits = new Map<string, { calls: number; windowMs: number }>();
  const responses = new Map<string, ResponseAddress>();
  const tickets = new Set<string>();
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  const desk = createDeliveryDesk({ ...defaults, ...options }, changed);
  let refuses = false;
  let turnsAway: string | null = null;
  let port = 0;
  const baseUrl = (): string => `http://127.0.0.1:${port}`;

  const people = createPeople({ model, desk, responses, baseUrl, changed });
  const fileRules: FileRules = {
    mostBytes: 1_000_000_000,
    addressMs: 60_000,
    processingMs: 20,
  };
  const methods = createMethods({
    model,
    fileRules,
    streamRules,
    baseUrl,
    unavailable,
    mostTriggerAgeMs: options.mostTriggerAgeMs ?? 3_000,
    socketUrl: () => {
      const ticket = model.nextId('ticket');
      tickets.add(ticket);
      return `ws://127.0.0.1:${port}/link/?ticket=${ticket}`;
    },
    onMessage: (message) => people.announce(message),
    onEdit: (message, before) => people.announceEdit(message, before),
    onDelete: (message) => people.announceDeletion(message),
  });
  const server = await startServer({
    ...{ model, methods, faults, desk, calls, limits, tokens, responses, tickets, changed },
    refusesSockets: () => refuses,
    turnsAway: () => turnsAway,
    scopes: options.scopes ?? null,
  });
  port = server.port;

  const message = (ts: string): StoredMessage => {
    const found = findMessage(model, ts);
    if (found === undefined) throw new Error(`There is no message ${ts}.`);
    return found;
  };

  const until = async (holds: () => boolean, mostMs = 5_000): Promise<void> => {
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
  };

  addUser(model, { id: model.bot.userId, name: model.bot.name, isBot: true });

  return {
    ...people,
    model,
    calls,
    deliveries: desk.deliveries,
    apiUrl: `${baseUrl()}/api/`,
    botToken: tokens.bot,
    appToken: tokens.app,
    signingSecret,
    teamId: model.team.id,
    mention: `<@${model.bot.userId}>`,
    addUser: (user) => addUser(model, user),
    addChannel: ({ id, name, kind = 'channel', members = [], withBot = true }) => {
      const all = withBot ? [...members, model.bot.userId] : members;
      model.channels.set(id, { id, name, kind, members: new Set(all), isArchived: false });
    },
    addGroup: (id, handle, members = []) => {
      model.groups.set(id, { handle, members });
    },
    fileRules,
    streamRules,
    filesOf: (ts) => message(ts).files,
    directWith: (userId) => directChannel(model, userId),
    addFile: ({ name, mimetype, content, isStub = false, redirectTo, withheld }) => {
      const file: SlackFile = {
        id: model.nextId('F'),
        name,
        mimetype,
        content: typeof content === 'string' ? Buffer.from(content) : content,
        isStub,
        redirectTo: redirectTo ?? null,
        ...(withheld === undefined ? {} : { withheld }),
      };
      model.files.set(file.id, file);
      return file;
    },
    fault: (method, fault, when) => faults.add(method, fault, when),
    withhold: (method, word) => {
      unavailable.set(method, word);
    },
    limit: (method, most, windowMs) => {
      limits.set(method, { calls: most, windowMs });
    },
    limitEvents: (minuteStartMs) =>
      desk.send('events_api', {
        type: 'app_rate_limited',
        token: 'legacy',
        team_id: model.team.id,
        api_app_id: model.bot.appId,
        minute_rate_limited: Math.floor(minuteStartMs / 1000),
      }),
    eventsTo: (url, secret = signingSecret) => desk.eventsTo({ url, signingSecret: secret }),
    sockets: {
      get open() {
        return desk.sockets().length;
      },
      drop: () => {
        for (const socket of [...desk.sockets()]) socket.terminate();
      },
      freeze: () => {
        for (const socket of desk.sockets()) socket.pause();
      },
      announceRefresh: (reason = 'refresh_requested') => {
        for (const socket of desk.sockets()) {
          socket.send(JSON.stringify({ type: 'disconnect', reason }));
        }
      },
      sendRaw: (text) => {
        for (const socket of desk.sockets()) socket.send(text);
      },
      refuse: (on) => {
        refuses = on;
      },
      turnAway: (reason) => {
        turnsAway = reason;
      },
      use: (on) => desk.useSockets(on),
    },
    drawn: (ts) => drawnText(model, message(ts)),
    notified: (ts) => notifiedBy(message(ts)),
    thread: (channel, rootTs) =>
      threadOf(model, channel, rootTs).map((one) => ({
        ts: one.ts,
        author: model.users.get(one.user)?.name ?? one.user,
        isBot: one.isOurs,
        text: drawnText(model, one),
      })),
    ofBot: (channel) =>
      model.messages.filter((one) => one.channel === channel && one.isOurs && !one.isDeleted),
    privateLines: (userId) =>
      model.privateMessages
        .filter((line) => line.user === userId)
        .map((line) => drawnText(model, line)),
    until,
    settled: () => until(() => desk.deliveries.every((delivery) => delivery.isOver), 10_000),
    close: async () => {
      desk.close();
      await server.close();
    },
  };
}

function addUser(
  model: Model,
  user: { readonly id: string; readonly name: string } & Partial<SlackUser>,
): void {
  model.users.set(user.id, {
    teamId: model.team.id,
    isBot: false,
    isGuest: false,
    isStranger: false,
    ...user,
  });
}
