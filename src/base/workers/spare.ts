/**
 * Threads that are slow to start, one a task: the next one is started ahead and waits. A thread is
 * never used twice, so that nothing of one task is left for another.
 */

import type { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { isOutOfMemory, startThread } from './start.ts';

/** What a thread is sent: first its task; `end` asks it to answer with what it has. */
export type WorkerOrder<Task> =
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'end' };

export type WorkerEnd =
  /** The first message that the thread posted. */
  | { readonly kind: 'answered'; readonly answer: unknown; readonly isLate: boolean }
  | { readonly kind: 'timed_out' | 'stopped' | 'out_of_memory' }
  | { readonly kind: 'died'; readonly message: string };

export interface SpareWorkersOptions {
  readonly module: URL;
  /** Most memory of a thread's JavaScript heap. */
  readonly mostMemoryMb: number;
}

export interface SpareWorkers {
  /** Never rejects. The thread is gone when it resolves. */
  run(task: unknown, timeoutMs: number, signal: AbortSignal): Promise<WorkerEnd>;
  close(): Promise<void>;
}

/** How long a thread that is out of time may take to answer with what it has. */
const lastWordsMs = 300;

export function createSpareWorkers(
  { clock }: { readonly clock: Clock },
  { module, mostMemoryMb }: SpareWorkersOptions,
): SpareWorkers {
  let spare: Worker | undefined;
  let isClosed = false;
  const warmUp = (): void => {
    if (spare || isClosed) return;
    const worker = startThread(module, { mostMemoryMb });
    const forget = (): void => {
      if (spare === worker) spare = undefined;
    };
    worker.once('error', forget);
    worker.once('exit', forget);
    worker.unref();
    spare = worker;
  };
  const take = (): Worker => {
    const worker = spare ?? startThread(module, { mostMemoryMb });
    spare = undefined;
    worker.ref();
    return worker;
  };
  return {
    run: async (task, timeoutMs, signal) => {
      if (signal.aborted) return { kind: 'stopped' };
      const worker = take();
      const order: WorkerOrder<unknown> = { kind: 'task', task };
      worker.postMessage(order);
      try {
        return await endOf(clock, worker, timeoutMs, signal);
      } finally {
        await worker.terminate();
        warmUp();
      }
    },
    close: async () => {
      isClosed = true;
      const worker = spare;
      spare = undefined;
      await worker?.terminate();
    },
  };
}

function endOf(
  clock: Clock,
  worker: Worker,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    let isLate = false;
    let cancel = (): void => {};
    const settle = (end: WorkerEnd): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      resolve(end);
    };
    const onAbort = (): void => settle({ kind: 'stopped' });
    signal.addEventListener('abort', onAbort, { once: true });
    cancel = clock.setTimer(timeoutMs, () => {
      isLate = true;
      const order: WorkerOrder<unknown> = { kind: 'end' };
      worker.postMessage(order);
      cancel = clock.setTimer(lastWordsMs, () => settle({ kind: 'timed_out' }));
    });
    worker.once('message', (answer: unknown) => settle({ kind: 'answered', answer, isLate }));
    worker.once('error', (thrown: Error) => {
      settle(
        isOutOfMemory(thrown)
          ? { kind: 'out_of_memory' }
          : { kind: 'died', message: thrown.message },
      );
    });
    worker.once('exit', () => settle({ kind: 'died', message: 'Its thread ended early.' }));
  });
}
