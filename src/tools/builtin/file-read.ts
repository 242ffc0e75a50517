/** FileRead: a text file of the workspace, with line numbers; an image or a PDF as such. */

import { type FileHandle, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { fileTypeOf, headBytes } from '../../base/file-types.ts';
import { mediaPartOf, mostFileBytes } from '../../messages/media.ts';
import type { Tool, ToolOutcome } from '../contract.ts';
import { resolveInWorkspace } from '../paths.ts';
import { textOutcome } from '../text-result.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path relative to the workspace.'),
  offset: z.int().min(1).optional().describe('First line to read, from 1. Default 1.'),
  limit: z.int().min(1).max(5000).optional().describe('Most lines to read. Default 2000.'),
});

const mostTextBytes = 10 * 1024 * 1024;
const defaultLimit = 2000;
const mostLineChars = 2000;

export const fileReadTool: Tool<z.infer<typeof input>> = {
  name: 'FileRead',
  description:
    'Reads a file of the workspace. Lines of text come numbered; for long files use offset and limit to page through. Images and PDFs are shown to you.',
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
    const read = await readWhole(real);
    if (read.kind === 'too_large') {
      const { isMedia, mostBytes } = read;
      return {
        kind: 'error',
        text: `${path} is too large (${found.size} bytes, at most ${mostBytes}).${isMedia ? '' : ' Use Grep.'}`,
      };
    }
    const { content } = read;
    if (read.isMedia) return await mediaOutcome(path, content);
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

type ReadFile =
  | { readonly kind: 'read'; readonly isMedia: boolean; readonly content: Buffer }
  | { readonly kind: 'too_large'; readonly isMedia: boolean; readonly mostBytes: number };

/** Opened once and read from the handle, so that what was checked is what is read. */
async function readWhole(real: string): Promise<ReadFile> {
  const handle = await open(real, 'r');
  try {
    const isMedia = fileTypeOf(await headOf(handle)) !== undefined;
    const mostBytes = isMedia ? mostFileBytes : mostTextBytes;
    const { size } = await handle.stat();
    if (size > mostBytes) return { kind: 'too_large', isMedia, mostBytes };
    return { kind: 'read', isMedia, content: await handle.readFile() };
  } finally {
    await handle.close();
  }
}

/** Leaves the handle at the beginning. */
async function headOf(handle: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.subarray(0, bytesRead);
}

async function mediaOutcome(file: string, content: Buffer): Promise<ToolOutcome> {
  const media = await mediaPartOf(path.posix.basename(file), content);
  switch (media.kind) {
    case 'image':
    case 'document':
      return {
        kind: 'done',
        parts: [{ kind: 'text', text: `${file} (${media.mediaType}):` }, media],
      };
    case 'problem':
      return { kind: 'error', text: `${file} cannot be looked at: ${media.problem}.` };
    case 'other':
      return { kind: 'error', text: `${file} is a binary file and cannot be read as text.` };
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
