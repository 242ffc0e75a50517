/** In a thread of its own: opens a PDF and counts its pages. */

import { getDocumentProxy } from 'unpdf';
import { z } from 'zod';
import { answerTasks } from './workers/answer.ts';

const taskSchema = z.instanceof(Uint8Array);

async function inspect(content: Uint8Array) {
  try {
    // Its complaints would go to the console.
    const { numPages } = await getDocumentProxy(content, { verbosity: 0 });
    return { kind: 'read', pages: numPages };
  } catch (thrown) {
    const isLocked = thrown instanceof Error && thrown.name === 'PasswordException';
    return { kind: isLocked ? 'locked' : 'broken' };
  }
}

answerTasks((task) => inspect(taskSchema.parse(task)));
