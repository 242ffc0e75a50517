/**
 * The folder of a workspace that holds what people sent. Tools of the conversation may change it as
 * they like, links included: what is read and written here stays inside the workspace (rule 16).
 */

import { constants } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { hashOf } from '../base/canonical.ts';
import { isBotError } from '../base/errors.ts';
import { cutToBytes } from '../base/text.ts';
import { safeFileName } from '../surface/file-name.ts';
import type { InboundFile } from '../surface/inbound.ts';
import { oddityOf, openInside } from '../tools/files/open-file.ts';
import { resolveForReading, resolveForWriting, type Workspace } from '../tools/paths.ts';

export const inboxName = 'inbox';

/** Where a file is kept: `inbox/report-1a2b3c4d.csv`. Plain for shells and patterns. */
export function keptPathOf(messageId: string, { id, name }: InboundFile): string {
  const plain = safeFileName(name)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
    .replace(/^[._-]+/u, '');
  const ending = /(?:\.tar)?\.[A-Za-z0-9]{1,10}$/u.exec(plain)?.[0] ?? '';
  const stem = cutToBytes(plain.slice(0, plain.length - ending.length), 100) || 'file';
  return `${inboxName}/${stem}-${hashOf([messageId, id]).slice(0, 8)}${ending}`;
}

/** What an earlier try kept; undefined: nothing that may be read. */
export async function readKept(
  workspace: Workspace,
  where: string,
  mostBytes: number,
): Promise<Buffer | undefined> {
  try {
    const handle = await openInside(await resolveForReading(workspace, where), constants.O_RDONLY);
    if (!handle) return undefined;
    try {
      const stat = await handle.stat();
      return oddityOf(stat) || stat.size > mostBytes ? undefined : await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    // It leads elsewhere, or the file system refuses it: it is fetched, and keeping it says why.
    if (isBotError(thrown)) return undefined;
    throw thrown;
  }
}

/** It may be gone already. */
export async function removeKept(workspace: Workspace, where: string): Promise<void> {
  try {
    const { real } = await resolveForWriting(workspace, where);
    await rm(real, { force: true });
  } catch (thrown) {
    // A link that leads out took its place: what is there is not ours.
    if (!isBotError(thrown, 'path_outside_workspace', 'tool_failed')) throw thrown;
  }
}

/** What is in the folder itself; folders that tools made in it are theirs. */
export async function inboxBytes(workspace: Workspace): Promise<number> {
  const { real } = await resolveForWriting(workspace, inboxName);
  const names = await readdir(real).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      lstat(path.join(real, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
