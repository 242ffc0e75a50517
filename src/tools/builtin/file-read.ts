/** FileRead: a text file of the workspace, with line numbers. */

import { open, stat } from 'node:fs/promises';
import { z } from 'zod';
import type { Tool } from '../contract.ts';
import { resolveInWorkspace } from '../paths.ts';
import { textOutcome } from '../text-result.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path relative to the workspace.'),
  offset: z.int().min(1).optional().describe('First line to read, from 1. Default 1.'),
  limit: z.int().min(1).max(5000).optional().describe('Most lines to read. Default 2000.'),
});

const mostBytes = 10 * 1024 * 1024;
const defaultLimit = 2000;
const mostLineChars = 2000;

export const fileReadTool: Tool<z.infer<typeof input>> = {
  name: 'FileRead',
  description:
    'Reads a text file of the workspace. Lines come numbered. For long files use offset and limit to page through.',
  input,
  category: 'core',
  concurrency: 'always',
  isReadOnly: true,
  needsApproval: false,
  describe: ({ path }) => (path ? `Reading \`${path}\`` : 'Reading a file'),
  invoke: async ({ path, offset = 1, limit = defaultLimit }, { workspace }) => {
    const real = await resolveInWorkspace(workspace, path);
    const found = await stat(real).catch(() => undefined);
    if (!found) return { kind: 'error', text: `There is no file ${path}. Use Glob to find files.` };
    if (found.isDirectory())
      return { kind: 'error', text: `${path} is a folder. Use Glob to list it.` };
    if (!found.isFile()) return { kind: 'error', text: `${path} is no ordinary file.` };
    if (found.size > mostBytes) {
      return {
        kind: 'error',
        text: `${path} is too large (${found.size} bytes, at most ${mostBytes}). Use Grep.`,
      };
    }
    const content = await readAll(real);
    if (content.subarray(0, 8192).includes(0)) {
      return {
        kind: 'error',
        text: `${path} is a binary file (${found.size} bytes) and cannot be read as text.`,
      };
    }
    const lines = content.toString('utf8').split(/\r?\n/u);
    if (lines.at(-1) === '') lines.pop();
    if (lines.length === 0) return textOutcome('(The file is empty.)');
    if (offset > lines.length) {
      return {
        kind: 'error',
        text: `${path} has ${lines.length} lines; line ${offset} does not exist.`,
      };
    }
    return textOutcome(numbered(lines, offset, limit));
  },
};

/** Opened once and read from the handle, so that what was checked is what is read. */
async function readAll(real: string): Promise<Buffer> {
  const handle = await open(real, 'r');
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function numbered(lines: readonly string[], offset: number, limit: number): string {
  const shown = lines.slice(offset - 1, offset - 1 + limit);
  const text = shown
    .map(
      (line, index) =>
        `${offset + index}\t${line.length > mostLineChars ? `${line.slice(0, mostLineChars)}…` : line}`,
    )
    .join('\n');
  const rest = lines.length - (offset - 1 + shown.length);
  return rest > 0
    ? `${text}\n(${rest} more lines; continue with offset ${offset + shown.length})`
    : text;
}
