/** The same line reads or does more, by what lies in the workspace. */

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { analyseShell } from '../../../src/tools/shell/analysis/analyse.ts';
import { configProblem } from '../../../src/tools/shell/analysis/git-repository.ts';
import {
  type AnalysisSetUp,
  addRepository,
  plainGitConfig,
  setUpWorkspace,
} from './analysis-support.ts';

function setUpHere(): AnalysisSetUp {
  const setUp = setUpWorkspace();
  onTestFinished(setUp.remove);
  return setUp;
}

describe('git in a repository', () => {
  it('reads where each key of the configuration is harmless', async () => {
    const setUp = setUpHere();
    addRepository(setUp);
    expect((await setUp.analyse('git status')).isReadOnly).toBe(true);
    expect((await setUp.analyse('git diff', { cwd: '/workspace/src' })).isReadOnly).toBe(true);
  });

  it('reads where there is none', async () => {
    expect((await setUpHere().analyse('git status')).isReadOnly).toBe(true);
  });

  it.each([
    ['[core]\n\tfsmonitor = ./x.sh\n', 'core.fsmonitor'],
    ['[core]\n\tFsMonitor = ./x.sh\n', 'core.fsmonitor'],
    ['[CORE]\n\thooksPath = .\n', 'core.hookspath'],
    ['[core]\n\tpager = ./x.sh\n', 'core.pager'],
    ['[core]\n\tsshCommand = ./x.sh\n', 'core.sshcommand'],
    ['[core]\n\tworktree = /etc\n', 'core.worktree'],
    ['[core]\n\teditor = x\n', 'core.editor'],
    ['[core]\n\tattributesFile = x\n', 'core.attributesfile'],
    ['[diff]\n\texternal = ./x.sh\n', 'diff.external'],
    ['[diff "x"]\n\ttextconv = ./x.sh\n', 'diff.x.textconv'],
    ['[diff "x"]\n\tcommand = ./x.sh\n', 'diff.x.command'],
    ['[diff.x]\n\ttextconv = ./x.sh\n', 'diff.x.textconv'],
    ['[filter "x"]\n\tclean = ./x.sh\n', 'filter.x.clean'],
    ['[alias]\n\tst = !./x.sh\n', 'alias.st'],
    ['[include]\n\tpath = ../x\n', 'include.path'],
    ['[includeIf "gitdir:/"]\n\tpath = ../x\n', 'includeif.gitdir:/.path'],
    ['[credential]\n\thelper = !x\n', 'credential.helper'],
    ['[gpg]\n\tprogram = x\n', 'gpg.program'],
    ['[log]\n\tshowSignature = true\n', 'log.showsignature'],
    ['[extensions]\n\tworktreeConfig = true\n', 'extensions.worktreeconfig'],
    ['[extensions]\n\tpartialClone = origin\n', 'extensions.partialclone'],
    ['[remote "x"]\n\tpromisor = true\n', 'remote.x.promisor'],
    ['[remote "x"]\n\tuploadpack = ./x.sh\n', 'remote.x.uploadpack'],
    ['[remote "x"]\n\tvcs = x\n', 'remote.x.vcs'],
    ['[url "ext::sh"]\n\tinsteadOf = x\n', 'url.ext::sh.insteadof'],
    ['[protocol "ext"]\n\tallow = always\n', 'protocol.ext.allow'],
    ['[extensions]\n\tobjectFormat = sha256\n', 'extensions.objectformat'],
    ['[submodule "x"]\n\turl = x\n', 'submodule.x.url'],
  ])('may run programs by %j', (config, key) => {
    expect(configProblem(plainGitConfig + config)).toContain(key);
  });

  it.each([
    '[core] fsmonitor = x\n',
    '[core]\n\tfilemode = true \\\n\tfsmonitor = x\n',
    '[core]\n\tfilemode = "a\n[core]\n"\n',
    'fsmonitor = x\n',
    '[core\n]\n',
    '[core]\r\n\tfilemode = true\r\n',
    '\ufeff[core]\n\tfsmonitor = x\n',
    '[core "a\\"b"]\n\tx = y\n',
    '[a]b]\n',
    '[core]\n\t= x\n',
    '[core]\n\tfile_mode = x\n',
  ])('is not judged by a configuration of another form: %j', (config) => {
    expect(configProblem(config)).toBeDefined();
  });

  it.each([
    '',
    '# comment\n; comment\n\n',
    '[user]\n  name = A B\n  email = a@b\n',
    '[branch "feature/x"]\n\tmerge = refs/heads/x\n',
    '[core]\n\tbare\n',
  ])('is harmless with %j', (config) => {
    expect(configProblem(config)).toBeUndefined();
  });

  it.each<[string, (setUp: AnalysisSetUp) => void]>([
    [
      'a nested repository of its own',
      (s) => addRepository(s, '[core]\nfsmonitor=x\n', 'src/.git'),
    ],
    ['a bare repository', (s) => s.write('src/HEAD', 'x')],
    ['a .git file', (s) => s.write('src/.git', 'gitdir: /etc')],
    ['a .git link', (s) => s.link('src/.git', '/etc')],
  ])('is judged by what is nearest: %s', async (_what, change) => {
    const setUp = setUpHere();
    addRepository(setUp);
    change(setUp);
    expect((await setUp.analyse('git status')).isReadOnly).toBe(true);
    expect((await setUp.analyse('git status', { cwd: '/workspace/src' })).isReadOnly).toBe(false);
    expect((await setUp.analyse('git status', { cwd: '/workspace/src/lib' })).isReadOnly).toBe(
      false,
    );
    expect((await setUp.analyse('git -C src status')).isReadOnly).toBe(false);
    expect((await setUp.analyse('cd src && git status')).isReadOnly).toBe(false);
    expect((await setUp.analyse('ls src')).isReadOnly).toBe(true);
  });

  it.each<[string, (setUp: AnalysisSetUp) => void]>([
    [
      'a configuration that starts programs',
      (s) => s.write('.git/config', '[core]\nfsmonitor=x\n'),
    ],
    ['a configuration of a work tree', (s) => s.write('.git/config.worktree', '')],
    ['a common folder elsewhere', (s) => s.write('.git/commondir', '/etc')],
    ['submodules', (s) => s.write('.git/modules/x/config', '')],
    ['a hook that reading runs', (s) => s.write('.git/hooks/post-index-change', '')],
    ['objects elsewhere', (s) => s.write('.git/objects/info/alternates', '/etc')],
    ['an index that is none', (s) => s.write('.git/index', 'no index at all')],
    ['an index with a repository below', (s) => s.write('.git/index', indexWith(0o160000))],
    ['a linked index', (s) => s.link('.git/index', '/etc/passwd')],
  ])('asks where the repository has %s', async (_what, change) => {
    const setUp = setUpHere();
    addRepository(setUp);
    change(setUp);
    expect((await setUp.analyse('git log')).isReadOnly).toBe(false);
    expect((await setUp.analyse('gh pr list')).isReadOnly).toBe(false);
  });

  it('reads an index of files', async () => {
    const setUp = setUpHere();
    addRepository(setUp);
    setUp.write('.git/index', indexWith(0o100644));
    expect((await setUp.analyse('git log')).isReadOnly).toBe(true);
  });

  it('asks on the host where a repository lies above the workspace', async () => {
    const setUp = setUpHere();
    const options = { places: setUp.hostPlaces, cwd: setUp.folder, curlHosts: [] };
    expect((await analyseShell('git log', options)).isReadOnly).toBe(true);
    mkdirSync(path.join(setUp.folder, '../.git'));
    expect((await analyseShell('git log', options)).isReadOnly).toBe(false);
    expect((await analyseShell('ls', options)).isReadOnly).toBe(true);
  });
});

