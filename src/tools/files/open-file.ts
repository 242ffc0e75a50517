/**
 * Opening what was found to lie inside: never through a link that was put there meanwhile, never
 * waiting for a pipe or a device, never more than a bound.
 */

import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { BotError } from '../../base/errors.ts';
import { fileTypeOf, headBytes } from '../../base/file-types.ts';
import { mostFileBytes } from '../../messages/media.ts';
import { isInside, type ResolvedPath, systemCodeOf } from '../paths.ts';

/** Text larger than this is searched, not read. */
export const mostTextBytes = 10 * 1024 * 1024;

export type OpenedFile =
  | { readonly kind: 'missing' }
  | { readonly kind: 'folder' }
  /** A clause: "is a named pipe". */
  | { readonly kind: 'special'; readonly what: string }
  | {
      readonly kind: 'too_large';
      readonly isMedia: boolean;
      readonly bytes: number;
      readonly mostBytes: number;
    }
  | {
      readonly kind: 'read';
      /** An image or a PDF by its first bytes. */
      readonly isMedia: boolean;
      readonly content: Buffer;
      /** Permission bits. */
      readonly mode: number;
    };

/** The whole content, if it is an ordinary file of bearable size. */
export async function readContent(file: ResolvedPath): Promise<OpenedFile> {
  const found = await lstat(file.real).catch(undefinedIfMissing);
  if (!found) return { kind: 'missing' };
  const odd = oddityOf(found);
  if (odd) return odd;
  const handle = await openInside(file, constants.O_RDONLY);
  if (!handle) return { kind: 'missing' };
  try {
    const stat = await handle.stat();
    const now = oddityOf(stat);
    if (now) return now;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const isMedia = fileTypeOf(buffer.subarray(0, bytesRead)) !== undefined;
    const mostBytes = isMedia ? mostFileBytes : mostTextBytes;
    if (stat.size > mostBytes) return { kind: 'too_large', isMedia, bytes: stat.size, mostBytes };
    const content = await readAtMost(handle, mostBytes);
    return { kind: 'read', isMedia, content, mode: stat.mode & 0o777 };
  } finally {
    await handle.close();
  }
}

/** What keeps it from being read as a file; undefined for an ordinary one. */
export function oddityOf(stat: Stats): Exclude<OpenedFile, { kind: 'read' }> | undefined {
  if (stat.isFile()) return undefined;
  if (stat.isDirectory()) return { kind: 'folder' };
  if (stat.isFIFO()) return { kind: 'special', what: 'is a named pipe' };
  if (stat.isSocket()) return { kind: 'special', what: 'is a socket' };
  if (stat.isSymbolicLink()) return { kind: 'special', what: 'is a link' };
  return { kind: 'special', what: 'is a device' };
}

/** Undefined when it is gone. Throws path_outside_workspace when it leads out by now. */
export async function openInside(
  { real, root, shown }: ResolvedPath,
  flags: number,
): Promise<FileHandle | undefined> {
  const handle = await open(real, flags | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    undefinedIfMissing,
  );
  if (!handle) return undefined;
  // A folder on the way could have been replaced by a link between the check and the opening.
  // Linux tells where an open file really is; elsewhere the check before must do.
  const actual = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => real);
  if (isInside(root, actual)) return handle;
  await handle.close();
  throw new BotError('path_outside_workspace', `${shown} leads out of the workspace by now.`);
}

async function readAtMost(handle: FileHandle, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  while (length < mostBytes) {
    const wanted = Math.min(1 << 20, mostBytes - length);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted), 0, wanted, length);
    if (bytesRead === 0) break;
    pieces.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(pieces);
}

function undefinedIfMissing(thrown: unknown): undefined {
  const code = systemCodeOf(thrown) ?? '';
  if (['ENOENT', 'ENOTDIR', 'ENXIO'].includes(code)) return undefined;
  if (['EACCES', 'EPERM', 'ELOOP'].includes(code)) {
    throw new BotError('tool_failed', 'The file cannot be opened: access to it is not permitted.', {
      facts: { code },
      cause: thrown,
    });
  }
  throw thrown;
}
