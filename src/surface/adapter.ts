/** Code that speaks one platform. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Conversation } from '../messages/conversation.ts';
import type { PersonId } from '../messages/people.ts';
import type { InboundEvent, InboundMessage } from './inbound.ts';
import type { Capabilities, Surface } from './surface.ts';

/** Resolves once the event is stored (or is known to need no storing); rejects when storing failed:
 * then the event must not be acknowledged. */
export type OnEvent = (event: InboundEvent) => Promise<void>;

export interface AdapterState {
  readonly connected: boolean;
  /** One line for people: "connected as deckhand to Acme", "reconnecting since 12 s". */
  readonly detail: string;
}

export interface Space {
  /** As in a conversation's `space`. */
  readonly id: string;
  readonly name: string;
}

export interface Adapter {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Routes on the shared HTTP server; empty for most. */
  readonly routes: readonly HttpRoute[];
  /** Connects; resolves when the platform is ready. Rejects with a BotError that says which setting
   * to look at (a bad token, a missing intent). */
  start(onEvent: OnEvent): Promise<void>;
  /** Stops receiving and closes connections, within 5 s. */
  stop(): Promise<void>;
  state(): AdapterState;
  /** Workspaces or guilds the bot is in; known after start. */
  spaces(): readonly Space[];
  /**
   * People of a user group (`slack:S0123`), read anew after at most a minute. Rejects with a BotError
   * when it cannot be read. Absent: the platform has no groups (the page), or tells roles with each
   * event (Discord).
   */
  groupMembers?(group: string, space: string): Promise<readonly PersonId[]>;
  /** `title` names the thread where one must be made (Discord); at most 100 characters are used. */
  surfaceOf(conversation: Conversation, title?: string): Surface;
  /**
   * Messages said in a place after a message, oldest first, at most `most`: the same shape as if
   * they had arrived by the connection. `thread` null: top level of the channel.
   */
  messagesAfter(
    place: {
      readonly space: string;
      readonly channel: string;
      readonly thread: string | null;
    },
    afterMessageId: string,
    most: number,
  ): Promise<readonly InboundMessage[]>;
}

/** A route on the shared server. `path` is exact, or a prefix when it ends in `*`. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}
