/** What an emulated Discord holds, and how it looks on the wire. */

export type Json = Readonly<Record<string, unknown>>;

export interface DiscordUser {
  readonly id: string;
  readonly username: string;
  readonly globalName: string | null;
  readonly isBot: boolean;
  /** Takes no direct messages. */
  isClosed: boolean;
}

export interface Member {
  nick: string | null;
  roles: string[];
}

export interface Role {
  readonly id: string;
  readonly name: string;
  /** The bot whose own role it is. */
  readonly botId: string | null;
}

export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly roles: Map<string, Role>;
  readonly members: Map<string, Member>;
}

export const kinds = {
  text: 0,
  direct: 1,
  voice: 2,
  announcement: 5,
  publicThread: 11,
  privateThread: 12,
  forum: 15,
} as const;

/** What the bot may not do in a channel. */
export type Denied = 'view' | 'send' | 'threads' | 'history' | 'files';

export interface Channel {
  readonly id: string;
  readonly type: number;
  readonly name: string;
  readonly guildId: string | null;
  readonly parentId: string | null;
  /** The person of a direct channel. */
  readonly recipient: string | null;
  readonly isPrivate: boolean;
  readonly denied: Set<Denied>;
  readonly autoArchiveMinutes: number;
  isArchived: boolean;
  isLocked: boolean;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string | null;
  readonly content: Uint8Array;
  /** The signature that its address must carry now. */
  signature: string;
}

export interface StoredMessage {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly type: number;
  readonly createdAt: number;
  content: string;
  components: readonly Json[];
  flags: number;
  allowedMentions: Json | null;
  editedAt: number | null;
  isDeleted: boolean;
  readonly nonce: string | null;
  readonly replyTo: string | null;
  readonly files: readonly StoredFile[];
  readonly webhook: { readonly id: string; readonly name: string } | null;
  /** Emoji → who. */
  readonly reactions: Map<string, Set<string>>;
}

/** An answer that one person sees. */
export interface PrivateMessage {
  readonly id: string;
  readonly userId: string;
  content: string;
  components: readonly Json[];
  /** A deferral that nobody has filled yet. */
  isWaiting: boolean;
  isDeleted: boolean;
}

export interface OpenInteraction {
  readonly id: string;
  readonly token: string;
  readonly type: number;
  readonly userId: string;
  readonly messageId: string | null;
  readonly at: number;
  /** Callback type of the answer; null while there is none. */
  answered: number | null;
  answeredAfterMs: number | null;
  original: PrivateMessage | null;
}

export interface OpenForm {
  readonly userId: string;
  readonly form: Json;
  readonly messageId: string;
}

export interface Model {
  readonly bot: {
    readonly id: string;
    readonly applicationId: string;
    readonly name: string;
    /** Application flags; the message content intent of a small bot by default. */
    flags: number;
  };
  readonly users: Map<string, DiscordUser>;
  readonly guilds: Map<string, Guild>;
  readonly channels: Map<string, Channel>;
  readonly messages: StoredMessage[];
  readonly privateMessages: PrivateMessage[];
  readonly interactions: Map<string, OpenInteraction>;
  /** What was offered last for a command that is being written. */
  choices: readonly string[];
  readonly forms: OpenForm[];
  readonly files: Map<string, StoredFile>;
  readonly typing: { readonly channelId: string; readonly at: number }[];
  commands: readonly Json[];
  /** A snowflake of now, larger than all before. */
  nextId(): string;
}

const discordEpochMs = 1_420_070_400_000;

export function createModel(bot: Omit<Model['bot'], 'flags'>): Model {
  let last = 0n;
  return {
    bot: { ...bot, flags: 1 << 19 },
    users: new Map(),
    guilds: new Map(),
    channels: new Map(),
    messages: [],
    privateMessages: [],
    interactions: new Map(),
    choices: [],
    forms: [],
    files: new Map(),
    typing: [],
    commands: [],
    nextId: () => {
      const now = BigInt(Date.now() - discordEpochMs) << 22n;
      last = now > last ? now : last + 1n;
      return last.toString();
    },
  };
}

export function findMessage(
  model: Model,
  id: string,
  channelId?: string,
): StoredMessage | undefined {
  return model.messages.find(
    (message) =>
      message.id === id &&
      !message.isDeleted &&
      (channelId === undefined || message.channelId === channelId),
  );
}

export function isThread(channel: Channel): boolean {
  return channel.type === kinds.publicThread || channel.type === kinds.privateThread;
}
