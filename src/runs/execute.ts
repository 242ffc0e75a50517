/**
 * One run of a conversation, from its record to its end: the loop's events go to the reply, its
 * entries to the transcript, its outcome back into the record. Whatever point a crash hits, the
 * record says how to go on.
 */

import type { RunInput, Taken } from '../agent/contract.ts';
import { lastStepOf, openCalls, run, stoppedBy } from '../agent/run.ts';
import { botErrorOf } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import type { RunEvent, RunOutcome } from '../messages/run-event.ts';
import { tooManySteps } from '../permissions/limits.ts';
import { absorb } from './absorb.ts';
import { settle, whileStaged } from './ending.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { createCallTimes, type Execution } from './execution.ts';
import type { WaitingMessage } from './inbox.ts';
import type { Turn } from './lane.ts';
import { createPermit } from './permit.ts';
import { asksForPlan, notePlanning } from './prepare.ts';
import type { RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';
import type { FileSettings } from './settings.ts';
import { auditLimit, recordCall, spentLimit } from './spending.ts';
import { hasTrigger, openStage } from './stage.ts';

/** Runs until an outcome, and stores it. */
export async function execute(
  deps: ExecuteDeps,
  key: string,
  record: RunRecord,
  resume: RunInput['resume'],
  turn: Turn,
): Promise<void> {
  const signal = turn.begin(record.triggerIds);
  const stage = await openStage(deps, key, record);
  const end = { notices: [...record.notices], canContinue: false };
  const step = lastStepOf(stage.transcript.entries(), record.runId);
  const times = createCallTimes(() => deps.clock.now(), { step, times: record.callTimes });
  const execution: Execution = { deps, stage, turn, signal, record, end, times };
  await whileStaged(stage, turn, async () => {
    if (record.isRetry) await beginAgain(execution);
    else if (resume?.kind === 'interrupted') announceRestart(execution);
    await settle(execution, await outcomeOf(execution, resume));
  });
}

/** From here on a crash is one of the run itself. */
async function beginAgain(execution: Execution): Promise<void> {
  const { deps, stage, record } = execution;
  execution.record = { ...record, isRetry: false };
  await deps.records.save(stage.key, execution.record);
}

function announceRestart({ deps, stage, record, end }: Execution): void {
  deps.log.info('run_taken_up', { runId: record.runId });
  const entries = stage.transcript.entries();
  const last = entries.findLast((entry) => entry.kind === 'assistant_message');
  const wasCutOff = last?.runId === record.runId && openCalls(entries, last).length > 0;
  if (!wasCutOff) return;
  end.notices.push('I was restarted in the middle of this and went on.');
}

async function outcomeOf(execution: Execution, resume: RunInput['resume']): Promise<RunOutcome> {
  const { deps, stage, signal, turn } = execution;
  try {
    const taken = await takeWaiting(execution);
    for (const messageId of taken.messageIds) deps.signs.takeOff(stage.surface, messageId);
    if (!hasTrigger(stage.transcript.entries(), execution.record)) {
      turn.stop('the deletion of its message', 'trigger_deleted');
    }
    // A run that is taken up gives its open calls their results first, stopped or not.
    if (signal.aborted && !resume) return stoppedBy(signal);
    // Said to those who spoke to the bot; a talk between people is not interrupted by it.
    if (execution.record.isRefused) {
      return { kind: 'finished', silent: !execution.record.addressed };
    }
    return await follow(execution, resume);
  } catch (thrown) {
    if (signal.aborted) return stoppedBy(signal);
    deps.log.error('run_failed', { runId: execution.record.runId, ...errorFacts(thrown) });
    return { kind: 'failed', error: botErrorOf(thrown) };
  }
}

/** Runs the loop, handing on each event. */
async function follow(execution: Execution, resume: RunInput['resume']): Promise<RunOutcome> {
  const { deps, stage, record, signal } = execution;
  const model = await deps.modelOf(record.modelName, record.handovers.at(-1)?.to);
  const events = run(
    {
      clock: deps.clock,
      log: deps.log,
      complete: model.complete,
      onUsed: (step, call) => recordCall(deps, stage, execution.record, step, call),
      limitReached: () => spentLimit(deps, stage, execution.record),
      tooManySteps: async () => {
        const { runId, asker } = record;
        await auditLimit(deps, stage.key, runId, asker.id, 'stepsPerRun');
        return tooManySteps(deps.settings.limits);
      },
      transcript: {
        read: () => stage.transcript.entries(),
        append: (entries) => stage.transcript.append(entries),
      },
      takeWaiting: () => takeWaiting(execution),
      tools: deps.tools,
      permit: createPermit(deps, stage, () => execution.record),
      redact: (text) => deps.redactor.redact(text),
    },
    {
      runId: record.runId,
      conversationKey: stage.key,
      workspace: await deps.workspaceOf(stage.key),
      modelName: record.modelName,
      system: record.system,
      toolSpecs: record.toolSpecs,
      reasoning: record.reasoning,
      webSearch: record.webSearch,
      mostSteps: deps.settings.limits.stepsPerRun,
      toolTimeoutMs: deps.settings.agent.toolTimeoutSeconds * 1000,
      toolsAtOnce: deps.settings.agent.toolsAtOnce,
      addressed: record.addressed,
      ...(resume ? { resume } : {}),
    },
    signal,
  );
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      await onRunEvent(execution, next.value);
    }
  } finally {
    // Whatever failed out here ends what runs in there.
    await events.return({ kind: 'finished', silent: true });
  }
}

