/**
 * Whether a path that a command is given stays in what the conversation may read. Paths are followed
 * part by part as the shell sees them, through symbolic links; what cannot be followed is refused.
 */

import { lstat, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import type { Workspace } from '../../paths.ts';
import type { Piece } from './words.ts';

/** A folder that may be read. */
export interface ReadablePlace {
  /** Absolute, as the shell sees it. */
  readonly shell: string;
  /** The same folder of the host; undefined for a scratch folder that only the sandbox has. */
  readonly host: string | undefined;
}

/** Below a sandbox: the workspace, its mounts, and the sandbox's own scratch folder. */
export function placesInSandbox({ folder, mounts }: Workspace): readonly ReadablePlace[] {
  return [
    { shell: '/workspace', host: folder },
    ...mounts.map((mount) => ({ shell: `/mnt/${mount.name}`, host: mount.folder })),
    { shell: '/tmp', host: undefined },
  ];
}

/** Where the shell sees the host's own paths. */
export function placesOnHost({ folder, mounts }: Workspace): readonly ReadablePlace[] {
  return [folder, ...mounts.map((mount) => mount.folder)].map((host) => ({ shell: host, host }));
}

export type Followed =
  /** Where the path leads, without links. */
  | { readonly kind: 'inside'; readonly shell: string; readonly host: string | undefined }
  | { readonly kind: 'outside' };

const OUTSIDE: Followed = { kind: 'outside' };
const mostTurns = 1_000;
/** The most names that one pattern looks at. */
const mostNames = 2_000;

interface Position {
  readonly at: string;
  readonly rest: string;
}

/** Follows a path as `open` would: `..` of a link is the folder above its target. */
export async function followPath(
  places: readonly ReadablePlace[],
  cwd: string,
  asked: string,
): Promise<Followed> {
  if (asked === '' || asked.includes('\0')) return OUTSIDE;
  let position = positionOf(places, cwd, asked);
  // A path has fewer parts than this; links that lead in a circle do not.
  for (let turn = 0; position !== undefined && turn < mostTurns; turn += 1) {
    const here = placed(places, position.at);
    const [part, rest] = nextPart(position.rest);
    if (part === undefined || here.kind === 'outside') return here;
    position = await stepInto(places, here, part, rest);
  }
  return OUTSIDE;
}

function positionOf(
  places: readonly ReadablePlace[],
  from: string,
  asked: string,
): Position | undefined {
  if (!asked.startsWith('/')) return { at: from, rest: asked };
  const at = startOf(places, asked);
  return at === undefined ? undefined : { at, rest: asked.slice(at.length) };
}

async function stepInto(
  places: readonly ReadablePlace[],
  here: Extract<Followed, { kind: 'inside' }>,
  part: string,
  rest: string,
): Promise<Position | undefined> {
  if (part === '.') return { at: here.shell, rest };
  // What lies in the scratch folder is not seen from here: a link there could lead anywhere.
  if (part === '..')
    return here.host === undefined ? undefined : { at: path.posix.dirname(here.shell), rest };
  const at = path.posix.join(here.shell, part);
  const target = await linkOf(placed(places, at));
  if (target === undefined) return { at, rest };
  return target === 'unknown' ? undefined : positionOf(places, here.shell, `${target}/${rest}`);
}

/** The place that an absolute path begins with, spelt exactly so. */
function startOf(places: readonly ReadablePlace[], asked: string): string | undefined {
  return places.find(({ shell }) => asked === shell || asked.startsWith(`${shell}/`))?.shell;
}

function nextPart(rest: string): readonly [string | undefined, string] {
  const trimmed = rest.replace(/^\/+/u, '');
  if (trimmed === '') return [undefined, ''];
  const end = trimmed.indexOf('/');
  return end === -1 ? [trimmed, ''] : [trimmed.slice(0, end), trimmed.slice(end + 1)];
}

function placed(places: readonly ReadablePlace[], at: string): Followed {
  const place = places.find(({ shell }) => at === shell || at.startsWith(`${shell}/`));
  if (place === undefined) return OUTSIDE;
  const host =
    place.host === undefined ? undefined : path.join(place.host, at.slice(place.shell.length));
  return { kind: 'inside', shell: at, host };
}

/** What the link points to; undefined when it is none or nothing is there. */
async function linkOf(found: Followed): Promise<string | undefined> {
  if (found.kind === 'outside' || found.host === undefined) return undefined;
  try {
    return (await lstat(found.host)).isSymbolicLink() ? await readlink(found.host) : undefined;
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    // Nothing there, or below a file: the command will say so itself.
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : 'unknown';
  }
}

/**
 * Why the names that a pattern becomes may lead out or be taken for options; undefined when they
 * cannot. Every name that lies where the pattern looks counts, whether it would match or not, so
 * that no difference between pattern engines matters.
 */
export async function globProblem(
  places: readonly ReadablePlace[],
  cwd: string,
  pieces: readonly Piece[],
): Promise<string | undefined> {
  const parts = partsOf(pieces);
  let folders: readonly string[] = [cwd];
  if (parts[0]?.text === '' && parts.length > 1) return 'its pattern begins at the root';
  for (const [index, part] of parts.entries()) {
    // `.*` can be `..`, and a bracket can hold a dot.
    if (index === 0 && part.text.startsWith('-')) return 'its pattern may become an option';
    if (part.isGlob && /^\.|^\[.*[./]/u.test(part.text))
      return 'its pattern may lead out of the folder';
    const below = part.isGlob
      ? await matches(places, cwd, folders, part.text, index === 0)
      : folders.map((folder) => `${folder}/${part.text}`);
    if (typeof below === 'string') return below;
    folders = below;
  }
  for (const target of folders) {
    const followed = await followPath(places, cwd, target);
    if (followed.kind === 'outside')
      return 'its pattern may reach files outside what may be read here';
  }
  return undefined;
}

async function matches(
  places: readonly ReadablePlace[],
  cwd: string,
  folders: readonly string[],
  pattern: string,
  isFirst: boolean,
): Promise<readonly string[] | string> {
  const below: string[] = [];
  for (const folder of folders) {
    const names = await namesIn(places, cwd, folder);
    if (names === undefined) return 'its pattern looks outside what may be read here';
    if (isFirst && names.some((name) => name.startsWith('-')))
      return 'its pattern may become an option: a file here has a name that begins with `-`';
    // Without a match the pattern stays as it is.
    below.push(...names.map((name) => `${folder}/${name}`), `${folder}/${pattern}`);
    if (below.length > mostNames) return 'its pattern looks at too many files';
  }
  return below;
}

async function namesIn(
  places: readonly ReadablePlace[],
  cwd: string,
  folder: string,
): Promise<readonly string[] | undefined> {
  const followed = await followPath(places, cwd, folder);
  if (followed.kind === 'outside' || followed.host === undefined) return undefined;
  // No folder, or none that can be read: the pattern stays as it is.
  return readdir(followed.host).catch(() => []);
}

/** The pattern by folders: `src/*.ts` is `src` and `*.ts`. */
function partsOf(pieces: readonly Piece[]): readonly Piece[] {
  const parts: { text: string; isGlob: boolean }[] = [{ text: '', isGlob: false }];
  for (const { text, isGlob } of pieces) {
    for (const [index, piece] of text.split('/').entries()) {
      if (index > 0) parts.push({ text: '', isGlob: false });
      const last = parts.at(-1);
      if (!last) continue;
      last.text += piece;
      last.isGlob ||= isGlob;
    }
  }
  return parts;
}

/** Whether a folder holds, at any depth, a link that leads out. A file holds none. */
export async function hasLeavingLink(
  places: readonly ReadablePlace[],
  cwd: string,
  asked: string,
): Promise<boolean> {
  const waiting = [asked];
  let looked = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const followed = await followPath(places, cwd, next);
    if (followed.kind === 'outside') return true;
    if (followed.host === undefined) continue;
    const names = await readdir(followed.host).catch(() => []);
    looked += names.length;
    if (looked > mostNames) return true;
    waiting.push(...names.map((name) => `${next}/${name}`));
  }
  return false;
}
