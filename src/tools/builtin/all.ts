/** The built-in tools, in the stable order in which models see them; the shell's are apart. */

import type { Clock } from '../../base/clock.ts';
import type { MediaLimits } from '../../messages/settings.ts';
import type { RegisteredTool } from '../contract.ts';
import type { ReadMarks, Thread } from '../ports.ts';
import { registerTool } from '../registry.ts';
import type { GuardedFetch } from '../web/guarded-fetch.ts';
import type { Search } from '../web/search.ts';
import { askUserQuestionTool } from './ask-user-question.ts';
import { exitPlanModeTool } from './exit-plan-mode.ts';
import { createFileTools } from './file-tools.ts';
import { createGlobTool } from './glob.ts';
import { createGrepTool } from './grep.ts';
import type { Searches } from './searches.ts';
import { createSendFileTool } from './send-file.ts';
import { staySilentTool } from './stay-silent.ts';
import { createThreadReadTool, createThreadSearchTool } from './thread-read.ts';
import { createLeaveThreadTool, createReactTool } from './thread-signs.ts';
import { todoWriteTool } from './todo-write.ts';
import { createWaitTool } from './wait.ts';
import { createWebFetchTool, type WebFetchOptions } from './web-fetch.ts';
import { createWebSearchTool } from './web-search.ts';

export interface BuiltinDeps {
  readonly clock: Clock;
  readonly thread: Thread;
  readonly readMarks: ReadMarks;
  /** Bounds on looking into images and PDFs, as they are now. */
  readonly media: () => MediaLimits;
  /** Closed by whoever made it. */
  readonly searches: Searches;
  readonly web: { readonly fetch: GuardedFetch; readonly options: () => WebFetchOptions };
  /** Absent: no search endpoint is configured. */
  readonly search?: Search;
}

export function builtinTools(deps: BuiltinDeps): readonly RegisteredTool[] {
  const { clock, thread, readMarks, media, searches, web, search } = deps;
  return [
    ...createFileTools({ readMarks, media }),
    registerTool(createGlobTool(searches)),
    registerTool(createGrepTool(searches)),
    registerTool(
      createWebFetchTool(
        {
          clock,
          fetch: web.fetch,
          media,
          knownAddresses: ({ conversationKey, runId }) =>
            thread.knownAddresses(conversationKey, runId),
        },
        web.options,
      ),
    ),
    ...(search ? [registerTool(createWebSearchTool({ search }))] : []),
    registerTool(askUserQuestionTool),
    registerTool(todoWriteTool),
    registerTool(createThreadReadTool(thread)),
    registerTool(createThreadSearchTool(thread)),
    registerTool(createSendFileTool(thread)),
    registerTool(createReactTool(thread)),
    registerTool(createLeaveThreadTool(thread)),
    registerTool(createWaitTool({ now: () => clock.now() })),
    registerTool(exitPlanModeTool),
    registerTool(staySilentTool),
  ];
}
