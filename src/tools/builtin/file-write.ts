/** FileWrite: creates or replaces a text file of the workspace, atomically. */

import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Tool } from '../contract.ts';
import { resolveInWorkspace } from '../paths.ts';
import { textOutcome } from '../text-result.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path relative to the workspace. Missing folders are made.'),
  content: z.string().describe('The whole new content.'),
});

export const fileWriteTool: Tool<z.infer<typeof input>> = {
  name: 'FileWrite',
  description: 'Creates a text file in the workspace, or replaces its whole content.',
  input,
  category: 'core',
  concurrency: 'never',
  isReadOnly: false,
  needsApproval: false,
  describe: ({ path }) => (path ? `Writing \`${path}\`` : 'Writing a file'),
  invoke: async ({ path: asked, content }, { workspace, signal }) => {
    const real = await resolveInWorkspace(workspace, asked);
    const before = await stat(real).catch(() => undefined);
    if (before?.isDirectory())
      return { kind: 'error', text: `${asked} is a folder. Choose a file name.` };
    await mkdir(path.dirname(real), { recursive: true });
    // A folder made on the way could have been replaced by a link meanwhile: look again.
    const target = await resolveInWorkspace(workspace, asked);
    const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      await writeFile(temporary, content, {
        mode: before ? before.mode & 0o777 : 0o644,
        flag: 'wx',
        signal,
      });
      await rename(temporary, target);
    } finally {
      await rm(temporary, { force: true });
    }
    const lines = content === '' ? 0 : content.split('\n').length;
    return textOutcome(
      `${before ? 'Replaced' : 'Created'} ${asked} (${lines} lines, ${Buffer.byteLength(content)} bytes).`,
    );
  },
};
