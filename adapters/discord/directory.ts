/**
 * Channels, threads, roles and guilds as the bot sees them: from discord.js's cache, which the
 * gateway keeps true, and from REST for what the gateway does not send (archived threads, direct
 * channels).
 */

import type { Client, GuildBasedChannel, PermissionFlagsBits } from 'discord.js';
import type { Clock } from '../../src/base/clock.ts';
import { isBotError } from '../../src/base/errors.ts';
import type { Space } from '../../src/surface/adapter.ts';
import { createKept } from './kept.ts';
import type { CallDiscord } from './rest.ts';
import { channelSchema, channelTypes, type Self } from './wire.ts';

export interface KnownChannel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'public' | 'private' | 'direct';
  readonly isThread: boolean;
  /** A thread's channel. */
  readonly parentId: string | null;
  readonly guildId: string | null;
}

export interface Directory {
  /** Null: there is none, or the bot may not see it. */
  channel(id: string): Promise<KnownChannel | null>;
  /** Without asking Discord. */
  peek(id: string): KnownChannel | null;
  /** Posts of this channel are threads whose first message has the thread's id. */
  isForum(channelId: string): boolean;
  /** Minutes after which quiet threads of this channel are archived. */
  autoArchiveMinutes(channelId: string): number;
  roleName(guildId: string, roleId: string): string | null;
  /** The bot's own role in a guild: people often mention it instead of the bot. */
  botRole(guildId: string): string | null;
  spaces(): readonly Space[];
}

/** Name of a direct message's channel. */
export const directName = 'direct message';

const threadTypes: ReadonlySet<number> = new Set([
  channelTypes.announcementThread,
  channelTypes.publicThread,
  channelTypes.privateThread,
]);
const forumTypes: ReadonlySet<number> = new Set([channelTypes.forum, channelTypes.media]);
const defaultArchiveMinutes = 1440;

export function isThreadType(type: number): boolean {
  return threadTypes.has(type);
}

export function createDirectory(deps: {
  readonly client: Client;
  readonly call: CallDiscord;
  readonly clock: Clock;
  readonly self: Self;
  readonly viewChannel: typeof PermissionFlagsBits.ViewChannel;
}): Directory {
  const { client, call } = deps;
  const fetched = createKept<KnownChannel>(deps.clock, {
    mostEntries: 5_000,
    mostAgeMs: 10 * 60_000,
  });

  const kindOf = (channel: GuildBasedChannel): 'public' | 'private' => {
    const { everyone } = channel.guild.roles;
    const permissions = channel.permissionsFor(everyone);
    const isPrivateThread = Number(channel.type) === channelTypes.privateThread;
    // What nobody could tell us is taken as private: nothing of it may be shown elsewhere.
    return !isPrivateThread && permissions?.has(deps.viewChannel) === true ? 'public' : 'private';
  };

  const peek: Directory['peek'] = (id) => {
    const channel = client.channels.cache.get(id);
    if (channel === undefined) return fetched.get(id) ?? null;
    if (channel.isDMBased()) {
      return {
        id,
        name: directName,
        kind: 'direct',
        isThread: false,
        parentId: null,
        guildId: null,
      };
    }
    return {
      id,
      name: channel.name,
      kind: kindOf(channel),
      isThread: channel.isThread(),
      parentId: channel.isThread() ? channel.parentId : null,
      guildId: channel.guildId,
    };
  };

  const fetchChannel = async (id: string): Promise<KnownChannel> => {
    const wire = await call('GET', `/channels/${id}`, { schema: channelSchema });
    const isThread = isThreadType(wire.type);
    const parentId = isThread ? (wire.parent_id ?? null) : null;
    const parent = parentId === null ? null : peek(parentId);
    const isOpen = wire.type !== channelTypes.privateThread && parent?.kind === 'public';
    const channel: KnownChannel = {
      id,
      name: wire.name ?? (wire.type === channelTypes.direct ? directName : id),
      kind: wire.type === channelTypes.direct ? 'direct' : isOpen ? 'public' : 'private',
      isThread,
      parentId,
      guildId: wire.guild_id ?? null,
    };
    fetched.set(id, channel);
    return channel;
  };

  return {
    peek,
    channel: async (id) => {
      const known = peek(id);
      if (known !== null) return known;
      try {
        return await fetchChannel(id);
      } catch (error) {
        if (isBotError(error, 'surface_gone')) return null;
        throw error;
      }
    },
    isForum: (channelId) =>
      forumTypes.has(Number(client.channels.cache.get(channelId)?.type ?? channelTypes.text)),
    autoArchiveMinutes: (channelId) => {
      const channel = client.channels.cache.get(channelId);
      const own = channel !== undefined && 'defaultAutoArchiveDuration' in channel;
      return (own ? channel.defaultAutoArchiveDuration : null) ?? defaultArchiveMinutes;
    },
    roleName: (guildId, roleId) =>
      client.guilds.cache.get(guildId)?.roles.cache.get(roleId)?.name ?? null,
    botRole: (guildId) =>
      client.guilds.cache
        .get(guildId)
        ?.roles.cache.find((role) => role.tags?.botId === deps.self.userId)?.id ?? null,
    spaces: () =>
      client.guilds.cache.map((guild) => ({
        id: guild.id,
        // A guild that is out of order has no name yet.
        name: guild.available ? guild.name : guild.id,
      })),
  };
}
