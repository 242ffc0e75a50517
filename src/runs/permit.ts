/**
 * Whether a tool call of a run may start: what people decided on it, the rules of its place, grants
 * of its thread, and what it would do. Every decision is an entry of the audit.
 */

import { hashOf } from '../base/canonical.ts';
import { cutToUnits } from '../base/text.ts';
import type { ToolCallPart } from '../messages/parts.ts';
import type { ApprovalAsk } from '../messages/questions.ts';
import type { AuditEntry } from '../permissions/audit.ts';
import { rulingOf } from '../permissions/decide.ts';
import type { Assessment, RegisteredTool, ToolScene } from '../tools/contract.ts';
import type { Permit } from '../tools/scheduler.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { idsOfAsker, placeOfScene } from './membership.ts';
import type { CallDecision, RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';

const mostAuditUnits = 2000;

export type PermitOf = (
  call: ToolCallPart,
  tool: RegisteredTool,
  scene: ToolScene,
) => Promise<Permit>;

/** Judges the calls of one run; `record` gives the run as it stands now. */
export function createPermit(deps: ExecuteDeps, scene: Scene, record: () => RunRecord): PermitOf {
  return async (call, tool, toolScene) => {
    const inputHash = inputHashOf(call);
    const decided = record().decisions.find(
      ({ step, callId }) => step === toolScene.step && callId === call.callId,
    );
    const assessment = await tool.assess(call.input, toolScene);
    if (decided) return permitOfDecision(decided, inputHash, assessment);
    if (record().refused.includes(inputHash)) {
      return refuse('This very call was refused before in this run. Do not call it again.');
    }
    if (record().isPlanning && !assessment.isReadOnly) {
      return refuse(
        `You are making a plan: only what reads may run, and ${tool.name} does more here. Finish the plan and call ExitPlanMode.`,
      );
    }
    const note = auditOf(deps, scene, record(), call, inputHash);
    const { rules } = deps.profileOf(placeOfScene(scene)).permissions;
    const toolHash = toolHashOf(tool);
    const ruling = rulingOf({
      tool: tool.name,
      assessment,
      rules,
      askerIds: await idsOfAsker(deps, scene, record(), rules),
      grantedBy: await granterOf(deps, scene, tool.name, assessment, toolHash),
    });
    switch (ruling.kind) {
      case 'allow':
        await note('allowed', ruling.reason);
        return { kind: 'run', isReadOnly: assessment.isReadOnly };
      case 'deny':
        await note('denied', ruling.reason);
        return refuse(
          `${tool.name} is not allowed here for this input: ${ruling.reason}. Do not call it again with it; find another way or tell the people.`,
        );
      case 'ask': {
        if (assessment.fault !== undefined) return { kind: 'fault', text: assessment.fault };
        await note('asked', ruling.reason);
        const preview = await tool.preview(call.input, toolScene);
        const ask: ApprovalAsk = {
          callId: call.callId,
          tool: tool.name,
          inputHash,
          title: tool.describe(call.input),
          preview,
          why: ruling.reason,
          ...(assessment.grant !== undefined && assessment.isWhole && !assessment.alwaysAsks
            ? { grant: { pattern: assessment.grant, toolHash } }
            : {}),
        };
        return { kind: 'ask', ask };
      }
    }
  };
}

/** Of the tool and its exact input: what an approval covers. */
export function inputHashOf({ name, input }: Pick<ToolCallPart, 'name' | 'input'>): string {
  return hashOf([name, input]);
}

function toolHashOf({ name, description, inputSchema }: RegisteredTool): string {
  return hashOf([name, description, inputSchema]);
}

function refuse(text: string): Permit {
  return { kind: 'refuse', text };
}

function permitOfDecision(
  decided: CallDecision,
  inputHash: string,
  { isReadOnly }: Assessment,
): Permit {
  // A decision is good for the very input that was shown.
  if (decided.inputHash !== inputHash) return refuse('The approval was for another input.');
  switch (decided.kind) {
    case 'approved':
      return { kind: 'run', isReadOnly };
    case 'denied':
      return refuse(
        `This call was refused by ${decided.by ?? 'somebody'}${saidIn(decided.note)}Do not make the same call again; find another way, or ask what to do.`,
      );
    case 'expired':
      return refuse(
        'Nobody approved this call in time. Do not make it again now; say what could not be done.',
      );
  }
}

/** A person's note as the end of a sentence, set off from the words of ours that follow. */
export function saidIn(note: string | undefined): string {
  return note === undefined ? '. ' : `, who says:\n${note}\n`;
}

async function granterOf(
  deps: ExecuteDeps,
  { key }: Scene,
  tool: string,
  { grant, alwaysAsks }: Assessment,
  toolHash: string,
): Promise<string | undefined> {
  if (grant === undefined || alwaysAsks) return undefined;
  const found = await deps.grants.find({ conversation: key, tool, pattern: grant, toolHash });
  return found?.by.name;
}

type CallDecided = Extract<AuditEntry, { kind: 'call_decided' }>;

/** Writes what was decided on a call into the audit. */
export function auditOf(
  deps: ExecuteDeps,
  { key }: Pick<Scene, 'key'>,
  { runId, asker }: { readonly runId: string; readonly asker: { readonly id: string } },
  call: Pick<ToolCallPart, 'callId' | 'name' | 'input'>,
  inputHash: string,
): (decision: CallDecided['decision'], reason: string, approver?: string) => Promise<void> {
  return (decision, reason, approver) =>
    deps.audit.record({
      kind: 'call_decided',
      conversation: key,
      runId,
      callId: call.callId,
      asker: asker.id,
      approver: approver ?? null,
      tool: call.name,
      inputHash,
      input: cutToUnits(deps.redactor.redact(JSON.stringify(call.input)), mostAuditUnits),
      decision,
      reason: deps.redactor.redact(reason),
    });
}
