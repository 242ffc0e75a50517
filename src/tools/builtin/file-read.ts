/** FileRead: a text file with line numbers, page by page; an image or a PDF as such. */

import path from 'node:path';
import { z } from 'zod';
import { mediaPartOf } from '../../messages/media.ts';
import type { MediaLimits } from '../../messages/settings.ts';
import type { Tool, ToolOutcome } from '../contract.ts';
import { binaryKindOf } from '../files/binary-kinds.ts';
import { assessReading } from '../files/judgement.ts';
import { markSeen } from '../files/marks.ts';
import { nearNames } from '../files/near-names.ts';
import { type OpenedFile, readContent } from '../files/open-file.ts';
import { pageOf, pieceOf } from '../files/page.ts';
import { decodeText, formatEncoding, linesOf } from '../files/text-encoding.ts';
import { type ResolvedPath, resolveForReading } from '../paths.ts';
import type { ReadMarks } from '../ports.ts';
import { textOutcome } from '../text-result.ts';

const input = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe('Path relative to the workspace, or /mnt/<name>/… for shared files.'),
  offset: z.int().min(1).optional().describe('First line to read, from 1. Default 1.'),
  limit: z.int().min(1).max(5000).optional().describe('Most lines to read. Default 2000.'),
  character: z
    .int()
    .min(1)
    .optional()
    .describe('Only for a line that was cut: go on in line `offset` from this character.'),
});
export type FileReadInput = z.infer<typeof input>;

const defaultLimit = 2000;

export function createFileReadTool({
  readMarks,
  media,
}: {
  readonly readMarks: ReadMarks;
  readonly media: () => MediaLimits;
}): Tool<FileReadInput> {
  return {
    name: 'FileRead',
    description:
      'Reads a file of the workspace. Lines of text come numbered; for long files use offset and limit to page through. Images and PDFs are shown to you. Read a file before you change it.',
    input,
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: false,
    describe: ({ path: asked }) => (asked ? `Reading \`${asked}\`` : 'Reading a file'),
    assess: ({ path: asked }, { workspace }) =>
      assessReading(asked, () => resolveForReading(workspace, asked)),
    invoke: async (asked, context) => {
      const file = await resolveForReading(context.workspace, asked.path);
      const opened = await readContent(file);
      if (opened.kind !== 'read') return { kind: 'error', text: await problemOf(file, opened) };
      const outcome = opened.isMedia
        ? await mediaOutcome(file, opened.content, media())
        : textOf(file, opened.content, asked);
      if (outcome.kind === 'done') await markSeen(readMarks, context, file, opened.content);
      return outcome;
    },
  };
}

async function problemOf(
  file: ResolvedPath,
  opened: Exclude<OpenedFile, { kind: 'read' }>,
): Promise<string> {
  const { shown } = file;
  switch (opened.kind) {
    case 'missing': {
      const near = await nearNames(file);
      const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
      return `There is no file ${shown}.${hint} Use Glob to find files.`;
    }
    case 'folder':
      return `${shown} is a folder. Use Glob to list it.`;
    case 'special':
      return `${shown} ${opened.what}, no ordinary file, and cannot be read.`;
    case 'too_large': {
      const { bytes, mostBytes, isMedia } = opened;
      return `${shown} is too large (${bytes} bytes, at most ${mostBytes}).${isMedia ? '' : ' Use Grep.'}`;
    }
  }
}

function textOf({ shown }: ResolvedPath, content: Buffer, asked: FileReadInput): ToolOutcome {
  const { offset = 1, limit = defaultLimit, character } = asked;
  const read = decodeText(content);
  if (!read) {
    const what = binaryKindOf(content);
    return {
      kind: 'error',
      text: `${shown} is ${what} (${content.length} bytes) and cannot be read as text.`,
    };
  }
  const lines = linesOf(read.text);
  if (lines.length === 0) return textOutcome('(The file is empty.)');
  const first = lines[offset - 1];
  if (first === undefined) {
    return {
      kind: 'error',
      text: `${shown} has ${lines.length} lines; line ${offset} does not exist.`,
    };
  }
  if (character !== undefined && character > first.length) {
    return {
      kind: 'error',
      text: `Line ${offset} of ${shown} has ${first.length} characters; character ${character} does not exist.`,
    };
  }
  const page =
    character === undefined ? pageOf(lines, offset, limit) : pieceOf(first, offset, character);
  const encoding = formatEncoding(read.encoding);
  return textOutcome(encoding === undefined ? page : `${page}\n(The file is ${encoding}.)`);
}

async function mediaOutcome(
  { shown }: ResolvedPath,
  content: Buffer,
  limits: MediaLimits,
): Promise<ToolOutcome> {
  const media = await mediaPartOf(path.posix.basename(shown), content, limits);
  switch (media.kind) {
    case 'image':
    case 'document':
      return {
        kind: 'done',
        parts: [{ kind: 'text', text: `${shown} (${media.mediaType}):` }, media],
      };
    case 'problem':
      return { kind: 'error', text: `${shown} cannot be looked at: ${media.problem}.` };
    case 'other':
      return { kind: 'error', text: `${shown} is a binary file and cannot be read as text.` };
  }
}
