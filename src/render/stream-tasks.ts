/** Tool calls and the checklist as tasks of a platform's own stream. */

import type { StreamTask } from '../surface/surface.ts';
import type { ReplyDocument } from './document.ts';

/** More than people look through; what is appended to a stream counts to its length. */
const mostTasks = 20;

const states = { pending: 'pending', running: 'running', done: 'done' } as const;

/** In the order in which they should stand. */
export function tasksOf({ calls, checklist }: ReplyDocument): readonly StreamTask[] {
  const byStart = calls.toSorted((one, other) => one.since - other.since);
  return [
    ...checklist.map(
      ({ text, state }, index): StreamTask => ({
        id: `item.${index + 1}`,
        title: text,
        state: states[state],
      }),
    ),
    ...byStart.map(({ callId, line, state }): StreamTask => ({ id: callId, title: line, state })),
  ];
}

/**
 * Those that the message does not show as they are; new ones only while there is room. `untold`: so
 * many of the shown ones take none.
 */
export function changedTasks(
  tasks: readonly StreamTask[],
  shown: ReadonlyMap<string, StreamTask>,
  untold: number,
): readonly StreamTask[] {
  let room = mostTasks - shown.size + untold;
  return tasks.filter((task) => {
    const known = shown.get(task.id);
    if (known) return known.title !== task.title || known.state !== task.state;
    room -= 1;
    return room >= 0;
  });
}
