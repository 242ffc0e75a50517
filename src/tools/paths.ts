/**
 * Paths stay inside the workspace or one of its mounts (rule 16). The model sees `/workspace/…` and
 * `/mnt/<name>/…`, relative paths begin at `/workspace`; `..`, absolute paths and symbolic links in
 * any parent are resolved before the check, also for targets that do not exist yet.
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

/** A path that was found to lie inside. The target need not exist. */
export interface ResolvedPath {
  /** Absolute path of the host, all links followed. */
  readonly real: string;
  /** For the model and the people: `notes/plan.md` in the workspace, `.` for its folder itself,
   * `/mnt/docs/a.md` in a mount. */
  readonly shown: string;
  /** The same with all links followed; differs from `shown` where a link is on the way. */
  readonly canonical: string;
  /** The real folder of the workspace or the mount that holds it. */
  readonly root: string;
}

/** A file or folder of the workspace or a mount. Throws path_outside_workspace. */
export function resolveForReading(workspace: Workspace, asked: string): Promise<ResolvedPath> {
  return resolve(workspace, asked, false);
}

/** A file or folder of the workspace. Throws path_outside_workspace, also for mounts. */
export function resolveForWriting(workspace: Workspace, asked: string): Promise<ResolvedPath> {
  return resolve(workspace, asked, true);
}

/** True for the root itself and what lies below it; a neighbour with the same beginning is outside. */
export function isInside(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return (
    relative === '' ||
    (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  );
}

/** How a real path below `place.root` is shown, by the way that `place` itself is shown. */
export function shownBelow(place: ResolvedPath, relative: string): string {
  if (relative === '') return place.shown;
  return place.shown === '.' ? relative : `${place.shown}/${relative}`;
}

const workspaceName = '/workspace';
const mountsName = '/mnt';

async function resolve(
  workspace: Workspace,
  asked: string,
  isWriting: boolean,
): Promise<ResolvedPath> {
  const decoded = decodeOnce(asked);
  // What an encoded path means must be inside too: the next reader may decode it.
  if (decoded !== asked) await contained(workspace, asked, decoded, isWriting);
  return contained(workspace, asked, asked, isWriting);
}

async function contained(
  workspace: Workspace,
  asked: string,
  form: string,
  isWriting: boolean,
): Promise<ResolvedPath> {
  if (form.includes('\0') || /^[A-Za-z]:[\\/]/u.test(form)) throw outside(asked, workspace);
  const place = await placeOf(workspace, asked, form);
  if (isWriting && place.name !== undefined) {
    throw new BotError(
      'path_outside_workspace',
      `${JSON.stringify(asked)} cannot be changed: ${mountsName}/${place.name} is read-only. Write to the workspace instead, like notes/plan.md.`,
    );
  }
  const lexical = path.join(place.root, place.relative);
  const real = await realOf(lexical, () => outside(asked, workspace));
  if (!isInside(place.root, real)) throw outside(asked, workspace);
  const nameOf = (relative: string): string =>
    place.name === undefined
      ? relative || '.'
      : path.posix.join(mountsName, place.name, relative || '.');
  return {
    real,
    shown: nameOf(place.relative),
    canonical: nameOf(path.relative(place.root, real)),
    root: place.root,
  };
}

interface Place {
  /** Of the mount; undefined for the workspace. */
  readonly name: string | undefined;
  readonly root: string;
  /** Without `..`; empty for the root itself. */
  readonly relative: string;
}

/** Which root a path belongs to, by its words alone. */
async function placeOf(workspace: Workspace, asked: string, form: string): Promise<Place> {
  const root = await realpath(workspace.folder);
  const absolute = path.resolve('/', form);
  if (path.isAbsolute(form)) {
    const home = [root, workspace.folder].find((one) => isInside(one, absolute));
    if (home !== undefined) {
      return { name: undefined, root, relative: path.relative(home, absolute) };
    }
  }
  const seen = path.posix.resolve(workspaceName, form);
  if (isInside(workspaceName, seen)) {
    return { name: undefined, root, relative: path.posix.relative(workspaceName, seen) };
  }
  if (!isInside(mountsName, seen)) throw outside(asked, workspace);
  const [name = '', ...below] = path.posix.relative(mountsName, seen).split('/');
  const mount = workspace.mounts.find((one) => one.name === name);
  if (!mount) throw outside(asked, workspace);
  const mounted = await realpath(mount.folder).catch((thrown: unknown) => {
    throw new BotError('tool_failed', `${mountsName}/${name} cannot be reached at present.`, {
      cause: thrown,
    });
  });
  return { name, root: mounted, relative: below.join('/') };
}

/** The path with all links of its existing part followed; a dangling link is refused. */
async function realOf(target: string, refusal: () => BotError, depth = 0): Promise<string> {
  try {
    return await realpath(target);
  } catch (thrown) {
    // Deeper than any path may be long: something turns in a circle.
    if (!isMissing(thrown) || depth > 4096) throw unusable(target, thrown);
  }
  const isLink = await lstat(target).then(
    (stat) => stat.isSymbolicLink(),
    (thrown: unknown) => {
      if (isMissing(thrown)) return false;
      throw unusable(target, thrown);
    },
  );
  // A link to nowhere would be created through: where it points cannot be checked for good.
  if (isLink) throw refusal();
  return path.join(await realOf(path.dirname(target), refusal, depth + 1), path.basename(target));
}

function decodeOnce(asked: string): string {
  try {
    return decodeURIComponent(asked);
  } catch {
    return asked; // not percent-encoded: taken as it is
  }
}

/** The code of a failed system call: ENOENT and the like. */
export function systemCodeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : undefined;
}

function isMissing(thrown: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCodeOf(thrown) ?? '');
}

const reasons: Readonly<Record<string, string>> = {
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
  EACCES: 'access to it is not permitted',
};

function unusable(target: string, thrown: unknown): BotError {
  const reason = reasons[systemCodeOf(thrown) ?? ''] ?? 'the file system refuses it';
  const name = path.basename(target).slice(0, 80);
  return new BotError('tool_failed', `${name} cannot be used: ${reason}. Choose another path.`, {
    cause: thrown,
  });
}

function outside(asked: string, { mounts }: Workspace): BotError {
  const shared = mounts.map(({ name }) => `${mountsName}/${name}`).join(', ');
  const besides = shared === '' ? '' : `, or read below ${shared}`;
  return new BotError(
    'path_outside_workspace',
    `${JSON.stringify(asked)} is outside the workspace. Use a path relative to the workspace, like notes/plan.md${besides}.`,
  );
}
