/** Commands that people give: `/deckhand stop`, `@deckhand !stop`, `!stop` in a thread. */

import type { Conversation } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';

export interface CommandInput {
  /** Null where the command was given outside any thread. */
  readonly conversation: Conversation | null;
  readonly place: {
    readonly adapter: string;
    readonly space: string;
    readonly channel: string;
    readonly channelName: string;
    readonly channelKind: 'public' | 'private' | 'direct';
  };
  readonly author: Author;
  readonly isAdmin: boolean;
  /** What follows the command's name, trimmed. */
  readonly args: string;
}

export interface CommandReply {
  readonly markdown: string;
  /** visible: everybody in the thread should know (a stop, a fresh start). */
  readonly audience: 'asker' | 'thread';
}

export interface Command {
  /** Lower-case word. */
  readonly name: string;
  /** `stop`: how to write it. */
  readonly usage: string;
  /** One line on what it does. */
  readonly summary: string;
  readonly tier: 'user' | 'admin';
  run(input: CommandInput): Promise<CommandReply>;
}

/** What an adapter needs to register commands with its platform. */
export type CommandSummary = Pick<Command, 'name' | 'usage' | 'summary'>;
