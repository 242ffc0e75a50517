/** The Discord adapter: connection, translation and surfaces put together. */

import type { Clock } from '../../src/base/clock.ts';
import { BotError } from '../../src/base/errors.ts';
import type { NewId } from '../../src/base/ids.ts';
import type { Log } from '../../src/base/log.ts';
import type { Adapter, AdapterState, OnEvent } from '../../src/surface/adapter.ts';
import type { CommandSummary } from '../../src/surface/command.ts';
import type { InboundMessage } from '../../src/surface/inbound.ts';
import type { Capabilities, Surface } from '../../src/surface/surface.ts';
import { syncCommands } from './commands.ts';
import type { Connection } from './connect.ts';
import { createDownload } from './download.ts';
import { drawnLengthOf } from './draw.ts';
import { isDiscordNumber } from './errors.ts';
import { createEvents, type Events } from './events.ts';
import { createInbound, directSpace, directThread, type Inbound } from './inbound.ts';
import { createInteractionBook } from './interaction-book.ts';
import { createInteractions } from './interactions.ts';
import { createMembers } from './members.ts';
import { openTransport } from './open-transport.ts';
import { createPlaces } from './places.ts';
import { createPrivateLine } from './private-line.ts';
import type { ProxySettings } from './proxy.ts';
import { createReadBack } from './read-back.ts';
import type { DiscordSettings } from './settings.ts';
import { createSurface, type SurfaceDeps } from './surface.ts';
import type { Transport } from './transport.ts';

export interface DiscordAdapterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly proxy?: ProxySettings;
  /** Asked at start: they become the slash command's subcommands. */
  readonly commands: () => readonly CommandSummary[];
}

export const discordCapabilities: Capabilities = {
  /** Content takes 2,000 UTF-16 units (resources/message). */
  mostMessageLength: 1_990,
  lengthOf: drawnLengthOf,
  /**
   * topics/rate-limits: buckets are told by the headers of each answer; before the first, about five
   * calls in 5 s in a channel (a thread is one), and 50 a second in all. One edit of a window is
   * kept for the end of a reply.
   */
  budgets: [
    { calls: ['edit'], per: 'thread', most: 5, windowMs: 5_000, burst: 5, kept: 1 },
    { calls: ['post', 'upload'], per: 'thread', most: 5, windowMs: 5_000, burst: 5, kept: 1 },
    { calls: ['remove'], per: 'thread', most: 5, windowMs: 5_000, burst: 5, kept: 0 },
    {
      calls: ['post', 'edit', 'remove', 'upload', 'whisper'],
      ...{ per: 'account', most: 45, windowMs: 1_000, inWindows: true, burst: 45, kept: 0 },
    },
  ],
  /** Edits of messages older than an hour are all but refused (30046). */
  mostEditAgeMs: 50 * 60_000,
  /** The typing sign lasts 10 s. */
  statusEveryMs: 8_000,
};

const unknownChannel = 10003;
const defaultApiUrl = 'https://discord.com/api';

interface Running {
  readonly connection: Connection;
  readonly transport: Transport;
  readonly inbound: Inbound;
  readonly events: Events;
  readonly surfaceDeps: SurfaceDeps;
}

