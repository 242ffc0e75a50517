/**
 * Slack's message events as inbound events. One function for the live connection and for what is
 * read back, so that the same message always has the same key: channel and ts, whatever the event
 * id, the retry number or the kind of event (`message` and `app_mention` bring the same message).
 */

import type { Conversation } from '../../src/messages/conversation.ts';
import type { Author } from '../../src/messages/people.ts';
import type {
  InboundDeletion,
  InboundEdit,
  InboundMessage,
  InboundReaction,
} from '../../src/surface/inbound.ts';
import { stopEmojiOfSlack } from '../../src/surface/reactions.ts';
import type { DescribeFiles } from './files.ts';
import { directName, type KnownChannel, type Names } from './names.ts';
import {
  type MessageEvent,
  millisecondsOf,
  type ReactionEvent,
  type Self,
  type SlackMessage,
} from './wire.ts';

export interface Inbound {
  /** Null for what is no news to us: own messages, joins, previews, empty ones. */
  of(
    event: MessageEvent,
    appId: string | null,
  ): Promise<InboundMessage | InboundEdit | InboundDeletion | null>;
  /** Null for an emoji that nothing follows from, and for the bot's own. */
  reactionOf(event: ReactionEvent): Promise<InboundReaction | null>;
  conversationOf(
    channel: string,
    message: { ts: string; thread_ts?: string | undefined },
  ): Conversation;
  /** Rejects where Slack does not tell the person's standing: the event must come again. */
  authorOf(
    userId: string,
    hints: { readonly name?: string; readonly mostWaitMs?: number },
  ): Promise<Author>;
  /** For showing; never rejects. */
  nameOf(userId: string, hint?: string): Promise<string>;
  channelOf(channel: string, channelType?: string, name?: string): Promise<KnownChannel>;
  /** The text of any message as Markdown, the bot's own included. */
  textOf(message: SlackMessage): Promise<string>;
  isSelf(message: SlackMessage, appId: string | null): boolean;
}

/** Subtypes that are new words of somebody. */
const saidSubtypes = new Set(['thread_broadcast', 'file_share', 'bot_message', 'me_message']);

/** Somebody's words: no joins, no changes of the topic, no marks of deleted messages. */
export function isSaid({ subtype }: SlackMessage): boolean {
  return subtype === undefined || saidSubtypes.has(subtype);
}

