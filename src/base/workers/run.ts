/**
 * Heavy computing in a thread of its own (rule of the house: over 50 ms of CPU). The thread can be
 * ended whatever it does, so that nothing that a model asks for holds up the process.
 */

import type { Worker } from 'node:worker_threads';
import { abortReasonOf } from '../abort.ts';
import { BotError } from '../errors.ts';
import { isOutOfMemory, startThread } from './start.ts';

export interface WorkerOptions {
  /** Most memory of the thread's JavaScript heap. */
  readonly mostMemoryMb: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a module of `answerTasks` in a new thread and resolves with its answer. Rejects with the
 * signal's reason (the thread is then gone), with tool_failed when it ran out of memory or died, or
 * with what the task threw, as tool_failed.
 */
export async function runInWorker(
  module: URL,
  task: unknown,
  { mostMemoryMb, signal }: WorkerOptions,
): Promise<unknown> {
  if (signal.aborted) throw abortReasonOf(signal);
  const worker = startThread(module, { mostMemoryMb, workerData: task });
  try {
    return await answerOf(worker, signal);
  } finally {
    await worker.terminate();
  }
}

function answerOf(worker: Worker, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReasonOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', resolve);
    worker.once('error', (thrown: Error) => {
      const sentence = isOutOfMemory(thrown)
        ? 'It needed too much memory and was ended.'
        : thrown.message;
      reject(new BotError('tool_failed', sentence, { cause: thrown }));
    });
    worker.once('exit', () => {
      signal.removeEventListener('abort', onAbort);
      reject(new BotError('tool_failed', 'Its thread ended early.'));
    });
  });
}
