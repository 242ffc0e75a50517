/** What the page's person does, as inbound events. */

import type { Clock } from '../../src/base/clock.ts';
import type { NewId } from '../../src/base/ids.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { Author } from '../../src/messages/people.ts';
import type { OnEvent } from '../../src/surface/adapter.ts';
import { type InboundMessage, noThread } from '../../src/surface/inbound.ts';
import type { Room, RoomMessage } from './room.ts';
import { textOfRoomMessage } from './surface.ts';

export interface PageInbox {
  /** Undefined when the channel or thread does not exist. Rejects when it could not be stored. */
  say(channel: string, thread: string | null, text: string): Promise<RoomMessage | undefined>;
  edit(id: string, text: string): Promise<boolean>;
  remove(id: string): Promise<boolean>;
  /** Puts the person's emoji on a message, or takes it off. */
  react(id: string, emoji: string, on: boolean): Promise<boolean>;
  /** Returns at once; what fails is told in the thread. */
  press(press: Press): boolean;
  inboundOf(message: RoomMessage): InboundMessage;
}

export interface Press {
  readonly messageId: string;
  readonly controlId: string;
  readonly values: readonly string[];
  /** Set for a form. */
  readonly text: string | undefined;
}

export interface PageInboxDeps {
  readonly room: Room;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Lower-case name by which the bot is mentioned. */
  readonly handle: string;
  readonly person: Author;
  readonly onEvent: OnEvent;
  readonly background: (work: () => Promise<void>) => void;
}

export function createInbox(deps: PageInboxDeps): PageInbox {
  const { room, clock, newId, person, onEvent } = deps;
  const mention = new RegExp(`(^|[\\s(])@${escaped(deps.handle)}(?![\\w-])`, 'iu');

  const conversationOf = (channel: string, thread: string): Conversation => ({
    adapter: 'web',
    space: 'local',
    channel,
    thread,
  });
  const placeOf = (channel: string): Pick<InboundMessage, 'channelName' | 'channelKind'> => ({
    channelName: room.channels().find(({ id }) => id === channel)?.name ?? channel,
    channelKind: 'private',
  });

  const inboundOf = (message: RoomMessage): InboundMessage => {
    const text = textOfRoomMessage(message);
    return {
      ...placeOf(message.channel),
      kind: 'message',
      eventKey: `web:${message.channel}:${message.id}`,
      conversation: conversationOf(message.channel, message.thread ?? message.id),
      author: person,
      at: message.at,
      messageId: message.id,
      place: message.thread === null ? 'channel' : 'thread',
      text: text.replace(new RegExp(`^\\s*@${escaped(deps.handle)}(?![\\w-])[,:]?\\s*`, 'iu'), ''),
      files: [],
      mentionsBot: mention.test(text),
      addressesOther: false,
    };
  };

  const command = async (channel: string, thread: string | null, text: string): Promise<void> => {
    await onEvent({
      ...placeOf(channel),
      kind: 'command',
      eventKey: newId('command'),
      conversation: conversationOf(channel, thread ?? noThread),
      author: person,
      at: clock.now(),
      text,
      interactionId: '',
    });
  };

  return {
    inboundOf,
    say: async (channel, thread, text) => {
      if (!room.channels().some(({ id }) => id === channel)) return undefined;
      if (thread !== null && !room.message(thread)) return undefined;
      const blocks = [{ kind: 'markdown', text } as const];
      const message = await room.add({ channel, thread, author: 'person', blocks });
      try {
        const slash = slashCommand.exec(text);
        if (slash) await command(channel, thread, slash[1] ?? '');
        else await onEvent(inboundOf(message));
      } catch (thrown) {
        // Not stored: it must not look said. The page keeps the text for another try.
        await room.remove(message.id);
        throw thrown;
      }
      return message;
    },
    edit: async (id, text) => {
      const known = room.message(id);
      if (known?.author !== 'person') return false;
      const blocks = [{ kind: 'markdown', text } as const];
      await room.change(id, { blocks, isEdited: true });
      const changed = inboundOf({ ...known, blocks });
      await onEvent({
        kind: 'message_edited',
        eventKey: `${changed.eventKey}:${newId('edit')}`,
        conversation: changed.conversation,
        author: person,
        at: clock.now(),
        messageId: id,
        text: changed.text,
      });
      return true;
    },
    remove: async (id) => {
      const known = room.message(id);
      if (known?.author !== 'person') return false;
      const { conversation, eventKey } = inboundOf(known);
      await onEvent({
        kind: 'message_deleted',
        eventKey: `${eventKey}:deleted`,
        conversation,
        messageId: id,
        at: clock.now(),
      });
      await room.remove(id);
      return true;
    },
    react: async (id, emoji, on) => {
      const known = room.message(id);
      if (!known || known.isPrivate) return false;
      if (on) {
        await onEvent({
          kind: 'reaction',
          eventKey: newId('reaction'),
          place: { adapter: 'web', space: 'local', channel: known.channel },
          author: person,
          at: clock.now(),
          messageId: id,
          emoji,
        });
      }
      return room.change(id, ({ given }) => {
        const others = given.filter((other) => other !== emoji);
        return { given: on ? [...others, emoji] : others };
      });
    },
    press: ({ messageId, controlId, values, text }) => {
      const card = room.message(messageId);
      if (card?.author !== 'bot') return false;
      const common = {
        eventKey: newId('press'),
        conversation: conversationOf(card.channel, card.thread ?? card.id),
        author: person,
        at: clock.now(),
        controlId,
        cardId: messageId,
        interactionId: '',
      };
      deps.background(async () => {
        try {
          if (text === undefined) await onEvent({ ...common, kind: 'click', values });
          else await onEvent({ ...common, kind: 'form', text });
        } catch (thrown) {
          await room.add({
            channel: card.channel,
            thread: card.thread,
            author: 'bot',
            isPrivate: true,
            blocks: [{ kind: 'notice', text: 'Your click could not be saved; please try again.' }],
          });
          throw thrown;
        }
      });
      return true;
    },
  };
}

const slashCommand = /^\/deckhand\b\s*(.*)$/su;

/** A command is done when it comes; it is no message to be read back. */
export function isCommand(message: RoomMessage): boolean {
  return slashCommand.test(textOfRoomMessage(message));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
}
