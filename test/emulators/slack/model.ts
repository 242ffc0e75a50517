/** What an emulated Slack workspace holds. */

export interface SlackUser {
  readonly id: string;
  readonly name: string;
  readonly teamId: string;
  readonly isBot: boolean;
  readonly isGuest: boolean;
  readonly isStranger: boolean;
}

export interface SlackChannel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'channel' | 'group' | 'im' | 'mpim';
  readonly members: Set<string>;
  isArchived: boolean;
}

export interface UserGroup {
  readonly handle: string;
  readonly members: readonly string[];
}

export type Json = Readonly<Record<string, unknown>>;

export interface SlackFile {
  readonly id: string;
  readonly name: string;
  /** Left out: the name. */
  readonly title?: string;
  readonly mimetype: string;
  readonly content: Uint8Array;
  /** A file of another workspace: the event holds no address. */
  readonly isStub: boolean;
  /** Where the file's address sends the reader on to. */
  readonly redirectTo: string | null;
  /** Why nobody gets it: its storage is used up, or the app may not see it. */
  readonly withheld?: 'hidden_by_limit' | 'access_denied';
}

/** How long and how large a stream may become. */
export interface StreamRules {
  /** The server ends a stream that is older. */
  mostAgeMs: number;
  /** Characters of text and tasks of a whole stream. */
  mostChars: number;
}

export interface StreamState {
  readonly startedAt: number;
  isOpen: boolean;
  text: string;
  /** Titles with their states, by id. */
  readonly tasks: Map<string, string>;
  chars: number;
  /** What people read after each call. */
  readonly shown: string[];
}

export interface StoredMessage {
  readonly ts: string;
  readonly channel: string;
  readonly user: string;
  readonly isOurs: boolean;
  readonly subtype: string | undefined;
  threadTs: string | undefined;
  text: string;
  blocks: readonly Json[];
  readonly files: readonly SlackFile[];
  readonly metadata: Json | undefined;
  editedTs: string | undefined;
  isDeleted: boolean;
  /** Ticked boxes by action id. */
  readonly ticked: Map<string, readonly string[]>;
  readonly reactions: Set<string>;
  /** Of a message that grows or grew by appending. */
  stream?: StreamState;
}

interface PrivateMessage {
  readonly channel: string;
  readonly user: string;
  readonly thread: string | null;
  readonly text: string;
  readonly blocks: readonly Json[];
}

interface OpenView {
  readonly id: string;
  readonly user: string;
  readonly view: Json;
}

/** A file between the address for its bytes and its completion. */
export interface PendingUpload {
  readonly fileId: string;
  readonly name: string;
  readonly bytes: number;
  readonly until: number;
  /** Null until the bytes came. */
  content: Uint8Array | null;
}

export interface Model {
  readonly team: { readonly id: string; readonly name: string };
  readonly bot: {
    readonly userId: string;
    readonly botId: string;
    readonly appId: string;
    readonly name: string;
  };
  readonly users: Map<string, SlackUser>;
  readonly channels: Map<string, SlackChannel>;
  readonly groups: Map<string, UserGroup>;
  readonly messages: StoredMessage[];
  readonly files: Map<string, SlackFile>;
  /** By the ticket in the address for the bytes. */
  readonly uploads: Map<string, PendingUpload>;
  readonly privateMessages: PrivateMessage[];
  readonly views: OpenView[];
  readonly triggers: Map<string, { readonly user: string; readonly at: number; used: boolean }>;
  /** `channel:thread` → what the status line says. */
  readonly statuses: Map<string, string>;
  nextTs(): string;
  nextId(prefix: string): string;
}

export function createModel(bot: Model['bot'], team: Model['team']): Model {
  let counter = 0;
  let ids = 0;
  return {
    bot,
    team,
    users: new Map(),
    channels: new Map(),
    groups: new Map(),
    messages: [],
    files: new Map(),
    uploads: new Map(),
    privateMessages: [],
    views: [],
    triggers: new Map(),
    statuses: new Map(),
    nextTs: () => {
      counter += 1;
      return `${Math.floor(Date.now() / 1000)}.${String(counter).padStart(6, '0')}`;
    },
    nextId: (prefix) => {
      ids += 1;
      return `${prefix}${String(ids).padStart(4, '0')}`;
    },
  };
}

export function findMessage(model: Model, ts: string, channel?: string): StoredMessage | undefined {
  return model.messages.find(
    (message) =>
      message.ts === ts &&
      !message.isDeleted &&
      (channel === undefined || message.channel === channel),
  );
}

/** The root and its replies, oldest first. */
export function threadOf(model: Model, channel: string, rootTs: string): StoredMessage[] {
  return model.messages.filter(
    (message) =>
      message.channel === channel &&
      !message.isDeleted &&
      (message.ts === rootTs || message.threadTs === rootTs),
  );
}

/** A message as the Web API and the events show it. */
export function wireMessage(model: Model, message: StoredMessage, baseUrl: string): Json {
  const hasReplies = model.messages.some((other) => other.threadTs === message.ts);
  const threadTs = message.threadTs ?? (hasReplies ? message.ts : undefined);
  const author = model.users.get(message.user);
  return {
    type: 'message',
    ts: message.ts,
    user: message.user,
    team: author?.teamId ?? model.team.id,
    text: message.text,
    ...(message.subtype === undefined ? {} : { subtype: message.subtype }),
    ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    ...(message.blocks.length === 0 ? {} : { blocks: message.blocks }),
    ...(message.files.length === 0
      ? {}
      : { files: message.files.map((file) => wireFile(file, baseUrl)) }),
    ...(message.editedTs === undefined
      ? {}
      : { edited: { user: message.user, ts: message.editedTs } }),
    ...(message.isOurs
      ? { bot_id: model.bot.botId, app_id: model.bot.appId, bot_profile: { name: model.bot.name } }
      : author?.isBot === true
        ? { bot_id: `B${message.user.slice(1)}`, bot_profile: { name: author.name } }
        : {}),
  };
}

export function wireFile(file: SlackFile, baseUrl: string, isAsked = false): Json {
  const { id, name, title = name, mimetype } = file;
  const common = { id, name, title, mimetype };
  if (file.isStub && !isAsked) return { id, file_access: 'check_file_info', mode: 'hosted' };
  if (file.withheld === 'hidden_by_limit') return { ...common, mode: 'hidden_by_limit' };
  if (file.withheld !== undefined) return { id, mode: 'hosted', file_access: file.withheld };
  const url = `${baseUrl}/files-pri/${file.id}/${encodeURIComponent(file.name)}`;
  return {
    ...common,
    size: file.content.byteLength,
    mode: 'hosted',
    url_private: url,
    url_private_download: url,
  };
}
