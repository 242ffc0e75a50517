/** The workspace folder of each conversation, below one root that holds nothing of the bot's own. */

import { createHash } from 'node:crypto';
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

/** Problems when configuration or store lie where tools may write. */
export function workspaceProblems(
  root: string,
  ownFiles: readonly { readonly what: string; readonly file: string }[],
): readonly string[] {
  const base = path.resolve(root);
  return ownFiles.flatMap(({ what, file }) => {
    const relative = path.relative(base, path.resolve(file));
    const isInside = relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
    return isInside
      ? [
          `${what} (${file}) lies inside the workspace folder ${root}: tools could change it. Move one of them (DECKHAND_WORKSPACE, DECKHAND_STORE, DECKHAND_CONFIG)`,
        ]
      : [];
  });
}
