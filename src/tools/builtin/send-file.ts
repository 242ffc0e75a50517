/** SendFile: a file of the workspace goes into the thread. */

import path from 'node:path';
import { z } from 'zod';
import { hashOf } from '../../base/canonical.ts';
import { formatMegabytes } from '../../base/file-types.ts';
import type { Tool } from '../contract.ts';
import { assessReading } from '../files/judgement.ts';
import { type OpenedFile, readContent } from '../files/open-file.ts';
import { resolveForReading } from '../paths.ts';
import type { Thread } from '../ports.ts';
import { textOutcome } from '../text-result.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('File of the workspace.'),
  comment: z.string().max(300).optional().describe('One line that stands with it.'),
});

export function createSendFileTool(thread: Thread): Tool<z.infer<typeof input>> {
  return {
    name: 'SendFile',
    description:
      'Sends a file of the workspace into the thread, for the people to open. Use it for results that are files: reports, tables, pictures. Secrets in text files are taken out.',
    input,
    category: 'team',
    concurrency: 'never',
    isReadOnly: false,
    needsApproval: false,
    describe: ({ path: asked }) => (asked ? `Sending \`${asked}\`` : 'Sending a file'),
    assess: async ({ path: asked }, { workspace }) => ({
      ...(await assessReading(asked, () => resolveForReading(workspace, asked))),
      isReadOnly: false,
      why: `it sends ${asked} into the thread`,
    }),
    invoke: async (
      { path: asked, comment },
      { workspace, conversationKey, runId, step, callId },
    ) => {
      const file = await readContent(await resolveForReading(workspace, asked));
      const fault = faultOf(asked, file);
      if (fault !== undefined || file.kind !== 'read') return { kind: 'error', text: fault ?? '' };
      const name = path.basename(asked);
      const sent = { name, content: file.content, ...(comment === undefined ? {} : { comment }) };
      // Ids of calls may come again in a later step.
      const postKey = `${runId}.${hashOf([step, callId]).slice(0, 12)}`;
      await thread.sendFile(conversationKey, sent, postKey);
      return textOutcome(`${asked} is in the thread.`);
    },
  };
}

function faultOf(asked: string, file: OpenedFile): string | undefined {
  switch (file.kind) {
    case 'read':
      return undefined;
    case 'missing':
      return `There is no file ${asked}. Look with Glob.`;
    case 'folder':
      return `${asked} is a folder. Send a file, or pack it first.`;
    case 'special':
      return `${asked} ${file.what} and cannot be sent.`;
    case 'too_large':
      return `${asked} is too large to send (${formatMegabytes(file.bytes)}, at most ${formatMegabytes(file.mostBytes)}). Send a part of it.`;
  }
}
