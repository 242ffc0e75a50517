/** The workspace folder of each conversation, below one root that holds nothing of the bot's own. */

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Mount, Workspace } from '../tools/paths.ts';

/** A folder name for a conversation key: readable, and unique by a hash of the whole key. */
export function folderNameOf(conversationKey: string): string {
  const readable = conversationKey.replace(/[^A-Za-z0-9.-]+/gu, '_').slice(0, 80);
  const hash = createHash('sha256').update(conversationKey).digest('hex').slice(0, 12);
  return `${readable}-${hash}`;
}

export function createWorkspaces(
  root: string,
  mounts: readonly Mount[],
): (conversationKey: string) => Promise<Workspace> {
  return async (conversationKey) => {
    const folder = path.join(path.resolve(root), folderNameOf(conversationKey));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return { folder, mounts };
  };
}

/** Absolute paths of the configured folders. */
export function mountsOf(mounts: Readonly<Record<string, string>>): readonly Mount[] {
  return Object.entries(mounts).map(([name, folder]) => ({ name, folder: path.resolve(folder) }));
}

/** Folders that are not there, or that hold what no conversation may read. */
export function mountProblems(
  mounts: readonly Mount[],
  ownFiles: readonly { readonly what: string; readonly file: string }[],
): readonly string[] {
  return mounts.flatMap(({ name, folder }) => {
    const where = `workspace.mounts.${name}`;
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      return [`${where}: ${folder} is no folder. Make it, or take the line away`];
    }
    return ownFiles.flatMap(({ what, file }) =>
      isBelow(folder, file)
        ? [
            `${where}: ${what} (${file}) lies inside ${folder}: every conversation could read it. Name another folder`,
          ]
        : [],
    );
  });
}

function isBelow(folder: string, file: string): boolean {
  const relative = path.relative(folder, path.resolve(file));
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}

/** Problems when configuration or store lie where tools may write. */
export function workspaceProblems(
  root: string,
  ownFiles: readonly { readonly what: string; readonly file: string }[],
): readonly string[] {
  const base = path.resolve(root);
  return ownFiles.flatMap(({ what, file }) => {
    return isBelow(base, file)
      ? [
          `${what} (${file}) lies inside the workspace folder ${root}: tools could change it. Move one of them (DECKHAND_WORKSPACE, DECKHAND_STORE, DECKHAND_CONFIG)`,
        ]
      : [];
  });
}
