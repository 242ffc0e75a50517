/** The calls that platforms count, and what they allow of them. */

import type { Conversation } from '../messages/conversation.ts';

/** What a surface does, as platforms count it. */
export type CallKind =
  | 'post'
  | 'edit'
  | 'remove'
  | 'upload'
  | 'whisper'
  | 'stream_start'
  | 'stream_append'
  | 'stream_stop';

/** What a budget is counted by. A Discord thread is a channel of its own: there it is `thread`. */
export type BudgetScope = 'account' | 'space' | 'channel' | 'thread';

/** So many calls of these kinds; every call counts to each budget that names its kind. */
export interface CallBudget {
  readonly calls: readonly CallKind[];
  readonly per: BudgetScope;
  /** Calls planned in each window; they come back evenly. */
  readonly most: number;
  readonly windowMs: number;
  /** Calls that may be made at once after a silence, beyond what comes back meanwhile. */
  readonly burst: number;
  /** Of these, kept for ends, questions and failures: progress does not use them up. */
  readonly kept: number;
  /** `most` calls of any window may be made at once; they come back a window later. For calls that
   * cannot be spread. */
  readonly inWindows?: boolean;
}

/** What a platform's last answer said of a budget (Discord's headers). */
export interface BudgetState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfterMs: number;
}

/** The name under which calls in a conversation are counted together. */
export function scopeNameOf(per: BudgetScope, { space, channel, thread }: Conversation): string {
  switch (per) {
    case 'account':
      return '';
    case 'space':
      return space;
    case 'channel':
      return `${space}:${channel}`;
    case 'thread':
      return `${space}:${channel}:${thread}`;
  }
}
