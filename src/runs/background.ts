/** Work that nobody waits for, but that is watched: it cannot end the process, and stopping waits
 * for it. */

import { errorFacts, type Log } from '../base/log.ts';

export interface Background {
  /** Starts the work; a failure is logged under the name. */
  start(name: string, work: () => Promise<void>): void;
  /** Resolves when all that was started has ended. */
  settled(): Promise<void>;
}

export function createBackground(deps: { readonly log: Log }): Background {
  const running = new Set<Promise<void>>();
  return {
    start: (name, work) => {
      const done = Promise.resolve()
        .then(work)
        .catch((thrown: unknown) =>
          deps.log.error('background_failed', { name, ...errorFacts(thrown) }),
        )
        .finally(() => running.delete(done));
      running.add(done);
    },
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
