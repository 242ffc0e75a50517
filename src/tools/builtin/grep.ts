/**
 * Grep: text search over the workspace's files with RE2 syntax, whose time is linear in the text,
 * so that no pattern can hang. Files behind links are not read.
 */

import { lstat, readFile } from 'node:fs/promises';
import path from 'node:path';
import { RE2JS } from 're2js';
import { glob as findFiles } from 'tinyglobby';
import { z } from 'zod';
import { throwIfAborted } from '../../base/abort.ts';
import type { Tool } from '../contract.ts';
import { isInside, resolveInWorkspace } from '../paths.ts';
import { textOutcome } from '../text-result.ts';

const input = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression in RE2 syntax.'),
  path: z.string().optional().describe('File or folder to search, relative to the workspace.'),
  glob: z.string().optional().describe('Only files whose path matches, like **/*.log.'),
  mode: z
    .enum(['content', 'files', 'count'])
    .optional()
    .describe('content: matching lines (default) · files: paths only · count: matches per file.'),
});
type Mode = NonNullable<z.infer<typeof input>['mode']>;

const mostFileBytes = 5 * 1024 * 1024;
const mostMatches = 500;
const mostLineChars = 500;

export const grepTool: Tool<z.infer<typeof input>> = {
  name: 'Grep',
  description:
    'Searches the contents of the workspace’s files for a regular expression (RE2 syntax).',
  input,
  category: 'core',
  concurrency: 'always',
  isReadOnly: true,
  needsApproval: false,
  describe: ({ pattern, path: where }) =>
    pattern
      ? `Grep \`${pattern.replaceAll('`', "'")}\`${where ? ` in ${where}` : ''}`
      : 'Searching files',
  invoke: async ({ pattern, path: where = '.', glob, mode = 'content' }, { workspace, signal }) => {
    const regex = compile(pattern);
    if (typeof regex === 'string') return { kind: 'error', text: regex };
    const root = await resolveInWorkspace(workspace, where);
    const files = await filesUnder(root, glob);
    const base = await resolveInWorkspace(workspace, '.');
    const found: FileMatches[] = [];
    let matches = 0;
    for (const file of files) {
      throwIfAborted(signal);
      if (!isInside(base, file)) continue;
      const lines = await matchingLines(regex, file, mostMatches - matches);
      if (lines.length === 0) continue;
      matches += lines.length;
      found.push({ name: path.relative(base, file), lines });
      if (matches >= mostMatches) break;
    }
    return textOutcome(report(found, mode, matches >= mostMatches));
  },
};

interface FileMatches {
  readonly name: string;
  readonly lines: readonly { readonly number: number; readonly text: string }[];
}

/** The expression, or why it is none. */
function compile(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'unknown reason';
    return `The pattern is not valid in RE2 syntax: ${reason}. Lookaround and backreferences do not exist there.`;
  }
}

async function filesUnder(root: string, pattern = '**/*'): Promise<readonly string[]> {
  const stat = await lstat(root).catch(() => undefined);
  if (stat?.isFile()) return [root];
  const names = await findFiles(pattern, {
    cwd: root,
    dot: true,
    absolute: true,
    followSymbolicLinks: false,
    onlyFiles: true,
    ignore: ['**/node_modules/**', '**/.git/**'],
  });
  return names.sort();
}

async function matchingLines(
  regex: RE2JS,
  file: string,
  most: number,
): Promise<FileMatches['lines']> {
  const stat = await lstat(file).catch(() => undefined);
  if (!stat?.isFile() || stat.size > mostFileBytes) return [];
  const content = await readFile(file);
  if (content.subarray(0, 8192).includes(0)) return [];
  const lines: { number: number; text: string }[] = [];
  for (const [index, text] of content.toString('utf8').split(/\r?\n/u).entries()) {
    if (lines.length >= most) break;
    if (regex.matcher(text).find()) lines.push({ number: index + 1, text });
  }
  return lines;
}

function report(found: readonly FileMatches[], mode: Mode, isCut: boolean): string {
  if (found.length === 0) return 'No match.';
  const note = isCut ? `\n(stopped at ${mostMatches} matches; narrow the search)` : '';
  switch (mode) {
    case 'files':
      return found.map(({ name }) => name).join('\n') + note;
    case 'count':
      return found.map(({ name, lines }) => `${name}: ${lines.length}`).join('\n') + note;
    case 'content':
      return (
        found
          .flatMap(({ name, lines }) =>
            lines.map(({ number, text }) => `${name}:${number}: ${text.slice(0, mostLineChars)}`),
          )
          .join('\n') + note
      );
  }
}
