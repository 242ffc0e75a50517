/**
 * What a lane does next with its conversation, by what is stored: finish what ended, go on with
 * what was cut off, resume what was answered, start what waits, or nothing.
 */

import type { ConversationKey } from '../messages/conversation.ts';
import { absorbInto, deliverEnd, type ExecuteDeps, execute } from './execute.ts';
import type { WaitingMessage } from './inbox.ts';
import type { LaneWork } from './lane.ts';
import { prepareRun } from './prepare.ts';
import { openScene } from './scene.ts';
import { workOnQuestion } from './suspended.ts';

type Next = Awaited<ReturnType<LaneWork['next']>>;
type Begin = Parameters<LaneWork['next']>[1];

export function createWork(deps: ExecuteDeps): LaneWork {
  return {
    next: async (key, begin) => {
      const record = await deps.records.read(key);
      switch (record?.state) {
        case 'ending':
          await deliverEnd(deps, key, record);
          return { kind: 'worked' };
        case 'running':
          await execute(deps, key, record, { kind: 'interrupted' }, begin(record.triggerIds));
          return { kind: 'worked' };
        case 'suspended':
          return workOnQuestion(deps, key, record, begin);
        case undefined:
          return startWaiting(deps, key, begin);
      }
    },
  };
}

/** Starts a run for the messages that wait; edits and deletions alone start none. */
async function startWaiting(deps: ExecuteDeps, key: ConversationKey, begin: Begin): Promise<Next> {
  const waiting = await deps.inbox.waiting(key);
  if (waiting.length === 0) return { kind: 'idle' };
  const scene = await openScene(deps, key);
  const messages = messagesToAnswer(waiting);
  if (messages.length === 0) {
    await absorbInto(deps, scene, waiting);
    return { kind: 'worked' };
  }
  const record = await prepareRun(deps, scene, messages);
  // From here on a crash leaves a record by which the run is taken up.
  await deps.records.save(key, record);
  await execute(deps, key, record, undefined, begin(record.triggerIds));
  return { kind: 'worked' };
}

function messagesToAnswer(waiting: readonly WaitingMessage[]): readonly WaitingMessage[] {
  const deleted = new Set(
    waiting.flatMap(({ event }) => (event.kind === 'message_deleted' ? [event.messageId] : [])),
  );
  return waiting.filter(({ event }) => event.kind === 'message' && !deleted.has(event.messageId));
}
