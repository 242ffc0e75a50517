/** REST routes of channels, messages, threads and reactions. */

import { z } from 'zod';
import { checkedMessage, invalid, type MessageBody, Refusal } from './checks.ts';
import {
  type Channel,
  findMessage,
  isThread,
  type Json,
  kinds,
  type Model,
  type StoredFile,
  type StoredMessage,
} from './model.ts';
import { channelWire, messageWire } from './wire.ts';

export interface RouteCall {
  readonly model: Model;
  readonly baseUrl: string;
  readonly rules: Rules;
  /** What stands for each `:name` of the route, in order. */
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** What a form brought along; `files[0]` first. */
  readonly files: readonly SentFile[];
  readonly announce: (type: string, message: StoredMessage) => void;
  readonly dispatch: (type: string, event: Json) => void;
}

/** Switches of a test. */
export interface Rules {
  /** Edits of messages older than this are refused (30046); null: never. */
  mostEditAgeMs: number | null;
  /** Discord without boosts: 10 MiB. */
  mostFileBytes: number;
  /** Threads that may be active in a guild. */
  mostThreads: number;
  /** AutoMod refuses texts that match. */
  blocked: RegExp | null;
  /** How long an interaction waits for its first answer; Discord: 3 s. */
  mostInteractionAgeMs: number;
  /** How long its token takes further answers; Discord: 15 min. */
  mostTokenAgeMs: number;
}

/** A file as a form brings it. */
export interface SentFile {
  /** The number in `files[0]`. */
  readonly number: number;
  readonly name: string;
  readonly content: Uint8Array;
}

export interface RouteAnswer {
  readonly status: number;
  readonly body?: unknown;
}
export type Route = (call: RouteCall) => RouteAnswer;

const nonceMemoryMs = 5 * 60_000;
const nothing: RouteAnswer = { status: 204 };

export function channelOf(call: RouteCall, id = call.ids[0] ?? ''): Channel {
  const channel = call.model.channels.get(id);
  if (channel === undefined) throw new Refusal(404, 10003);
  const parent = channel.parentId === null ? undefined : call.model.channels.get(channel.parentId);
  if (channel.denied.has('view') || parent?.denied.has('view') === true) {
    throw new Refusal(403, 50001);
  }
  return channel;
}

function messageOf(call: RouteCall): StoredMessage {
  const channel = channelOf(call);
  const message = findMessage(call.model, call.ids[1] ?? '', channel.id);
  if (message === undefined) throw new Refusal(404, 10008);
  return message;
}

function wire(call: RouteCall, message: StoredMessage): Json {
  return messageWire(call.model, message, { asEvent: false, baseUrl: call.baseUrl });
}

function checkMaySend(call: RouteCall, channel: Channel): void {
  const recipient =
    channel.recipient === null ? undefined : call.model.users.get(channel.recipient);
  if (recipient?.isClosed === true) throw new Refusal(403, 50007);
  if (channel.type === kinds.forum) throw new Refusal(400, 50008);
  if (channel.denied.has('send')) throw new Refusal(403, 50013);
  if (channel.isLocked) throw new Refusal(400, 160005);
}

function checkText(call: RouteCall, body: MessageBody): void {
  if (call.rules.blocked?.test(body.content ?? '') === true) throw new Refusal(400, 200000);
}

/** Files are named by `attachments` where it is given, and must be what the form brought. */
function filesOf({ model, files, rules }: RouteCall, body: MessageBody): StoredFile[] {
  const named = new Map(body.attachments?.map(({ id, filename }) => [id, filename]));
  for (const number of named.keys()) {
    if (!files.some((file) => file.number === number)) {
      throw invalid('attachments', 'ATTACHMENT_NOT_FOUND');
    }
  }
  if (files.length > 10) throw invalid('files', 'BASE_TYPE_MAX_LENGTH');
  if (files.some(({ content }) => content.byteLength > rules.mostFileBytes)) {
    throw new Refusal(413, 40005);
  }
  return files.map(({ number, name, content }) => ({
    id: model.nextId(),
    // Blanks in names become underscores.
    name: (named.get(number) ?? name).replaceAll(' ', '_'),
    ...{ mediaType: null, content, signature: 'first' },
  }));
}

