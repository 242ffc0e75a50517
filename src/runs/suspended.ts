/** A run that waits for people: resumed when all is answered, ended when nobody will answer. */

import { isBotError } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { EntryOf } from '../messages/entries.ts';
import type { ToolResult } from '../messages/parts.ts';
import { answerText } from '../questions/card.ts';
import type { QuestionState } from '../questions/questions.ts';
import { currentQuestion } from '../questions/record.ts';
import { textResult } from '../tools/scheduler.ts';
import { parseCommand } from './commands.ts';
import { absorbInto, execute, presentQuestion } from './execute.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { WaitingMessage } from './inbox.ts';
import type { Next, Turn } from './lane.ts';
import type { RunRecord } from './run-record.ts';
import { lastStepOf, openScene } from './scene.ts';

const worked: Next = { kind: 'worked' };

export async function workOnQuestion(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  turn: Turn,
): Promise<Next> {
  const id = record.question?.id ?? '';
  const known = await deps.questions.state(id);
  const stop = await deps.records.stopRequest(key);
  if (stop) return withdraw(deps, key, record, known, `Stopped by ${stop.by}.`);
  if (!known) {
    return withdraw(
      deps,
      key,
      record,
      known,
      'My question was lost. Ask again if you still need it.',
    );
  }
  const waiting = await deps.inbox.waiting(key);
  if (currentQuestion(known.answers) === undefined) {
    return resume(deps, key, record, known, waiting, turn);
  }
  if (isWithdrawn(record, waiting)) {
    return withdraw(deps, key, record, known, 'The message that led to this was deleted.');
  }
  if (deps.clock.now() >= known.record.expiresAt) {
    await deps.questions.close(id, 'expired');
    await abandon(deps, key, record, known, 'Nobody answered in time; the question has expired.');
    return worked;
  }
  if (!record.question?.isShown) return presentOrFail(deps, key, record, known, turn);
  // What an earlier life left undrawn (an answer whose card did not follow) is drawn once.
  if (deps.redraws.first(id)) await deps.questions.show(id);
  if (await takeTypedAnswer(deps, key, known, record, waiting)) return worked;
  await buryDeleted(deps, key, id, waiting);
  await showWaiting(deps, key, waiting);
  return { kind: 'idle', wakeAtMs: known.record.expiresAt };
}

/** A platform that does not take the card must not make the run wait for ever. */
async function presentOrFail(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  known: QuestionState,
  turn: Turn,
): Promise<Next> {
  try {
    await presentQuestion(deps, key, record, turn);
  } catch (thrown) {
    const isFinal = isBotError(thrown, 'message_too_long', 'message_refused', 'surface_gone');
    if (!isFinal) throw thrown;
    deps.log.warn('question_not_shown', { runId: record.runId, ...errorFacts(thrown) });
    const told = `I wanted to ask something, but could not show it here. Ask me again in other words. (reference ${record.runId})`;
    return withdraw(deps, key, record, known, told);
  }
  return worked;
}

/** True when every message that set the run off is deleted. */
function isWithdrawn(record: RunRecord, waiting: readonly WaitingMessage[]): boolean {
  const deleted = deletionsIn(waiting);
  return record.triggerIds.every((messageId) => deleted.includes(messageId));
}

function deletionsIn(waiting: readonly WaitingMessage[]): readonly string[] {
  return waiting.flatMap(({ event }) =>
    event.kind === 'message_deleted' ? [event.messageId] : [],
  );
}

/** Takes the question away and ends the run that waited for it, with a line that says why. */
async function withdraw(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  known: QuestionState | undefined,
  told: string,
): Promise<Next> {
  if (known) await deps.questions.close(known.record.id, 'withdrawn');
  const step = await storeResult(deps, key, record, resultOf(record, known, 'cancelled', told));
  const { question: _withdrawn, ...rest } = record;
  await deps.records.save(key, {
    ...rest,
    state: 'ending',
    segment: record.segment + 1,
    segmentFromStep: step,
    end: { notices: [told], canContinue: false },
  });
  return worked;
}

/** A line of the asker, or one that mentions the bot, answers; others' lines wait. */
async function takeTypedAnswer(
  deps: ExecuteDeps,
  key: ConversationKey,
  known: QuestionState,
  record: RunRecord,
  waiting: readonly WaitingMessage[],
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
    await consumeAnswer(deps, key, event);
    await deps.questions.show(known.record.id);
    return true;
  }
  return false;
}

