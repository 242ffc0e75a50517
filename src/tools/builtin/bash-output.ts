/** BashOutput: what a background command has written since the last look, and how it stands. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import type { Jobs } from '../shell/jobs.ts';
import { textOutcome } from '../text-result.ts';

const mostWaitMs = 30_000;

const input = z.strictObject({
  jobId: z.string().min(1).describe('The id that Bash returned, like job_k3v9x0q2m4ab.'),
  waitMs: z
    .int()
    .min(0)
    .max(mostWaitMs)
    .optional()
    .describe('Milliseconds to wait for new output or the end; at most 30000. Default: 0.'),
});

export function createBashOutputTool({
  jobs,
}: {
  readonly jobs: Jobs;
}): Tool<z.infer<typeof input>> {
  return {
    name: 'BashOutput',
    description:
      'Returns what a background command (Bash with background: true) has written since the last look, and whether it still runs. Wait with waitMs instead of asking again and again.',
    input,
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: false,
    timeoutMs: ({ waitMs = 0 }) => waitMs + 5000,
    describe: ({ jobId }) => (jobId ? `Looking at ${jobId}` : 'Looking at a background command'),
    invoke: async ({ jobId, waitMs = 0 }, { conversationKey, signal }) => {
      const view = await jobs.look(conversationKey, jobId, waitMs, signal);
      if (!view) return { kind: 'error', text: noSuchJob(jobs, conversationKey, jobId) };
      const output = view.output.trimEnd();
      const said = output === '' ? '(no new output)' : output;
      return textOutcome(`${said}\n(${jobId} ${view.state})`);
    },
  };
}

export function noSuchJob(jobs: Jobs, conversationKey: string, jobId: string): string {
  const ids = jobs.idsOf(conversationKey);
  const known = ids.length === 0 ? 'There are no jobs.' : `The jobs are: ${ids.join(', ')}.`;
  return `There is no job ${jobId} in this conversation, or its end was told already. ${known}`;
}
