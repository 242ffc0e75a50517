/** KillBash: ends a background command with everything it started. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import type { Jobs } from '../shell/jobs.ts';
import { textOutcome } from '../text-result.ts';
import { noSuchJob } from './bash-output.ts';

const input = z.strictObject({
  jobId: z.string().min(1).describe('The id that Bash returned, like job_k3v9x0q2m4ab.'),
});

export function createKillBashTool({ jobs }: { readonly jobs: Jobs }): Tool<z.infer<typeof input>> {
  return {
    name: 'KillBash',
    description: 'Ends a background command (Bash with background: true) and all that it started.',
    input,
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: false,
    describe: ({ jobId }) => (jobId ? `Ending ${jobId}` : 'Ending a background command'),
    invoke: async ({ jobId }, { conversationKey, signal }) => {
      if (!(await jobs.kill(conversationKey, jobId))) {
        return { kind: 'error', text: noSuchJob(jobs, conversationKey, jobId) };
      }
      const view = await jobs.look(conversationKey, jobId, 0, signal);
      const output = view?.output.trimEnd() ?? '';
      return textOutcome(
        `${output === '' ? '' : `${output}\n`}(${jobId} ${view?.state ?? 'is gone'})`,
      );
    },
  };
}
