/**
 * One run of a conversation, from its record to its end: the loop's events go to the reply, its
 * entries to the transcript, its outcome back into the record. Whatever point a crash hits, the
 * record says how to go on.
 */

import type { RunInput, Taken } from '../agent/contract.ts';
import { openCalls, run, stoppedBy } from '../agent/run.ts';
import { botErrorOf } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import type { RunEvent, RunOutcome } from '../messages/run-event.ts';
import { tooManySteps } from '../permissions/limits.ts';
import type { Button } from '../surface/outbound.ts';
import { absorb } from './absorb.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { WaitingMessage } from './inbox.ts';
import type { Turn } from './lane.ts';
import { sendMadeImages } from './made-images.ts';
import { endNotice } from './outcome.ts';
import { createPermit } from './permit.ts';
import { asksForPlan, notePlanning } from './prepare.ts';
import type { RunEnd, RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';
import type { FileSettings } from './settings.ts';
import { auditLimit, receiptLine, recordCall, sourcesLine, spentLimit } from './spending.ts';
import { hasTrigger, isSilent, openStage, type Stage } from './stage.ts';
import { showSuspension, storeSuspension, waitNotice } from './suspend.ts';

/** A run under way. */
interface Execution {
  readonly deps: ExecuteDeps;
  readonly stage: Stage;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  /** Changes when a steerer addresses the bot, a model takes over or sources are found. */
  record: RunRecord;
  /** What the people will read under the text. */
  readonly end: { notices: string[]; canContinue: boolean };
}

export const continueControlId = 'run.continue';

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
  const execution: Execution = { deps, stage, turn, signal, record, end };
  await whileStaged(stage, turn, async () => {
    if (resume?.kind === 'interrupted') announceRestart(execution);
    await settle(execution, await outcomeOf(execution, resume));
  });
}

/** Brings the last words of a run that ended, perhaps in an earlier life, in front of people. */
export async function deliverEnd(
  deps: ExecuteDeps,
  key: string,
  record: RunRecord,
  turn: Turn,
): Promise<void> {
  const stage = await openStage(deps, key, record);
  await whileStaged(stage, turn, () => finish(deps, stage, record, turn));
}

/** Finishes the reply above a question, then shows its card. */
export async function presentQuestion(
  deps: ExecuteDeps,
  key: string,
  record: RunRecord,
  turn: Turn,
): Promise<void> {
  const stage = await openStage(deps, key, record);
  await whileStaged(stage, turn, () => present(deps, stage, record, turn));
}

/** Whatever happens, the reply stops sending; when the process must end, at once. */
async function whileStaged(stage: Stage, turn: Turn, work: () => Promise<void>): Promise<void> {
  const letGo = (): void => {
    stage.reply.abandon().catch(() => {}); // its failure is the work's failure
  };
  turn.cutOff.addEventListener('abort', letGo, { once: true });
  try {
    await work();
  } finally {
    turn.cutOff.removeEventListener('abort', letGo);
    await stage.reply.abandon();
  }
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
  if (event.kind === 'tool_finished') await noteCallEnd(execution, event);
  if (event.kind === 'steered') deps.signs.takeOff(stage.surface, event.messageId, true);
  if (event.kind === 'sources') await keepSources(execution, event.sources);
  if (event.kind === 'model_switched') await noteHandover(execution, event);
  if (event.kind !== 'notice') return;
  end.notices.push(event.text);
  end.canContinue ||= event.action === 'continue';
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

/** Stores how the run ended, then shows it. */
async function settle(execution: Execution, outcome: RunOutcome): Promise<void> {
  const { deps, stage, record, end } = execution;
  const { runId } = record;
  deps.log.info('run_ended', {
    runId,
    outcome: outcome.kind,
    ...(outcome.kind === 'failed' ? errorFacts(outcome.error) : {}),
    ...(outcome.kind === 'finished' ? { silent: outcome.silent } : {}),
  });
  if (outcome.kind === 'stopped' && outcome.why === 'shutdown') {
    await stage.reply.pause('Restarting; I go on in a moment');
    return;
  }
  if (outcome.kind === 'suspended') {
    await suspend(execution, outcome);
    return;
  }
  // Those too that were started before it waited for people.
  if (outcome.kind === 'stopped') await deps.stopJobs(stage.key);
  const hasNoText = isSilent(stage.transcript.entries(), record);
  const staysSilent = outcome.kind === 'finished' && outcome.silent && hasNoText;
  const said = staysSilent ? [] : end.notices;
  if (!staysSilent) await deps.choices.takeBack(stage.key, record.endedChoice);
  const isEmpty = said.length === 0 && hasNoText;
  const notice = endNotice(outcome, { isEmpty, addressed: record.addressed, runId });
  const lines = [...said, notice, ...(await footLines(execution, outcome))];
  const notices = lines.filter((line) => line !== undefined);
  const ending: RunRecord = { ...record, state: 'ending', end: { ...end, notices } };
  await deps.records.save(stage.key, ending);
  await finish(deps, stage, ending, execution.turn);
}

/** Where the answer comes from and what it took; a run that said nothing says that neither. */
async function footLines(
  { deps, stage, record }: Execution,
  outcome: RunOutcome,
): Promise<readonly (string | undefined)[]> {
  if (record.isRefused || (outcome.kind === 'finished' && outcome.silent)) return [];
  return [sourcesLine(record.sources), await receiptLine(deps, stage, record)];
}

async function finish(
  deps: ExecuteDeps,
  stage: Stage,
  record: RunRecord,
  turn: Turn,
): Promise<void> {
  const delivery = await stage.reply.finish(endOf(record.end));
  if (delivery === 'gone') deps.log.warn('reply_without_place', { runId: record.runId });
  else await sendMadeImages(deps, stage, record, turn.cutOff);
  await deps.records.remove(stage.key);
}

function endOf(end: RunEnd | undefined): {
  notices: readonly string[];
  buttons: readonly Button[];
} {
  const button: Button = { controlId: continueControlId, label: 'Continue', style: 'primary' };
  return { notices: end?.notices ?? [], buttons: end?.canContinue ? [button] : [] };
}

async function suspend(
  { deps, stage, record, end, turn }: Execution,
  outcome: Extract<RunOutcome, { kind: 'suspended' }>,
): Promise<void> {
  const question = await storeSuspension(deps, stage, record, outcome);
  await deps.choices.takeBack(stage.key, record.endedChoice);
  const suspended: RunRecord = {
    ...record,
    state: 'suspended',
    notices: [],
    question,
    end: { ...end, notices: [...end.notices, ...waitNotice(question)] },
  };
  await deps.records.save(stage.key, suspended);
  await present(deps, stage, suspended, turn);
}

/** The text before the card: people read in order. */
async function present(
  deps: ExecuteDeps,
  stage: Stage,
  record: RunRecord,
  turn: Turn,
): Promise<void> {
  const { question } = record;
  if (!question) throw new Error('a suspended run without what it waits for');
  await stage.reply.finish(endOf(record.end));
  const sent = await sendMadeImages(deps, stage, record, turn.cutOff);
  await showSuspension(deps, question);
  const { end: _shown, ...rest } = sent;
  await deps.records.save(stage.key, { ...rest, question: { ...question, isShown: true } });
}
