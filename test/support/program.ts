/**
 * The program, built anew for each run of the tests as `npm run build` builds it, for those who start
 * whole processes: from source each start would compile everything again. A global set-up of vitest.
 * The folder lies beside no source, so that nothing of an earlier build can be used by mistake.
 */

import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder with dist/, config/ and what they need; absolute. */
    program: string;
  }
}

const root = path.resolve(import.meta.dirname, '../..');

/** Types are not checked here: `npm run check` does, and what is emitted is the same. */
async function build(folder: string): Promise<void> {
  const dist = path.join(folder, 'dist');
  await promisify(execFile)(
    process.execPath,
    [
      path.join(root, 'node_modules/typescript/bin/tsc'),
      ...['-p', path.join(root, 'tsconfig.json'), '--outDir', dist, '--noCheck'],
      ...['--incremental', 'false', '--tsBuildInfoFile', 'null'],
    ],
    { cwd: root },
  );
  const pages = 'adapters/web/public';
  await cp(path.join(root, pages), path.join(dist, pages), { recursive: true });
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'deckhand-program-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
    for (const name of ['config', 'package.json'])
      await cp(path.join(root, name), path.join(folder, name), { recursive: true });
    await build(folder);
  } catch (thrown) {
    await remove();
    throw thrown;
  }
  project.provide('program', folder);
  // Under `vitest watch` the sources have changed since.
  project.onTestsRerun(() => build(folder));
  return remove;
}
