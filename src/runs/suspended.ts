/** A run that waits for people: resumed when all is answered, ended when nobody will answer. */

import type { ConversationKey } from '../messages/conversation.ts';
import type { ToolResult } from '../messages/parts.ts';
import { answerText } from '../questions/card.ts';
import type { QuestionState } from '../questions/questions.ts';
import { currentQuestion } from '../questions/record.ts';
import { textResult } from '../tools/scheduler.ts';
import { type ExecuteDeps, execute } from './execute.ts';
import type { WaitingMessage } from './inbox.ts';
import type { LaneWork } from './lane.ts';
import type { RunRecord } from './run-record.ts';
import { lastStepOf, openScene } from './scene.ts';

type Next = Awaited<ReturnType<LaneWork['next']>>;
type Begin = Parameters<LaneWork['next']>[1];

export async function workOnQuestion(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  begin: Begin,
): Promise<Next> {
  const id = record.question?.id ?? '';
  const known = await deps.questions.state(id);
  if (!known) {
    return abandon(deps, key, record, 'The question was lost. Ask again if you still need it.');
  }
  if (currentQuestion(known.answers) === undefined) {
    return resume(deps, key, record, known, begin);
  }
  const waiting = await deps.inbox.waiting(key);
  if (isWithdrawn(record, waiting)) {
    return withdraw(deps, key, record, 'The message that led to this was deleted.');
  }
  if (deps.clock.now() >= known.record.expiresAt) {
    await deps.questions.close(id, 'expired');
    return abandon(deps, key, record, 'Nobody answered in time; the question has expired.');
  }
  if (await takeTypedAnswer(deps, key, id, record, waiting)) return { kind: 'worked' };
  // Should the card not be there yet (a crash before its post), it is posted now.
  if (known.record.cardId === null) await deps.questions.show(id);
  return { kind: 'idle', wakeAtMs: known.record.expiresAt };
}

function isWithdrawn(record: RunRecord, waiting: readonly WaitingMessage[]): boolean {
  return waiting.some(
    ({ event }) => event.kind === 'message_deleted' && record.triggerIds.includes(event.messageId),
  );
}

/** Takes the question away and ends the run that waited for it. */
export async function withdraw(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  told: string,
): Promise<Next> {
  await deps.questions.close(record.question?.id ?? '', 'withdrawn');
  return abandon(deps, key, record, told);
}

/** A line of the asker, or one that mentions the bot, answers; others' lines wait. */
async function takeTypedAnswer(
  deps: ExecuteDeps,
  key: ConversationKey,
  id: string,
  record: RunRecord,
  waiting: readonly WaitingMessage[],
): Promise<boolean> {
  for (const { event } of waiting) {
    if (event.kind !== 'message' || event.text.trim() === '') continue;
    if (event.author.id !== record.asker.id && !event.mentionsBot) continue;
    const answered = await deps.questions.type(id, event.author, event.text);
    if (answered.kind === 'not_taken') continue;
    await deps.inbox.consume(key, [event]);
    await deps.questions.show(id);
    return true;
  }
  return false;
}

async function resume(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  { record: asked, answers }: QuestionState,
  begin: Begin,
): Promise<Next> {
  await deps.questions.close(asked.id, 'answered');
  const lines = asked.questions.map((question, index) => {
    const answer = answers[index];
    const said = answer ? `${answerText(answer)} (answered by ${answer.by.name})` : 'no answer';
    return `${question.question}\n→ ${said}`;
  });
  const call = { callId: asked.callId, name: 'AskUserQuestion' };
  const step = await storeResult(deps, key, record, textResult(call, 'ok', lines.join('\n\n')));
  const { question: _answered, ...rest } = record;
  const resumed: RunRecord = {
    ...rest,
    state: 'running',
    segment: record.segment + 1,
    segmentFromStep: step,
  };
  await deps.records.save(key, resumed);
  await execute(deps, key, resumed, { kind: 'answered' }, begin(record.triggerIds));
  return { kind: 'worked' };
}

/** Ends the run without another model call; the model is told by the call's result. */
async function abandon(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  told: string,
): Promise<Next> {
  const call = { callId: record.question?.callId ?? 'unknown', name: 'AskUserQuestion' };
  await storeResult(deps, key, record, textResult(call, 'cancelled', told));
  await deps.records.remove(key);
  return { kind: 'worked' };
}

/** Stores the result unless an earlier life did; the step it belongs to. */
async function storeResult(
  deps: ExecuteDeps,
  key: ConversationKey,
  { runId }: RunRecord,
  result: ToolResult,
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
  if (!isThere) {
    const at = deps.clock.now();
    await transcript.append([{ v: 1, at, kind: 'tool_results', runId, step, results: [result] }]);
  }
  return step;
}
