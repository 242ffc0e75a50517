/** Runs lines that the analysis calls read-only, and looks whether a byte of the workspace changed. */

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { Bash, InMemoryFs, MountableFs, ReadWriteFs } from 'just-bash';
import { gitReadingEnvironment } from '../../../src/tools/shell/analysis/git-repository.ts';
import { shellLine } from './analysis-lines.ts';
import { type AnalysisSetUp, setUpWorkspace } from './analysis-support.ts';

/** Names, modes, link targets and contents of all that lies in the folder. */
export function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  const visit = (below: string): void => {
    // `recursive` would follow links.
    for (const name of readdirSync(path.join(folder, below)).sort()) {
      const file = path.join(folder, below, name);
      const stat = lstatSync(file);
      hash.update(`${below}/${name}\0${stat.mode}\0`);
      if (stat.isSymbolicLink()) hash.update(readlinkSync(file));
      else if (stat.isFile()) hash.update(readFileSync(file));
      else visit(path.join(below, name));
    }
  };
  visit('');
  return hash.digest('hex');
}

export function setUpRuns(): AnalysisSetUp {
  const setUp = setUpWorkspace();
  execFileSync('chmod', ['+x', path.join(setUp.folder, 'x.sh')]);
  return setUp;
}

/** A real repository with a commit and a change on top. */
export function commitAll({ folder, write }: AnalysisSetUp): void {
  const git = (...words: readonly string[]): void => {
    execFileSync('git', ['-C', folder, ...words], { stdio: 'ignore' });
  };
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'a');
  git('config', 'user.email', 'a@example.com');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  write('names.txt', 'changed\n');
}

export type RunLine = (line: string, folder: string) => Promise<void>;

export const runVirtually: RunLine = async (line, folder) => {
  const bash = new Bash({
    fs: new MountableFs({
      base: new InMemoryFs(),
      mounts: [
        {
          mountPoint: '/workspace',
          filesystem: new ReadWriteFs({ root: folder, allowSymlinks: true }),
        },
      ],
    }),
    cwd: '/workspace',
    sleep: () => Promise.resolve(),
    executionLimits: { maxCommandCount: 200, maxLoopIterations: 50 },
  });
  // What fails reads as little as what does not.
  await bash.exec(line).catch(() => undefined);
};

const bubblewrap = [
  ...['--unshare-all', '--die-with-parent', '--new-session', '--clearenv'],
  ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
  ...[
    '--symlink',
    'usr/lib64',
    '/lib64',
    '--ro-bind',
    '/etc',
    '/etc',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
  ],
  ...['--tmpfs', '/tmp', '--setenv', 'PATH', '/usr/bin', '--setenv', 'HOME', '/tmp'],
];

export const hasBubblewrap =
  spawnSync('bwrap', [...bubblewrap, '/usr/bin/true'], { stdio: 'ignore' }).status === 0;

export const runInBubblewrap: RunLine = (line, folder) => {
  const settings = Object.entries(gitReadingEnvironment).flatMap(([key, value]) => [
    '--setenv',
    key,
    value,
  ]);
  spawnSync(
    'bwrap',
    [
      ...bubblewrap,
      ...settings,
      ...['--bind', folder, '/workspace', '--chdir', '/workspace'],
      ...['/usr/bin/bash', '--noprofile', '--norc', '-c', line],
    ],
    { stdio: ['ignore', 'ignore', 'ignore'], timeout: 2_000, killSignal: 'SIGKILL' },
  );
  return Promise.resolve();
};

/** How many of the lines were called read-only and run. A line that changed something is thrown. */
export async function runLines(
  setUp: AnalysisSetUp,
  run: RunLine,
  { lines, seed }: { readonly lines: number; readonly seed: number },
): Promise<number> {
  const before = fingerprint(setUp.folder);
  const seen = new Set<string>();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(shellLine, async (line) => {
      if (seen.has(line)) return;
      seen.add(line);
      if (!(await setUp.analyse(line)).isReadOnly) return;
      count += 1;
      await run(line, setUp.folder);
      if (fingerprint(setUp.folder) !== before)
        throw new Error(`it changed the workspace: ${line}`);
    }),
    { numRuns: lines, seed, endOnFailure: true },
  );
  return count;
}
