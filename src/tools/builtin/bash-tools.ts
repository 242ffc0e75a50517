/** Bash, BashOutput and KillBash: three tools over one book of shells and jobs. */

import type { Clock } from '../../base/clock.ts';
import type { NewId } from '../../base/ids.ts';
import type { RegisteredTool } from '../contract.ts';
import { registerTool } from '../registry.ts';
import type { AssessShell } from '../shell/assessment.ts';
import type { Executor } from '../shell/executor.ts';
import { createJobs } from '../shell/jobs.ts';
import { createSessions } from '../shell/sessions.ts';
import { createBashTool } from './bash.ts';
import { createBashOutputTool } from './bash-output.ts';
import { createKillBashTool } from './kill-bash.ts';

export interface BashToolsDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly executor: Executor;
  readonly assess: AssessShell;
  /** Of a command whose call names none. */
  readonly timeoutMs: number;
}

export interface BashTools {
  readonly tools: readonly RegisteredTool[];
  /** Ends the background commands of a conversation. */
  stopJobs(conversationKey: string): Promise<void>;
  /** Ends all background commands, then the executor. */
  close(): Promise<void>;
}

export function createBashTools(deps: BashToolsDeps): BashTools {
  const { clock, newId, executor } = deps;
  const jobs = createJobs({ clock, newId, executor });
  const sessions = createSessions();
  return {
    tools: [
      registerTool(createBashTool({ ...deps, sessions, jobs })),
      registerTool(createBashOutputTool({ jobs })),
      registerTool(createKillBashTool({ jobs })),
    ],
    stopJobs: (conversationKey) => jobs.stop(conversationKey),
    close: async () => {
      await jobs.close();
      await executor.close();
    },
  };
}
