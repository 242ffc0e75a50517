/**
 * Moves what waits for a conversation into its transcript: new messages, edits and deletions. What
 * was edited or deleted while it still waited never reaches the model in its old form.
 */

import type { Log } from '../base/log.ts';
import { type Conversations, plainTitle } from '../conversations/conversations.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Entry, NumberedEntry } from '../messages/entries.ts';
import { textOf } from '../messages/parts.ts';
import type { InboundEdit, InboundMessage } from '../surface/inbound.ts';
import type { Surface } from '../surface/surface.ts';
import { partsOfMessage } from './attachments.ts';
import type { Inbox, WaitingMessage } from './inbox.ts';
import type { Transcript } from './transcript.ts';

export interface AbsorbDeps {
  readonly inbox: Inbox;
  readonly log: Log;
  readonly surface: Surface;
  readonly now: () => number;
  readonly conversations: Pick<Conversations, 'update'>;
}

/** A message with the edits that reached it while it waited. */
interface Arrived {
  readonly message: InboundMessage;
  readonly addressed: boolean;
}

/** Ids of the messages that entered the transcript. */
export async function absorb(
  deps: AbsorbDeps,
  key: ConversationKey,
  transcript: Transcript,
  waiting: readonly WaitingMessage[],
): Promise<readonly string[]> {
  if (waiting.length === 0) return [];
  const known = new Set(
    transcript
      .entries()
      .flatMap((entry) => (entry.kind === 'user_message' ? [entry.messageId] : [])),
  );
  const deleted = new Set(
    waiting.flatMap(({ event }) => (event.kind === 'message_deleted' ? [event.messageId] : [])),
  );
  const arrived = arrivedMessages(waiting).filter(
    ({ message }) => !known.has(message.messageId) && !deleted.has(message.messageId),
  );

  const entries: Entry[] = [];
  for (const { message, addressed } of arrived) {
    entries.push({
      v: 1,
      at: message.at,
      kind: 'user_message',
      messageId: message.messageId,
      author: message.author,
      parts: await partsOfMessage(deps, deps.surface, message),
      addressed,
    });
  }
  const fresh = new Set(arrived.map(({ message }) => message.messageId));
  entries.push(...editNotes(deps, waiting, transcript, fresh, deleted));
  await transcript.append(entries);
  for (const messageId of deleted) await bury(deps, key, transcript, messageId);
  await deps.inbox.consume(
    key,
    waiting.map(({ event }) => event),
  );
  return [...fresh];
}

/** Waiting messages with the newest text they were edited to. */
function arrivedMessages(waiting: readonly WaitingMessage[]): readonly Arrived[] {
  const edits = waiting.flatMap(({ event }) => (event.kind === 'message_edited' ? [event] : []));
  return waiting.flatMap(({ event, addressed }) => {
    if (event.kind !== 'message') return [];
    const edit = edits.findLast(({ messageId }) => messageId === event.messageId);
    return [{ message: edit ? { ...event, text: edit.text } : event, addressed }];
  });
}

/** Edits of messages the model has seen already. */
function editNotes(
  deps: AbsorbDeps,
  waiting: readonly WaitingMessage[],
  transcript: Transcript,
  fresh: ReadonlySet<string>,
  deleted: ReadonlySet<string>,
): readonly Entry[] {
  return waiting.flatMap(({ event }): Entry[] => {
    if (event.kind !== 'message_edited') return [];
    if (fresh.has(event.messageId) || deleted.has(event.messageId)) return [];
    const before = seenText(transcript.entries(), event);
    if (before === undefined || before === event.text) return [];
    const text = `${event.author.name} edited an earlier message. It now reads: ${event.text}`;
    return [{ v: 1, at: deps.now(), kind: 'note', text, about: event.messageId }];
  });
}

function seenText(entries: readonly Entry[], edit: InboundEdit): string | undefined {
  const entry = entries.findLast(
    (other) => other.kind === 'user_message' && other.messageId === edit.messageId,
  );
  return entry?.kind === 'user_message' ? textOf(entry.parts) : undefined;
}

/** Overwrites every stored value that holds the words of a deleted message. */
async function bury(
  deps: AbsorbDeps,
  key: ConversationKey,
  transcript: Transcript,
  messageId: string,
): Promise<void> {
  await deps.conversations.update(key, (head) =>
    head.titleFrom === messageId ? { ...head, title: plainTitle } : head,
  );
  for (const { number, entry } of transcript.numbered()) {
    const rest = withoutMessage({ number, entry }, messageId, deps.now());
    if (rest !== entry) await transcript.overwrite(number, rest);
  }
}

function withoutMessage({ entry }: NumberedEntry, messageId: string, deletedAt: number): Entry {
  if (entry.kind === 'user_message' && entry.messageId === messageId) {
    return { v: 1, at: entry.at, kind: 'tombstone', messageId, deletedAt };
  }
  if (entry.kind === 'note' && entry.about === messageId) {
    return { v: 1, at: entry.at, kind: 'tombstone', messageId, deletedAt };
  }
  if (entry.kind === 'history' && entry.messages.some((said) => said.messageId === messageId)) {
    return { ...entry, messages: entry.messages.filter((said) => said.messageId !== messageId) };
  }
  return entry;
}
