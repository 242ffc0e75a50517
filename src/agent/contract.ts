/** What the loop is given. It knows models, tools and the transcript by these alone. */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ChatPrompt, ToolSpec } from '../messages/chat.ts';
import type { Entry } from '../messages/entries.ts';
import type { ReasoningOptions } from '../messages/model.ts';
import type { CompletionEvent, MeteredCall as ProviderCall } from '../providers/completion.ts';
import type { RegisteredTool } from '../tools/contract.ts';
import type { Workspace } from '../tools/paths.ts';
import type { SchedulerDeps } from '../tools/scheduler.ts';

/** A model call that used tokens. */
export type MeteredCall = ProviderCall;

/** One model call. The model is not the loop's concern. */
export type Complete = (
  prompt: ChatPrompt,
  signal: AbortSignal,
  onCall: (call: MeteredCall) => Promise<void>,
) => AsyncIterable<CompletionEvent>;

export interface Taken {
  readonly messageIds: readonly string[];
  /** Whether any of them addressed the bot. */
  readonly addressed: boolean;
}

export interface RunDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** One model call, with retries and other models before its first visible event. */
  readonly complete: Complete;
  /** Stores what a call used, before the next step. */
  readonly onUsed: (step: number, call: MeteredCall) => Promise<void>;
  /** A sentence for people when a limit forbids a further step. */
  readonly limitReached: () => Promise<string | undefined>;
  /** A sentence for people when the run has made all its steps. */
  readonly tooManySteps: () => Promise<string>;
  readonly transcript: {
    /** All entries the model may see, oldest first, those just appended included. */
    read(): readonly Entry[];
    /** Stores before it resolves. */
    append(entries: readonly Entry[]): Promise<void>;
  };
  /** Moves messages that wait for this conversation into the transcript. */
  readonly takeWaiting: () => Promise<Taken>;
  readonly tools: readonly RegisteredTool[];
  /** Whether a call may run, must be approved first, or is refused. */
  readonly permit: SchedulerDeps['permit'];
  /** Takes secrets out of what tools say. */
  readonly redact: SchedulerDeps['redact'];
}

export interface RunInput {
  readonly runId: string;
  readonly conversationKey: string;
  readonly workspace: Workspace;
  /** `provider/model`, for showing. */
  readonly modelName: string;
  readonly system: string;
  readonly toolSpecs: readonly ToolSpec[];
  readonly reasoning: ReasoningOptions;
  readonly webSearch: boolean;
  /** Steps this run may make in all, earlier ones included. */
  readonly mostSteps: number;
  readonly toolTimeoutMs: number;
  readonly toolsAtOnce: number;
  /** Whether the people of this turn addressed the bot. */
  readonly addressed: boolean;
  /** Where the run goes on: absent for a new run. */
  readonly resume?: /** The result of the call it waited for is stored; calls behind it run now. */
    | { readonly kind: 'answered' }
    /** The process stopped in the middle: calls that had begun have unknown outcomes. */
    | { readonly kind: 'interrupted' };
}
