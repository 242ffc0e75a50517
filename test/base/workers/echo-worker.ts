/** A thread for tests: does what its task says. */

import { threadId } from 'node:worker_threads';
import { z } from 'zod';
import { answerTasks } from '../../../src/base/workers/answer.ts';

const taskSchema = z.object({
  does: z.enum(['echo', 'throw', 'spin', 'fill', 'thread', 'env']),
  /** Counts the turns of a spin. */
  turns: z.instanceof(Int32Array).default(() => new Int32Array(1)),
});

answerTasks((raw) => {
  const { does, turns } = taskSchema.parse(raw);
  switch (does) {
    case 'echo':
      return raw;
    case 'throw':
      throw new Error('as it was told');
    case 'spin':
      for (;;) Atomics.add(turns, 0, 1);
    case 'fill': {
      const kept: number[][] = [];
      for (;;) kept.push(Array.from({ length: 10_000 }, (_, at) => at));
    }
    case 'thread':
      return threadId;
    case 'env':
      return Object.keys(process.env);
  }
});
