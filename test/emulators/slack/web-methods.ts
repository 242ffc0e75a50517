/**
 * The Web API methods, with Slack's refusals. Each gets its arguments parsed and answers with the
 * fields of a success, or throws a Refusal.
 */

import { z } from 'zod';
import { json, method } from './arguments.ts';
import { checkedBlocks, checkedView, Refusal } from './blocks.ts';
import { emojiNames } from './emoji.ts';
import { createFileMethods, type FileRules } from './file-methods.ts';
import {
  findMessage,
  type Json,
  type Model,
  type SlackChannel,
  type StoredMessage,
  type StreamRules,
  threadOf,
  wireMessage,
} from './model.ts';
import { createStreamMethods } from './stream-methods.ts';

export interface MethodDeps {
  readonly model: Model;
  readonly baseUrl: () => string;
  readonly socketUrl: () => string;
  readonly mostTriggerAgeMs: number;
  /** Methods that this app may not use, with the word of the refusal. */
  readonly unavailable: ReadonlyMap<string, string>;
  /** What files the workspace takes. */
  readonly fileRules: FileRules;
  readonly streamRules: StreamRules;
  /** Tells the app what it did itself, as Slack does. */
  onMessage(message: StoredMessage): void;
  onEdit(message: StoredMessage, before: string): void;
  onDelete(message: StoredMessage): void;
}

export type Methods = Readonly<Record<string, (args: unknown) => Json>>;

const blocksArg = json(z.array(z.unknown()));
const count = z.coerce.number().int().min(1).max(1_000).default(100);
const flag = z.preprocess((value) => value === true || value === 'true', z.boolean());

/** https://docs.slack.dev/reference/methods/chat.update, counted in escaped bytes. */
const mostUpdateBytes = 4_000;
const mostPostChars = 40_000;

