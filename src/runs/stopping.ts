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

/** The conversation whose run this message set off, or whose reply it is; undefined: none. */
export async function liveRunOf(
  deps: StoppingDeps,
  messageId: string,
  isThere: (key: ConversationKey) => boolean,
): Promise<ConversationKey | undefined> {
  for (const key of deps.lanes.busy().filter(isThere)) {
    const record = await deps.records.read(key);
    const isMeant = record
      ? record.triggerIds.includes(messageId) || (await carries(deps, record, messageId))
      : await waitsIn(deps, key, messageId);
    if (isMeant) return key;
  }
  return undefined;
}

async function waitsIn(
  { inbox }: StoppingDeps,
  key: ConversationKey,
  messageId: string,
): Promise<boolean> {
  const waiting = await inbox.waiting(key);
  return waiting.some(({ event }) => event.kind === 'message' && event.messageId === messageId);
}

/** Whether a message is a page of the run's reply. `orNew`: one whose post is under way may be it. */
export async function carries(
  deps: Pick<ExecuteDeps, 'store' | 'log'>,
  { runId, segment }: RunRecord,
  messageId: string,
  { orNew }: { readonly orNew: boolean } = { orNew: false },
): Promise<boolean> {
  const keys = Array.from({ length: segment }, (_, index) => `reply:${runId}.${index + 1}`);
  const values = await deps.store.getMany(keys);
  for (const [index, value] of values.entries()) {
    const known = await validate(deps, keys[index] ?? '', value, replyPagesSchema);
    const isPage = known?.pages.some(
      (page) => page.messageId === messageId || (orNew && page.messageId === null),
    );
    if (isPage) return true;
  }
  return false;
}
