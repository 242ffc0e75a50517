/**
 * Whether git would only read in a folder. Its configuration names programs (fsmonitor, textconv,
 * external diffs, filters, pagers, ssh, credential helpers), so each of its keys must be known to
 * start none; so must each key of the user's own, where the workspace is the home folder.
 */

import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { followPath, type ReadablePlace } from './places.ts';

/** Keys that start nothing and read nothing; lower case. */
const plainKeys: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|compression|whitespace|protectntfs|protecthfs)$/u,
  /^user\.(?:name|email)$/u,
  /^remote\.[^\n]*\.(?:url|pushurl|fetch|tagopt|prune)$/u,
  /^branch\.[^\n]*\.(?:remote|merge|rebase|pushremote|description)$/u,
  /^(?:init\.defaultbranch|pull\.rebase|pull\.ff|push\.default|push\.autosetupremote|fetch\.prune|merge\.conflictstyle|rebase\.autostash|gc\.auto|color\.(?:ui|status|diff|branch)|diff\.(?:renames|algorithm|colormoved|mnemonicprefix)|log\.(?:date|decorate|abbrevcommit)|status\.(?:short|branch)|advice\.\w+|commit\.verbose|tag\.sort|branch\.sort)$/u,
];

/**
 * What executors set so that reading stays reading: git otherwise writes what it saw of the files to
 * its index (`status` by an optional lock, `diff` by a setting of its own; git 2.39).
 */
export const gitReadingEnvironment: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'diff.autoRefreshIndex',
  GIT_CONFIG_VALUE_0: 'false',
};

/** Larger files are not judged. */
const mostConfigBytes = 65_536;
const mostIndexBytes = 32_000_000;

/**
 * Why git may run programs or read elsewhere from this folder (as the shell sees it); undefined when
 * it cannot. No repository at all is fine: git says so and ends.
 */
export async function repositoryProblem(
  places: readonly ReadablePlace[],
  cwd: string,
): Promise<string | undefined> {
  for (let folder = cwd; ; folder = path.posix.dirname(folder)) {
    const followed = await followPath(places, folder, '.');
    if (followed.kind === 'outside') return aboveProblem(places, folder);
    if (followed.host === undefined) return 'git looks at a folder that cannot be looked at first';
    const { host } = followed;
    const names = await readdir(host).catch(() => undefined);
    if (names === undefined) return 'git looks at a folder that cannot be read';
    if (names.some((name) => name.toLowerCase() === '.git'))
      return folderProblem(path.join(host, '.git'));
    // Git takes a folder with these names for a repository without a work tree.
    if (names.some((name) => name.toLowerCase() === 'head'))
      return 'a folder here may be taken for a bare git repository';
    if (folder === '/') return undefined;
  }
}

/** Above the workspace git goes on looking; in a sandbox nothing is there. */
async function aboveProblem(
  places: readonly ReadablePlace[],
  from: string,
): Promise<string | undefined> {
  const isHost = places.some(({ shell, host }) => shell === host);
  for (let folder = from; isHost; folder = path.dirname(folder)) {
    const names = await readdir(folder).catch((): string[] => []);
    if (names.some((name) => /^(?:\.git|head)$/iu.test(name)))
      return 'git would read a repository above the workspace';
    if (folder === path.dirname(folder)) break;
  }
  return undefined;
}

async function folderProblem(git: string): Promise<string | undefined> {
  const stat = await lstat(git).catch(() => undefined);
  if (!stat?.isDirectory()) return 'its `.git` is no folder: it leads to another repository';
  const names = await readdir(git).catch(() => undefined);
  if (names === undefined) return 'its `.git` folder cannot be read';
  if (names.some((name) => /^(?:commondir|gitdir|config\.worktree|modules)$/iu.test(name)))
    return 'the repository uses work trees or submodules';
  for (const name of ['config', 'objects', 'refs', 'HEAD', 'index', 'info', 'hooks']) {
    const part = await lstat(path.join(git, name)).catch(() => undefined);
    if (part?.isSymbolicLink()) return `\`.git/${name}\` is a link`;
  }
  const hooks = await readdir(path.join(git, 'hooks')).catch((): string[] => []);
  // Git runs this one when it refreshes what it knows of the files.
  if (hooks.includes('post-index-change')) return 'the repository has a post-index-change hook';
  const alternates = await lstat(path.join(git, 'objects/info/alternates')).catch(() => undefined);
  if (alternates) return 'the repository reads objects of another one';
  return (
    (await configFileProblem(path.join(git, 'config'))) ??
    (await indexProblem(path.join(git, 'index')))
  );
}

/** Why a file of configuration is not harmless; a missing one is. */
export async function configFileProblem(file: string): Promise<string | undefined> {
  const stat = await lstat(file).catch(() => undefined);
  if (stat === undefined) return undefined;
  if (!stat.isFile() || stat.size > mostConfigBytes)
    return 'the git configuration cannot be judged';
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? 'the git configuration cannot be read' : configProblem(text);
}

/** Reads the plain form only: one section or one key a line, no continued lines. */
export function configProblem(text: string): string | undefined {
  let section = '';
  for (const line of text.split('\n')) {
    const header = /^\s*\[([A-Za-z0-9.-]+)(?: "([^"\\]*)")?\]\s*$/u.exec(line);
    if (/^[ \t]*(?:[#;].*)?$/u.test(line) && !line.includes('\r')) continue;
    if (header) {
      const [, name = '', below] = header;
      section = below === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${below}`;
      continue;
    }
    const key = /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[^\\\r"]*)?$/u.exec(line)?.[1];
    if (key === undefined || section === '')
      return 'the git configuration has a line that is not judged';
    const full = `${section}.${key.toLowerCase()}`;
    if (!plainKeys.some((pattern) => pattern.test(full)))
      return `the git configuration sets \`${full}\`, which may start a program`;
  }
  return undefined;
}

/** Git also looks into repositories below, by their own configuration. They are in its index. */
async function indexProblem(file: string): Promise<string | undefined> {
  const stat = await lstat(file).catch(() => undefined);
  if (stat === undefined) return undefined;
  if (!stat.isFile() || stat.size > mostIndexBytes) return 'the git index cannot be judged';
  const index = await readFile(file).catch(() => undefined);
  if (index === undefined || index.length < 12) return 'the git index cannot be read';
  return hasOnlyFiles(index) ? undefined : 'the repository has others below it';
}

/** Entries of version 2 and 3 with SHA-1 (another hash is another key of the configuration): 40 bytes of stat (mode at 24), 20 of hash, flags, the name, padding. */
function hasOnlyFiles(index: Buffer): boolean {
  const version = index.readUInt32BE(4);
  if (index.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3)) return false;
  const count = index.readUInt32BE(8);
  let offset = 12;
  for (let entry = 0; entry < count; entry += 1) {
    if (offset + 62 > index.length) return false;
    if ((index.readUInt32BE(offset + 24) & 0o170000) === 0o160000) return false;
    const isExtended = (index.readUInt16BE(offset + 60) & 0x4000) !== 0;
    const name = offset + (isExtended ? 64 : 62);
    const end = index.indexOf(0, name);
    if (end === -1) return false;
    // One to eight zero bytes fill the entry up.
    offset += Math.floor((end - offset + 8) / 8) * 8;
  }
  return !index.includes('link', offset, 'latin1');
}
