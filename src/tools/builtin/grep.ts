/** Grep: text search in a thread of its own, with RE2 syntax: no pattern can hang the bot. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import { assessReading } from '../files/judgement.ts';
import { resolveForReading } from '../paths.ts';
import type { Searches } from './searches.ts';

const contextLines = z.int().min(0).max(20).optional();

const input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(5000)
    .describe('Regular expression in RE2 syntax, held against each line.'),
  path: z
    .string()
    .optional()
    .describe('File or folder to search, relative to the workspace, or below /mnt/<name>.'),
  glob: z.string().min(1).max(1000).optional().describe('Only files that match, like *.log.'),
  mode: z
    .enum(['content', 'files', 'count'])
    .optional()
    .describe('content: matching lines (default) · files: paths only · count: matches per file.'),
  ignoreCase: z.boolean().optional().describe('Default false.'),
  before: contextLines.describe('Lines of context before each match. Default 0.'),
  after: contextLines.describe('Lines of context after each match. Default 0.'),
  includeIgnored: z
    .boolean()
    .optional()
    .describe('Also .git, node_modules, .deckhand and what .gitignore leaves out. Default false.'),
});

export function createGrepTool(searches: Searches): Tool<z.infer<typeof input>> {
  return {
    name: 'Grep',
    description:
      'Searches the contents of files of the workspace (or of a shared folder) for a regular expression (RE2 syntax).',
    input,
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: false,
    describe: ({ pattern, path }) =>
      pattern
        ? `Grep \`${pattern.replaceAll('`', "'")}\`${path ? ` in ${path}` : ''}`
        : 'Searching files',
    assess: ({ path = '.' }, { workspace }) =>
      assessReading(path, () => resolveForReading(workspace, path)),
    invoke: async (asked, { workspace, signal }) => {
      const { pattern, path = '.', glob, mode = 'content' } = asked;
      const { ignoreCase = false, includeIgnored = false, before = 0, after = 0 } = asked;
      const place = await resolveForReading(workspace, path);
      const task = { pattern, mode, ignoreCase, includeIgnored, before, after, place };
      return searches.run({ kind: 'grep', ...task, ...(glob ? { glob } : {}) }, signal);
    },
  };
}
