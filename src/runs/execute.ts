/**
 * One run of a conversation, from its record to its end: the loop's events go to the reply, its
 * entries to the transcript, its outcome back into the record. Whatever point a crash hits, the
 * record says how to go on.
 */

import type { RunInput } from '../agent/contract.ts';
import { run } from '../agent/run.ts';
import { botErrorOf } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import type { Entry } from '../messages/entries.ts';
import { textOf } from '../messages/parts.ts';
import type { RunEvent, RunOutcome } from '../messages/run-event.ts';
import type { Questions } from '../questions/questions.ts';
import type { Pacer } from '../render/pacer.ts';
import { createReply, noPages, type Reply, replyPagesSchema } from '../render/reply.ts';
import { readValidated } from '../storage/validated.ts';
import type { Adapter } from '../surface/adapter.ts';
import type { Button } from '../surface/outbound.ts';
import type { Surface } from '../surface/surface.ts';
import { absorb } from './absorb.ts';
import type { RunsDeps } from './deps.ts';
import type { Inbox, WaitingMessage } from './inbox.ts';
import { endNotice } from './outcome.ts';
import { type RunRecord, type RunRecords, replyIdOf } from './run-record.ts';
import { lastStepOf, openScene, type Scene } from './scene.ts';

export interface ExecuteDeps extends RunsDeps {
  readonly inbox: Inbox;
  readonly records: RunRecords;
  readonly questions: Questions;
  readonly pacerOf: (adapter: Adapter) => Pacer;
  /** A message entered the run: its waiting sign can go. */
  readonly onTaken: (surface: Surface, messageId: string) => void;
}

/** A conversation with the reply that its run shows. */
interface Stage extends Scene {
  readonly reply: Reply;
}

export const continueControlId = 'run.continue';

/** Runs until an outcome, and stores it. `signal` ends it: its reason says by whom and why. */
export async function execute(
  deps: ExecuteDeps,
  key: string,
  record: RunRecord,
  resume: RunInput['resume'],
  signal: AbortSignal,
): Promise<void> {
  const stage = await openStage(deps, key, record);
  try {
    if (resume?.kind === 'interrupted') announceRestart(deps, stage, record);
    const buttons: Button[] = [];
    const outcome = await follow(deps, stage, record, resume, signal, (event) => {
      stage.reply.apply(event);
      if (event.kind === 'steered') deps.onTaken(stage.surface, event.messageId);
      if (event.kind === 'notice' && event.action === 'continue') {
        buttons.push({ controlId: continueControlId, label: 'Continue', style: 'primary' });
      }
    });
    await settle(deps, stage, record, outcome, buttons);
  } finally {
    await stage.reply.abandon();
  }
}

/** Brings the last words of a run that ended, perhaps in an earlier life, in front of people. */
export async function deliverEnd(deps: ExecuteDeps, key: string, record: RunRecord): Promise<void> {
  const stage = await openStage(deps, key, record);
  try {
    await finishReply(deps, stage, record, []);
  } finally {
    await stage.reply.abandon();
  }
}

async function openStage(deps: ExecuteDeps, key: string, record: RunRecord): Promise<Stage> {
  const scene = await openScene(deps, key);
  const { adapter, conversation, surface, head, transcript } = scene;
  const pagesKey = `reply:${replyIdOf(record)}`;
  const pages = (await readValidated(deps, pagesKey, replyPagesSchema)) ?? noPages;
  const { scope } = adapter.capabilities.editBudget;
  const reply = createReply(
    {
      clock: deps.clock,
      log: deps.log,
      surface,
      capabilities: adapter.capabilities,
      pacer: deps.pacerOf(adapter),
      redactor: deps.redactor,
      savePages: (value) => deps.store.set(pagesKey, value, { ttlMs: keptReplyMs }),
    },
    {
      replyId: replyIdOf(record),
      // Discord counts edits per channel, and a thread is a channel there.
      scope:
        scope === 'space' ? conversation.space : `${conversation.channel}:${conversation.thread}`,
      pages,
      steps: textsOf(transcript.entries(), record),
      mentionable: head?.people ?? [],
    },
  );
  return { ...scene, reply };
}

const keptReplyMs = 120 * 24 * 3600 * 1000;

/** Texts of this segment's finished steps. */
function textsOf(entries: readonly Entry[], record: RunRecord): readonly string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'assistant_message' &&
    entry.runId === record.runId &&
    entry.step > record.segmentFromStep
      ? [textOf(entry.parts)]
      : [],
  );
}

