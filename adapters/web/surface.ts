/** A thread of the page as a surface. */

import { BotError } from '../../src/base/errors.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { OutboundMessage } from '../../src/surface/outbound.ts';
import type { Capabilities, Surface } from '../../src/surface/surface.ts';
import type { Room, RoomMessage } from './room.ts';

export const webCapabilities: Capabilities = {
  mostMessageLength: 12_000,
  lengthOf: (markdown) => markdown.length,
  // Nobody limits edits here; ten a second are more than eyes can follow.
  editBudget: { edits: 600, windowMs: 60_000, scope: 'channel' },
  mostEditAgeMs: Number.MAX_SAFE_INTEGER,
  statusEveryMs: 60_000,
};

/** The plain text of a message, for the history. */
export function textOfRoomMessage({ blocks }: RoomMessage): string {
  return blocks
    .flatMap((block) => (block.kind === 'markdown' || block.kind === 'notice' ? [block.text] : []))
    .join('\n');
}

export function createWebSurface(
  deps: { readonly room: Room; readonly botName: string; readonly personName: string },
  { channel, thread }: Conversation,
): Surface {
  const { room } = deps;
  const shownAs = (message: OutboundMessage): Pick<RoomMessage, 'blocks' | 'mentionable'> => ({
    blocks: message.blocks.map((block) => ({ ...block })),
    mentionable: message.mentionable,
  });
  return {
    post: async (message, { key }) => {
      const known = room.messages().find((other) => other.key === key);
      if (known) return { messageId: known.id };
      if (!room.channels().some(({ id }) => id === channel)) {
        throw new BotError('surface_gone', 'This channel of the page is not there any more.');
      }
      const posted = await room.add({ channel, thread, author: 'bot', key, ...shownAs(message) });
      return { messageId: posted.id };
    },
    edit: async (messageId, message) => {
      const isThere = await room.change(messageId, shownAs(message));
      if (!isThere) throw new BotError('message_gone', 'This message of the page was deleted.');
    },
    remove: (messageId) => room.remove(messageId),
    status: async (state) => room.showStatus(channel, thread, state === 'working'),
    react: async (messageId, _sign, on) => {
      await room.change(messageId, { isWaiting: on });
    },
    history: async (most) =>
      room
        .messages()
        .filter((message) => message.thread === thread || message.id === thread)
        .filter(({ isPrivate }) => !isPrivate)
        .slice(-most)
        .map((message) => ({
          messageId: message.id,
          author: message.author === 'bot' ? deps.botName : deps.personName,
          authorIsSelf: message.author === 'bot',
          text: textOfRoomMessage(message),
          at: message.at,
        })),
    whisper: async (_person, markdown) => {
      await room.add({
        channel,
        thread: room.message(thread) ? thread : null,
        author: 'bot',
        isPrivate: true,
        blocks: [{ kind: 'notice', text: markdown }],
      });
    },
    download: async (file) => {
      throw new BotError(
        'surface_unavailable',
        `The page holds no files; ${file.name} is not one.`,
      );
    },
  };
}
