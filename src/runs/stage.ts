/** A conversation with the reply that its run shows, and what its transcript says of the run. */

import type { Entry } from '../messages/entries.ts';
import { textOf } from '../messages/parts.ts';
import type { StepText } from '../render/document.ts';
import { noPages, replyPagesSchema } from '../render/page-book.ts';
import { createReply, type Reply } from '../render/reply.ts';
import { readValidated } from '../storage/validated.ts';
import { stopButton } from './controls.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { hasMadeImage } from './made-images.ts';
import { placeOfScene } from './membership.ts';
import { type RunRecord, replyIdOf } from './run-record.ts';
import { openScene, type Scene } from './scene.ts';
import type { SourcedReply } from './settings.ts';

export interface Stage extends Scene {
  readonly reply: Reply;
  /** What people see of a run here. */
  readonly sees: SourcedReply;
  /** Whether anything of this part of the reply is posted, or being posted. */
  hasPages(): boolean;
}

const keptReplyMs = 120 * 24 * 3600 * 1000;

export async function openStage(deps: ExecuteDeps, key: string, record: RunRecord): Promise<Stage> {
  const scene = await openScene(deps, key);
  const { adapter, conversation, head, transcript } = scene;
  const pagesKey = `reply:${replyIdOf(record)}`;
  let pages = (await readValidated(deps, pagesKey, replyPagesSchema)) ?? noPages;
  const { reply: sees } = deps.profileOf(placeOfScene(scene));
  const hasStatus = sees.seen.value !== 'reaction';
  const live = adapter.liveSurfaceOf(conversation, head?.title);
  const reply = createReply(
    {
      clock: deps.clock,
      log: deps.log,
      surface: hasStatus ? deps.statuses.kept(key, live) : { ...live, status: async () => true },
      capabilities: adapter.capabilities,
      pacer: adapter.pacer,
      redactor: deps.redactor,
      savePages: async (value) => {
        pages = value;
        await deps.store.set(pagesKey, value, { ttlMs: keptReplyMs });
      },
    },
    {
      replyId: replyIdOf(record),
      conversation,
      asker: record.asker.id,
      pages,
      steps: stepsOf(transcript.entries(), record),
      mentionable: head?.people ?? [],
      controls: [stopButton],
      show: { activity: sees.activity.value, thinking: sees.thinking.value },
    },
  );
  return { ...scene, reply, sees, hasPages: () => pages.pages.length > 0 };
}

/** Texts of this segment's finished steps. */
function stepsOf(entries: readonly Entry[], record: RunRecord): readonly StepText[] {
  return entries.flatMap((entry) =>
    entry.kind === 'assistant_message' &&
    entry.runId === record.runId &&
    entry.step > record.segmentFromStep
      ? [{ text: textOf(entry.parts), goesOn: entry.stop === 'broken' || entry.stop === 'paused' }]
      : [],
  );
}

/** Whether this segment has said nothing since it was last addressed. */
export function isSilent(entries: readonly Entry[], record: RunRecord): boolean {
  const lastAddressed = entries.findLastIndex(
    (entry) => entry.kind === 'user_message' && entry.addressed,
  );
  const segmentStart = entries.findLastIndex(
    (entry) =>
      entry.kind === 'assistant_message' &&
      entry.runId === record.runId &&
      entry.step <= record.segmentFromStep,
  );
  const since = entries.slice(Math.max(lastAddressed, segmentStart) + 1);
  if (hasMadeImage(since, record.runId)) return false;
  return stepsOf(since, record).every(({ text }) => text.trim() === '');
}

/** Whether a message that set the run off is still there. */
export function hasTrigger(entries: readonly Entry[], record: RunRecord): boolean {
  return entries.some(
    (entry) => entry.kind === 'user_message' && record.triggerIds.includes(entry.messageId),
  );
}
