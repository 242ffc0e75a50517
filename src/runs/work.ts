/**
 * What a lane does next with its conversation, by what is stored: finish what ended, go on with
 * what was cut off, resume what was answered, start what waits, or nothing.
 */

import type { ConversationKey } from '../messages/conversation.ts';
import { deliverEnd } from './ending.ts';
import { absorbInto, execute } from './execute.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { WaitingMessage } from './inbox.ts';
import type { LaneWork, Next, Turn } from './lane.ts';
import { prepareRun } from './prepare.ts';
import { openScene } from './scene.ts';
import { workOnSuspended } from './suspended.ts';

const worked: Next = { kind: 'worked' };

export function createWork(deps: ExecuteDeps): LaneWork {
  return {
    next: async (key, turn) => {
      const record = await deps.records.read(key);
      switch (record?.state) {
        case 'ending':
          await deliverEnd(deps, key, record, turn);
          return worked;
        case 'running': {
          // Somebody said stop, and the process died before the run had ended.
          const stop = await deps.records.stopRequest(key);
          if (stop) turn.stop(stop.by, 'person');
          await execute(deps, key, record, { kind: 'interrupted' }, turn);
          return worked;
        }
        case 'suspended':
          return workOnSuspended(deps, key, record, turn);
        case undefined:
          return startWaiting(deps, key, turn);
      }
    },
  };
}

/** Starts a run for the messages that wait; edits and deletions alone start none. */
async function startWaiting(deps: ExecuteDeps, key: ConversationKey, turn: Turn): Promise<Next> {
  const waiting = await deps.inbox.waiting(key);
  await heedStop(deps, key, turn, waiting);
  if (waiting.length === 0) return { kind: 'idle' };
  const scene = await openScene(deps, key);
  const messages = messagesToAnswer(waiting);
  if (messages.length === 0) {
    await absorbInto(deps, scene, waiting);
    return worked;
  }
  const record = await prepareRun(deps, scene, messages);
  // From here on a crash leaves a record by which the run is taken up.
  await deps.records.save(key, record);
  await execute(deps, key, record, undefined, turn);
  return worked;
}

/** A stop that was said while the messages waited ends their run before it begins. */
async function heedStop(
  deps: ExecuteDeps,
  key: ConversationKey,
  turn: Turn,
  waiting: readonly WaitingMessage[],
): Promise<void> {
  const stop = await deps.records.stopRequest(key);
  if (!stop) return;
  const isMeant = waiting.length > 0 && waiting.every(({ takenAt }) => takenAt <= stop.at);
  if (isMeant) turn.stop(stop.by, 'person');
  else await deps.records.clearStop(key);
}

/** People first; bots that were let in have runs of their own. */
function messagesToAnswer(waiting: readonly WaitingMessage[]): readonly WaitingMessage[] {
  const deleted = new Set(
    waiting.flatMap(({ event }) => (event.kind === 'message_deleted' ? [event.messageId] : [])),
  );
  const messages = waiting.filter(
    ({ event }) => event.kind === 'message' && !deleted.has(event.messageId),
  );
  const ofPeople = messages.filter(({ event }) => event.kind === 'message' && !event.author.isBot);
  return ofPeople.length > 0 ? ofPeople : messages;
}
