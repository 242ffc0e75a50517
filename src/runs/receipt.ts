/** The last line of a reply: which model answered, with what, and what it cost. */

import { formatCount, formatUsd } from '../base/text.ts';
import type { UsageSum } from '../conversations/usage-ledger.ts';
import type { RunRecord } from './run-record.ts';

export interface ReceiptFacts {
  readonly record: Pick<RunRecord, 'modelName' | 'handovers' | 'segment' | 'startedAt'>;
  readonly sum: UsageSum;
  readonly toolCalls: number;
  readonly nowMs: number;
}

/** Undefined where nothing is to be said. */
export function receiptOf(
  { record, sum, toolCalls, nowMs }: ReceiptFacts,
  mode: 'always' | 'changes' | 'off',
): string | undefined {
  const last = record.handovers.at(-1);
  if (mode === 'off' || (mode === 'changes' && !last)) return undefined;
  const answered = last
    ? `Answered by ${last.to} in place of ${record.modelName}, because ${last.reason}`
    : record.modelName;
  if (mode === 'changes') return `${answered}.`;
  // A run that waited for people says nothing of its time: most of it was theirs.
  const seconds = Math.round((nowMs - record.startedAt) / 1000);
  return [
    answered,
    ...(toolCalls === 0 ? [] : [toolCalls === 1 ? '1 tool call' : `${toolCalls} tool calls`]),
    ...(record.segment > 1 ? [] : [`${seconds} s`]),
    `${formatCount(tokensOf(sum))} tokens`,
    costText(sum),
  ].join(' · ');
}

/** Work that takes less is not worth a line. */
const leastTools = 2;
const leastWorkMs = 10_000;

/**
 * What is left of the line on the work, once it is done: `4 tools, 38 s`. Undefined where there was
 * hardly any, and for a run that waited for people: most of its time was theirs.
 */
export function foldedWork({
  record: { segment, startedAt },
  toolCalls,
  nowMs,
}: Pick<ReceiptFacts, 'toolCalls' | 'nowMs'> & {
  readonly record: Pick<RunRecord, 'segment' | 'startedAt'>;
}): string | undefined {
  const tookMs = nowMs - startedAt;
  const isHardlyAny = toolCalls < leastTools && tookMs < leastWorkMs;
  if (segment > 1 || toolCalls === 0 || isHardlyAny) return undefined;
  return `${toolCalls === 1 ? '1 tool' : `${toolCalls} tools`}, ${Math.round(tookMs / 1000)} s`;
}

export function tokensOf({ usage }: UsageSum): number {
  return usage.input + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning;
}

/** `$0.12`, `cost unknown`, or `at least $0.12` where some calls have no price. */
export function costText({ calls, costUsd, unknownCalls }: UsageSum): string {
  if (unknownCalls === 0) return formatUsd(costUsd);
  return unknownCalls === calls && costUsd === 0
    ? 'cost unknown'
    : `at least ${formatUsd(costUsd)}`;
}