export function createInbound(deps: {
  readonly self: Self;
  readonly names: Names;
  readonly describeFiles: DescribeFiles;
}): Inbound {
  const { self, names } = deps;
  const mention = new RegExp(`<@${self.userId}(?:\\|[^>]*)?>`, 'u');
  const leadingMention = new RegExp(`^\\s*<@${self.userId}(?:\\|[^>]*)?>[\\s,:]*`, 'u');

  const conversationOf: Inbound['conversationOf'] = (channel, { ts, thread_ts }) => ({
    adapter: 'slack',
    space: self.teamId,
    channel,
    thread: thread_ts ?? ts,
  });

  const isSelf: Inbound['isSelf'] = (message, appId) =>
    message.user === self.userId ||
    (self.botId !== null && message.bot_id === self.botId) ||
    (appId !== null && message.app_id === appId);

  const authorOf: Inbound['authorOf'] = async (userId, { name, mostWaitMs }) => {
    const known = await names.person(userId, mostWaitMs);
    return {
      id: `slack:${userId}`,
      name: known.name ?? name ?? userId,
      isBot: known.isBot,
      standing: known.standing,
      roles: [],
    };
  };

  const messageAuthor = async (message: SlackMessage): Promise<Author> => {
    const botName = message.username ?? message.bot_profile?.name;
    if (message.user === undefined) {
      const teamId = message.user_team ?? message.team ?? undefined;
      const id = message.bot_id ?? 'unknown';
      return {
        id: `slack:${id}`,
        name: botName ?? id,
        isBot: true,
        standing: teamId === undefined || teamId === self.teamId ? 'member' : 'external',
        roles: [],
      };
    }
    const author = await authorOf(message.user, botName === undefined ? {} : { name: botName });
    return typeof message.bot_id === 'string' ? { ...author, isBot: true } : author;
  };

  const channelOf: Inbound['channelOf'] = async (channel, channelType, name) => {
    if (channelType === 'im' || channel.startsWith('D')) {
      return { name: directName, kind: 'direct' };
    }
    // What nobody could tell us is taken as private: nothing of it may be shown elsewhere.
    const kind = channelType === 'channel' ? 'public' : 'private';
    return (await names.channel(channel)) ?? { name: name ?? channel, kind };
  };

  const textOf: Inbound['textOf'] = (message) => {
    const markdown = (message.blocks ?? []).flatMap((block) =>
      block.type === 'markdown' && typeof block.text === 'string' ? [block.text] : [],
    );
    if (markdown.length > 0) return names.withNames(markdown.join('\n\n'));
    return names.markdownOf(rawTextOf(message));
  };

  const said = async (
    event: MessageEvent,
    message: SlackMessage,
  ): Promise<InboundMessage | null> => {
    const raw = rawTextOf(message);
    const sent = message.files ?? [];
    if (raw.trim() === '' && sent.length === 0) return null;
    const [author, files, place, text] = await Promise.all([
      messageAuthor(message),
      deps.describeFiles(sent),
      channelOf(event.channel, event.channel_type),
      names.markdownOf(raw.replace(leadingMention, '')),
    ]);
    if (raw.trim() === '' && files.length === 0) return null;
    const inThread = message.thread_ts !== undefined && message.thread_ts !== message.ts;
    return {
      kind: 'message',
      eventKey: keyOf(event.channel, message.ts),
      conversation: conversationOf(event.channel, message),
      author,
      at: millisecondsOf(message.ts),
      channelName: place.name,
      channelKind: place.kind,
      messageId: message.ts,
      place: place.kind === 'direct' ? 'direct' : inThread ? 'thread' : 'channel',
      text: text.trim(),
      files,
      mentionsBot: event.type === 'app_mention' || mention.test(raw),
      addressesOther: /^\s*<(?:@|!subteam\^)/u.test(raw) && !leadingMention.test(raw),
    };
  };

  const edited = async (
    event: MessageEvent,
    message: SlackMessage,
  ): Promise<InboundEdit | null> => {
    const before = event.previous_message;
    const isSame = before === undefined ? !message.edited : before.text === message.text;
    // A preview was added to the message, or a reply counted: nobody changed the words.
    if (isSame) return null;
    const [author, text] = await Promise.all([
      messageAuthor(message),
      names.markdownOf(rawTextOf(message).replace(leadingMention, '')),
    ]);
    const changedTs = message.edited?.ts ?? event.event_ts ?? event.ts;
    return {
      kind: 'message_edited',
      eventKey: `${keyOf(event.channel, message.ts)}:edit:${changedTs}`,
      conversation: conversationOf(event.channel, message),
      author,
      at: millisecondsOf(changedTs),
      messageId: message.ts,
      text: text.trim(),
    };
  };

  const deleted = (
    event: MessageEvent,
    message: { ts: string; thread_ts?: string | undefined },
  ): InboundDeletion => ({
    kind: 'message_deleted',
    eventKey: `${keyOf(event.channel, message.ts)}:delete`,
    conversation: conversationOf(event.channel, message),
    messageId: message.ts,
    at: millisecondsOf(event.event_ts ?? event.ts),
  });

  const changed = async (
    event: MessageEvent,
    appId: string | null,
  ): Promise<InboundEdit | InboundDeletion | null> => {
    const { message } = event;
    if (message === undefined || isSelf(message, appId)) return null;
    // A root with replies is not removed: its place says that it was deleted.
    return message.subtype === 'tombstone' ? deleted(event, message) : await edited(event, message);
  };

  const removed = (event: MessageEvent, appId: string | null): InboundDeletion | null => {
    const { deleted_ts: ts, previous_message: before } = event;
    if (ts === undefined || (before && isSelf({ ...before, ts }, appId))) return null;
    return deleted(event, { ts, thread_ts: before?.thread_ts });
  };

  const of: Inbound['of'] = async (event, appId) => {
    if (event.subtype === 'message_changed') return await changed(event, appId);
    if (event.subtype === 'message_deleted') return removed(event, appId);
    if (event.hidden === true || isSelf(event, appId)) return null;
    if (!isSaid(event)) return null;
    return await said(event, event);
  };

  const reactionOf: Inbound['reactionOf'] = async ({ user, reaction, item, event_ts: at }) => {
    const emoji = stopEmojiOfSlack(reaction);
    if (emoji === null || user === self.userId) return null;
    const { channel, ts } = item;
    return {
      kind: 'reaction',
      eventKey: `${keyOf(channel, ts)}:reaction:${user}:${reaction}:${at}`,
      place: { adapter: 'slack', space: self.teamId, channel },
      author: await authorOf(user, {}),
      at: millisecondsOf(at),
      messageId: ts,
      emoji,
    };
  };

  const nameOf: Inbound['nameOf'] = async (userId, hint) =>
    (await names.user(userId))?.name ?? hint ?? userId;

  return { of, reactionOf, conversationOf, authorOf, nameOf, channelOf, textOf, isSelf };
}

function keyOf(channel: string, ts: string): string {
  return `slack:${channel}:${ts}`;
}

/** The words of a message; alerts of other apps often have them in attachments or blocks only. */
function rawTextOf(message: SlackMessage): string {
  if (message.text.trim() !== '') return message.text;
  const attached = (message.attachments ?? []).map((one) => one.text ?? one.fallback ?? '');
  const inBlocks = (message.blocks ?? []).map((block) =>
    typeof block.text === 'object' ? block.text.text : '',
  );
  return [...attached, ...inBlocks].filter((part) => part.trim() !== '').join('\n');
}