function announceRestart(deps: ExecuteDeps, stage: Stage, record: RunRecord): void {
  deps.log.info('run_taken_up', { runId: record.runId });
  if (lastStepOf(stage.transcript, record.runId) === 0) return;
  stage.reply.apply({ kind: 'notice', text: 'I was restarted in the middle of this and went on.' });
}

/** Runs the loop, handing on each event. */
async function follow(
  deps: ExecuteDeps,
  stage: Stage,
  record: RunRecord,
  resume: RunInput['resume'],
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<RunOutcome> {
  try {
    const model = await deps.modelOf(record.modelName);
    const events = run(
      {
        clock: deps.clock,
        log: deps.log,
        complete: (request, requestSignal) => model.complete(request, requestSignal),
        transcript: {
          read: () => stage.transcript.entries(),
          append: (entries) => stage.transcript.append(entries),
        },
        takeWaiting: () => takeWaiting(deps, stage),
        tools: deps.tools,
      },
      {
        runId: record.runId,
        conversationKey: stage.key,
        workspace: await deps.workspaceOf(stage.key),
        modelName: record.modelName,
        model: model.model,
        mostOutputTokens: model.mostOutputTokens,
        system: record.system,
        toolSpecs: record.toolSpecs,
        mostSteps: deps.settings.agent.mostSteps,
        toolTimeoutMs: deps.settings.agent.toolTimeoutSeconds * 1000,
        firstStep: lastStepOf(stage.transcript, record.runId) + 1,
        addressed: record.addressed,
        ...(resume ? { resume } : {}),
      },
      signal,
    );
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      onEvent(next.value);
    }
  } catch (thrown) {
    deps.log.error('run_failed', { runId: record.runId, ...errorFacts(thrown) });
    return { kind: 'failed', error: botErrorOf(thrown) };
  }
}

async function takeWaiting(deps: ExecuteDeps, scene: Scene): Promise<readonly string[]> {
  return absorbInto(deps, scene, await deps.inbox.waiting(scene.key));
}

/** Moves what waits into the transcript; ids of the new messages. */
export async function absorbInto(
  deps: ExecuteDeps,
  { key, surface, transcript }: Scene,
  waiting: readonly WaitingMessage[],
): Promise<readonly string[]> {
  const now = (): number => deps.clock.now();
  const { inbox, log, conversations } = deps;
  return absorb({ inbox, log, conversations, surface, now }, key, transcript, waiting);
}

/** Stores how the run ended, then shows it. */
async function settle(
  deps: ExecuteDeps,
  stage: Stage,
  record: RunRecord,
  outcome: RunOutcome,
  buttons: readonly Button[],
): Promise<void> {
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
    await suspend(deps, stage, record, outcome);
    return;
  }
  const texts = textsOf(stage.transcript.entries(), record);
  const isEmpty = texts.every((text) => text.trim() === '') && record.segment === 1;
  const notice = endNotice(outcome, { isEmpty, addressed: record.addressed, runId });
  const ending: RunRecord = { ...record, state: 'ending', end: notice ? { notice } : {} };
  await deps.records.save(stage.key, ending);
  await finishReply(deps, stage, ending, buttons);
}

async function finishReply(
  deps: ExecuteDeps,
  stage: Stage,
  record: RunRecord,
  buttons: readonly Button[],
): Promise<void> {
  const notice = record.end?.notice;
  const delivery = await stage.reply.finish({ ...(notice ? { notice } : {}), buttons });
  if (delivery === 'gone') deps.log.warn('reply_without_place', { runId: record.runId });
  await deps.records.remove(stage.key);
}

async function suspend(
  deps: ExecuteDeps,
  stage: Stage,
  record: RunRecord,
  outcome: Extract<RunOutcome, { kind: 'suspended' }>,
): Promise<void> {
  const { callId, suspension } = outcome;
  const question = await deps.questions.ask({
    conversation: stage.conversation,
    runId: record.runId,
    callId,
    questions: suspension.questions,
    asker: record.asker,
    expiresMs: deps.settings.questions.expireDays * 24 * 3600 * 1000,
  });
  await deps.records.save(stage.key, {
    ...record,
    state: 'suspended',
    question: { id: question.id, callId },
  });
  await stage.reply.finish({});
  await deps.questions.show(question.id);
}
