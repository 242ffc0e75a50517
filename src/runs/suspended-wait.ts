/** A run that sleeps until a time, or until somebody speaks to it. */

import { textResult } from '../tools/scheduler.ts';
import { execute } from './execute.ts';
import {
  goingOn,
  type SuspendedWork,
  storeResultsOnce,
  type Waiting,
} from './suspended-results.ts';

export async function timeWait(work: SuspendedWork): Promise<Waiting | undefined> {
  const { deps, key, record, waiting, turn } = work;
  const { question } = record;
  if (!question) return undefined;
  const { callId, from = record.startedAt, until = from } = question;
  return {
    goOn: async () => {
      const now = deps.clock.now();
      const isOver = now >= until;
      // A new message is worth more than the rest of the sleep; it enters at the next step.
      const isWoken = waiting.some(({ event }) => event.kind === 'message' && !event.author.isBot);
      if (!isOver && !isWoken) return false;
      const minutes = Math.round((now - from) / 60_000);
      const why = isOver ? 'The time has come' : 'Somebody wrote here and woke you';
      const text = `${why}, after ${minutes} min. It is ${new Date(now).toISOString()} now.`;
      const result = textResult({ callId, name: 'Wait' }, 'ok', text);
      const step = await storeResultsOnce(deps, key, record, [result]);
      const resumed = goingOn(record, step, deps.clock.now());
      await deps.records.save(key, resumed);
      await execute(deps, key, resumed, { kind: 'answered' }, turn);
      return true;
    },
    meanwhile: async () => {
      return { kind: 'idle', wakeAtMs: until };
    },
    withdraw: async () => {}, // there is no card
  };
}
