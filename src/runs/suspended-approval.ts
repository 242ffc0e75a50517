/** A run that waits until people have decided on its tool calls, or on its plan. */

import type { ToolResult } from '../messages/parts.ts';
import type { ApprovalAsk } from '../messages/questions.ts';
import type { CallVerdict } from '../permissions/approver.ts';
import type { ApprovalRecord } from '../questions/approval-record.ts';
import type { ApprovalState } from '../questions/approvals.ts';
import { textResult } from '../tools/scheduler.ts';
import { absorbInto, execute } from './execute.ts';
import type { Next } from './lane.ts';
import { auditOf, auditVotes, saidIn, shownHashOf } from './permit.ts';
import type { CallDecision, RunRecord } from './run-record.ts';
import { openScene } from './scene.ts';
import {
  deletionsIn,
  goingOn,
  type SuspendedWork,
  showWaiting,
  storeResultsOnce,
  type Waiting,
} from './suspended-results.ts';

export async function approvalsWait(work: SuspendedWork): Promise<Waiting | undefined> {
  const { deps, key, record, waiting } = work;
  const id = record.question?.id ?? '';
  const known = await deps.approvals.state(id);
  if (!known) return undefined;
  const isExpired = deps.clock.now() >= known.record.expiresAt;
  return {
    goOn: async () => {
      const isDecided = known.verdicts.every(({ kind }) => kind !== 'open');
      if (!isDecided && !isExpired) return false;
      // A crash may have come between a vote and its line in the audit.
      await auditVotes(deps, known.record);
      await deps.approvals.close(id, isDecided ? 'decided' : 'expired');
      await resume(work, known);
      return true;
    },
    meanwhile: async (): Promise<Next> => {
      // What an earlier life left undrawn is drawn once.
      if (deps.redraws.first(id)) await deps.approvals.show(id);
      await buryDeleted(work);
      await showWaiting(deps, key, waiting);
      return { kind: 'idle', wakeAtMs: known.record.expiresAt };
    },
    withdraw: async (told) => {
      await auditVotes(deps, known.record);
      await deps.approvals.close(id, 'withdrawn');
      for (const [index, ask] of known.record.asks.entries()) {
        if (known.verdicts[index]?.kind === 'open') await audit(work, ask, 'withdrawn', told);
      }
    },
  };
}

/** Deletions take effect at once; the rest goes on waiting. */
async function buryDeleted({ deps, key, waiting }: SuspendedWork): Promise<void> {
  const deleted = deletionsIn(waiting);
  if (deleted.length === 0) return;
  const about = waiting.filter(({ event }) => deleted.includes(event.messageId));
  await absorbInto(deps, await openScene(deps, key), about);
}

/** The decisions enter the run's record; the calls without a result run, or are refused, by them. */
async function resume(
  work: SuspendedWork,
  { record: asked, verdicts }: ApprovalState,
): Promise<void> {
  const { deps, key, record, turn } = work;
  const isPlan = asked.kind === 'plan';
  const [verdict] = verdicts;
  const results = isPlan ? [planResult(record, verdict)] : [];
  const step = await storeResultsOnce(deps, key, record, results);
  const decisions = asked.asks.map((ask, index) =>
    decisionOf(step, asked.expiresAt, ask, verdicts[index]),
  );
  for (const [index, decision] of decisions.entries()) {
    const ask = asked.asks[index];
    if (ask && decision.kind === 'expired')
      await audit(work, ask, 'expired', 'nobody approved in time');
  }
  await giveGrants(work, asked, verdicts);
  const refused = asked.asks.flatMap((ask, index) =>
    decisions[index]?.kind === 'approved' ? [] : [ask.inputHash, shownHashOf(ask)],
  );
  const resumed: RunRecord = {
    ...goingOn(record, step, deps.clock.now()),
    decisions: isPlan ? [] : [...record.decisions.filter((one) => one.step === step), ...decisions],
    rulings: [
      ...record.rulings,
      ...decisions.map((decision, index) => rulingOf(asked.asks[index], decision)),
    ],
    refused: isPlan ? record.refused : [...record.refused, ...refused],
    isPlanning: isPlan ? verdict?.kind !== 'approved' : record.isPlanning,
  };
  await deps.records.save(key, resumed);
  await execute(deps, key, resumed, { kind: 'answered' }, turn);
}

/** For the run's details. */
function rulingOf(
  ask: ApprovalAsk | undefined,
  { kind, by }: CallDecision,
): RunRecord['rulings'][number] {
  return { tool: ask?.tool ?? 'tool', kind, ...(by === undefined ? {} : { by }) };
}

/** What was approved for the thread; a crash in between gives it once all the same. */
async function giveGrants(
  { deps, key }: SuspendedWork,
  asked: ApprovalRecord,
  verdicts: readonly CallVerdict[],
): Promise<void> {
  for (const [index, { tool, grant }] of asked.asks.entries()) {
    const verdict = verdicts[index];
    if (!grant || verdict?.kind !== 'approved' || !verdict.isGrant) continue;
    const wanted = { conversation: key, tool, pattern: grant.pattern, toolHash: grant.toolHash };
    if (await deps.grants.find(wanted)) continue;
    const { id, expiresAt } = await deps.grants.give(
      { ...wanted, by: verdict.first },
      asked.grantMs,
    );
    const by = verdict.first.id;
    await deps.audit.record({
      kind: 'grant_given',
      conversation: key,
      grantId: id,
      by,
      tool,
      pattern: grant.pattern,
      expiresAt,
    });
  }
}

function decisionOf(
  step: number,
  expiresAt: number,
  { callId, inputHash }: ApprovalAsk,
  verdict: CallVerdict | undefined,
): CallDecision {
  const about = { step, expiresAt, callId, inputHash };
  switch (verdict?.kind) {
    case 'approved':
      return { ...about, kind: 'approved', by: verdict.by.join(' and ') };
    case 'denied': {
      const { by, note } = verdict;
      return { ...about, kind: 'denied', by, ...(note === undefined ? {} : { note }) };
    }
    case 'open':
    case undefined:
      return { ...about, kind: 'expired' };
  }
}

function planResult({ question }: RunRecord, verdict: CallVerdict | undefined): ToolResult {
  const call = { callId: question?.callId ?? 'unknown', name: 'ExitPlanMode' };
  switch (verdict?.kind) {
    case 'approved':
      return textResult(
        call,
        'ok',
        `The plan was approved by ${verdict.by.join(' and ')}. Carry it out now; what needs an approval of its own will still ask.`,
      );
    case 'denied':
      return textResult(
        call,
        'ok',
        `Changes are wanted by ${verdict.by}${saidIn(verdict.note)}You are still planning: change the plan and call ExitPlanMode again.`,
      );
    case 'open':
    case undefined:
      return textResult(
        call,
        'cancelled',
        'Nobody approved the plan in time. Say so; do not carry it out.',
      );
  }
}

function audit(
  { deps, key, record }: SuspendedWork,
  { callId, tool: name, inputHash, preview }: ApprovalAsk,
  decision: 'expired' | 'withdrawn',
  reason: string,
): Promise<void> {
  const call = { callId, name, input: preview.text };
  return auditOf(deps, { key }, record, call, inputHash)(decision, reason);
}