/** An index of version 2 with one entry of this mode. */
function indexWith(mode: number): Buffer {
  const entry = Buffer.alloc(72);
  entry.writeUInt32BE(mode, 24);
  entry.write('abc', 62);
  const head = Buffer.from('DIRC\0\0\0\u0002\0\0\0\u0001', 'latin1');
  return Buffer.concat([head, entry, Buffer.alloc(20)]);
}

describe('a link below .git/', () => {
  it.each(['echo x > cfg', 'rm hooks/x', 'cp x.sh hooks/post-commit', 'cat names.txt | tee cfg'])(
    'always asks where it is written through: %j',
    async (line) => {
      const setUp = setUpHere();
      expect((await setUp.analyse(line)).alwaysAsks).toBe(false);
      addRepository(setUp);
      setUp.link('cfg', '.git/config');
      setUp.link('hooks', '/workspace/.git/hooks');
      expect((await setUp.analyse(line)).alwaysAsks).toBe(true);
      expect((await setUp.analyse('cat cfg')).alwaysAsks).toBe(false);
    },
  );
});

describe('the home folder in the workspace', () => {
  it.each([
    ['git log', '.gitconfig', '[core]\n\tpager = x\n'],
    ['git log', '.config/git/config', ''],
    ['curl -s https://api.example.com', '.curlrc', 'output = x'],
    ['jq . data.json', '.jq', 'def x: env;'],
    ['kubectl get pods', '.kube/config', ''],
    ['docker ps', '.docker/config.json', ''],
    ['gh pr list', '.config/gh/config.yml', ''],
  ])('makes %j ask by %s', async (line, file, text) => {
    const setUp = setUpHere();
    setUp.write(file, text);
    expect((await setUp.analyse(line)).isReadOnly).toBe(true);
    expect((await setUp.analyse(line, { home: '/home/x' })).isReadOnly).toBe(true);
    expect((await setUp.analyse(line, { home: '/workspace' })).isReadOnly).toBe(false);
  });
});

