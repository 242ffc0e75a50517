/** A run that waits for answers to its questions. */

import type { ToolResult } from '../messages/parts.ts';
import { answerText } from '../questions/card.ts';
import type { QuestionState } from '../questions/questions.ts';
import { currentQuestion } from '../questions/record.ts';
import { textResult } from '../tools/scheduler.ts';
import { parseCommand } from './commands.ts';
import { closeRun } from './ending.ts';
import { absorbInto, execute } from './execute.ts';
import type { WaitingMessage } from './inbox.ts';
import type { Next } from './lane.ts';
import type { RunRecord } from './run-record.ts';
import { openScene } from './scene.ts';
import {
  deletionsIn,
  goingOn,
  type SuspendedWork,
  showWaiting,
  storeResultsOnce,
  type Waiting,
} from './suspended-results.ts';

const worked: Next = { kind: 'worked' };

export async function questionsWait(work: SuspendedWork): Promise<Waiting | undefined> {
  const { deps, key, record, waiting } = work;
  const id = record.question?.id ?? '';
  const known = await deps.questions.state(id);
  if (!known) return undefined;
  return {
    goOn: async () => {
      if (currentQuestion(known.answers) !== undefined) return false;
      await resume(work, known);
      return true;
    },
    meanwhile: async () => {
      if (deps.clock.now() >= known.record.expiresAt) {
        await deps.questions.close(id, 'expired');
        await abandon(work, known, 'Nobody answered in time; the question has expired.');
        return worked;
      }
      // What an earlier life left undrawn (an answer whose card did not follow) is drawn once.
      if (deps.redraws.first(id)) await deps.questions.show(id);
      if (await takeTypedAnswer(work, known)) return worked;
      await buryDeleted(work, id);
      await showWaiting(deps, key, waiting);
      return { kind: 'idle', wakeAtMs: known.record.expiresAt };
    },
    withdraw: async (told) => {
      await deps.questions.close(id, 'withdrawn');
      await storeResultsOnce(deps, key, record, [resultOf(record, known, 'cancelled', told)]);
    },
  };
}

/** A line of the asker, or one that mentions the bot, answers; others' lines wait. */
async function takeTypedAnswer(
  { deps, key, record, waiting }: SuspendedWork,
  known: QuestionState,
): Promise<boolean> {
  const used = new Set(known.answers.flatMap((answer) => answer?.source?.eventKey ?? []));
  const deleted = deletionsIn(waiting);
  for (const { event, takenAt } of waiting) {
    if (event.kind !== 'message' || deleted.includes(event.messageId)) continue;
    if (!used.has(event.eventKey)) {
      // A mistyped command is no answer.
      if (parseCommand(event.text)) continue;
      const isEarlier = takenAt < (known.record.shownAt ?? Number.POSITIVE_INFINITY);
      const isMeant = event.author.id === record.asker.id || event.mentionsBot;
      if (isEarlier || !isMeant || event.text.trim() === '') continue;
      const answered = await deps.questions.type(known.record.id, event);
      if (answered.kind === 'not_taken') continue;
    }
    await consumeAnswer({ deps, key }, event);
    await deps.questions.show(known.record.id);
    return true;
  }
  return false;
}

async function consumeAnswer(
  { deps, key }: Pick<SuspendedWork, 'deps' | 'key'>,
  event: Extract<WaitingMessage['event'], { kind: 'message' }>,
): Promise<void> {
  await deps.inbox.consume(key, [event]);
  const { surface } = await openScene(deps, key);
  deps.signs.takeOff(surface, event.messageId);
}

/** Deletions take effect at once; the rest goes on waiting. */
async function buryDeleted(
  { deps, key, waiting }: SuspendedWork,
  questionId: string,
): Promise<void> {
  const deleted = deletionsIn(waiting);
  if (deleted.length === 0) return;
  const about = waiting.filter(({ event }) => deleted.includes(event.messageId));
  await absorbInto(deps, await openScene(deps, key), about);
  for (const messageId of deleted) await deps.questions.forget(questionId, messageId);
}

async function resume(work: SuspendedWork, known: QuestionState): Promise<void> {
  const { deps, key, record, waiting, turn } = work;
  await deps.questions.close(known.record.id, 'answered');
  // A typed line that became an answer is not steering as well.
  const used = new Set(known.answers.flatMap((answer) => answer?.source?.eventKey ?? []));
  for (const { event } of waiting) {
    if (event.kind === 'message' && used.has(event.eventKey)) await consumeAnswer(work, event);
  }
  const step = await storeAnswers(work, known, resultOf(record, known, 'ok', ''));
  const resumed = goingOn(record, step, deps.clock.now());
  await deps.records.save(key, resumed);
  await execute(deps, key, resumed, { kind: 'answered' }, turn);
}

/** Ends the run without another model call; the model is told by the call's result. */
async function abandon(work: SuspendedWork, known: QuestionState, told: string): Promise<void> {
  const { deps, key, record } = work;
  await storeAnswers(work, known, resultOf(record, known, 'cancelled', told));
  await closeRun(deps, await openScene(deps, key), record);
}

function storeAnswers(
  { deps, key, record }: SuspendedWork,
  known: QuestionState,
  result: ToolResult,
): Promise<number> {
  const messageIds = known.answers.flatMap((answer) => answer?.source?.messageId ?? []);
  const answers = messageIds.length > 0 ? { questionId: known.record.id, messageIds } : undefined;
  return storeResultsOnce(deps, key, record, [result], answers);
}

/** What the model is told: each question that was answered, and what became of the rest. */
function resultOf(
  record: RunRecord,
  known: QuestionState,
  outcome: ToolResult['outcome'],
  told: string,
): ToolResult {
  const lines = known.record.questions.flatMap((question, index) => {
    const answer = known.answers[index];
    return answer
      ? [`${question.question}\n→ ${answerText(answer)} (answered by ${answer.by.name})`]
      : [];
  });
  const call = { callId: record.question?.callId ?? 'unknown', name: 'AskUserQuestion' };
  const text = [...lines, told].filter((line) => line !== '').join('\n\n');
  return textResult(call, outcome, text);
}
