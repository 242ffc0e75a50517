/**
 * A run that waits: for answers, approvals or a time. Resumed when that is there, ended when
 * somebody says stop, when its message is deleted, or when it cannot be shown.
 */

import { openCalls } from '../agent/run.ts';
import { isBotError } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import { textResult } from '../tools/scheduler.ts';
import { presentQuestion } from './ending.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { Next, Turn } from './lane.ts';
import type { RunRecord } from './run-record.ts';
import { openScene } from './scene.ts';
import { hasTrigger } from './stage.ts';
import { approvalsWait } from './suspended-approval.ts';
import { questionsWait } from './suspended-question.ts';
import {
  deletionsIn,
  endSuspended,
  type SuspendedWork,
  storeResultsOnce,
  type Waiting,
} from './suspended-results.ts';
import { timeWait } from './suspended-wait.ts';

const worked: Next = { kind: 'worked' };

export async function workOnSuspended(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  turn: Turn,
): Promise<Next> {
  const waiting = await deps.inbox.waiting(key);
  const work: SuspendedWork = { deps, key, record, waiting, turn };
  const wait = await waitOf(work);
  const stop = await deps.records.stopRequest(key);
  if (stop) return withdraw(work, wait, `Stopped by ${stop.by}.`, true);
  if (!wait) {
    return withdraw(work, wait, 'My question was lost. Ask again if you still need it.');
  }
  if (await wait.goOn()) return worked;
  if (await isWithdrawn(work)) {
    return withdraw(work, wait, 'The message that led to this was deleted.');
  }
  if (!record.question?.isShown) return presentOrFail(work, wait);
  return wait.meanwhile();
}

/** Undefined when what it waits for is not known any more. */
async function waitOf(work: SuspendedWork): Promise<Waiting | undefined> {
  switch (work.record.question?.kind) {
    case 'questions':
      return questionsWait(work);
    case 'approvals':
    case 'plan':
      return approvalsWait(work);
    case 'wait':
      return timeWait(work);
    case undefined:
      return undefined;
  }
}

/** A platform that does not take the card must not make the run wait for ever. */
async function presentOrFail(work: SuspendedWork, wait: Waiting): Promise<Next> {
  const { deps, key, record, turn } = work;
  try {
    await presentQuestion(deps, key, record, turn);
  } catch (thrown) {
    const isFinal = isBotError(thrown, 'message_too_long', 'message_refused', 'surface_gone');
    if (!isFinal) throw thrown;
    deps.log.warn('question_not_shown', { runId: record.runId, ...errorFacts(thrown) });
    const told = `I wanted to ask something, but could not show it here. Ask me again in other words. (reference ${record.runId})`;
    return withdraw(work, wait, told);
  }
  return worked;
}

/** True when every message that set the run off is deleted, now or while it waited before. */
async function isWithdrawn({ deps, key, record, waiting }: SuspendedWork): Promise<boolean> {
  const deleted = deletionsIn(waiting);
  if (!record.triggerIds.some((messageId) => deleted.includes(messageId))) return false;
  const triggerIds = record.triggerIds.filter((messageId) => !deleted.includes(messageId));
  const { transcript } = await openScene(deps, key);
  return !hasTrigger(transcript.entries(), { ...record, triggerIds });
}

/** Takes the card away and ends the run that waited, with a line that says why. */
async function withdraw(
  work: SuspendedWork,
  wait: Waiting | undefined,
  told: string,
  canContinue = false,
): Promise<Next> {
  const { deps, key, record } = work;
  await wait?.withdraw(told);
  // The run that started them is over, and the signal it started them with is long gone.
  await deps.stopJobs(key);
  const entries = (await openScene(deps, key)).transcript.entries();
  const last = entries.findLast((entry) => entry.kind === 'assistant_message');
  const open = last?.runId === record.runId ? openCalls(entries, last) : [];
  const results = open.map((call) => textResult(call, 'cancelled', told));
  const step = await storeResultsOnce(deps, key, record, results);
  await endSuspended(deps, key, record, step, told, canContinue);
  return worked;
}
