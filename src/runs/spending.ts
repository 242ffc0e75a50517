/** What a run may spend and what it spent: limits before, the ledger after each model call. */

import type { MeteredCall } from '../agent/contract.ts';
import type { Citation } from '../messages/chat.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Entry } from '../messages/entries.ts';
import type { Author } from '../messages/people.ts';
import { reachedLimit, tooManyRuns } from '../permissions/limits.ts';
import type { LimitSettings } from '../permissions/settings.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { foldedWork, receiptOf } from './receipt.ts';
import type { RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';
import type { Stage } from './stage.ts';

const dayMs = 24 * 3600 * 1000;

/** A sentence for people when the asker has started too many runs; counts this one otherwise. */
export async function refusalToStart(
  deps: ExecuteDeps,
  key: ConversationKey,
  runId: string,
  asker: Author,
): Promise<string | undefined> {
  const { limits } = deps.settings;
  const waitMs = await deps.quota.take(asker.id, runId, limits.runsPerPersonHour);
  if (waitMs === undefined) return undefined;
  await auditLimit(deps, key, runId, asker.id, 'runsPerPersonHour');
  return tooManyRuns(asker.name, limits, waitMs);
}

/** A sentence for people when no money is left for a further step. */
export async function spentLimit(
  deps: ExecuteDeps,
  { key }: Scene,
  record: RunRecord,
): Promise<string | undefined> {
  const { limits } = deps.settings;
  if (limits.usdPerRun === undefined && limits.usdPerDay === undefined) return undefined;
  const run = await deps.ledger.sum({ kind: 'run', id: record.runId }, daysOf(deps, record));
  const day = await deps.ledger.sum({ kind: 'all' });
  const reached = reachedLimit({ runUsd: run.costUsd, dayUsd: day.costUsd }, limits);
  if (!reached) return undefined;
  await auditLimit(deps, key, record.runId, record.asker.id, reached.limit);
  return reached.text;
}

export async function recordCall(
  deps: ExecuteDeps,
  { conversation }: Scene,
  { runId, asker }: RunRecord,
  step: number,
  call: MeteredCall,
): Promise<void> {
  await deps.ledger.record({ ...call, runId, step, conversation, person: asker.id });
}

/** One line on what a run took; undefined where nothing is to be said. `atLeast`: what the line says
 * where the settings do not want more, or none at all. */
export async function receiptLine(
  deps: ExecuteDeps,
  { transcript }: Scene,
  record: RunRecord,
  atLeast: 'always' | 'changes' = 'changes',
): Promise<string | undefined> {
  const { receipt } = deps.settings.runs;
  const mode = receipt === 'changes' ? atLeast : receipt;
  if (mode === 'off' || (mode === 'changes' && record.handovers.length === 0)) return undefined;
  const sum = await deps.ledger.sum({ kind: 'run', id: record.runId }, daysOf(deps, record));
  const toolCalls = countCalls(transcript.entries(), record.runId);
  return receiptOf({ record, sum, toolCalls, nowMs: deps.clock.now() }, mode);
}

/** One line on the work that people saw while it was done; undefined where they see none. */
export function workLine(
  deps: ExecuteDeps,
  { transcript, sees }: Stage,
  record: RunRecord,
): string | undefined {
  if (sees.activity.value === 'off') return undefined;
  const toolCalls = countCalls(transcript.entries(), record.runId);
  return foldedWork({ record, toolCalls, nowMs: deps.clock.now() });
}

/** Days that a run touches: it may have waited for people. */
export function daysOf(deps: ExecuteDeps, { startedAt }: RunRecord): number {
  return Math.floor((deps.clock.now() - startedAt) / dayMs) + 2;
}

function countCalls(entries: readonly Entry[], runId: string): number {
  return entries
    .flatMap((entry) =>
      entry.kind === 'assistant_message' && entry.runId === runId ? entry.parts : [],
    )
    .filter(({ kind }) => kind === 'tool_call').length;
}

export async function auditLimit(
  deps: ExecuteDeps,
  conversation: string,
  runId: string,
  person: string,
  limit: keyof LimitSettings,
): Promise<void> {
  await deps.audit.record({ kind: 'limit_reached', conversation, runId, limit, person });
}

const mostSources = 8;

/** `Sources: [Title](url) · …`; undefined without any. */
export function sourcesLine(sources: readonly Citation[]): string | undefined {
  const byUrl = new Map(sources.map((source) => [source.url, source.title]));
  if (byUrl.size === 0) return undefined;
  const links = [...byUrl]
    .slice(0, mostSources)
    .map(([url, title]) => `[${title.replace(/[[\]\\`*_]/gu, ' ').trim() || url}](<${url}>)`);
  const more = byUrl.size > mostSources ? ` and ${byUrl.size - mostSources} more` : '';
  return `Sources: ${links.join(' · ')}${more}`;
}
