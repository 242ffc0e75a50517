/** A thread of the page as a surface. */

import { BotError } from '../../src/base/errors.ts';
import type { NewId } from '../../src/base/ids.ts';
import { firstWords } from '../../src/base/text.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import { safeFileName } from '../../src/surface/file-name.ts';
import type { Block, HistoryMessage, OutboundMessage } from '../../src/surface/outbound.ts';
import { isReactionEmoji } from '../../src/surface/reactions.ts';
import type { Capabilities, Surface } from '../../src/surface/surface.ts';
import { mostFileBytes, type RoomFiles } from './files.ts';
import type { Room, RoomMessage } from './room.ts';

export const webCapabilities: Capabilities = {
  mostMessageLength: 12_000,
  lengthOf: (markdown) => markdown.length,
  // Nobody limits edits here; ten a second are more than eyes can follow.
  budgets: [{ calls: ['edit'], per: 'thread', most: 10, windowMs: 1_000, burst: 2, kept: 1 }],
  mostEditAgeMs: Number.MAX_SAFE_INTEGER,
  statusEveryMs: 60_000,
};

/** Of the line under a file. */
const mostCommentUnits = 2_000;

/** The plain text of a message, for the history. */
export function textOfRoomMessage({ blocks, files }: RoomMessage): string {
  const words = blocks.flatMap((block) =>
    block.kind === 'markdown' || block.kind === 'notice' ? [block.text] : [],
  );
  return [...words, ...files.map(({ comment }) => comment)]
    .filter((text) => text !== '')
    .join('\n');
}

/** Markdown that stands together is one text. */
function joinedMarkdown(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (block.kind === 'markdown' && last?.kind === 'markdown') {
      const between = last.text.endsWith('\n') ? '' : '\n\n';
      joined.splice(-1, 1, { ...last, text: last.text + between + block.text });
    } else {
      joined.push({ ...block });
    }
  }
  return joined;
}

export function createWebSurface(
  deps: {
    readonly room: Room;
    readonly files: RoomFiles;
    readonly newId: NewId;
    readonly botName: string;
    readonly personName: string;
  },
  { channel, thread }: Conversation,
): Surface {
  const { room, files } = deps;
  const shownAs = (message: OutboundMessage): Pick<RoomMessage, 'blocks' | 'mentionable'> => ({
    blocks: joinedMarkdown(message.blocks),
    mentionable: message.mentionable,
  });
  const toHistory = (message: RoomMessage): HistoryMessage => ({
    messageId: message.id,
    author: message.author === 'bot' ? deps.botName : deps.personName,
    authorIsSelf: message.author === 'bot',
    text: textOfRoomMessage(message),
    at: message.at,
  });
  const newestOf = (belongs: (message: RoomMessage) => boolean, most: number): HistoryMessage[] =>
    most < 1
      ? []
      : room
          .messages()
          .filter((message) => belongs(message) && !message.isPrivate)
          .slice(-most)
          .map(toHistory);
  const checkChannel = (): void => {
    if (room.channels().some(({ id }) => id === channel)) return;
    throw new BotError('surface_gone', 'This channel of the page is not there any more.');
  };
  return {
    post: async (message, { key }) => {
      const known = room.messages().find((other) => other.key === key);
      if (known) return { messageId: known.id };
      checkChannel();
      const posted = await room.add({ channel, thread, author: 'bot', key, ...shownAs(message) });
      return { messageId: posted.id };
    },
    upload: async ({ name, content, comment = '' }, { key }) => {
      const known = room.messages().find((other) => other.key === key);
      if (known) return { messageId: known.id };
      checkChannel();
      const bytes = content.byteLength;
      const id = deps.newId('f').replace('_', '');
      const file = {
        id,
        name: safeFileName(name),
        bytes,
        comment: firstWords(comment, mostCommentUnits),
      };
      if (bytes > mostFileBytes) {
        throw new BotError(
          'message_too_long',
          `${file.name} is larger than the 10 MiB that the page takes.`,
          { facts: { bytes, mostBytes: mostFileBytes } },
        );
      }
      // First the content: the link works from the moment it is shown.
      files.put(file.id, content);
      try {
        const place = { channel, thread, author: 'bot' as const, key };
        return { messageId: (await room.add({ ...place, blocks: [], files: [file] })).id };
      } catch (thrown) {
        files.drop(file.id);
        throw thrown;
      }
    },
    edit: async (messageId, message) => {
      const isThere = await room.change(messageId, shownAs(message));
      if (!isThere) throw new BotError('message_gone', 'This message of the page was deleted.');
    },
    remove: async (messageId) => {
      for (const file of room.message(messageId)?.files ?? []) files.drop(file.id);
      await room.remove(messageId);
    },
    status: async (state) => {
      room.showStatus(channel, thread, state === 'working');
      return true;
    },
    react: async (messageId, sign, on) => {
      if (sign !== 'waiting' && !isReactionEmoji(sign.emoji)) return false;
      try {
        return await room.change(messageId, ({ reactions }) => {
          if (sign === 'waiting') return { isWaiting: on };
          const others = reactions.filter((other) => other !== sign.emoji);
          return { reactions: on ? [...others, sign.emoji] : others };
        });
      } catch {
        return false; // it could not be stored
      }
    },
    history: async (most) =>
      newestOf((message) => message.thread === thread || message.id === thread, most),
    channelHistory: async (most) =>
      newestOf((message) => message.channel === channel && message.thread === null, most),
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
