/** What runs are given. Everything that acts is passed in by the composition root. */

import type { Complete } from '../agent/contract.ts';
import type { AgentSettings } from '../agent/settings.ts';
import type { Clock } from '../base/clock.ts';
import type { NewId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Conversations, SeenPlaces } from '../conversations/conversations.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Effort } from '../messages/model.ts';
import type { LimitSettings } from '../permissions/settings.ts';
import type { QuestionSettings } from '../questions/settings.ts';
import type { Store } from '../storage/store.ts';
import type { Adapter } from '../surface/adapter.ts';
import type { Command } from '../surface/command.ts';
import type { RegisteredTool } from '../tools/contract.ts';
import type { Workspace } from '../tools/paths.ts';
import type { Thread } from '../tools/ports.ts';
import type { FileSettings, Governance, Place, Profile, RunSettings } from './settings.ts';

export interface ResolvedModel {
  /** `provider/model` */
  readonly name: string;
  /** Why this one: "ANTHROPIC_API_KEY is set". */
  readonly why: string;
  /** Efforts that people may choose from; empty: none. */
  readonly efforts: readonly Effort[];
  /** Its vendor searches the web by itself. */
  readonly hasWebSearch: boolean;
  /** The model calls of one run. */
  readonly complete: Complete;
}

/** A model that people may choose. */
export interface OfferedModel {
  /** `provider/model` */
  readonly name: string;
  readonly aliases: readonly string[];
}

export interface RunsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly redactor: Redactor;
  readonly conversations: Conversations;
  readonly seen: SeenPlaces;
  readonly adapters: ReadonlyMap<string, Adapter>;
  /** The named model, or the default; `standIn`: the one that took over in this run already. Throws a
   * BotError that says which setting to look at. */
  readonly modelOf: (name: string | undefined, standIn?: string) => Promise<ResolvedModel>;
  /** Models that people may choose here and now, the best known first. */
  readonly offeredModels: () => readonly OfferedModel[];
  /** The full name of a model that people may choose. Throws a BotError with a sentence for them. */
  readonly choosableModel: (given: string) => string;
  /** The tools, given the thread that they act on. */
  readonly toolsOf: (thread: Thread) => readonly RegisteredTool[];
  /** Ends what runs in the background of a conversation. */
  readonly stopJobs: (key: ConversationKey) => Promise<void>;
  /** Read anew for each turn, so that an edited configuration is taken over. */
  readonly profileOf: (place: Place) => Profile;
  readonly governance: () => Governance;
  /** The conversation's workspace; its folder is made if missing. */
  readonly workspaceOf: (key: ConversationKey) => Promise<Workspace>;
  /** Commands of other folders. */
  readonly commands: readonly Command[];
  readonly botName: string;
  readonly settings: {
    readonly runs: RunSettings;
    readonly agent: AgentSettings;
    readonly limits: LimitSettings;
    readonly questions: QuestionSettings;
    readonly files: FileSettings;
  };
}
