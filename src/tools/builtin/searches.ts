/** Hands searches to their thread, which stays warm: its start costs more than most searches. */

import { moduleBeside } from '../../base/workers/start.ts';
import { createWarmWorkers } from '../../base/workers/warm.ts';
import type { ToolOutcome } from '../contract.ts';
import { type SearchTask, searchAnswerSchema } from '../files/search-task.ts';
import { textOutcome } from '../text-result.ts';

export interface Searches {
  /** Rejects within milliseconds with the reason of an aborted signal. */
  run(task: SearchTask, signal: AbortSignal): Promise<ToolOutcome>;
  /** Ends the threads. */
  close(): Promise<void>;
}

const mostMemoryMb = 512;

export function createSearches(): Searches {
  const workers = createWarmWorkers(moduleBeside(import.meta.url, 'search-worker'), {
    mostMemoryMb,
  });
  return {
    run: async (task, signal) => {
      const answer = searchAnswerSchema.parse(await workers.run(task, signal));
      return answer.kind === 'error'
        ? { kind: 'error', text: answer.text }
        : textOutcome(answer.text);
    },
    close: () => workers.close(),
  };
}
