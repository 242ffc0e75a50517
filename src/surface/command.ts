/** Commands that people give: `/deckhand stop`, `@deckhand !stop`, `!stop` in a thread. */

import type { Conversation } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import type { Button } from './outbound.ts';

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

/** Who types a command, and where. */
export interface Asker {
  readonly author: Author;
  readonly place: CommandInput['place'] & { readonly sharedSpaces?: readonly string[] };
}

export interface CommandReply {
  readonly markdown: string;
  /** visible: everybody in the thread should know (a stop, a fresh start). */
  readonly audience: 'asker' | 'thread';
  /** Shown under the text in the thread. */
  readonly buttons?: readonly Button[];
}

export interface Command {
  /** Lower-case word. */
  readonly name: string;
  /** `stop`: how to write it. */
  readonly usage: string;
  /** One line on what it does. */
  readonly summary: string;
  readonly tier: 'user' | 'admin';
  /** What could follow the name, for what was typed so far; left out where nothing can be guessed. */
  readonly suggest?: (typed: string, asker: Asker) => Promise<readonly string[]>;
  run(input: CommandInput): Promise<CommandReply>;
}

/** What an adapter needs to register commands with its platform. */
export type CommandSummary = Pick<Command, 'name' | 'usage' | 'summary' | 'suggest'>;
