/** The tools of the process: built once, with what they need from above. */

import type { Clock } from '../base/clock.ts';
import { randomId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Environment } from '../config/environment.ts';
import type { MediaLimits } from '../messages/settings.ts';
import type { Store } from '../storage/store.ts';
import { builtinTools } from '../tools/builtin/all.ts';
import { createBashTools } from '../tools/builtin/bash-tools.ts';
import { createSearches } from '../tools/builtin/searches.ts';
import type { RegisteredTool } from '../tools/contract.ts';
import type { Thread } from '../tools/ports.ts';
import type { ToolSettings } from '../tools/settings.ts';
import { createShellAssessment } from '../tools/shell/assessment.ts';
import { createExecutor } from '../tools/shell/create.ts';
import { createGuardedFetch } from '../tools/web/guarded-fetch.ts';
import { createSearch } from '../tools/web/search.ts';
import { createReadMarks } from './read-marks.ts';

export interface ToolBox {
  toolsOf(thread: Thread): readonly RegisteredTool[];
  /** Ends the background commands of a conversation. */
  stopJobs(conversationKey: string): Promise<void>;
  /** Ends threads, child processes and kept connections. */
  close(): Promise<void>;
}

export interface ToolBoxDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly environment: Environment;
  /** The settings as they are now; those of the shell are those of the start. */
  readonly settings: () => ToolSettings;
  /** Bounds on looking into images and PDFs, as they are now. */
  readonly media: () => MediaLimits;
  readonly proxy: string | undefined;
}

export function createToolBox(deps: ToolBoxDeps): ToolBox {
  const { store, clock, log, environment } = deps;
  const atStart = deps.settings();
  const searches = createSearches();
  const executor = createExecutor(
    { clock, environment, isRoot: process.getuid?.() === 0 },
    atStart.bash,
  );
  const bash = createBashTools({
    clock,
    newId: randomId,
    executor,
    assess: createShellAssessment(atStart.bash),
    timeoutMs: atStart.bash.timeoutSeconds * 1000,
  });
  const fetch = createGuardedFetch(
    atStart.web.throughProxy && deps.proxy !== undefined ? { proxy: deps.proxy } : {},
  );
  const { search } = atStart.web;
  return {
    toolsOf: (thread) => [
      ...builtinTools({
        clock,
        thread,
        searches,
        readMarks: createReadMarks({ store, log }),
        media: deps.media,
        web: { fetch, options: () => deps.settings().web },
        ...(search ? { search: createSearch(search) } : {}),
      }),
      ...bash.tools,
    ],
    stopJobs: (key) => bash.stopJobs(key),
    close: async () => {
      await Promise.all([searches.close(), bash.close(), fetch.close()]);
    },
  };
}
