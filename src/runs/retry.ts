/**
 * Setting a run off again that failed: the same turn, with what it has done already, once, and only
 * as long as nothing new was said.
 */

import { z } from 'zod';
import { lastStepOf } from '../agent/run.ts';
import { sleep } from '../base/clock.ts';
import { createKeyedQueue } from '../base/queues.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Entry } from '../messages/entries.ts';
import type { Author } from '../messages/people.ts';
import { readValidated } from '../storage/validated.ts';
import { wakeEntryOf } from '../storage/wakes.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { Lanes } from './lane.ts';
import { modelNow } from './prepare.ts';
import { type RunRecord, runRecordSchema } from './run-record.ts';
import { openScene, type Scene } from './scene.ts';
import { refusalToStart } from './spending.ts';
import { goingOn } from './suspended-results.ts';

const failedSchema = z.object({
  v: z.literal(1),
  record: runRecordSchema,
  /** The newest thing that people had said. */
  newest: z.string(),
});

const keptMs = 7 * 24 * 3600 * 1000;
const lookAgainMs = 250;
const mostLooks = 20;
const keyOf = (key: ConversationKey): string => `failed:${key}`;

/** Keeps what a later Retry needs. */
export async function keepForRetry(
  deps: ExecuteDeps,
  { key, transcript }: Pick<Scene, 'key' | 'transcript'>,
  record: RunRecord,
): Promise<void> {
  const newest = newestOf(transcript.entries());
  await deps.store.set(keyOf(key), { v: 1, record, newest }, { ttlMs: keptMs });
}

function newestOf(entries: readonly Entry[]): string {
  const said = entries.findLast(
    (entry) => entry.kind === 'user_message' || entry.kind === 'fresh_start',
  );
  return said?.kind === 'user_message' ? said.messageId : `fresh:${said?.at ?? 0}`;
}

export interface Retries {
  /** Sets it off again; else the sentence for the person why not. */
  retry(key: ConversationKey, author: Author): Promise<string | undefined>;
}

const triedBefore = 'This was tried again already. Write to me if you still need it.';

export function createRetries(deps: ExecuteDeps & { readonly lanes: () => Lanes }): Retries {
  /** Two clicks follow each other: the second finds the run of the first. */
  const clicks = createKeyedQueue();

  const retryOnce = async (key: ConversationKey, author: Author): Promise<string | undefined> => {
    const failed = await readValidated(deps, keyOf(key), failedSchema);
    await untilShown(key);
    const isOpen = (await deps.records.read(key)) !== undefined || (await isSpokenTo(key));
    if (!failed || isOpen) return triedBefore;
    const scene = await openScene(deps, key);
    if (newestOf(scene.transcript.entries()) !== failed.newest) return triedBefore;
    const { runId, segment } = failed.record;
    const refusal = await refusalToStart(deps, key, `${runId}.${segment}`, author);
    if (refusal !== undefined) return refusal;
    const record = await anew(deps, scene, failed.record);
    await deps.audit.record({ kind: 'run_retried', conversation: key, runId, by: author.id });
    // First the wake-up: the record alone would wait for the next message.
    await deps.store.addToIndex(wakeEntryOf(key, deps.clock.now()));
    await deps.records.save(key, record);
    await deps.store.delete(keyOf(key));
    deps.log.info('run_started', {
      runId,
      conversation: key,
      model: record.modelName,
      again: true,
    });
    deps.lanes().wake(key);
    return undefined;
  };

  /** A click may come before the platform's answer to the edit that shows the button. */
  const untilShown = async (key: ConversationKey): Promise<void> => {
    for (let look = 1; look < mostLooks; look += 1) {
      if ((await deps.records.read(key))?.state !== 'ending') return;
      await sleep(deps.clock, lookAgainMs);
    }
  };

  const isSpokenTo = async (key: ConversationKey): Promise<boolean> =>
    (await deps.inbox.waiting(key)).some(({ event }) => event.kind === 'message');

  return { retry: (key, author) => clicks.run(key, () => retryOnce(key, author)) };
}

/** The run as it begins again: a new part of the reply, with the model that is chosen now. */
async function anew(deps: ExecuteDeps, scene: Scene, failed: RunRecord): Promise<RunRecord> {
  const step = lastStepOf(scene.transcript.entries(), failed.runId);
  const model = await modelNow(deps, scene);
  return {
    ...goingOn(failed, step, deps.clock.now()),
    ...model,
    notices: [],
    handovers: [],
    isRetry: true,
  };
}
