/**
 * A new message at the end of a run, for those who look elsewhere: an edit notifies nobody. It
 * mentions the asker, and nobody else.
 */

import { isBotError } from '../base/errors.ts';
import { errorFacts } from '../base/log.ts';
import { deliver } from '../surface/deliver.ts';
import type { Button, OutboundMessage } from '../surface/outbound.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { type RunRecord, replyIdOf } from './run-record.ts';
import type { Stage } from './stage.ts';

/** Work that takes longer is not watched to its end. */
const longMs = 60_000;

/** Whether the end is told by a message of its own. */
export function isNews(
  stage: Pick<Stage, 'sees' | 'hasPages'>,
  record: RunRecord,
  how: 'finished' | 'failed',
  nowMs: number,
): boolean {
  const mode = stage.sees.notify.value;
  if (mode === 'off' || record.asker.isBot) return false;
  // Where nothing is shown yet the failure is a new message anyway.
  if (how === 'failed') return stage.hasPages();
  return mode === 'always' || nowMs - (record.segmentStartedAt ?? record.startedAt) > longMs;
}

/** One line for the asker: `@Anna done · …`. */
export function newsOf({ asker }: RunRecord, line: string): string {
  return `@${asker.name.replace(/([\\`*_[\]<>~|])/gu, '\\$1')} ${line}`;
}

/** Posts the news once, whatever happens between its post and the end of the run's record. */
export async function tellNews(
  deps: ExecuteDeps,
  { key, surface }: Stage,
  record: RunRecord,
  buttons: readonly Button[],
  cutOff: AbortSignal,
): Promise<void> {
  const { end, asker } = record;
  if (!end?.news) return;
  const { text, isBegun } = end.news;
  if (!isBegun) {
    const news = { text, isBegun: true };
    await deps.records.save(key, { ...record, end: { ...end, news } });
  }
  const message: OutboundMessage = {
    blocks: [
      { kind: 'markdown', text },
      ...(buttons.length === 0 ? [] : [{ kind: 'buttons', buttons } as const]),
    ],
    mentionable: [{ id: asker.id, name: asker.name }],
  };
  const options = { key: `${replyIdOf(record)}.end` };
  try {
    await deliver(
      deps.clock,
      (attempt) => surface.post(message, { ...options, maybePosted: isBegun || attempt > 1 }),
      cutOff,
    );
  } catch (thrown) {
    const isFinal = isBotError(thrown, 'surface_gone', 'message_refused', 'message_too_long');
    if (!isFinal) throw thrown;
    deps.log.warn('news_not_told', { runId: record.runId, ...errorFacts(thrown) });
  }
}