const post: Route = (call) => {
  const channel = channelOf(call);
  const body = checkedMessage(call.body, call.files.length > 0);
  checkMaySend(call, channel);
  if (call.files.length > 0 && channel.denied.has('files')) throw new Refusal(403, 50013);
  checkText(call, body);
  const sent = filesOf(call, body);
  const nonce = body.nonce === undefined ? null : String(body.nonce);
  const twin = call.model.messages.find(
    (message) =>
      message.nonce !== null &&
      message.nonce === nonce &&
      message.channelId === channel.id &&
      !message.isDeleted &&
      Date.now() - message.createdAt < nonceMemoryMs,
  );
  if (body.enforce_nonce === true && twin !== undefined) {
    return { status: 200, body: wire(call, twin) };
  }
  const replyTo = body.message_reference?.message_id ?? null;
  const exists = replyTo !== null && findMessage(call.model, replyTo, channel.id) !== undefined;
  if (replyTo !== null && !exists && body.message_reference?.fail_if_not_exists !== false) {
    throw invalid('message_reference', 'REPLIES_UNKNOWN_MESSAGE');
  }
  const message: StoredMessage = {
    id: call.model.nextId(),
    channelId: channel.id,
    authorId: call.model.bot.id,
    type: exists ? 19 : 0,
    createdAt: Date.now(),
    content: (body.content ?? '').trim(),
    components: body.components ?? [],
    flags: body.flags ?? 0,
    allowedMentions: body.allowed_mentions ?? null,
    editedAt: null,
    isDeleted: false,
    nonce,
    replyTo: exists ? replyTo : null,
    files: sent,
    webhook: null,
    reactions: new Map(),
  };
  for (const file of sent) call.model.files.set(file.id, file);
  call.model.messages.push(message);
  // Sending opens an archived thread.
  if (channel.isArchived) {
    channel.isArchived = false;
    call.dispatch('THREAD_UPDATE', channelWire(channel));
  }
  call.announce('MESSAGE_CREATE', message);
  return { status: 200, body: wire(call, message) };
};

const edit: Route = (call) => {
  const message = messageOf(call);
  const channel = channelOf(call);
  if (message.authorId !== call.model.bot.id) throw new Refusal(403, 50005);
  if (channel.isArchived) throw new Refusal(400, 50083);
  const { mostEditAgeMs } = call.rules;
  if (mostEditAgeMs !== null && Date.now() - message.createdAt > mostEditAgeMs) {
    throw new Refusal(400, 30046);
  }
  const given = z.record(z.string(), z.unknown()).catch({}).parse(call.body);
  const body = checkedMessage({
    content: message.content,
    components: message.components,
    ...given,
  });
  checkText(call, body);
  message.content = (body.content ?? '').trim();
  message.components = body.components ?? [];
  message.flags = body.flags ?? message.flags;
  message.allowedMentions = body.allowed_mentions ?? null;
  message.editedAt = Date.now();
  call.announce('MESSAGE_UPDATE', message);
  return { status: 200, body: wire(call, message) };
};

const remove: Route = (call) => {
  const message = messageOf(call);
  const channel = channelOf(call);
  if (channel.isArchived) throw new Refusal(400, 50083);
  message.isDeleted = true;
  call.dispatch('MESSAGE_DELETE', {
    id: message.id,
    channel_id: message.channelId,
    ...(channel.guildId === null ? {} : { guild_id: channel.guildId }),
  });
  return nothing;
};

const list: Route = (call) => {
  const channel = channelOf(call);
  if (channel.type === kinds.forum) throw new Refusal(400, 50008);
  if (channel.denied.has('history')) return { status: 200, body: [] };
  const limit = Number(call.query.get('limit') ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw invalid('limit', 'NUMBER_TYPE_MAX');
  }
  const before = call.query.get('before');
  const after = call.query.get('after');
  const found = call.model.messages
    .filter((message) => message.channelId === channel.id && !message.isDeleted)
    .filter((message) => before === null || BigInt(message.id) < BigInt(before))
    .filter((message) => after === null || BigInt(message.id) > BigInt(after))
    .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  const page = after === null ? found.slice(-limit) : found.slice(0, limit);
  // Newest first, also after a message.
  return { status: 200, body: page.reverse().map((message) => wire(call, message)) };
};

const threadBodySchema = z.object({
  name: z.string(),
  auto_archive_duration: z.number().optional(),
});

