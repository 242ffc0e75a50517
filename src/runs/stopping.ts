/**
 * Ending what runs, by a command, a word, a button or an emoji: stored first, so that no crash makes
 * it go on (rule 9).
 */

import type { ConversationKey } from '../messages/conversation.ts';
import { replyPagesSchema } from '../render/page-book.ts';
import { validate } from '../storage/validated.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { Lanes } from './lane.ts';
import type { RunRecord } from './run-record.ts';

export type StoppingDeps = Pick<
  ExecuteDeps,
  'records' | 'clock' | 'store' | 'log' | 'inbox' | 'questions'
> & { readonly lanes: Lanes };

/** Ends the run of a conversation, or the one that is about to begin; its reply says who it was. */
export async function stopRun(
  { records, clock, lanes }: StoppingDeps,
  key: ConversationKey,
  by: string,
): Promise<void> {
  await records.requestStop(key, by, clock.now());
  lanes.stop(key, by, 'person');
  lanes.wake(key);
}

const stopWord = /^\s*(?:stop|cancel)[\s\p{P}]*$/iu;

/**
 * `stop` or `cancel` alone, where something runs or waits for people. Where an open question has it
 * among its options, it is the answer.
 */
export async function meansStop(
  { records, lanes, questions }: StoppingDeps,
  key: ConversationKey,
  text: string,
): Promise<boolean> {
  if (!stopWord.test(text)) return false;
  const record = await records.read(key);
  if (!record) return lanes.isBusy(key);
  if (record.question?.kind !== 'questions') return true;
  const known = await questions.state(record.question.id);
  const word = text.toLowerCase().replace(/[^a-z]/gu, '');
  return !known?.record.questions.some(({ options }) =>
    options.some(({ label }) => label.trim().toLowerCase() === word),
  );
}

/** What an emoji on a message is about. */
export type LiveRun =
  /** The message set off the run of this conversation, or is of its reply. */
  | { readonly kind: 'found'; readonly key: ConversationKey }
  /** A message is being posted whose id is not known yet. */
  | { readonly kind: 'unsettled' }
  | { readonly kind: 'none' };

export async function liveRunOf(
  deps: StoppingDeps,
  messageId: string,
  isThere: (key: ConversationKey) => boolean,
): Promise<LiveRun> {
  let isUnsettled = false;
  for (const key of deps.lanes.busy().filter(isThere)) {
    const record = await deps.records.read(key);
    if (!record) {
      if (await waitsIn(deps, key, messageId)) return { kind: 'found', key };
      continue;
    }
    const pages = await pageIdsOf(deps, record);
    const isMeant = record.triggerIds.includes(messageId) || pages.includes(messageId);
    if (isMeant) return { kind: 'found', key };
    isUnsettled ||= pages.includes(null);
  }
  return { kind: isUnsettled ? 'unsettled' : 'none' };
}

async function waitsIn(
  { inbox }: StoppingDeps,
  key: ConversationKey,
  messageId: string,
): Promise<boolean> {
  const waiting = await inbox.waiting(key);
  return waiting.some(({ event }) => event.kind === 'message' && event.messageId === messageId);
}

/** The messages that the run's reply consists of; null for one whose post is under way. */
export async function pageIdsOf(
  deps: Pick<ExecuteDeps, 'store' | 'log'>,
  { runId, segment }: RunRecord,
): Promise<readonly (string | null)[]> {
  const keys = Array.from({ length: segment }, (_, index) => `reply:${runId}.${index + 1}`);
  const values = await deps.store.getMany(keys);
  const replies = await Promise.all(
    values.map((value, index) => validate(deps, keys[index] ?? '', value, replyPagesSchema)),
  );
  return replies.flatMap((reply) => reply?.pages.map(({ messageId }) => messageId) ?? []);
}
