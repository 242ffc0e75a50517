/** A message of the bot on a faked platform. */

import type { Conversation } from '../../src/messages/conversation.ts';
import type { OutboundMessage } from '../../src/surface/outbound.ts';

export interface ShownMessage {
  readonly messageId: string;
  readonly key: string;
  readonly thread: string;
  readonly conversation: Conversation;
  message: OutboundMessage;
  edits: number;
}
