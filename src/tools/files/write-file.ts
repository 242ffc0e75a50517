/**
 * Writes that are whole or not at all: a new file beside the old one, on the disk before it takes
 * its place. A reader sees the old content or the new, also when the process dies in between.
 */

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { throwIfAborted } from '../../base/abort.ts';
import { BotError } from '../../base/errors.ts';
import { type ResolvedPath, resolveForWriting, systemCodeOf, type Workspace } from '../paths.ts';

export interface WriteOptions {
  /** Permission bits. */
  readonly mode: number;
  readonly signal: AbortSignal;
}

/** Creates or replaces a file of the workspace; missing folders are made. */
export async function writeAtomically(
  workspace: Workspace,
  asked: string,
  content: string | Buffer,
  { mode, signal }: WriteOptions,
): Promise<ResolvedPath> {
  throwIfAborted(signal);
  const before = await resolveForWriting(workspace, asked);
  if (before.real === before.root) {
    throw new BotError('tool_failed', 'The workspace itself is a folder. Choose a file name.');
  }
  await makeFolder(path.dirname(before.real), before.shown);
  // A folder made on the way could have been replaced by a link meanwhile: look again.
  const target = await resolveForWriting(workspace, asked);
  const folder = path.dirname(target.real);
  const anchor = await open(
    folder,
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  );
  try {
    const place = await placeOf(anchor, folder, target.shown);
    const temporary = path.join(place, `.deckhand-${randomBytes(8).toString('hex')}.tmp`);
    throwIfAborted(signal);
    try {
      await writeDown(temporary, content, mode);
      throwIfAborted(signal);
      await rename(temporary, path.join(place, path.basename(target.real)));
    } finally {
      await rm(temporary, { force: true });
    }
    // Some file systems cannot sync a folder; the file itself is safe.
    await anchor.sync().catch(() => undefined);
  } finally {
    await anchor.close();
  }
  return target;
}

async function makeFolder(folder: string, shown: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (thrown) {
    if (!['EEXIST', 'ENOTDIR'].includes(systemCodeOf(thrown) ?? '')) throw thrown;
    const sentence = `${shown} cannot be written: a part of its path is a file, not a folder. Choose another path.`;
    throw new BotError('tool_failed', sentence, { cause: thrown });
  }
}

/**
 * A path that means the opened folder itself, whatever is put in the place of its parents from now
 * on. Only Linux has it; elsewhere the plain path must do.
 */
async function placeOf(anchor: FileHandle, folder: string, shown: string): Promise<string> {
  const place = `/proc/self/fd/${anchor.fd}`;
  const actual = await readlink(place).catch(() => undefined);
  if (actual === undefined) return folder;
  if (actual === folder) return place;
  throw new BotError('path_outside_workspace', `${shown} leads out of the workspace by now.`);
}

async function writeDown(file: string, content: string | Buffer, mode: number): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    // The process's umask has taken bits away.
    await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
