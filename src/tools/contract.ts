/** What a tool is. The model knows its spec; the scheduler runs it. */

import type { z } from 'zod';
import type { ResultPart } from '../messages/parts.ts';
import type { Suspension } from '../messages/questions.ts';

export type ToolCategory = 'core' | 'agent' | 'plan' | 'task' | 'team' | 'mcp' | 'experimental';

export interface ToolContext {
  /** Absolute path of the conversation's workspace folder; exists. */
  readonly workspace: string;
  readonly conversationKey: string;
  readonly runId: string;
  readonly callId: string;
  /** Whether the people of this turn addressed the bot (a mention, a direct message). */
  readonly addressed: boolean;
  readonly signal: AbortSignal;
  /** One line on what it is doing now; shown in the live message. */
  progress(line: string): void;
}

export type ToolOutcome =
  | { readonly kind: 'done'; readonly parts: readonly ResultPart[] }
  /** An expected failure: the text tells the model what to do next. */
  | { readonly kind: 'error'; readonly text: string }
  /** People must act first; the run is suspended and the result comes with its resumption. */
  | { readonly kind: 'suspend'; readonly suspension: Suspension }
  /** The turn ends here without a word to the people. */
  | { readonly kind: 'silence'; readonly reason: string };

export interface Tool<Input = never> {
  /** [A-Za-z_][A-Za-z0-9_-]{0,63} */
  readonly name: string;
  /** Written for a model. */
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly category: ToolCategory;
  /** May it run beside other calls? A function decides by input. */
  readonly concurrency: 'always' | 'never' | ((input: Input) => 'always' | 'never');
  readonly isReadOnly: boolean;
  /** Needs a person's approval before it runs (decided by permissions). */
  readonly needsApproval: boolean;
  /** Mends common faults of arguments before validation (a number as text, an object as JSON). */
  prepare?(raw: unknown): unknown;
  /** One line for the activity, also while arguments still stream: "Grep `timeout` in logs/". */
  describe(input: Partial<Input>): string;
  invoke(input: Input, context: ToolContext): Promise<ToolOutcome>;
}

/** A tool whose input type has been folded away: raw arguments are validated inside. */
export interface RegisteredTool {
  readonly name: string;
  readonly description: string;
  readonly category: ToolCategory;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
  readonly needsApproval: boolean;
  concurrencyOf(raw: unknown): 'always' | 'never';
  describe(raw: unknown): string;
  /** Validates, then runs. Bad arguments are an `error` outcome that names each problem. */
  invoke(raw: unknown, context: ToolContext): Promise<ToolOutcome>;
}
