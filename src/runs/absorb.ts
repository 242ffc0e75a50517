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
import { type AttachmentDeps, partsOfMessage } from './attachments.ts';
import type { Inbox, WaitingMessage } from './inbox.ts';
import { keptPathOf } from './inbox-folder.ts';
import type { MessageFiles } from './message-files.ts';
import type { Transcript } from './transcript.ts';

export interface AbsorbDeps extends AttachmentDeps {
  readonly files: Pick<MessageFiles, 'take' | 'forget'>;
  readonly inbox: Inbox;
  readonly log: Log;
  readonly surface: Surface;
  readonly now: () => number;
  readonly conversations: Pick<Conversations, 'update'>;
  /** The words of a typed answer go from its question's card and store. */
  readonly forgetAnswer: (questionId: string, messageId: string) => Promise<void>;
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
      parts: await partsOfMessage(deps, key, deps.surface, message),
      addressed,
    });
  }
  const fresh = new Set(arrived.map(({ message }) => message.messageId));
  entries.push(...editNotes(deps, waiting, transcript, fresh, deleted));
  await transcript.append(entries);
  for (const messageId of deleted) await bury(deps, key, transcript, messageId);
  await deps.files.forget(
    key,
    waiting.flatMap(({ event }) => filesOf(event, deleted)),
  );
  await deps.inbox.consume(
    key,
    waiting.map(({ event }) => event),
  );
  return [...fresh];
}

/** What was fetched of a message that was deleted before it entered. */
function filesOf(event: WaitingMessage['event'], deleted: ReadonlySet<string>): readonly string[] {
  if (event.kind !== 'message' || !deleted.has(event.messageId)) return [];
  return event.files.map((file) => keptPathOf(event.messageId, file));
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
    const text = editText(event);
    if (!isNews(transcript.entries(), event, text)) return [];
    return [{ v: 1, at: deps.now(), kind: 'note', text, about: event.messageId }];
  });
}

function editText(edit: InboundEdit): string {
  return `${edit.author.name} edited an earlier message. It now reads: ${edit.text}`;
}

/** The model knows the message, and last knew it otherwise. */
function isNews(entries: readonly Entry[], edit: InboundEdit, text: string): boolean {
  const last = entries.findLast(
    (entry) =>
      (entry.kind === 'user_message' && entry.messageId === edit.messageId) ||
      (entry.kind === 'note' && entry.about === edit.messageId),
  );
  if (last?.kind === 'note') return last.text !== text;
  return last?.kind === 'user_message' && textOf(last.parts) !== edit.text;
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
  for await (const { number, entry } of transcript.all()) {
    const rest = withoutMessage({ number, entry }, messageId, deps.now());
    if (rest === entry) continue;
    await deps.files.forget(key, keptIn(entry, messageId));
    await transcript.overwrite(number, rest);
    if (entry.kind === 'tool_results' && entry.answers) {
      await deps.forgetAnswer(entry.answers.questionId, messageId);
    }
  }
}

function keptIn(entry: Entry, messageId: string): readonly string[] {
  if (entry.kind !== 'user_message' || entry.messageId !== messageId) return [];
  return entry.parts.flatMap((part) =>
    part.kind === 'file' && part.path !== undefined ? [part.path] : [],
  );
}

function withoutMessage({ entry }: NumberedEntry, messageId: string, deletedAt: number): Entry {
  if (entry.kind === 'user_message' && entry.messageId === messageId) {
    return { v: 1, at: entry.at, kind: 'tombstone', messageId, deletedAt };
  }
  if (entry.kind === 'note' && entry.about === messageId) {
    return { v: 1, at: entry.at, kind: 'tombstone', messageId, deletedAt };
  }
  if (entry.kind === 'tool_results' && entry.answers?.messageIds.includes(messageId)) {
    const gone = { kind: 'text', text: 'The answer was deleted by its author.' } as const;
    return { ...entry, results: entry.results.map((result) => ({ ...result, parts: [gone] })) };
  }
  if (entry.kind === 'history' && entry.messages.some((said) => said.messageId === messageId)) {
    return { ...entry, messages: entry.messages.filter((said) => said.messageId !== messageId) };
  }
  return entry;
}
