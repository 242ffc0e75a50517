/** A run that people, or time, must act on: what it waits for is stored, then shown. */

import { hashOf } from '../base/canonical.ts';
import type { RunOutcome } from '../messages/run-event.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { askersOf, placeOfScene } from './membership.ts';
import type { RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';

type Suspended = Extract<RunOutcome, { kind: 'suspended' }>;
type WaitsFor = NonNullable<RunRecord['question']>;

/** Stores what is asked; what the record keeps of it. */
export async function storeSuspension(
  deps: ExecuteDeps,
  scene: Scene,
  record: RunRecord,
  { callId, suspension }: Suspended,
): Promise<WaitsFor> {
  const { conversation } = scene;
  const { runId, asker } = record;
  const now = deps.clock.now();
  switch (suspension.kind) {
    case 'questions': {
      const { id } = await deps.questions.ask({
        conversation,
        runId,
        callId,
        questions: suspension.questions,
        asker,
        expiresMs: deps.settings.questions.expireDays * 24 * 3600 * 1000,
      });
      return { id, kind: 'questions', callId, isShown: false };
    }
    case 'approvals': {
      const { permissions } = deps.profileOf(placeOfScene(scene));
      const { asks } = suspension;
      const { id } = await deps.approvals.ask({
        kind: 'calls',
        conversation,
        runId,
        asks,
        asker,
        askers: askersOf(scene, record),
        permissions,
      });
      return { id, kind: 'approvals', callId, isShown: false };
    }
    case 'plan': {
      const { permissions } = deps.profileOf(placeOfScene(scene));
      const { plan } = suspension;
      const ask = {
        callId,
        tool: 'ExitPlanMode',
        inputHash: hashOf(['ExitPlanMode', plan]),
        title: 'Plan',
        preview: { language: 'markdown', text: deps.redactor.redact(plan) },
        why: 'nothing is done before the plan is approved',
      };
      const { id } = await deps.approvals.ask({
        kind: 'plan',
        conversation,
        runId,
        asks: [ask],
        asker,
        askers: askersOf(scene, record),
        permissions,
      });
      return { id, kind: 'plan', callId, isShown: false };
    }
    case 'wait':
      return {
        id: deps.newId('wait'),
        kind: 'wait',
        callId,
        isShown: false,
        from: now,
        until: suspension.untilMs,
      };
  }
}

/** Posts the card, where there is one. */
export async function showSuspension(deps: ExecuteDeps, { id, kind }: WaitsFor): Promise<void> {
  switch (kind) {
    case 'questions':
      return deps.questions.show(id);
    case 'approvals':
    case 'plan':
      return deps.approvals.show(id);
    case 'wait':
      return;
  }
}

const dayMs = 24 * 3600 * 1000;

/** What people read under the text before a wait. */
export function waitNotice({ kind, from = 0, until }: WaitsFor): readonly string[] {
  if (kind !== 'wait' || until === undefined) return [];
  const [day = '', time = ''] = new Date(until).toISOString().split('T');
  const at = `${until - from < dayMs / 2 ? '' : `${day} `}${time.slice(0, 5)} UTC`;
  return [`I go on at ${at}. Write here to wake me earlier.`];
}
