/**
 * Whether a tool call of a run may start: what people decided on it, the rules of its place, grants
 * of its thread, and what it would do. Every decision is an entry of the audit.
 */

import { hashOf } from '../base/canonical.ts';
import { cutToUnits } from '../base/text.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import type { ToolCallPart } from '../messages/parts.ts';
import type { ApprovalAsk } from '../messages/questions.ts';
import type { AuditEntry } from '../permissions/audit.ts';
import { rulingOf } from '../permissions/decide.ts';
import type { ApprovalRecord } from '../questions/approval-record.ts';
import type { Assessment, RegisteredTool, ToolScene } from '../tools/contract.ts';
import type { Permit } from '../tools/scheduler.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { idsOfPeople, placeOfScene } from './membership.ts';
import type { CallDecision, RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';

const mostAuditUnits = 2000;
/** A card says in full what a grant would cover. */
const mostGrantChars = 100;
const refusedBefore = 'This very call was refused before in this run. Do not call it again.';

export type PermitOf = (
  call: ToolCallPart,
  tool: RegisteredTool,
  scene: ToolScene,
) => Promise<Permit>;

/** Judges the calls of one run; `record` gives the run as it stands now. */
export function createPermit(deps: ExecuteDeps, scene: Scene, record: () => RunRecord): PermitOf {
  return async (call, tool, toolScene) => {
    const assessment = await tool.assess(call.input, toolScene);
    const inputHash = inputHashOf(call, assessment.state);
    const decided = record().decisions.find(
      ({ step, callId }) => step === toolScene.step && callId === call.callId,
    );
    if (decided) return permitOfDecision(decided, inputHash, assessment, deps.clock.now());
    if (record().refused.includes(inputHash)) {
      return refuse(refusedBefore);
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
      people: await idsOfPeople(deps, scene, record(), rules),
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
        const redact = (words: string): string => deps.redactor.redact(words);
        const { language, text } = await tool.preview(call.input, toolScene);
        // Before anything is cut for the card, or put into a file beside it.
        const preview = { language, text: redact(text) };
        if (record().refused.includes(shownHashOf({ tool: tool.name, preview }))) {
          return refuse(refusedBefore);
        }
        await note('asked', ruling.reason);
        const ask: ApprovalAsk = {
          callId: call.callId,
          tool: tool.name,
          inputHash,
          title: redact(tool.describe(call.input)),
          preview,
          why: redact(ruling.reason),
          ...(ruling.mayBeGranted &&
          assessment.grant !== undefined &&
          assessment.grant.length <= mostGrantChars
            ? { grant: { pattern: assessment.grant, toolHash } }
            : {}),
        };
        return { kind: 'ask', ask };
      }
    }
  };
}

/** Of the tool, its exact input and where it would run: what an approval covers. */
function inputHashOf(
  { name, input }: Pick<ToolCallPart, 'name' | 'input'>,
  state: string | undefined,
): string {
  return hashOf(state === undefined ? [name, input] : [name, input, state]);
}

/** Of what the people were shown: words around it (a description, a time) make no other call of it. */
export function shownHashOf({ tool, preview }: Pick<ApprovalAsk, 'tool' | 'preview'>): string {
  return hashOf([tool, 'shown', preview.text]);
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
  now: number,
): Permit {
  // A decision is good for the very input that was shown.
  if (decided.inputHash !== inputHash) {
    return refuse(
      'The approval was for another input. Or the shell does not stand where it stood then (another folder, other exported variables, a restart): look, and call it again.',
    );
  }
  switch (decided.kind) {
    case 'approved':
      if (now >= decided.expiresAt) {
        return refuse(
          'The approval has expired before the call could run. Ask again if it is needed.',
        );
      }
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

/** Writes into the audit what people said on calls, each vote once. */
export function auditVotes(
  deps: ExecuteDeps,
  { id, conversation, runId, asker }: ApprovalRecord,
): Promise<void> {
  const key = conversationKeyOf(conversation);
  return deps.approvals.noteVotes(id, async (ask, vote) => {
    const call = { callId: ask.callId, name: ask.tool, input: ask.preview.text };
    const note = auditOf(deps, { key }, { runId, asker }, call, ask.inputHash);
    const reason = vote.note ?? (vote.scope === 'thread' ? 'for this thread' : 'once');
    await note(vote.decision === 'approve' ? 'approved' : 'refused', reason, vote.by.id);
  });
}
