/** How what an emulated Discord holds looks on the wire. */

import {
  type Channel,
  type DiscordUser,
  findMessage,
  type Guild,
  isThread,
  type Json,
  type Member,
  type Model,
  type Role,
  type StoredFile,
  type StoredMessage,
} from './model.ts';

export function userWire(user: DiscordUser): Json {
  return {
    id: user.id,
    username: user.username,
    discriminator: '0',
    global_name: user.globalName,
    avatar: null,
    ...(user.isBot ? { bot: true } : {}),
  };
}

export function memberWire(member: Member): Json {
  return {
    nick: member.nick,
    roles: member.roles,
    joined_at: '2026-01-01T00:00:00.000000+00:00',
    deaf: false,
    mute: false,
    flags: 0,
  };
}

function roleWire(role: Role, guildId: string): Json {
  return {
    id: role.id,
    name: role.name,
    color: 0,
    hoist: false,
    position: role.id === guildId ? 0 : 1,
    // View Channel, Send Messages and the like.
    permissions: role.id === guildId ? '104324673' : '0',
    managed: role.botId !== null,
    mentionable: false,
    flags: 0,
    ...(role.botId === null ? {} : { tags: { bot_id: role.botId } }),
  };
}

const viewChannel = '1024';

export function channelWire(channel: Channel): Json {
  const common = {
    id: channel.id,
    type: channel.type,
    name: channel.name,
    ...(channel.guildId === null ? {} : { guild_id: channel.guildId }),
    ...(channel.parentId === null ? {} : { parent_id: channel.parentId }),
  };
  if (isThread(channel)) {
    return {
      ...common,
      owner_id: '1',
      message_count: 0,
      member_count: 1,
      thread_metadata: {
        archived: channel.isArchived,
        locked: channel.isLocked,
        auto_archive_duration: channel.autoArchiveMinutes,
        archive_timestamp: new Date().toISOString(),
      },
    };
  }
  return {
    ...common,
    position: 0,
    permission_overwrites:
      channel.isPrivate && channel.guildId !== null
        ? [{ id: channel.guildId, type: 0, allow: '0', deny: viewChannel }]
        : [],
  };
}

export function guildWire(model: Model, guild: Guild): Json {
  const channels = [...model.channels.values()].filter(
    (channel) => channel.guildId === guild.id && !channel.denied.has('view'),
  );
  const bot = model.users.get(model.bot.id);
  return {
    id: guild.id,
    name: guild.name,
    owner_id: '1',
    roles: [...guild.roles.values()].map((role) => roleWire(role, guild.id)),
    emojis: [],
    stickers: [],
    features: [],
    channels: channels.filter((channel) => !isThread(channel)).map(channelWire),
    threads: channels
      .filter((channel) => isThread(channel) && !channel.isArchived)
      .map(channelWire),
    members:
      bot === undefined
        ? []
        : [
            {
              ...memberWire(guild.members.get(bot.id) ?? { nick: null, roles: [] }),
              user: userWire(bot),
            },
          ],
    presences: [],
    voice_states: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
    member_count: guild.members.size,
    large: false,
    unavailable: false,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    mfa_level: 0,
    nsfw_level: 0,
    premium_tier: 0,
    premium_progress_bar_enabled: false,
    preferred_locale: 'en-US',
    system_channel_flags: 0,
    joined_at: '2026-01-01T00:00:00.000000+00:00',
  };
}

export interface WireOptions {
  /** Events bring the guild and the member along, REST answers do not. */
  readonly asEvent: boolean;
  readonly baseUrl: string;
}

export function messageWire(model: Model, message: StoredMessage, options: WireOptions): Json {
  const channel = model.channels.get(message.channelId);
  const guild = channel?.guildId ? model.guilds.get(channel.guildId) : undefined;
  const author = model.users.get(message.authorId);
  const member = guild?.members.get(message.authorId);
  return {
    id: message.id,
    channel_id: message.channelId,
    type: message.type,
    content: message.content,
    timestamp: timeOf(message.createdAt),
    edited_timestamp: message.editedAt === null ? null : timeOf(message.editedAt),
    tts: false,
    mention_everyone: /@(?:everyone|here)/u.test(message.content),
    pinned: false,
    flags: message.flags,
    embeds: [],
    components: message.components,
    attachments: message.files.map((file) => fileWire(file, message.channelId, options.baseUrl)),
    author:
      message.webhook === null
        ? author === undefined
          ? {}
          : userWire(author)
        : {
            id: message.webhook.id,
            username: message.webhook.name,
            discriminator: '0000',
            avatar: null,
            bot: true,
          },
    ...(message.webhook === null ? {} : { webhook_id: message.webhook.id }),
    ...mentionsWire(model, message, options.asEvent ? guild : undefined),
    ...(message.nonce === null ? {} : { nonce: message.nonce }),
    ...replyWire(model, message),
    ...(options.asEvent && guild !== undefined ? { guild_id: guild.id } : {}),
    ...(options.asEvent && member !== undefined && message.webhook === null
      ? { member: memberWire(member) }
      : {}),
  };
}

function mentionsWire(model: Model, message: StoredMessage, guild: Guild | undefined): Json {
  const ids = new Set([...message.content.matchAll(/<@!?(\d+)>/gu)].map(([, id = '']) => id));
  // An answer mentions whom it answers, though the text does not say so.
  const answered = message.replyTo === null ? undefined : findMessage(model, message.replyTo);
  if (answered !== undefined) ids.add(answered.authorId);
  const mentions = [...ids].flatMap((id) => {
    const user = model.users.get(id);
    if (user === undefined) return [];
    const member = guild?.members.get(id);
    return [{ ...userWire(user), ...(member === undefined ? {} : { member: memberWire(member) }) }];
  });
  return {
    mentions,
    mention_roles: [...message.content.matchAll(/<@&(\d+)>/gu)].map(([, id = '']) => id),
  };
}

function replyWire(model: Model, message: StoredMessage): Json {
  if (message.replyTo === null) return {};
  const answered = findMessage(model, message.replyTo);
  const author = answered === undefined ? undefined : model.users.get(answered.authorId);
  return {
    message_reference: { type: 0, message_id: message.replyTo, channel_id: message.channelId },
    referenced_message:
      answered === undefined || author === undefined
        ? null
        : {
            id: answered.id,
            channel_id: answered.channelId,
            type: answered.type,
            content: answered.content,
            author: userWire(author),
            timestamp: timeOf(answered.createdAt),
            edited_timestamp: null,
            attachments: [],
            embeds: [],
            mentions: [],
            mention_roles: [],
            components: [],
          },
  };
}

export function fileUrl(file: StoredFile, channelId: string, baseUrl: string): string {
  const name = encodeURIComponent(file.name);
  return `${baseUrl}/attachments/${channelId}/${file.id}/${name}?hm=${file.signature}`;
}

function fileWire(file: StoredFile, channelId: string, baseUrl: string): Json {
  return {
    id: file.id,
    filename: file.name,
    size: file.content.byteLength,
    url: fileUrl(file, channelId, baseUrl),
    proxy_url: fileUrl(file, channelId, baseUrl),
    ...(file.mediaType === null ? {} : { content_type: file.mediaType }),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000+00:00');
}
