/** What a tool is. The model knows its spec; permissions judge its calls; the scheduler runs it. */

import type { z } from 'zod';
import type { Citation } from '../messages/chat.ts';
import type { ChecklistItem } from '../messages/checklist.ts';
import type { ResultPart } from '../messages/parts.ts';
import type { Suspension } from '../messages/questions.ts';
import type { Workspace } from './paths.ts';

export type ToolCategory = 'core' | 'agent' | 'plan' | 'task' | 'team' | 'mcp' | 'experimental';

/** Where a call stands, before it runs. */
export interface ToolScene {
  readonly workspace: Workspace;
  readonly conversationKey: string;
  readonly runId: string;
  /** The step of the run whose message holds the call. */
  readonly step: number;
  readonly callId: string;
  /** Whether the people of this turn addressed the bot (a mention, a direct message). */
  readonly addressed: boolean;
}

export interface ToolContext extends ToolScene {
  /** Aborted when this call must end: its time is over, the stream broke, or the run ends. */
  readonly signal: AbortSignal;
  /** Aborted when the run is stopped; for what outlives the call. */
  readonly runSignal: AbortSignal;
  /** One line on what it is doing now; shown in the live message in place of the one before. */
  progress(line: string): void;
  /** The checklist of the reply, in place of the one before. */
  checklist(items: readonly ChecklistItem[]): void;
  /** Where things come from; they become numbered links under the reply. */
  sources(found: readonly Citation[]): void;
}

export type ToolOutcome =
  | { readonly kind: 'done'; readonly parts: readonly ResultPart[] }
  /** An expected failure: the text tells the model what to do next. */
  | { readonly kind: 'error'; readonly text: string }
  /** People must act first; the run is suspended and the result comes with its resumption. */
  | { readonly kind: 'suspend'; readonly suspension: Suspension }
  /** The turn ends here without a word to the people. */
  | { readonly kind: 'silence'; readonly reason: string };

/** What one call would do. Permissions decide by it, before the call runs. */
export interface Assessment {
  /** Changes nothing, and reads nothing that is not the conversation's to read. */
  readonly isReadOnly: boolean;
  /** A person is asked where no rule speaks about the call. */
  readonly needsApproval: boolean;
  /** Why a person should look, as a clause: "`rm` is not known as a command that only reads". */
  readonly why: string;
  /** What the input patterns of rules are held against: a path, an address; for a shell line each of
   * its simple commands. An allow rule must cover all of them, one is enough for deny and ask. */
  readonly subjects: readonly string[];
  /** Of the subjects those that an allow rule must cover; the others are safe by themselves. Default:
   * all. */
  readonly asking?: readonly string[];
  /** How patterns match subjects. path: `*` stays inside a folder, `**` does not · text: `*` is
   * anything. */
  readonly match: 'path' | 'text';
  /** False: there may be more to it than the subjects; no allow rule and no grant applies. */
  readonly isWhole: boolean;
  /** Neither a rule nor a grant spares the question. */
  readonly alwaysAsks: boolean;
  /** The input pattern that "approve for this thread" would cover: `git push*`. Undefined: the call
   * can only be approved by itself. */
  readonly grant: string | undefined;
  /** What else decides what the call does, besides its input: where a shell stands. An approval is
   * good for this state alone. */
  readonly state?: string;
  /** Why the call cannot succeed as things stand, for the model: then nobody is asked about it. */
  readonly fault?: string;
}

/** What the people are shown of a call that asks: complete, and exactly what will happen. */
export interface Preview {
  /** Language of the code block: `sh`, `diff`, `json`. */
  readonly language: string;
  readonly text: string;
}

/** always: beside every call that says so too · never: alone. */
export type Concurrency = 'always' | 'never';

export interface Tool<Input = never> {
  /** [A-Za-z_][A-Za-z0-9_-]{0,63} */
  readonly name: string;
  /** Written for a model. */
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly category: ToolCategory;
  /** May it run beside other calls? A function decides by input. */
  readonly concurrency: Concurrency | ((input: Input, scene: ToolScene) => Promise<Concurrency>);
  /** Whatever the input is; `assess` may judge a call more finely. */
  readonly isReadOnly: boolean;
  readonly needsApproval: boolean;
  /** Milliseconds after which the call is told to stop. Default: the configured time. */
  timeoutMs?(input: Input): number;
  /** Mends common faults of arguments before validation (a number as text, an object as JSON). */
  prepare?(raw: unknown): unknown;
  /** One line for the activity, also while arguments still stream: "Grep `timeout` in logs/". */
  describe(input: Partial<Input>): string;
  assess?(input: Input, scene: ToolScene): Assessment | Promise<Assessment>;
  /** Default: the arguments as JSON. */
  preview?(input: Input, scene: ToolScene): Preview | Promise<Preview>;
  invoke(input: Input, context: ToolContext): Promise<ToolOutcome>;
}

/** A tool whose input type has been folded away: raw arguments are validated inside. */
export interface RegisteredTool {
  readonly name: string;
  readonly description: string;
  readonly category: ToolCategory;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  concurrencyOf(raw: unknown, scene: ToolScene): Promise<Concurrency>;
  /** Undefined: the configured time. */
  timeoutMsOf(raw: unknown): number | undefined;
  /** Also of arguments that have only begun to stream. */
  describe(raw: unknown): string;
  /** Why these arguments cannot be taken, for the model; undefined when they can. */
  faultOf(raw: unknown): string | undefined;
  assess(raw: unknown, scene: ToolScene): Promise<Assessment>;
  preview(raw: unknown, scene: ToolScene): Promise<Preview>;
  /** Validates, then runs. Bad arguments are an `error` outcome that names each problem. */
  invoke(raw: unknown, context: ToolContext): Promise<ToolOutcome>;
}
