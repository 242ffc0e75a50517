/** Starting a thread from the compiled module or, in tests and development, from its source. */

import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

export interface ThreadOptions {
  /** Most memory of the thread's JavaScript heap. */
  readonly mostMemoryMb: number;
  /** Handed over at the start. */
  readonly workerData?: unknown;
}

/** The module `name` beside the one whose address is `here`, in the same form (.ts or .js). */
export function moduleBeside(here: string, name: string): URL {
  return new URL(`./${name}${path.extname(new URL(here).pathname)}`, here);
}

/** A thread without the environment of the process. */
export function startThread(module: URL, { mostMemoryMb, workerData }: ThreadOptions): Worker {
  return new Worker(module.pathname.endsWith('.ts') ? fromSource(module) : module, {
    workerData,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb },
  });
}

/** On Node 20 `--import tsx` does nothing in a thread: the loader is registered inside it. */
function fromSource(module: URL): URL {
  const required = createRequire(import.meta.url).resolve('tsx/esm/api');
  // Of its two forms only the module's registers from inside a module.
  const loader = pathToFileURL(required.replace(/\.cjs$/u, '.mjs'));
  const code = `import { register } from ${JSON.stringify(loader.href)};
register();
await import(${JSON.stringify(module.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

export function isOutOfMemory(thrown: Error): boolean {
  return 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
