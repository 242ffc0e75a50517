/** Glob: file names of the workspace by pattern. Links are listed, never followed. */

import { glob } from 'tinyglobby';
import { z } from 'zod';
import type { Tool } from '../contract.ts';
import { resolveInWorkspace } from '../paths.ts';
import { textOutcome } from '../text-result.ts';

const input = z.strictObject({
  pattern: z.string().min(1).describe('Glob pattern like **/*.md.'),
  path: z.string().optional().describe('Folder to look in, relative to the workspace.'),
});

const mostFiles = 1000;

export const globTool: Tool<z.infer<typeof input>> = {
  name: 'Glob',
  description: 'Lists files of the workspace whose path matches a glob pattern, sorted by name.',
  input,
  category: 'core',
  concurrency: 'always',
  isReadOnly: true,
  needsApproval: false,
  describe: ({ pattern, path }) =>
    pattern ? `Listing \`${pattern}\`${path ? ` in ${path}` : ''}` : 'Listing files',
  invoke: async ({ pattern, path }, { workspace, signal }) => {
    if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
      return {
        kind: 'error',
        text: 'The pattern must stay inside the workspace: no leading / and no "..".',
      };
    }
    const cwd = await resolveInWorkspace(workspace, path ?? '.');
    const files = await glob(pattern, {
      cwd,
      dot: true,
      followSymbolicLinks: false,
      onlyFiles: true,
      ignore: ['**/node_modules/**', '**/.git/**'],
      signal,
    });
    files.sort();
    if (files.length === 0) return textOutcome(`No file matches ${pattern}.`);
    const rest = files.length - mostFiles;
    const shown = files.slice(0, mostFiles).join('\n');
    return textOutcome(rest > 0 ? `${shown}\n(and ${rest} more; narrow the pattern)` : shown);
  },
};