describe('names that a pattern may become', () => {
  it('are no options', async () => {
    const setUp = setUpHere();
    expect((await setUp.analyse('sort *.txt')).isReadOnly).toBe(true);
    expect((await setUp.analyse('sort src/*')).isReadOnly).toBe(true);
    expect((await setUp.analyse('sort *', { cwd: '/workspace/src' })).isReadOnly).toBe(true);
    setUp.write('src/-oout', 'x');
    expect((await setUp.analyse('sort *', { cwd: '/workspace/src' })).isReadOnly).toBe(false);
    expect((await setUp.analyse('sort src/*')).isReadOnly).toBe(true);
    expect((await setUp.analyse('sort ./*', { cwd: '/workspace/src' })).isReadOnly).toBe(true);
  });

  it('do not lead out', async () => {
    const setUp = setUpHere();
    expect((await setUp.analyse('cat src/*')).isReadOnly).toBe(true);
    setUp.link('src/passwd', '/etc/passwd');
    expect((await setUp.analyse('cat src/*')).isReadOnly).toBe(false);
    expect((await setUp.analyse('cat src/*.ts')).isReadOnly).toBe(false);
    expect((await setUp.analyse('cat src/app.ts')).isReadOnly).toBe(true);
    expect((await setUp.analyse('diff -r src notes')).isReadOnly).toBe(false);
  });
});

describe('the folder that a line runs in', () => {
  it('is followed through links', async () => {
    const setUp = setUpHere();
    setUp.link('deep', 'src/lib');
    expect((await setUp.analyse('cat ../app.ts', { cwd: '/workspace/deep' })).isReadOnly).toBe(
      true,
    );
    expect((await setUp.analyse('cat ../../x', { cwd: '/workspace/src' })).isReadOnly).toBe(false);
    expect((await setUp.analyse('cd deep && ls')).isReadOnly).toBe(false);
  });

  it.each(['/etc', '/', '/workspace/..', '/workspace/links/etc', '/mnt', '/workspaces'])(
    'may not be outside: %s',
    async (cwd) => {
      expect((await setUpHere().analyse('ls', { cwd })).isReadOnly).toBe(false);
    },
  );

  it.each(['/workspace', '/workspace/src', '/mnt/docs', '/tmp'])('may be %s', async (cwd) => {
    expect((await setUpHere().analyse('ls', { cwd })).isReadOnly).toBe(true);
  });
});

describe('the paths of the host', () => {
  it('are those that its shell sees', async () => {
    const setUp = setUpHere();
    const options = { places: setUp.hostPlaces, cwd: setUp.folder, curlHosts: [] };
    const isReadOnly = async (line: string): Promise<boolean> =>
      (await analyseShell(line, options)).isReadOnly;
    expect(await isReadOnly('cat names.txt')).toBe(true);
    expect(await isReadOnly(`cat ${setUp.folder}/names.txt`)).toBe(true);
    expect(await isReadOnly(`cat ${setUp.mount}/guide.md`)).toBe(true);
    expect(await isReadOnly('cat /workspace/names.txt')).toBe(false);
    expect(await isReadOnly('cat links/plan')).toBe(false);
    expect(await isReadOnly('cat /tmp/x')).toBe(false);
    expect(await isReadOnly('cat ../secret.txt')).toBe(false);
  });
});
