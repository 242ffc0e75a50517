/** What every executor of shell commands must do. Real time: real shells know no other. */

import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Workspace } from '../../src/tools/paths.ts';
import type {
  Executor,
  ShellRequest,
  ShellResult,
  ShellSession,
} from '../../src/tools/shell/executor.ts';

export interface ExecutorTraits {
  /** The host's files outside the workspace and the mounts do not exist. */
  readonly isSandboxed: boolean;
  /** A real bash with processes. */
  readonly isReal: boolean;
}

export interface ExecutorStage {
  readonly outer: string;
  readonly workspace: Workspace;
  readonly run: (
    command: string,
    more?: Partial<ShellRequest>,
    signal?: AbortSignal,
  ) => Promise<ShellResult>;
}

/** A workspace beside a secret file that is none of its business, and one mount. */
export async function setUpStage(executor: Executor): Promise<ExecutorStage> {
  const outer = await mkdtemp(path.join(os.tmpdir(), 'deckhand-shell-'));
  const folder = path.join(outer, 'workspace');
  await mkdir(folder, { mode: 0o700 });
  await mkdir(path.join(outer, 'mounted'));
  await writeFile(path.join(outer, 'mounted', 'guide.txt'), 'read me\n');
  await writeFile(path.join(outer, 'secret.txt'), 'SECRET outside\n');
  const workspace = { folder, mounts: [{ name: 'docs', folder: path.join(outer, 'mounted') }] };
  return {
    outer,
    workspace,
    run: (command, more = {}, signal = new AbortController().signal) =>
      executor.run({ command, workspace, session: undefined, timeoutMs: 15_000, ...more }, signal),
  };
}