async function consumeAnswer(
  deps: ExecuteDeps,
  key: ConversationKey,
  event: Extract<WaitingMessage['event'], { kind: 'message' }>,
): Promise<void> {
  await deps.inbox.consume(key, [event]);
  const { surface } = await openScene(deps, key);
  deps.signs.takeOff(surface, event.messageId);
}

/** Deletions take effect at once; the rest goes on waiting. */
async function buryDeleted(
  deps: ExecuteDeps,
  key: ConversationKey,
  questionId: string,
  waiting: readonly WaitingMessage[],
): Promise<void> {
  const deleted = deletionsIn(waiting);
  if (deleted.length === 0) return;
  const about = waiting.filter(({ event }) => deleted.includes(event.messageId));
  await absorbInto(deps, await openScene(deps, key), about);
  for (const messageId of deleted) await deps.questions.forget(questionId, messageId);
}

/** Lines that wait for the end of the question are marked as noted. */
async function showWaiting(
  deps: ExecuteDeps,
  key: ConversationKey,
  waiting: readonly WaitingMessage[],
): Promise<void> {
  const messages = waiting.filter(({ event }) => event.kind === 'message');
  if (messages.length === 0) return;
  const { surface } = await openScene(deps, key);
  for (const { event } of messages) deps.signs.putOn(surface, event.messageId);
}

async function resume(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  known: QuestionState,
  waiting: readonly WaitingMessage[],
  turn: Turn,
): Promise<Next> {
  await deps.questions.close(known.record.id, 'answered');
  // A typed line that became an answer is not steering as well.
  const used = new Set(known.answers.flatMap((answer) => answer?.source?.eventKey ?? []));
  for (const { event } of waiting) {
    if (event.kind === 'message' && used.has(event.eventKey)) await consumeAnswer(deps, key, event);
  }
  const step = await storeResult(deps, key, record, resultOf(record, known, 'ok', ''), known);
  const { question: _answered, end: _end, ...rest } = record;
  const resumed: RunRecord = {
    ...rest,
    state: 'running',
    segment: record.segment + 1,
    segmentFromStep: step,
  };
  await deps.records.save(key, resumed);
  await execute(deps, key, resumed, { kind: 'answered' }, turn);
  return worked;
}

/** Ends the run without another model call; the model is told by the call's result. */
async function abandon(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  known: QuestionState,
  told: string,
): Promise<void> {
  await storeResult(deps, key, record, resultOf(record, known, 'cancelled', told), known);
  await deps.records.remove(key);
}

/** What the model is told: each question that was answered, and what became of the rest. */
function resultOf(
  record: RunRecord,
  known: QuestionState | undefined,
  outcome: ToolResult['outcome'],
  told: string,
): ToolResult {
  const lines = (known?.record.questions ?? []).flatMap((question, index) => {
    const answer = known?.answers[index];
    return answer
      ? [`${question.question}\n→ ${answerText(answer)} (answered by ${answer.by.name})`]
      : [];
  });
  const call = { callId: record.question?.callId ?? 'unknown', name: 'AskUserQuestion' };
  const text = [...lines, told].filter((line) => line !== '').join('\n\n');
  return textResult(call, outcome, text);
}

/** Stores the result unless an earlier life did; the step it belongs to. */
async function storeResult(
  deps: ExecuteDeps,
  key: ConversationKey,
  { runId }: RunRecord,
  result: ToolResult,
  known?: QuestionState,
): Promise<number> {
  const { transcript } = await openScene(deps, key);
  const step = lastStepOf(transcript, runId);
  const isThere = transcript
    .entries()
    .some(
      (entry) =>
        entry.kind === 'tool_results' &&
        entry.runId === runId &&
        entry.results.some(({ callId }) => callId === result.callId),
    );
  if (isThere) return step;
  const messageIds = known?.answers.flatMap((answer) => answer?.source?.messageId ?? []) ?? [];
  const entry: EntryOf<'tool_results'> = {
    v: 1,
    at: deps.clock.now(),
    kind: 'tool_results',
    runId,
    step,
    results: [result],
    ...(known && messageIds.length > 0
      ? { answers: { questionId: known.record.id, messageIds } }
      : {}),
  };
  await transcript.append([entry]);
  return step;
}
