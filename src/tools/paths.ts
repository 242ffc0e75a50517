/**
 * Paths stay inside the workspace (rule 16): relative paths only in effect, `..` and absolute paths
 * resolved, symbolic links in any parent followed before the check, also for targets that do not
 * exist yet.
 */

import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { BotError } from '../base/errors.ts';

/** A folder that all conversations may read, `/mnt/<name>` to the model. */
export interface Mount {
  /** [a-z0-9-]{1,40} */
  readonly name: string;
  /** Absolute path of the host. */
  readonly folder: string;
}

/** What a conversation's tools may touch. The model sees `folder` as `/workspace`. */
export interface Workspace {
  /** Absolute path of the host; exists. */
  readonly folder: string;
  /** Read-only. */
  readonly mounts: readonly Mount[];
}

/**
 * The real absolute path of `asked` (relative to the workspace; percent-encoding decoded once when
 * the plain name does not exist). Throws path_outside_workspace.
 */
export async function resolveInWorkspace({ folder }: Workspace, asked: string): Promise<string> {
  if (asked.includes('\0') || /^[A-Za-z]:[\\/]/u.test(asked)) throw outside(asked);
  const root = await realpath(folder);
  const decoded = decodeOnce(asked);
  // What an encoded path means must be inside too: the next reader may decode it.
  for (const form of new Set([asked, decoded])) {
    await containedPath(root, form);
  }
  return containedPath(root, asked);
}

async function containedPath(root: string, asked: string): Promise<string> {
  const lexical = path.resolve(root, asked);
  if (!isInside(root, lexical)) throw outside(asked);
  const real = await realOf(lexical);
  if (!isInside(root, real)) throw outside(asked);
  return real;
}

/** The path with all links of its existing part followed; a dangling link is refused by its target. */
async function realOf(target: string, depth = 0): Promise<string> {
  try {
    return await realpath(target);
  } catch (thrown) {
    if (!isMissing(thrown) || depth > 64) throw thrown;
  }
  const isLink = await lstat(target).then(
    (stat) => stat.isSymbolicLink(),
    (thrown: unknown) => {
      if (isMissing(thrown)) return false;
      throw thrown;
    },
  );
  // A link to nowhere would be created through: where it points cannot be checked for good.
  if (isLink) throw outside(path.basename(target));
  return path.join(await realOf(path.dirname(target), depth + 1), path.basename(target));
}

/** True for the root itself and what lies below it; a neighbour with the same beginning is outside. */
export function isInside(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return (
    relative === '' ||
    (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  );
}

function decodeOnce(asked: string): string {
  try {
    return decodeURIComponent(asked);
  } catch {
    return asked; // not percent-encoded: taken as it is
  }
}

function isMissing(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'code' in thrown &&
    (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR')
  );
}

function outside(asked: string): BotError {
  return new BotError(
    'path_outside_workspace',
    `${JSON.stringify(asked)} is outside the workspace. Use a path relative to the workspace, like notes/plan.md.`,
  );
}