export function describeExecutor(
  name: string,
  create: () => Executor,
  { isSandboxed, isReal }: ExecutorTraits,
): void {
  describe(`the ${name} executor`, () => {
    let executor: Executor;
    let stage: ExecutorStage;
    beforeAll(async () => {
      executor = create();
      stage = await setUpStage(executor);
    });
    afterAll(async () => {
      await executor.close();
      await rm(stage.outer, { recursive: true, force: true });
    });

    it('returns output and exit code', async () => {
      expect(await stage.run('echo hello')).toMatchObject({
        how: 'exited',
        output: 'hello\n',
        exitCode: 0,
        isCut: false,
        lostFolder: undefined,
      });
      expect(await stage.run('false')).toMatchObject({ how: 'exited', output: '', exitCode: 1 });
      expect((await stage.run('exit 7')).exitCode).toBe(7);
      expect((await stage.run('no-such-command')).exitCode).toBe(127);
    });

    it('knows the language', async () => {
      // One call for all: the virtual shell's thread is slow to start from sources.
      const cases = [
        ['echo wrong >&2; echo worse > /dev/stderr', ''],
        ['printf "b\\na\\n" | sort | tr a-z A-Z', 'A\nB\n'],
        ["cat <<'END'\n  a $HOME\nEND", '  a $HOME\n'],
        ['f() { echo "<$1>"; }; f "$(echo a b)"', '<a b>\n'],
        ['a=1\nif [ $a = 1 ]; then\n  echo one\nfi', 'one\n'],
        ['echo "naïve 🚢 日本"', 'naïve 🚢 日本\n'],
        ['cat; echo no input', 'no input\n'],
      ] as const;
      const { output } = await stage.run(cases.map(([command]) => command).join('\necho --\n'));
      for (const line of ['wrong\n', 'worse\n']) expect(output).toContain(line);
      const said = output.replace('wrong\n', '').replace('worse\n', '');
      expect(said).toBe(cases.map(([, out]) => out).join('--\n'));
    });

    it('keeps the folder and what was exported', async () => {
      await mkdir(path.join(stage.workspace.folder, 'sub'), { recursive: true });
      const first = await stage.run('cd sub; export A="1 \'2\'\n3"; B=not-exported');
      expect(first.session.cwd).toBe(`${executor.startFolder(stage.workspace)}/sub`);
      expect(first.session.env).toEqual({ A: "1 '2'\n3" });
      const { session } = first;
      const second = await stage.run('pwd; echo "$A"; echo "<$B>"; unset A', { session });
      expect(second.output).toBe(`${session.cwd}\n1 '2'\n3\n<>\n`);
      expect(second.session).toEqual({ cwd: session.cwd, env: {} });
    });

    it('runs nothing when the folder is gone, says so, and goes on in the workspace', async () => {
      const start = executor.startFolder(stage.workspace);
      const session: ShellSession = { cwd: `${start}/gone`, env: { KEPT: 'yes' } };
      const result = await stage.run('pwd; touch wrong-place', { session });
      expect(result).toMatchObject({
        output: '',
        lostFolder: `${start}/gone`,
        session: { cwd: start, env: { KEPT: 'yes' } },
      });
      const next = await stage.run('pwd; echo $KEPT; ls', { session: result.session });
      expect(next.output).toMatch(`${start}\nyes\n`);
      expect(next.output).not.toContain('wrong-place');
    });

    it('carries at most 64 KiB of variables, and none that would run code', async () => {
      const big = 'x'.repeat(60_000);
      const result = await stage.run(
        `export A=${'a'.repeat(3000)} B=${big} C=${'c'.repeat(3000)} BASH_ENV=/workspace/x LD_PRELOAD=`,
      );
      const size = Object.values(result.session.env).join('').length;
      expect(size).toBeGreaterThan(50_000);
      expect(size).toBeLessThanOrEqual(65_536);
      expect(result.session.env).not.toHaveProperty('BASH_ENV');
      expect(result.session.env).not.toHaveProperty('LD_PRELOAD');
    });

    it('cuts the middle out of a big output', async () => {
      const result = await stage.run('echo first; seq 1 200000; echo last');
      expect(result.isCut).toBe(true);
      expect(result.output.length).toBeLessThan(1_000_100);
      expect(result.output).toMatch(/^first\n1\n.+characters left out.+\nlast\n$/su);
    });

    it('ends a command that is out of time, and says so', async () => {
      const result = await stage.run('echo begun; sleep 30', { timeoutMs: 1000 });
      expect(result.how).toBe('timed_out');
    });

    it('ends a command that is stopped, and keeps the session as it was', async () => {
      const controller = new AbortController();
      const session = { cwd: executor.startFolder(stage.workspace), env: { A: '1' } };
      const running = stage.run('export A=2; cd /; sleep 30', { session }, controller.signal);
      await wait(300);
      controller.abort();
      expect(await running).toMatchObject({ how: 'stopped', session });
      expect(await stage.run('echo x', {}, controller.signal)).toMatchObject({ how: 'stopped' });
    });

    it('writes files that the bot can read and owns', async () => {
      await stage.run('mkdir -p made; echo by-shell > made/file.txt');
      const file = path.join(stage.workspace.folder, 'made/file.txt');
      expect(await readFile(file, 'utf8')).toBe('by-shell\n');
      expect((await stat(file)).uid).toBe((await stat(stage.workspace.folder)).uid);
      await writeFile(file, 'by-bot\n');
      expect((await stage.run('cat made/file.txt')).output).toBe('by-bot\n');
    });

    it('does not show what the bot was given', async () => {
      process.env['DEMO_API_TOKEN'] = '3f0c0d2e-8c1b-4b52-9d7f-1f0e6a1c9b11';
      try {
        const { output } = await stage.run('env; export -p; cat /proc/self/environ || true');
        expect(output).toContain('HOME=');
        expect(output).not.toContain('DEMO_API_TOKEN');
        expect(output).not.toContain('3f0c0d2e');
      } finally {
        delete process.env['DEMO_API_TOKEN'];
      }
    });

    it('gives commands what the operator hands over', async () => {
      expect((await stage.run('echo $HANDED_OVER')).output).toBe('on purpose\n');
    });

    it('refuses a command that no shell can take', async () => {
      await expect(stage.run('echo a\0b')).rejects.toMatchObject({ code: 'tool_failed' });
      await expect(stage.run(`: ${'x'.repeat(120_000)}`)).rejects.toThrow(/FileWrite/u);
    });

    it('runs beside itself', async () => {
      const results = await Promise.all([1, 2, 3].map((n) => stage.run(`echo ${n}`)));
      expect(results.map(({ output }) => output)).toEqual(['1\n', '2\n', '3\n']);
    });

    // What an executor has not is not registered: a skipped test counts as a failure.
    const sandboxed = isSandboxed ? describe : undefined;
    sandboxed?.('in its sandbox', () => {
      it('shows mounts, and lets nobody write there', async () => {
        expect((await stage.run('cat /mnt/docs/guide.txt')).output).toBe('read me\n');
        for (const write of [
          'echo x > /mnt/docs/guide.txt',
          'echo x >> /mnt/docs/guide.txt',
          'touch /mnt/docs/new',
          'rm /mnt/docs/guide.txt',
          'mv /mnt/docs/guide.txt .',
        ]) {
          expect((await stage.run(write)).exitCode, write).not.toBe(0);
        }
        const guide = path.join(stage.outer, 'mounted/guide.txt');
        expect(await readFile(guide, 'utf8')).toBe('read me\n');
        await expect(stat(path.join(stage.outer, 'mounted/new'))).rejects.toThrow('ENOENT');
      });

      it('does not follow a link out, to read or to write', async () => {
        const { outer, workspace } = stage;
        const secret = path.join(outer, 'secret.txt');
        await symlink(secret, path.join(workspace.folder, 'to-file'));
        await symlink(outer, path.join(workspace.folder, 'to-folder'));
        await symlink(path.join(outer, 'created.txt'), path.join(workspace.folder, 'dangling'));
        const reads = [
          'cat to-file',
          'cat < to-file',
          'cat to-folder/secret.txt',
          'ls to-folder/',
          'grep -r SECRET .',
          'cp to-file copy; cat copy',
          'ln to-file hard; cat hard',
          'tar cf out.tar to-folder/secret.txt && tar xOf out.tar',
          'ln -s /etc/hostname named; cat named',
          `cat ${secret}`,
          'cat ../secret.txt',
          'echo the end',
        ];
        const { output } = await stage.run(reads.join('\n'));
        expect(output).not.toContain('SECRET');
        expect(output).not.toContain(os.hostname());
        expect(output).toContain('the end');
        const writes = [
          'echo changed | tee to-file',
          'cp /mnt/docs/guide.txt to-file',
          'sed -i s/SECRET/changed/ to-file',
          'mkdir to-folder/made',
          'rm -rf to-folder/mounted',
          'mv to-folder/secret.txt here',
          'chmod 777 to-file',
          'touch dangling',
        ];
        // A redirection that is refused may end the virtual shell: each by itself.
        for (const command of [
          writes.join('\n'),
          'echo changed > to-file',
          'echo changed >> to-file',
          'echo changed > to-folder/secret.txt',
          'echo changed > dangling',
        ]) {
          await stage.run(command);
        }
        expect(await readFile(secret, 'utf8')).toBe('SECRET outside\n');
        expect((await stat(secret)).mode & 0o777).not.toBe(0o777);
        await expect(stat(path.join(outer, 'created.txt'))).rejects.toThrow('ENOENT');
        await expect(stat(path.join(outer, 'made'))).rejects.toThrow('ENOENT');
        await stat(path.join(outer, 'mounted/guide.txt'));
      });

      it('has no network', async () => {
        const { output, exitCode } = await stage.run(
          'curl -s -m 2 http://127.0.0.1:6379/ || cat < /dev/tcp/127.0.0.1/6379',
        );
        expect(output).toMatch(/not found|unreachable|refused|No such file/u);
        expect(exitCode).not.toBe(0);
      });
    });

    const real = isReal ? describe : undefined;
    real?.('with real processes', () => {
      it('shows output while the command runs', async () => {
        const seen: string[] = [];
        const controller = new AbortController();
        const running = stage.run(
          'echo begun; sleep 30',
          {
            onOutput: (text) => {
              seen.push(text);
              controller.abort();
            },
          },
          controller.signal,
        );
        expect((await running).how).toBe('stopped');
        expect(seen.join('')).toBe('begun\n');
      });

      it('ends what was left in the background', async () => {
        const result = await stage.run('sleep 30 & (sleep 0.7; touch late) & echo done');
        expect(result).toMatchObject({ how: 'exited', output: 'done\n', exitCode: 0 });
        await wait(800);
        await expect(stat(path.join(stage.workspace.folder, 'late'))).rejects.toThrow('ENOENT');
      });

      it('keeps the session over exit, set -e, set -x and the command’s own settings', async () => {
        for (const command of [
          'cd /tmp; export A=1; exit 3',
          'set -e; cd /tmp; export A=1; false',
          'set -u; IFS=x; cd /tmp; export A=1; echo $nope',
          'set -f; printf() { :; }; cd /tmp; export A=1',
        ]) {
          const { session } = await stage.run(command);
          expect(session, command).toEqual({ cwd: '/tmp', env: { A: '1' } });
        }
        const traced = await stage.run('set -x; : a');
        expect(traced.output).toMatch(/^\++ : a\n$/u);
      });

      it('does not believe a report that is none', async () => {
        const start = executor.startFolder(stage.workspace);
        const forged = await stage.run("printf 'x\\0/etc\\0A\\0' >&3; kill -9 $$");
        expect(forged.exitCode).toBe(137);
        expect(forged.session.env).toEqual({});
        const flooded = await stage.run('yes | head -c 3000000 >&3; echo still');
        expect(flooded.output).toBe('still\n');
        expect((await stage.run('pwd')).output).toBe(`${start}\n`);
      });

      it('works on whatever was exported', async () => {
        const { session } = await stage.run(
          'export PATH= LD_LIBRARY_PATH=/x BASH=/x IFS=x TERM=; exec 2>&1',
        );
        const result = await stage.run('echo works; cat', { session });
        expect(result.output).toMatch(/^works\n.+cat: No such file/su);
        expect(result.exitCode).toBe(127);
      });

      it('opens nothing of the bot to the command', async () => {
        const { output } = await stage.run('ls /proc/$$/fd | sort -n | tr "\\n" " "');
        expect(
          output
            .trim()
            .split(' ')
            .filter((fd) => Number(fd) < 200),
        ).toEqual(['0', '1', '2', '3']);
      });

      it('limits the size of files', async () => {
        const { exitCode } = await stage.run('head -c 3000000 /dev/zero > big');
        expect(exitCode).not.toBe(0);
        const { size } = await stat(path.join(stage.workspace.folder, 'big'));
        expect(size).toBeLessThanOrEqual(1024 * 1024);
      });
    });
  });
}
