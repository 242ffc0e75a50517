/** FileWrite: creates or replaces a text file of the workspace, atomically. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import { type ChangeDeps, changingTool } from '../files/change.ts';
import { decodeText, formatEncoding } from '../files/text-encoding.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path relative to the workspace. Missing folders are made.'),
  content: z.string().describe('The whole new content.'),
});

export function createFileWriteTool(deps: ChangeDeps): Tool<z.infer<typeof input>> {
  return {
    name: 'FileWrite',
    description:
      'Creates a text file in the workspace, or replaces its whole content. A file that exists must have been read with FileRead first; to change a part of it, use FileEdit.',
    input,
    category: 'core',
    concurrency: 'never',
    isReadOnly: false,
    needsApproval: true,
    describe: ({ path }) => (path ? `Writing \`${path}\`` : 'Writing a file'),
    ...changingTool<z.infer<typeof input>>(deps, async ({ shown }, present, { content }) => {
      if (present.kind === 'fault') return present;
      const bytes = Buffer.from(content);
      const old = present.kind === 'seen' ? decodeText(present.content) : undefined;
      const former = old ? formatEncoding(old.encoding) : undefined;
      const note = former === undefined ? {} : { note: `It was ${former} and is UTF-8 now.` };
      const size = `${counted(linesIn(content), 'line')}, ${counted(bytes.length, 'byte')}`;
      return {
        kind: 'change',
        before: present.kind === 'seen' ? (old?.text ?? '(not text)') : undefined,
        after: content,
        bytes,
        mode: present.kind === 'seen' ? present.mode : 0o644,
        ...note,
        report: () => {
          const done = `${present.kind === 'seen' ? 'Replaced' : 'Created'} ${shown} (${size}).`;
          return note.note === undefined ? done : `${done} ${note.note}`;
        },
      };
    }),
  };
}

function linesIn(content: string): number {
  return content === '' ? 0 : content.replace(/\n$/u, '').split('\n').length;
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
