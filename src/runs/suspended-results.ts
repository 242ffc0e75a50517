/** What suspended runs share: results that are stored once, and the end of a run that is over. */

import { lastStepOf } from '../agent/run.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { EntryOf } from '../messages/entries.ts';
import type { ToolResult } from '../messages/parts.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { WaitingMessage } from './inbox.ts';
import type { Next, Turn } from './lane.ts';
import { plainEnd, type RunRecord } from './run-record.ts';
import { openScene } from './scene.ts';

/** What a suspended run is worked on with. */
export interface SuspendedWork {
  readonly deps: ExecuteDeps;
  readonly key: ConversationKey;
  readonly record: RunRecord;
  readonly waiting: readonly WaitingMessage[];
  readonly turn: Turn;
}

/** One kind of waiting. */
export interface Waiting {
  /** Goes on if what it waits for is there; false when it still waits. */
  goOn(): Promise<boolean>;
  /** While it waits: what may be done meanwhile, and when to look again. */
  meanwhile(): Promise<Next>;
  /** Takes the card away; `told`: why, for the model. */
  withdraw(told: string): Promise<void>;
}

/** Stores the results that are not there yet (an earlier life may have); the step they belong to. */
export async function storeResultsOnce(
  deps: ExecuteDeps,
  key: ConversationKey,
  { runId }: RunRecord,
  results: readonly ToolResult[],
  answers?: EntryOf<'tool_results'>['answers'],
): Promise<number> {
  const { transcript } = await openScene(deps, key);
  const step = lastStepOf(transcript.entries(), runId);
  const known = new Set(
    transcript.entries().flatMap((entry) =>
      // Ids of calls may come again in a later step.
      entry.kind === 'tool_results' && entry.runId === runId && entry.step === step
        ? entry.results.map(({ callId }) => callId)
        : [],
    ),
  );
  const fresh = results.filter(({ callId }) => !known.has(callId));
  if (fresh.length === 0) return step;
  await transcript.append([
    {
      v: 1,
      at: deps.clock.now(),
      kind: 'tool_results',
      runId,
      step,
      results: fresh,
      ...(answers ? { answers } : {}),
    },
  ]);
  return step;
}

/** The last words of a suspended run that will not go on; the lane brings them out. */
export async function endSuspended(
  deps: ExecuteDeps,
  key: ConversationKey,
  record: RunRecord,
  step: number,
  told: string,
  canContinue: boolean,
): Promise<void> {
  const { question: _over, ...rest } = record;
  await deps.records.save(key, {
    ...rest,
    state: 'ending',
    segment: record.segment + 1,
    segmentFromStep: step,
    end: { ...plainEnd([told]), canContinue },
  });
}

/** The run as it goes on: what comes now is a new part of the reply. */
export function goingOn(record: RunRecord, step: number, nowMs: number): RunRecord {
  const { question: _answered, end: _end, ...rest } = record;
  return {
    ...rest,
    state: 'running',
    segment: record.segment + 1,
    segmentFromStep: step,
    segmentStartedAt: nowMs,
  };
}

export function deletionsIn(waiting: readonly WaitingMessage[]): readonly string[] {
  return waiting.flatMap(({ event }) =>
    event.kind === 'message_deleted' ? [event.messageId] : [],
  );
}

/** Lines that wait for the end of the suspension are marked as noted. */
export async function showWaiting(
  deps: ExecuteDeps,
  key: ConversationKey,
  waiting: readonly WaitingMessage[],
): Promise<void> {
  const messages = waiting.filter(({ event }) => event.kind === 'message');
  if (messages.length === 0) return;
  const { surface } = await openScene(deps, key);
  for (const { event } of messages) deps.signs.putOn(surface, event.messageId);
}