const startThread: Route = (call) => {
  const channel = channelOf(call);
  if (channel.type !== kinds.text && channel.type !== kinds.announcement) {
    throw new Refusal(400, 50024);
  }
  if (channel.denied.has('threads')) throw new Refusal(403, 50013);
  const message = messageOf(call);
  if (call.model.channels.has(message.id)) throw new Refusal(400, 160004);
  const active = [...call.model.channels.values()].filter(
    (one) => isThread(one) && !one.isArchived,
  ).length;
  if (active >= call.rules.mostThreads) throw new Refusal(400, 160006);
  const body = threadBodySchema.parse(call.body);
  if (body.name.length < 1 || body.name.length > 100) {
    throw invalid('name', 'BASE_TYPE_BAD_LENGTH');
  }
  if (![60, 1440, 4320, 10_080].includes(body.auto_archive_duration ?? 1440)) {
    throw invalid('auto_archive_duration', 'BASE_TYPE_CHOICES');
  }
  const thread = openThread(call, channel, message, body.name);
  return { status: 201, body: channelWire(thread) };
};

/** A thread made from a message: it has the message's id. */
export function openThread(
  call: Pick<RouteCall, 'model' | 'dispatch' | 'announce'>,
  channel: Channel,
  starter: StoredMessage,
  name: string,
): Channel {
  const { model } = call;
  const thread: Channel = {
    id: starter.id,
    type: kinds.publicThread,
    name,
    guildId: channel.guildId,
    parentId: channel.id,
    recipient: null,
    isPrivate: channel.isPrivate,
    denied: new Set(),
    autoArchiveMinutes: 1440,
    isArchived: false,
    isLocked: false,
  };
  model.channels.set(thread.id, thread);
  call.dispatch('THREAD_CREATE', { ...channelWire(thread), newly_created: true });
  // The message gets its thread mark: an update that is no edit.
  starter.flags |= 32;
  call.announce('MESSAGE_UPDATE', starter);
  const opening: StoredMessage = {
    ...starter,
    id: model.nextId(),
    channelId: thread.id,
    type: 21,
    content: '',
    components: [],
    nonce: null,
    replyTo: starter.id,
    files: [],
    reactions: new Map(),
  };
  model.messages.push(opening);
  call.announce('MESSAGE_CREATE', opening);
  return thread;
}

const change: Route = (call) => {
  const channel = channelOf(call);
  const { archived } = z.object({ archived: z.boolean().optional() }).parse(call.body);
  if (archived === false) {
    if (channel.isLocked) throw new Refusal(403, 50013);
    channel.isArchived = false;
    call.dispatch('THREAD_UPDATE', channelWire(channel));
  }
  return { status: 200, body: channelWire(channel) };
};

const react: Route = (call) => {
  const message = messageOf(call);
  const emoji = decodeURIComponent(call.ids[2] ?? '');
  if (!/^\p{Extended_Pictographic}/u.test(emoji)) throw new Refusal(400, 10014);
  // 20 different ones a message.
  const isNew = !message.reactions.has(emoji);
  if (isNew && message.reactions.size >= 20) throw new Refusal(400, 30010);
  const people = message.reactions.get(emoji) ?? new Set<string>();
  message.reactions.set(emoji, people.add(call.model.bot.id));
  return nothing;
};

const unreact: Route = (call) => {
  const { reactions } = messageOf(call);
  const emoji = decodeURIComponent(call.ids[2] ?? '');
  const people = reactions.get(emoji);
  if (people?.delete(call.model.bot.id) !== true) throw new Refusal(400, 10014);
  if (people.size === 0) reactions.delete(emoji);
  return nothing;
};

const typing: Route = (call) => {
  const channel = channelOf(call);
  call.model.typing.push({ channelId: channel.id, at: Date.now() });
  return nothing;
};

export const messageRoutes: Readonly<Record<string, Route>> = {
  'GET /channels/:id': (call) => ({ status: 200, body: channelWire(channelOf(call)) }),
  'PATCH /channels/:id': change,
  'GET /channels/:id/messages': list,
  'POST /channels/:id/messages': post,
  'GET /channels/:id/messages/:id': (call) => ({ status: 200, body: wire(call, messageOf(call)) }),
  'PATCH /channels/:id/messages/:id': edit,
  'DELETE /channels/:id/messages/:id': remove,
  'POST /channels/:id/messages/:id/threads': startThread,
  'PUT /channels/:id/messages/:id/reactions/:emoji/@me': react,
  'DELETE /channels/:id/messages/:id/reactions/:emoji/@me': unreact,
  'POST /channels/:id/typing': typing,
};
