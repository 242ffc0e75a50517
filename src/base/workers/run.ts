/**
 * Heavy computing in a thread of its own (rule of the house: over 50 ms of CPU). The thread can be
 * ended whatever it does, so that nothing that a model asks for holds up the process.
 */

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { abortReasonOf } from '../abort.ts';
import { BotError } from '../errors.ts';

export interface WorkerOptions {
  /** Most memory of the thread's JavaScript heap. */
  readonly mostMemoryMb: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a module in a new thread, gives it `task` as workerData, and resolves with the first message
 * that it posts. Rejects with the
 * signal's reason (the thread is then gone), with tool_failed when it ran out of memory or died, or
 * with what the task threw, as tool_failed.
 */
export async function runInWorker(
  module: URL,
  task: unknown,
  { mostMemoryMb, signal }: WorkerOptions,
): Promise<unknown> {
  if (signal.aborted) throw abortReasonOf(signal);
  const worker = startWorker(module, task, mostMemoryMb);
  try {
    return await answerOf(worker, signal);
  } finally {
    await worker.terminate();
  }
}

/** A thread without the process's environment, with a bounded heap. */
export function startWorker(module: URL, task: unknown, mostMemoryMb: number): Worker {
  return new Worker(module.pathname.endsWith('.ts') ? fromSource(module) : module, {
    workerData: task,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb },
  });
}

/** From sources (tests, development) a thread needs a loader of its own. */
function fromSource(module: URL): URL {
  const required = createRequire(import.meta.url).resolve('tsx/esm/api');
  const loader = pathToFileURL(required.replace(/\.cjs$/u, '.mjs'));
  const text = `import { register } from ${JSON.stringify(loader.href)};
register();
await import(${JSON.stringify(module.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

export function isOutOfMemory(thrown: Error): boolean {
  return 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY';
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
