/** A workspace on disk and the analysis of lines in it. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { analyseShell, type ShellFacts } from '../../../src/tools/shell/analysis/analyse.ts';
import {
  placesInSandbox,
  placesOnHost,
  type ReadablePlace,
} from '../../../src/tools/shell/analysis/places.ts';

export interface AnalysisSetUp {
  /** Absolute, of the host. */
  readonly folder: string;
  readonly mount: string;
  readonly hostPlaces: readonly ReadablePlace[];
  analyse(
    command: string,
    at?: { readonly cwd?: string; readonly home?: string },
  ): Promise<ShellFacts>;
  readonly write: (name: string, content: string | Buffer) => void;
  readonly link: (name: string, target: string) => void;
  readonly remove: () => void;
}

export const plainGitConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
[remote "origin"]
	url = https://example.com/a/b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
`;

const files: Readonly<Record<string, string>> = {
  'names.txt': 'carol\nalice\nbob\n',
  'big.txt': 'one\ntwo\nthree\n',
  'data.json': '{"name":"x","env":"y","list":[1,2]}\n',
  'settings.yaml': 'name: x\n',
  'src/app.ts': 'export const foo = 1;\n',
  'src/lib/tools.ts': 'export const bar = 2;\n',
  'notes/plan.md': '# Plan\n\n- foo\n',
  'x.sh': '#!/bin/sh\ntouch pwned\n',
};

export function setUpWorkspace(): AnalysisSetUp {
  const root = mkdtempSync(path.join(tmpdir(), 'deckhand-shell-'));
  const folder = path.join(root, 'workspace');
  const mount = path.join(root, 'docs');
  const write = (name: string, content: string | Buffer): void => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
  const link = (name: string, target: string): void => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    symlinkSync(target, file);
  };
  mkdirSync(mount, { recursive: true });
  writeFileSync(path.join(mount, 'guide.md'), 'guide\n');
  writeFileSync(path.join(root, 'secret.txt'), 'secret\n');
  for (const [name, text] of Object.entries(files)) write(name, text);
  link('links/passwd', '/etc/passwd');
  link('links/etc', '/etc');
  link('links/above', '../..');
  link('links/names', '../names.txt');
  link('links/plan', '/workspace/notes/plan.md');
  link('links/guide', '/mnt/docs/guide.md');
  link('links/circle', 'circle');
  link('links/home', '../../secret.txt');
  const workspace = { folder, mounts: [{ name: 'docs', folder: mount }] };
  const places = placesInSandbox(workspace);
  return {
    folder,
    mount,
    hostPlaces: placesOnHost(workspace),
    write,
    link,
    analyse: (command, { cwd = '/workspace', home } = {}) =>
      analyseShell(command, {
        places,
        cwd,
        curlHosts: ['api.example.com', 'localhost:8080'],
        home,
      }),
    remove: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A repository without commits, as far as the analysis looks at one. */
export function addRepository(setUp: AnalysisSetUp, config = plainGitConfig, at = '.git'): void {
  setUp.write(`${at}/HEAD`, 'ref: refs/heads/main\n');
  setUp.write(`${at}/config`, config);
  setUp.write(`${at}/objects/info/.keep`, '');
  setUp.write(`${at}/refs/heads/.keep`, '');
}