async function onRunEvent(execution: Execution, event: RunEvent): Promise<void> {
  const { deps, stage, end } = execution;
  stage.reply.apply(event);
  noteTime(execution, event);
  if (event.kind === 'tool_finished') await noteCallEnd(execution, event);
  if (event.kind === 'steered') deps.signs.takeOff(stage.surface, event.messageId, true);
  if (event.kind === 'sources') await keepSources(execution, event.sources);
  if (event.kind === 'model_switched') await noteHandover(execution, event);
  if (event.kind !== 'notice') return;
  end.notices.push(event.text);
  end.canContinue ||= event.action === 'continue';
}

function noteTime({ times }: Execution, event: RunEvent): void {
  if (event.kind === 'step_started') times.stepStarted(event.step);
  if (event.kind === 'tool_started') times.started(event.callId);
  if (event.kind === 'tool_finished') times.finished(event.callId);
}

async function noteCallEnd(
  { deps, stage, record: { runId } }: Execution,
  { callId, outcome }: Extract<RunEvent, { kind: 'tool_finished' }>,
): Promise<void> {
  await deps.audit.record({ kind: 'call_ended', conversation: stage.key, runId, callId, outcome });
}

/** In the record: a question or a restart may come before the end. */
async function keepSources(execution: Execution, found: RunRecord['sources']): Promise<void> {
  const { deps, stage, record } = execution;
  const known = new Set(record.sources.map(({ url }) => url));
  const fresh = found.filter(({ url }) => !known.has(url));
  if (fresh.length === 0) return;
  execution.record = { ...record, sources: [...record.sources, ...fresh] };
  await deps.records.save(stage.key, execution.record);
}

async function noteHandover(
  execution: Execution,
  { from, to, reason, code }: Extract<RunEvent, { kind: 'model_switched' }>,
): Promise<void> {
  const { deps, stage, record } = execution;
  const handovers = [...record.handovers, { to, reason }];
  execution.record = { ...record, handovers };
  await deps.records.save(stage.key, execution.record);
  const { runId } = record;
  deps.log.warn('model_handed_over', { runId, from, to, code });
  const conversation = stage.key;
  await deps.audit.record({
    kind: 'model_handed_over',
    conversation,
    runId,
    from,
    to,
    reason: code,
  });
}

async function takeWaiting(execution: Execution): Promise<Taken> {
  const { deps, stage, turn } = execution;
  const waiting = (await deps.inbox.waiting(stage.key)).filter(({ event }) =>
    mayEnter(execution.record, event),
  );
  await heedPlan(execution, waiting);
  const messageIds = await absorbInto(deps, stage, waiting);
  turn.entered(messageIds);
  for (const messageId of messageIds) {
    // It was taken for one that sets off a run, and is part of this one.
    if (!execution.record.triggerIds.includes(messageId))
      deps.signs.unsee(stage.surface, messageId);
  }
  const addressed = waiting.some(
    ({ event, addressed: is }) =>
      is && event.kind === 'message' && messageIds.includes(event.messageId),
  );
  if (addressed && !execution.record.addressed) {
    execution.record = { ...execution.record, addressed };
    await deps.records.save(stage.key, execution.record);
  }
  return { messageIds, addressed };
}

/** `plan: …` said into a run holds from there on; stored before the words are taken from the inbox. */
async function heedPlan(execution: Execution, waiting: readonly WaitingMessage[]): Promise<void> {
  const { deps, stage, record } = execution;
  const said = waiting.flatMap(({ event }) =>
    event.kind === 'message' && !record.triggerIds.includes(event.messageId) ? [event] : [],
  );
  if (record.isPlanning || !asksForPlan(said)) return;
  await notePlanning(deps, stage);
  execution.record = { ...record, isPlanning: true };
  await deps.records.save(stage.key, execution.record);
}

/** What must not enter waits for a run of its own. */
function mayEnter(record: RunRecord, event: WaitingMessage['event']): boolean {
  if (record.triggerIds.includes(event.messageId)) return true;
  // A refused run answers nobody but those it refuses; and a bot's text never steers.
  return !record.isRefused && !(event.kind === 'message' && event.author.isBot);
}

/** Moves what waits into the transcript; ids of the new messages. */
export function absorbInto(
  deps: ExecuteDeps,
  { key, surface, transcript }: Scene,
  waiting: readonly WaitingMessage[],
): Promise<readonly string[]> {
  const { inbox, log, conversations, questions, files } = deps;
  const limits = (): FileSettings => deps.settings.files;
  const now = (): number => deps.clock.now();
  const forgetAnswer = (id: string, messageId: string): Promise<void> =>
    questions.forget(id, messageId);
  return absorb(
    { inbox, log, conversations, surface, files, limits, now, forgetAnswer },
    key,
    transcript,
    waiting,
  );
}
