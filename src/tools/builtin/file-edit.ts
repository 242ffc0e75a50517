/** FileEdit: replaces an exact text in a file that was read, and leaves all else as it is. */

import { z } from 'zod';
import type { Tool } from '../contract.ts';
import { binaryKindOf } from '../files/binary-kinds.ts';
import { type Change, type ChangeDeps, changingTool } from '../files/change.ts';
import { shortDiff } from '../files/differences.ts';
import { nearNames } from '../files/near-names.ts';
import { replaceIn } from '../files/replacement.ts';
import { decodeText, encodeText, formatEncoding } from '../files/text-encoding.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('Path relative to the workspace.'),
  oldText: z
    .string()
    .min(1, 'oldText is empty: to write a whole file, use FileWrite')
    .describe('The text to replace, exactly as it is in the file, without line numbers.'),
  newText: z.string().describe('What stands there afterwards.'),
  replaceAll: z.boolean().optional().describe('Replace every occurrence. Default false.'),
});
type FileEditInput = z.infer<typeof input>;

export function createFileEditTool(deps: ChangeDeps): Tool<FileEditInput> {
  return {
    name: 'FileEdit',
    description:
      'Replaces a text in a file of the workspace. The file must have been read with FileRead in this conversation. oldText must be there exactly once, unless replaceAll is set.',
    input,
    category: 'core',
    concurrency: 'never',
    isReadOnly: false,
    needsApproval: true,
    describe: ({ path }) => (path ? `Editing \`${path}\`` : 'Editing a file'),
    ...changingTool<FileEditInput>(deps, async (file, present, asked) => {
      switch (present.kind) {
        case 'fault':
          return present;
        case 'missing': {
          const near = await nearNames(file);
          const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'Use FileWrite.';
          return { kind: 'fault', text: `There is no file ${file.shown}. ${hint}` };
        }
        case 'seen':
          return edit(file.shown, present.content, present.mode, asked);
      }
    }),
  };
}

function edit(shown: string, content: Buffer, mode: number, asked: FileEditInput): Change {
  const read = decodeText(content);
  if (!read) {
    return { kind: 'fault', text: `${shown} is ${binaryKindOf(content)} and cannot be edited.` };
  }
  const { oldText, newText, replaceAll = false } = asked;
  const replaced = replaceIn(read.text, { oldText, newText, replaceAll }, shown);
  if (replaced.kind === 'fault') return replaced;
  const bytes = encodeText(replaced.text, read.encoding);
  if (!bytes) {
    const unknown = [...new Set(newText)].filter((one) => !encodeText(one, read.encoding));
    const named = unknown.slice(0, 10).map((one) => JSON.stringify(one));
    return {
      kind: 'fault',
      text: `${shown} is ${formatEncoding(read.encoding) ?? 'UTF-8'}, which has no ${named.join(', ')}. Use other characters, or write the whole file with FileWrite (it becomes UTF-8).`,
    };
  }
  const { places } = replaced;
  return {
    kind: 'change',
    before: read.text,
    after: replaced.text,
    bytes,
    mode,
    report: (diff) =>
      `Changed ${shown} (${places} ${places === 1 ? 'place' : 'places'}):\n${shortDiff(diff)}`,
  };
}
