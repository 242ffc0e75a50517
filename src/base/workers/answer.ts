/** The thread's side: a module calls this once, and answers what it is asked. */

import { parentPort, workerData } from 'node:worker_threads';

/**
 * Answers the one task that the thread was started with (`runInWorker`) or, started without, one
 * task after the other (`createWarmWorkers`). A throw ends the thread and fails its task.
 */
export function answerTasks(answer: (task: unknown) => unknown): void {
  const port = parentPort;
  if (!port) throw new Error('this module runs in a thread only');
  const given: unknown = workerData;
  const reply = async (task: unknown): Promise<void> => port.postMessage(await answer(task));
  if (given !== undefined && given !== null) void reply(given);
  else port.on('message', (task: unknown) => void reply(task));
}
