/** Glob: file names by pattern. Links are listed, never followed. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import { assessReading } from '../files/judgement.ts';
import { resolveForReading } from '../paths.ts';
import type { Searches } from './searches.ts';

const input = z.strictObject({
  pattern: z.string().min(1).max(1000).describe('Glob pattern like **/*.md.'),
  path: z
    .string()
    .optional()
    .describe('Folder to look in, relative to the workspace, or /mnt/<name>. Default: all of it.'),
  includeIgnored: z
    .boolean()
    .optional()
    .describe('Also .git, node_modules, .deckhand and what .gitignore leaves out. Default false.'),
});

export function createGlobTool(searches: Searches): Tool<z.infer<typeof input>> {
  return {
    name: 'Glob',
    description:
      'Lists files of the workspace (or of a shared folder) whose path matches a glob pattern, sorted by name.',
    input,
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: false,
    describe: ({ pattern, path }) =>
      pattern ? `Listing \`${pattern}\`${path ? ` in ${path}` : ''}` : 'Listing files',
    assess: ({ path = '.' }, { workspace }) =>
      assessReading(path, () => resolveForReading(workspace, path)),
    invoke: async ({ pattern, path = '.', includeIgnored = false }, { workspace, signal }) => {
      if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
        return {
          kind: 'error',
          text: 'The pattern must stay inside the workspace: no leading / and no "..". Name a folder by path.',
        };
      }
      const place = await resolveForReading(workspace, path);
      return searches.run({ kind: 'glob', place, pattern, includeIgnored }, signal);
    },
  };
}
