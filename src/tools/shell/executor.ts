/** What runs shell commands in a conversation's workspace. Which one does is the operator's choice. */

import type { Workspace } from '../paths.ts';

/** What a shell keeps from call to call. */
export interface ShellSession {
  /** As the shell sees it: `/workspace/src`. */
  readonly cwd: string;
  /** Variables that earlier commands exported. */
  readonly env: Readonly<Record<string, string>>;
}

export interface ShellRequest {
  readonly command: string;
  readonly workspace: Workspace;
  /** Undefined: a fresh one, in the workspace. */
  readonly session: ShellSession | undefined;
  readonly timeoutMs: number;
  /** Output as it arrives, where the executor streams it. */
  onOutput?(text: string): void;
}

export type ShellEnd =
  | 'exited'
  | 'timed_out'
  | 'stopped'
  | 'out_of_memory'
  | 'too_much_output'
  | 'too_many_processes';

export interface ShellResult {
  readonly how: ShellEnd;
  /** Standard output and standard error. */
  readonly output: string;
  /** The middle of the output is missing. */
  readonly isCut: boolean;
  /** What the shell reported; meaningless unless it exited. */
  readonly exitCode: number;
  /** For the next call. A command that was ended leaves it as it was. */
  readonly session: ShellSession;
  /** The folder of the session, which no longer exists: the command was not run (it was meant for
   * that folder), and the next one runs in the start folder. */
  readonly lostFolder: string | undefined;
}

export type ExecutorName = 'virtual' | 'bubblewrap' | 'host';

export interface Executor {
  readonly name: ExecutorName;
  /** For the model: which commands there are, what is kept, what is not there. */
  readonly description: string;
  /** Whether output arrives while the command runs. */
  readonly streams: boolean;
  /** The folder of a fresh session, as the shell sees it. */
  startFolder(workspace: Workspace): string;
  /** Never rejects for what the command does, nor when it is stopped; with tool_failed when the
   * shell cannot be started. */
  run(request: ShellRequest, signal: AbortSignal): Promise<ShellResult>;
  /** Ends what waits in the background. */
  close(): Promise<void>;
}

/** UTF-16 units of output that a call keeps. */
export const mostOutputChars = 1_000_000;
/** Longest command, in bytes of UTF-8: the kernel takes 128 KiB for one argument. */
export const mostCommandBytes = 120_000;
