/**
 * Threads that are kept for the next task, where starting one costs more than the task: one task at
 * a time in each, as many as there are tasks, and one that stays while there is none.
 */

import type { Worker } from 'node:worker_threads';
import { abortReasonOf } from '../abort.ts';
import { BotError } from '../errors.ts';
import { isOutOfMemory, startThread } from './start.ts';

export interface WarmWorkers {
  /**
   * Rejects with the signal's reason (the thread is ended), or with tool_failed when the
   * thread ran out of memory or died.
   */
  run(task: unknown, signal: AbortSignal): Promise<unknown>;
  /** Resolves when all threads have ended; tasks under way fail, and later ones too. */
  close(): Promise<void>;
}

/** `module` calls `answerTasks`. An idle thread does not keep the process alive. */
export function createWarmWorkers(
  module: URL,
  options: { readonly mostMemoryMb: number },
): WarmWorkers {
  const all = new Set<Worker>();
  let idle: Worker | undefined;
  let isClosed = false;

  const take = (): Worker => {
    const kept = idle;
    idle = undefined;
    if (kept) {
      kept.ref();
      return kept;
    }
    const worker = startThread(module, options);
    all.add(worker);
    worker.once('exit', () => {
      all.delete(worker);
      if (idle === worker) idle = undefined;
    });
    // While it is idle nobody else listens, and an unheard error would end the process.
    worker.on('error', () => undefined);
    return worker;
  };
  const giveBack = (worker: Worker): void => {
    if (idle || isClosed) {
      end(worker);
    } else if (all.has(worker)) {
      worker.unref();
      idle = worker;
    }
  };
  // Its end is waited for by close: whoever stopped it goes on at once.
  const end = (worker: Worker): void => void worker.terminate();
  return {
    run: async (task, signal) => {
      if (signal.aborted) throw abortReasonOf(signal);
      if (isClosed) throw new BotError('tool_failed', 'It is shutting down.');
      const worker = take();
      try {
        const answer = await answerOf(worker, task, signal);
        giveBack(worker);
        return answer;
      } catch (thrown) {
        end(worker);
        throw thrown;
      }
    },
    close: async () => {
      isClosed = true;
      await Promise.all(Array.from(all, (worker) => worker.terminate()));
    },
  };
}

function answerOf(worker: Worker, task: unknown, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const failed = (sentence: string, cause?: unknown): void => {
      settle();
      reject(new BotError('tool_failed', sentence, { cause }));
    };
    const onAbort = (): void => {
      settle();
      reject(abortReasonOf(signal));
    };
    const onMessage = (answer: unknown): void => {
      settle();
      resolve(answer);
    };
    const onError = (thrown: Error): void =>
      failed(
        isOutOfMemory(thrown) ? 'It needed too much memory and was ended.' : 'Its thread failed.',
        thrown,
      );
    const onExit = (): void => failed('Its thread ended early.');
    const settle = (): void => {
      signal.removeEventListener('abort', onAbort);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage(task);
  });
}
