/** Settings of runs: who may use the bot, how many runs go on at once, what channels change. */

import { z } from 'zod';
import { type ReasoningOptions, reasoningOptionsSchema } from '../messages/model.ts';
import { mediaSettings } from '../messages/settings.ts';
import { type Permissions, permissionSettings } from '../permissions/settings.ts';
import { type ReplySettings, replySettings } from '../render/settings.ts';

/** `slack:U024BE7LH`: adapter and the platform's immutable id. Names are refused: anybody can take
 * somebody's display name. */
const platformId = z
  .string()
  .regex(/^(slack|discord|web):[A-Za-z0-9]+$/u, 'must be like slack:U024BE7LH: platform and id');

const lists = {
  users: z.array(platformId).readonly().default([]),
  channels: z.array(platformId).readonly().default([]),
  /** Discord role ids. */
  roles: z.array(platformId).readonly().default([]),
  spaces: z.array(platformId).readonly().default([]),
};

export const accessLists = z.strictObject(lists);
export type AccessLists = Readonly<z.infer<typeof accessLists>>;

export const runSettings = z.strictObject({
  /** Runs at the same time, over all conversations. */
  concurrency: z.int().min(1).max(1000).default(16),
  /** Seconds that running work gets to end by itself when the process is asked to stop. */
  drainSeconds: z.number().min(0).max(7).default(6),
  /** Days back in which missed messages are looked for after a restart. */
  readBackDays: z.number().min(0).max(30).default(7),
  /** The last line of a reply on model, tools, time and cost. changes: only when another model than
   * the chosen one answered. */
  receipt: z.enum(['always', 'changes', 'off']).default('changes'),
});
export type RunSettings = Readonly<z.infer<typeof runSettings>>;

/** Files that come with messages. A megabyte (Mb) is a million bytes. */
export const fileSettings = z.strictObject({
  ...mediaSettings.shape,
  /** Of one message; what comes behind them is only named. */
  mostFiles: z.int().min(0).max(100).default(20),
  mostFileMb: z.number().positive().max(200).default(20),
  /** All files of one message together. */
  mostMessageMb: z.number().positive().max(1_000).default(50),
  /** Images of one message that a model is shown. */
  mostImages: z.int().min(0).max(100).default(8),
  /** PDFs of one message that a model is shown. */
  mostPdfs: z.int().min(0).max(100).default(5),
  /** Characters (UTF-16 units) of text files that a message brings before the model at once. */
  mostTextChars: z.int().min(0).max(200_000).default(20_000),
  /** What people's files of one conversation may take in its workspace. */
  mostInboxMb: z.number().positive().max(100_000).default(500),
});
export type FileSettings = Readonly<z.infer<typeof fileSettings>>;

/** What a profile (settings of channels) may set. */
export const profileSettings = z.strictObject({
  /** Added to the system prompt. */
  instructions: z.string().exactOptional(),
  /** `provider/model`. */
  model: z.string().exactOptional(),
  /** all: every message in a thread the bot takes part in is answered · mention: only mentions. */
  followUps: z.enum(['all', 'mention']).exactOptional(),
  /** How the model is asked to think and write; each nearer field wins. */
  reasoning: reasoningOptionsSchema.exactOptional(),
  /** The vendor's own web search may be used, where the model has one. */
  webSearch: z.boolean().exactOptional(),
  /** The top level of the channel may be read from its threads. Default: true. */
  channelHistory: z.boolean().exactOptional(),
  allow: accessLists.exactOptional(),
  deny: accessLists.exactOptional(),
  /** What tools may do, and who approves. */
  permissions: permissionSettings.exactOptional(),
  /** What people see of a run; each nearer field wins. */
  reply: replySettings.exactOptional(),
});

/** A value and where it comes from, for people: "default", "channels[2] of config/deckhand.yaml". */
export interface Sourced<T> {
  readonly value: T;
  readonly source: string;
}

/** What people see of a run in one place, each field with its source. */
export type SourcedReply = {
  readonly [Field in keyof ReplySettings]-?: Sourced<Required<ReplySettings>[Field]>;
};

/** The settings that hold in one place. */
export interface Profile {
  /** Outermost first; they add up. */
  readonly instructions: readonly Sourced<string>[];
  /** Undefined: the default model. */
  readonly model: Sourced<string> | undefined;
  readonly followUps: Sourced<'all' | 'mention'>;
  /** Outermost first; each nearer field wins. */
  readonly reasoning: readonly Sourced<ReasoningOptions>[];
  readonly webSearch: Sourced<boolean>;
  readonly channelHistory: Sourced<boolean>;
  /** The nearest list must let a person pass. */
  readonly allow: readonly Sourced<AccessLists>[];
  /** Any list that names a person refuses them, near or far. */
  readonly deny: readonly Sourced<AccessLists>[];
  readonly permissions: Permissions;
  readonly reply: SourcedReply;
}

/** Where a profile is asked for. */
export interface Place {
  readonly adapter: string;
  readonly space: string;
  readonly channel: string;
  readonly channelName: string;
}

/** Rights that hold everywhere. */
export interface Governance {
  /** Ids of people with admin rights. */
  readonly admins: readonly string[];
  /** Bots that may mention the bot. */
  readonly bots: readonly string[];
  /** Who may choose a model, or how hard it thinks, for a conversation. */
  readonly modelChoice: 'everybody' | 'admins';
}
