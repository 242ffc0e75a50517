/**
 * How a run ends, or comes to wait for people: what they will read is stored first, then shown, so
 * that a restart at any point shows it once.
 */

import { errorFacts } from '../base/log.ts';
import type { RunOutcome } from '../messages/run-event.ts';
import type { Block, Button } from '../surface/outbound.ts';
import { continueButton, detailsButton, feedbackBlock, retryButton } from './controls.ts';
import { keepDetails } from './details.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { Execution } from './execution.ts';
import type { Turn } from './lane.ts';
import { sendMadeImages } from './made-images.ts';
import { placeOfScene } from './membership.ts';
import { isNews, newsOf, tellNews } from './news.ts';
import { endNotice, mayRetry } from './outcome.ts';
import { keepForRetry } from './retry.ts';
import { plainEnd, type RunEnd, type RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';
import { receiptLine, sourcesLine, workLine } from './spending.ts';
import { isSilent, openStage, type Stage } from './stage.ts';
import { showSuspension, storeSuspension, waitNotice } from './suspend.ts';

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
export async function whileStaged(
  stage: Stage,
  turn: Turn,
  work: () => Promise<void>,
): Promise<void> {
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

/** Stores how the run ended, then shows it. */
export async function settle(execution: Execution, outcome: RunOutcome): Promise<void> {
  const { deps, stage, turn } = execution;
  const { runId } = execution.record;
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
  const record = { ...execution.record, callTimes: execution.times.all() };
  if (outcome.kind === 'suspended') {
    await suspend(execution, record, outcome);
    return;
  }
  // Those too that were started before it waited for people.
  if (outcome.kind === 'stopped') await deps.stopJobs(stage.key);
  const ending: RunRecord = {
    ...record,
    state: 'ending',
    end: await endOf(execution, record, outcome),
  };
  if (ending.end?.canRetry) await keepForRetry(deps, stage, record);
  if (ending.end?.hasDetails || ending.end?.hasThumbs) {
    await keepDetails(deps, stage, record, outcome.kind);
  }
  await deps.records.save(stage.key, ending);
  await finish(deps, stage, ending, turn);
}

type Ended = Exclude<RunOutcome, { kind: 'suspended' }>;

/** What people will read of the end, and what they can press. */
async function endOf(execution: Execution, record: RunRecord, outcome: Ended): Promise<RunEnd> {
  const { deps, stage, end } = execution;
  const hasNoText = isSilent(stage.transcript.entries(), record);
  const isQuiet = outcome.kind === 'finished' && outcome.silent;
  const staysSilent = isQuiet && hasNoText;
  if (!staysSilent) await deps.choices.takeBack(stage.key, record.endedChoice);
  const said = staysSilent ? [] : end.notices;
  const isEmpty = said.length === 0 && hasNoText;
  const { runId, addressed, isRefused } = record;
  const notice = endNotice(outcome, { isEmpty, addressed, runId });
  const isTold = outcome.kind !== 'stopped' && !isQuiet && !isRefused;
  const isApart = isTold && isNews(stage, record, outcome.kind, deps.clock.now());
  // A run that said nothing says nothing of its sources and cost either.
  const isMute = isRefused || isQuiet;
  const foot = isMute ? noFoot : await footOf(execution, record, outcome, isApart);
  const news = isApart ? await newsLine(execution, record, outcome, notice) : undefined;
  const under = isApart && outcome.kind === 'failed' ? undefined : notice;
  return {
    notices: linesOf([...said, under], isEmpty ? { ...foot, work: undefined } : foot),
    canContinue: end.canContinue || (outcome.kind === 'stopped' && outcome.why === 'person'),
    canRetry: outcome.kind === 'failed' && mayRetry(outcome.error),
    hasDetails: foot.receipt !== undefined || (isApart && outcome.kind === 'finished'),
    hasThumbs:
      outcome.kind === 'finished' && !hasNoText && !isRefused && stage.sees.feedback.value === 'on',
    ...(news === undefined ? {} : { news: { text: news, isBegun: false } }),
  };
}

/** All that stands under the text; what an empty answer took is not worth a line. */
function linesOf(said: readonly (string | undefined)[], foot: Foot): readonly string[] {
  const lines = [...said, foot.sources, foot.receipt ?? foot.work];
  return lines.filter((line) => line !== undefined);
}

interface Foot {
  readonly sources: string | undefined;
  readonly receipt: string | undefined;
  /** What is left of the line on the work, where there is no receipt. */
  readonly work: string | undefined;
}

const noFoot: Foot = { sources: undefined, receipt: undefined, work: undefined };

/** Where the answer comes from, and what it took. */
async function footOf(
  { deps, stage }: Execution,
  record: RunRecord,
  outcome: Ended,
  isApart: boolean,
): Promise<Foot> {
  const receiptIsNews = isApart && outcome.kind === 'finished';
  return {
    sources: sourcesLine(record.sources),
    receipt: receiptIsNews ? undefined : await receiptLine(deps, stage, record),
    work: receiptIsNews ? undefined : workLine(deps, stage, record),
  };
}

/** A failure with what can be done; else the receipt alone. */
async function newsLine(
  { deps, stage }: Execution,
  record: RunRecord,
  outcome: Ended,
  notice: string | undefined,
): Promise<string> {
  if (outcome.kind === 'failed') return newsOf(record, notice ?? '');
  const receipt = await receiptLine(deps, stage, record, 'always');
  return newsOf(record, receipt === undefined ? 'done.' : `done · ${receipt}`);
}

async function finish(
  deps: ExecuteDeps,
  stage: Stage,
  record: RunRecord,
  turn: Turn,
): Promise<void> {
  const delivery = await stage.reply.finish(shownEnd(record));
  if (delivery === 'gone') deps.log.warn('reply_without_place', { runId: record.runId });
  else {
    const sent = await sendMadeImages(deps, stage, record, turn.cutOff);
    await tellNews(deps, stage, sent, personalButtons(sent), turn.cutOff);
  }
  await closeRun(deps, stage, record);
}

/** The run is over: what stood for it goes. */
export async function closeRun(
  deps: ExecuteDeps,
  scene: Scene,
  { triggerIds }: RunRecord,
): Promise<void> {
  const { seen } = deps.profileOf(placeOfScene(scene)).reply;
  const surely = seen.value !== 'status';
  for (const messageId of triggerIds) deps.signs.unsee(scene.surface, messageId, surely);
  await deps.records.remove(scene.key);
}

/** What stands under the answer itself. */
function shownEnd(record: RunRecord): {
  readonly notices: readonly string[];
  readonly buttons: readonly Button[];
  readonly below: readonly Block[];
} {
  const { end } = record;
  return {
    notices: end?.notices ?? [],
    buttons: [
      ...(end?.canContinue ? [continueButton] : []),
      ...(end?.news ? [] : personalButtons(record)),
    ],
    below: end?.hasThumbs ? [feedbackBlock(record.runId)] : [],
  };
}

/** Beside the line that tells of the end, wherever it stands. */
function personalButtons({ end, runId }: RunRecord): readonly Button[] {
  return [
    ...(end?.canRetry ? [retryButton] : []),
    ...(end?.hasDetails ? [detailsButton(runId)] : []),
  ];
}

async function suspend(
  { deps, stage, end, turn }: Execution,
  record: RunRecord,
  outcome: Extract<RunOutcome, { kind: 'suspended' }>,
): Promise<void> {
  const question = await storeSuspension(deps, stage, record, outcome);
  await deps.choices.takeBack(stage.key, record.endedChoice);
  const { canContinue } = end;
  const suspended: RunRecord = {
    ...record,
    state: 'suspended',
    notices: [],
    question,
    end: { ...plainEnd([...end.notices, ...waitNotice(question)]), canContinue },
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
  await stage.reply.finish(shownEnd(record));
  const sent = await sendMadeImages(deps, stage, record, turn.cutOff);
  await showSuspension(deps, question);
  const { end: _shown, ...rest } = sent;
  await deps.records.save(stage.key, { ...rest, question: { ...question, isShown: true } });
}