export function createMethods(deps: MethodDeps): Methods {
  const { model } = deps;

  const channelOf = (id: string, mustBeIn = true): SlackChannel => {
    const channel = model.channels.get(id);
    const isIn = channel?.members.has(model.bot.userId) === true;
    if (channel === undefined || (!isIn && channel.kind !== 'channel')) {
      throw new Refusal('channel_not_found');
    }
    if (mustBeIn && !isIn) throw new Refusal('not_in_channel');
    return channel;
  };

  const textAndBlocks = (args: {
    readonly text?: string | undefined;
    readonly blocks?: readonly unknown[] | undefined;
  }): { readonly text: string; readonly blocks: readonly Json[] } => {
    const blocks = args.blocks === undefined ? [] : checkedBlocks(args.blocks);
    const text = (args.text ?? '').slice(0, mostPostChars);
    if (text === '' && blocks.length === 0) throw new Refusal('no_text');
    return { text, blocks };
  };

  const page = <Item>(
    items: readonly Item[],
    cursor: string | undefined,
    limit: number,
  ): { readonly items: readonly Item[]; readonly rest: Json } => {
    const from = cursor === undefined ? 0 : Number(Buffer.from(cursor, 'base64').toString());
    const end = from + limit;
    const hasMore = end < items.length;
    const next = hasMore ? Buffer.from(String(end)).toString('base64') : '';
    return {
      items: items.slice(from, end),
      rest: { has_more: hasMore, response_metadata: { next_cursor: next } },
    };
  };

  const shown = (message: StoredMessage, withMetadata: boolean): Json => ({
    ...wireMessage(model, message, deps.baseUrl()),
    ...(withMetadata && message.metadata !== undefined ? { metadata: message.metadata } : {}),
  });

  const posted = (args: {
    readonly channel: string;
    readonly thread_ts?: string | undefined;
    readonly metadata?: Json | undefined;
    readonly text?: string | undefined;
    readonly blocks?: readonly unknown[] | undefined;
  }): StoredMessage => {
    const channel = channelOf(args.channel);
    if (channel.isArchived) throw new Refusal('is_archived');
    const content = textAndBlocks(args);
    // A reply to a deleted message lands at channel level, without an error.
    const parentStands =
      args.thread_ts !== undefined && findMessage(model, args.thread_ts, channel.id) !== undefined;
    const message: StoredMessage = {
      ...content,
      ts: model.nextTs(),
      channel: channel.id,
      user: model.bot.userId,
      isOurs: true,
      subtype: undefined,
      threadTs: parentStands ? args.thread_ts : undefined,
      files: [],
      metadata: args.metadata,
      editedTs: undefined,
      isDeleted: false,
      ticked: new Map(),
      reactions: new Set(),
    };
    model.messages.push(message);
    if (message.threadTs !== undefined) model.statuses.delete(`${channel.id}:${message.threadTs}`);
    deps.onMessage(message);
    return message;
  };

  const fileMethods = createFileMethods({
    ...deps,
    channelOf,
    share: (files, place) => {
      const parentStands =
        place.thread_ts !== undefined && findMessage(model, place.thread_ts, place.channel);
      const message: StoredMessage = {
        ...{ ts: model.nextTs(), channel: place.channel, user: model.bot.userId, isOurs: true },
        ...{ subtype: 'file_share', text: place.text, blocks: [], files, metadata: undefined },
        threadTs: parentStands ? place.thread_ts : undefined,
        ...{ editedTs: undefined, isDeleted: false, ticked: new Map(), reactions: new Set() },
      };
      model.messages.push(message);
      deps.onMessage(message);
    },
  });

  const own = (channel: string, ts: string, refusal: string): StoredMessage => {
    channelOf(channel);
    const message = findMessage(model, ts, channel);
    if (message === undefined) throw new Refusal('message_not_found');
    if (!message.isOurs) throw new Refusal(refusal);
    return message;
  };

  const streamMethods = createStreamMethods({
    ...{ model, rules: deps.streamRules, channelOf },
    posted: (channel, threadTs) => posted({ channel: channel.id, thread_ts: threadTs, text: '…' }),
    own: (channel, ts) => own(channel, ts, 'message_not_owned_by_app'),
    onEdit: (message, before) => deps.onEdit(message, before),
  });

  const contentArgs = { text: z.string().optional(), blocks: blocksArg };

  const table = {
    'auth.test': method(z.object({}), () => ({
      url: 'https://acme.slack.com/',
      team: model.team.name,
      team_id: model.team.id,
      user: model.bot.name,
      user_id: model.bot.userId,
      bot_id: model.bot.botId,
    })),
    'apps.connections.open': method(z.object({}), () => ({ url: deps.socketUrl() })),
    'chat.postMessage': method(
      z.object({
        ...contentArgs,
        channel: z.string(),
        thread_ts: z.string().optional(),
        metadata: json(z.record(z.string(), z.unknown())),
      }),
      (args) => {
        const message = posted(args);
        return { channel: message.channel, ts: message.ts, message: shown(message, false) };
      },
    ),
    'chat.update': method(
      z.object({ ...contentArgs, channel: z.string(), ts: z.string() }),
      (args) => {
        const message = own(args.channel, args.ts, 'cant_update_message');
        // What streams is not edited.
        if (message.stream?.isOpen) throw new Refusal('cant_update_message');
        if (Buffer.byteLength(args.text ?? '') > mostUpdateBytes) throw new Refusal('msg_too_long');
        const content = textAndBlocks(args);
        const before = message.text;
        message.text = content.text;
        // Without `blocks` the old ones stay.
        if (args.blocks !== undefined) message.blocks = content.blocks;
        deps.onEdit(message, before);
        return { channel: args.channel, ts: args.ts, text: message.text };
      },
    ),
    'chat.delete': method(z.object({ channel: z.string(), ts: z.string() }), (args) => {
      const message = own(args.channel, args.ts, 'cant_delete_message');
      message.isDeleted = true;
      deps.onDelete(message);
      return { channel: args.channel, ts: args.ts };
    }),
    'chat.postEphemeral': method(
      z.object({
        ...contentArgs,
        channel: z.string(),
        user: z.string(),
        thread_ts: z.string().optional(),
      }),
      (args) => {
        const channel = channelOf(args.channel);
        if (!channel.members.has(args.user)) throw new Refusal('user_not_in_channel');
        model.privateMessages.push({
          ...textAndBlocks(args),
          channel: channel.id,
          user: args.user,
          thread: args.thread_ts ?? null,
        });
        return { message_ts: model.nextTs() };
      },
    ),
    'conversations.history': method(
      z.object({
        channel: z.string(),
        oldest: z.string().optional(),
        cursor: z.string().optional(),
        limit: count,
        include_all_metadata: flag,
      }),
      (args) => {
        const channel = channelOf(args.channel);
        const newestFirst = model.messages
          .filter(
            (message) =>
              message.channel === channel.id &&
              !message.isDeleted &&
              (message.threadTs === undefined || message.subtype === 'thread_broadcast') &&
              (args.oldest === undefined || message.ts > args.oldest),
          )
          .reverse();
        const { items, rest } = page(newestFirst, args.cursor, args.limit);
        return {
          ...rest,
          messages: items.map((message) => shown(message, args.include_all_metadata)),
        };
      },
    ),
    'conversations.replies': method(
      z.object({
        channel: z.string(),
        ts: z.string(),
        oldest: z.string().optional(),
        cursor: z.string().optional(),
        limit: count,
        include_all_metadata: flag,
      }),
      (args) => {
        channelOf(args.channel);
        const found = findMessage(model, args.ts, args.channel);
        if (found === undefined) throw new Refusal('thread_not_found');
        const root = found.threadTs ?? found.ts;
        const replies = threadOf(model, args.channel, root).filter(
          (message) => message.ts === root || args.oldest === undefined || message.ts > args.oldest,
        );
        const { items, rest } = page(replies, args.cursor, args.limit);
        return {
          ...rest,
          messages: items.map((message) => shown(message, args.include_all_metadata)),
        };
      },
    ),
    'conversations.info': method(z.object({ channel: z.string() }), (args) => {
      const channel = channelOf(args.channel, false);
      return {
        channel: {
          id: channel.id,
          name: channel.kind === 'im' ? undefined : channel.name,
          is_channel: channel.kind === 'channel',
          is_im: channel.kind === 'im',
          is_mpim: channel.kind === 'mpim',
          is_private: channel.kind !== 'channel',
          is_archived: channel.isArchived,
        },
      };
    }),
    'conversations.open': method(z.object({ users: z.string() }), (args) => {
      if (!model.users.has(args.users)) throw new Refusal('user_not_found');
      return { channel: { id: directChannel(model, args.users) } };
    }),
    'users.info': method(z.object({ user: z.string() }), (args) => {
      const user = model.users.get(args.user);
      if (user === undefined) throw new Refusal('user_not_found');
      return {
        user: {
          id: user.id,
          name: user.name.toLowerCase().replaceAll(' ', '.'),
          real_name: user.name,
          team_id: user.teamId,
          is_bot: user.isBot,
          is_restricted: user.isGuest,
          is_ultra_restricted: false,
          ...(user.isStranger ? { is_stranger: true } : {}),
          profile: { display_name: user.name, real_name: user.name },
        },
      };
    }),
    'reactions.add': method(
      z.object({ channel: z.string(), timestamp: z.string(), name: z.string() }),
      (args) => {
        const message = findMessage(model, args.timestamp, channelOf(args.channel).id);
        if (message === undefined) throw new Refusal('message_not_found');
        if (!emojiNames.has(args.name)) throw new Refusal('invalid_name');
        if (message.reactions.has(args.name)) throw new Refusal('already_reacted');
        message.reactions.add(args.name);
        return {};
      },
    ),
    'reactions.remove': method(
      z.object({ channel: z.string(), timestamp: z.string(), name: z.string() }),
      (args) => {
        const message = findMessage(model, args.timestamp, channelOf(args.channel).id);
        if (message === undefined) throw new Refusal('message_not_found');
        if (!message.reactions.delete(args.name)) throw new Refusal('no_reaction');
        return {};
      },
    ),
    'views.open': method(z.object({ trigger_id: z.string(), view: json(z.unknown()) }), (args) => {
      const trigger = model.triggers.get(args.trigger_id);
      if (trigger === undefined) throw new Refusal('invalid_trigger_id');
      if (trigger.used) throw new Refusal('exchanged_trigger_id');
      if (Date.now() - trigger.at > deps.mostTriggerAgeMs) throw new Refusal('expired_trigger_id');
      const view = checkedView(args.view);
      trigger.used = true;
      const id = model.nextId('V');
      model.views.push({ id, user: trigger.user, view });
      return { view: { id } };
    }),
    'agents.sessions.setStatus': method(
      z.object({
        channel_id: z.string(),
        thread_ts: z.string(),
        status: z.enum(['active', 'processing', 'suspended', 'closed']),
      }),
      (args) => {
        channelOf(args.channel_id);
        model.statuses.set(`${args.channel_id}:${args.thread_ts}`, args.status);
        return { status: args.status };
      },
    ),
    'assistant.threads.setStatus': method(
      z.object({ channel_id: z.string(), thread_ts: z.string(), status: z.string() }),
      (args) => {
        channelOf(args.channel_id);
        const key = `${args.channel_id}:${args.thread_ts}`;
        if (args.status === '') model.statuses.delete(key);
        else model.statuses.set(key, args.status);
        return {};
      },
    ),
  };

  return Object.fromEntries(
    Object.entries({ ...table, ...fileMethods, ...streamMethods }).map(([name, run]) => [
      name,
      (args: unknown): Json => {
        const word = deps.unavailable.get(name);
        if (word !== undefined) throw new Refusal(word);
        return run(args);
      },
    ]),
  );
}

/** The direct channel of a person and the bot; made when it is missing. */
export function directChannel(model: Model, userId: string): string {
  for (const channel of model.channels.values()) {
    if (channel.kind === 'im' && channel.members.has(userId)) return channel.id;
  }
  const id = model.nextId('D');
  model.channels.set(id, {
    id,
    name: userId,
    kind: 'im',
    members: new Set([userId, model.bot.userId]),
    isArchived: false,
  });
  return id;
}