export function createDiscordAdapter(deps: DiscordAdapterDeps, settings: DiscordSettings): Adapter {
  const { clock } = deps;
  const log = deps.log.with({ adapter: 'discord' });
  let running: Running | null = null;
  let isStarting = false;

  const active = (): Running => {
    if (running === null) throw new BotError('surface_unavailable', 'Discord is not connected.');
    return running;
  };

  const start = async (onEvent: OnEvent): Promise<void> => {
    const { token, apiUrl = defaultApiUrl } = settings;
    if (token === undefined) {
      throw new BotError('config_invalid', 'Discord needs a bot token: set DISCORD_TOKEN.');
    }
    // The SDK is loaded only when the platform is on.
    const { connectDiscord } = await import('./connect.ts');
    const transport = await openTransport(deps.proxy, log);
    try {
      const connection = await connectDiscord({ clock, log, transport }, { token, apiUrl });
      const assembled = assemble(connection, transport, apiUrl, onEvent);
      running = assembled;
      const { events } = assembled;
      connection.listen({
        dispatch: (type, raw) => events.handle(type, raw),
        gap: (since) => events.gap(since),
      });
      await syncCommands(
        { call: connection.call, log },
        connection.self.applicationId,
        deps.commands(),
      );
    } catch (error) {
      running = null;
      await transport.close();
      throw error;
    }
  };

  const assemble = (
    connection: Connection,
    transport: Transport,
    apiUrl: string,
    onEvent: OnEvent,
  ): Running => {
    const { call, self, directory } = connection;
    const members = createMembers({ call, clock, spaces: () => directory.spaces() });
    const inbound = createInbound({ self, clock, directory, members });
    const places = createPlaces({ call, clock, log, directory });
    const book = createInteractionBook(clock);
    const whisper = createPrivateLine({ call, log, book, places });
    const { newId } = deps;
    const interactions = createInteractions({
      ...{ call, clock, log, newId, inbound, members, book, onEvent, whisper },
      commands: deps.commands,
    });
    const read = createReadBack({ call, log, directory, inbound, members, places });
    const download = createDownload({ call, transport, apiUrl });
    return {
      connection,
      transport,
      inbound,
      events: createEvents({ clock, log, inbound, interactions, places, onEvent }),
      surfaceDeps: {
        call,
        log,
        inbound,
        places,
        read,
        whisper,
        download,
        limits: connection.limits,
      },
    };
  };

  const stop = async (): Promise<void> => {
    const stopping = running;
    running = null;
    if (stopping === null) return;
    stopping.events.stop();
    await stopping.connection.close();
    await stopping.transport.close();
  };

  const messagesAfter: Adapter['messagesAfter'] = async (place, afterMessageId, most) => {
    const { surfaceDeps, inbound } = active();
    const guildId = place.space === directSpace ? null : place.space;
    const isWhole = place.thread === null || place.thread === directThread;
    const channelId = isWhole ? place.channel : (place.thread ?? place.channel);
    const said: InboundMessage[] = [];
    try {
      for await (const message of surfaceDeps.read.after(channelId, guildId, afterMessageId)) {
        if (said.length >= most) break;
        const event = await inbound.messageOf(message);
        if (event !== null) said.push(event);
      }
    } catch (error) {
      // The thread was never made, or is gone: nothing was said in it.
      if (place.thread === null || !isDiscordNumber(error, unknownChannel)) throw error;
    }
    return said;
  };

  return {
    name: 'discord',
    capabilities: discordCapabilities,
    routes: [],
    start: async (onEvent) => {
      if (running !== null || isStarting) {
        throw new BotError('internal', 'Discord is started twice.');
      }
      isStarting = true;
      try {
        await start(onEvent);
      } finally {
        isStarting = false;
      }
    },
    stop,
    state: () => stateOf(running?.connection ?? null, clock.now()),
    spaces: () => running?.connection.directory.spaces() ?? [],
    surfaceOf: (conversation, title) => {
      const made = new WeakMap<Running, Surface>();
      const now = (): Surface => {
        const current = active();
        const known = made.get(current);
        if (known) return known;
        const surface = createSurface(current.surfaceDeps, conversation, title);
        made.set(current, surface);
        return surface;
      };
      return lateSurface(() => running !== null, now);
    },
    messagesAfter,
  };
}

/** A surface may be asked for before the connection stands: only its use needs one. */
function lateSurface(isConnected: () => boolean, now: () => Surface): Surface {
  return {
    post: async (message, options) => await now().post(message, options),
    edit: async (messageId, message) => await now().edit(messageId, message),
    remove: async (messageId) => await now().remove(messageId),
    status: async (state) => isConnected() && (await now().status(state)),
    react: async (messageId, sign, on) => isConnected() && (await now().react(messageId, sign, on)),
    history: async (most) => await now().history(most),
    channelHistory: async (most) => await now().channelHistory(most),
    upload: async (file, options) => await now().upload(file, options),
    whisper: async (person, markdown, interactionId) =>
      await now().whisper(person, markdown, interactionId),
    download: async (file, mostBytes) => await now().download(file, mostBytes),
    budgetOf: (kind) => (isConnected() ? (now().budgetOf?.(kind) ?? null) : null),
  };
}

function stateOf(connection: Connection | null, now: number): AdapterState {
  if (connection === null) return { connected: false, detail: 'not connected' };
  const { name } = connection.self;
  const trouble = connection.trouble();
  if (trouble === null) {
    const spaces = connection.directory.spaces().map((space) => space.name);
    const where = spaces.length === 0 ? 'no server yet' : spaces.slice(0, 5).join(', ');
    const more = spaces.length > 5 ? ` and ${spaces.length - 5} more` : '';
    return { connected: true, detail: `connected as ${name} to ${where}${more}` };
  }
  if (trouble.final !== null) return { connected: false, detail: trouble.final };
  const seconds = Math.max(0, Math.round((now - trouble.since) / 1000));
  return { connected: false, detail: `reconnecting since ${seconds} s` };
}
