/**
 * Discord's messages as inbound events. One function for the live connection and for what is read
 * back, so that the same message always gives the same event and key.
 */

import type { Clock } from '../../src/base/clock.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type {
  InboundDeletion,
  InboundEdit,
  InboundFile,
  InboundMessage,
  InboundReaction,
} from '../../src/surface/inbound.ts';
import { isStopEmoji } from '../../src/surface/reactions.ts';
import { type Directory, directName } from './directory.ts';
import { markdownOfDiscord } from './from-discord.ts';
import { createKept } from './kept.ts';
import type { Members } from './members.ts';
import type { Self, WireAttachment, WireDeletion, WireMessage, WireReaction } from './wire.ts';

/** Where a message is: the conversation but for its thread, and what people call the place. */
export interface MessagePlace {
  readonly space: string;
  readonly channel: string;
  /** Null at top level of a channel: the message's own id names the conversation. */
  readonly thread: string | null;
  readonly channelName: string;
  readonly channelKind: 'public' | 'private' | 'direct';
}

export interface Inbound {
  /** Null for what is no news: own and system messages, empty ones. */
  messageOf(message: WireMessage): Promise<InboundMessage | null>;
  /** Null for what is no edit by a person: resolved previews, pins, own messages. */
  editOf(message: WireMessage): Promise<InboundEdit | null>;
  deletionOf(deletion: WireDeletion): Promise<InboundDeletion>;
  /** Null for an emoji that nothing follows from, and for the bot's own. */
  reactionOf(reaction: WireReaction, at: number): Promise<InboundReaction | null>;
  placeOf(channelId: string, guildId: string | null): Promise<MessagePlace>;
  /** The text of any message as Markdown. */
  textOf(message: WireMessage): string;
  isSelf(message: WireMessage): boolean;
}

export const directSpace = 'direct';
export const directThread = 'main';

/** Default, reply, and answers of other bots to commands (resources/message, message types). */
const saidTypes: ReadonlySet<number> = new Set([0, 19, 20, 23]);

export function isSaid(message: WireMessage): boolean {
  return saidTypes.has(message.type);
}

export function createInbound(deps: {
  readonly self: Self;
  readonly clock: Clock;
  readonly directory: Directory;
  readonly members: Members;
}): Inbound {
  const { self, clock, directory, members } = deps;
  /** Contents of the newest messages: an update that changes none of them is no edit. */
  const contents = createKept<string>(clock, { mostEntries: 5_000, mostAgeMs: 24 * 3_600_000 });

  const isSelf: Inbound['isSelf'] = ({ author }) => author.id === self.userId;

  const mentionPattern = (guildId: string | null): string => {
    const role = guildId === null ? null : directory.botRole(guildId);
    return role === null ? `<@!?${self.userId}>` : `<@(?:!?${self.userId}|&${role})>`;
  };

  const placeOf: Inbound['placeOf'] = async (channelId, guildId) => {
    if (guildId === null) return directPlace(channelId);
    const channel = await directory.channel(channelId);
    if (channel?.isThread === true && channel.parentId !== null) {
      const parent = await directory.channel(channel.parentId);
      return {
        space: guildId,
        channel: channel.parentId,
        thread: channelId,
        channelName: parent?.name ?? channel.name,
        channelKind: channel.kind,
      };
    }
    return {
      space: guildId,
      channel: channelId,
      thread: null,
      channelName: channel?.name ?? channelId,
      channelKind: channel?.kind ?? 'private',
    };
  };

  const textOf: Inbound['textOf'] = (message) => {
    const guildId = message.guild_id ?? null;
    const names = {
      user: (id: string) => {
        if (id === self.userId) return self.name;
        const user = message.mentions.find((mention) => mention.id === id);
        return user === undefined ? null : members.nameOf(guildId, user);
      },
      role: (id: string) => (guildId === null ? null : directory.roleName(guildId, id)),
      channel: (id: string) => directory.peek(id)?.name ?? null,
    };
    const own = markdownOfDiscord(message.content, names);
    const forwarded = (message.message_snapshots ?? [])
      .map((snapshot) => markdownOfDiscord(snapshot.message.content, names))
      .filter((text) => text.trim() !== '')
      .map((text) => `Forwarded:\n${text.replace(/^/gmu, '> ')}`);
    return [own, ...forwarded].filter((text) => text !== '').join('\n\n');
  };

  const spokenText = (message: WireMessage): string => {
    const guildId = message.guild_id ?? null;
    const leading = new RegExp(`^\\s*${mentionPattern(guildId)}[\\s,:]*`, 'u');
    return textOf({ ...message, content: message.content.replace(leading, '') }).trim();
  };

  /** Nicknames and roles that came along; the rest is asked for. */
  const notePeople = async (message: WireMessage): Promise<void> => {
    const guildId = message.guild_id;
    if (guildId === undefined) return;
    if (message.member !== undefined) members.note(guildId, message.author.id, message.member);
    for (const user of message.mentions) {
      if (user.member !== undefined) members.note(guildId, user.id, user.member);
      else if (user.id !== self.userId) await members.member(guildId, user.id);
    }
  };

  const addressOf = (message: WireMessage): { mentionsBot: boolean; addressesOther: boolean } => {
    const mention = mentionPattern(message.guild_id ?? null);
    const answered = message.referenced_message?.author.id;
    const beginsWithOther =
      /^\s*<@[!&]?\d+>/u.test(message.content) &&
      !new RegExp(`^\\s*${mention}`, 'u').test(message.content);
    const answersOther =
      answered !== undefined && answered !== self.userId && answered !== message.author.id;
    return {
      // A reply to the bot's own message speaks to the bot.
      mentionsBot: new RegExp(mention, 'u').test(message.content) || answered === self.userId,
      addressesOther: beginsWithOther || answersOther,
    };
  };

  return {
    isSelf,
    placeOf,
    textOf,
    messageOf: async (message) => {
      if (isSelf(message) || !isSaid(message)) return null;
      contents.set(message.id, message.content);
      const files = filesOf(message);
      const address = addressOf(message);
      const isEmpty = message.content.trim() === '' && files.length === 0;
      if (isEmpty && !address.mentionsBot && (message.message_snapshots ?? []).length === 0) {
        return null;
      }
      await notePeople(message);
      const guildId = message.guild_id ?? null;
      const [author, place, shared] = await Promise.all([
        members.authorOf(guildId, message.author, isWebhook(message)),
        placeOf(message.channel_id, guildId),
        guildId === null ? members.sharedSpaces(message.author.id) : null,
      ]);
      return {
        kind: 'message',
        eventKey: `discord:${message.id}`,
        conversation: conversationAt(place, message.id),
        author,
        at: Date.parse(message.timestamp),
        channelName: place.channelName,
        channelKind: place.channelKind,
        ...(shared === null ? {} : { sharedSpaces: shared }),
        messageId: message.id,
        place: guildId === null ? 'direct' : place.thread === null ? 'channel' : 'thread',
        text: spokenText(message),
        files,
        ...address,
      };
    },
    editOf: async (message) => {
      const editedAt = message.edited_timestamp ?? null;
      if (editedAt === null || isSelf(message) || !isSaid(message)) return null;
      const before = contents.get(message.id);
      contents.set(message.id, message.content);
      if (before === message.content) return null;
      await notePeople(message);
      const guildId = message.guild_id ?? null;
      const [author, place] = await Promise.all([
        members.authorOf(guildId, message.author, isWebhook(message)),
        placeOf(message.channel_id, guildId),
      ]);
      return {
        kind: 'message_edited',
        eventKey: `discord:${message.id}:edit:${editedAt}`,
        conversation: conversationAt(place, message.id),
        author,
        at: Date.parse(editedAt),
        messageId: message.id,
        text: spokenText(message),
      };
    },
    deletionOf: async ({ id, channel_id, guild_id }) => ({
      kind: 'message_deleted',
      eventKey: `discord:${id}:deleted`,
      conversation: conversationAt(await placeOf(channel_id, guild_id ?? null), id),
      messageId: id,
      at: clock.now(),
    }),
    reactionOf: async ({ user_id, channel_id, message_id, guild_id, member, emoji }, at) => {
      const { id: customId, name } = emoji;
      const isOurs = user_id === self.userId;
      if (isOurs || typeof customId === 'string' || !isStopEmoji(name ?? '')) return null;
      if (guild_id !== undefined && member !== undefined) members.note(guild_id, user_id, member);
      const guildId = guild_id ?? null;
      const [user, { space, channel }] = await Promise.all([
        member?.user ?? members.userOf(user_id),
        placeOf(channel_id, guildId),
      ]);
      return {
        kind: 'reaction',
        // Discord gives it no id: the same X again, after it was taken off, is another one.
        eventKey: `discord:${message_id}:reaction:${user_id}:${name}:${at}`,
        place: { adapter: 'discord', space, channel },
        author: await members.authorOf(guildId, user, false),
        at,
        messageId: message_id,
        emoji: name ?? '',
      };
    },
  };
}

/** The conversation of a message; at top level a thread made from it has the message's id. */
export function conversationAt(place: MessagePlace, messageId: string): Conversation {
  const { space, channel, thread } = place;
  return { adapter: 'discord', space, channel, thread: thread ?? messageId };
}

function directPlace(channel: string): MessagePlace {
  return {
    space: directSpace,
    channel,
    thread: directThread,
    channelName: directName,
    channelKind: 'direct',
  };
}

function isWebhook(message: WireMessage): boolean {
  return typeof message.webhook_id === 'string';
}

function filesOf(message: WireMessage): InboundFile[] {
  const forwarded = (message.message_snapshots ?? []).flatMap(
    (snapshot) => snapshot.message.attachments,
  );
  return [...message.attachments, ...forwarded].map(fileOf);
}

function fileOf({ id, filename, content_type, size, url }: WireAttachment): InboundFile {
  return {
    id,
    name: filename,
    mediaType: content_type?.split(';')[0]?.trim() || 'application/octet-stream',
    bytes: size,
    url,
  };
}
