/** FileWrite: whole or not at all, and never over what was not seen. */

import { renameSync, symlinkSync } from 'node:fs';
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

describe('FileWrite', () => {
  it('creates folders, replaces whole files and keeps their mode', async () => {
    const { folder, says, modeOf, read } = await setUp();
    expect(await says('FileWrite', { path: 'x/y.sh', content: 'a\nb' })).toBe(
      'Created x/y.sh (2 lines, 3 bytes).',
    );
    await chmod(path.join(folder, 'x/y.sh'), 0o775);
    expect(await says('FileWrite', { path: 'x/y.sh', content: '' })).toBe(
      'Replaced x/y.sh (0 lines, 0 bytes).',
    );
    expect(await modeOf('x/y.sh')).toBe(0o775);
    expect(await read('x/y.sh')).toHaveLength(0);
  });

  it('leaves nothing half written behind', async () => {
    const { folder, call, says } = await setUp();
    const stopped = new AbortController();
    stopped.abort();
    await expect(
      call('FileWrite', { path: 'a.txt', content: 'x' }, { signal: stopped.signal }),
    ).rejects.toMatchObject({ code: 'stopped' });
    expect(await says('Glob', { pattern: '**/*' })).toBe('No file matches **/*.');
    expect(await readdir(folder)).toEqual([]);
  });

  it('replaces only what was read in this conversation and is unchanged since', async () => {
    const { says, write, read } = await setUp();
    await write('a.txt', 'of a person\n');
    const content = 'new\n';
    expect(await says('FileWrite', { path: 'a.txt', content })).toBe(
      'a.txt exists and was not read in this conversation. FileRead it first, so that nothing is lost that you have not seen.',
    );
    await says('FileRead', { path: 'a.txt' }, { conversationKey: 'another' });
    expect(await says('FileWrite', { path: 'a.txt', content })).toContain('was not read');
    await says('FileRead', { path: 'a.txt', limit: 1 });
    await write('a.txt', 'changed meanwhile\n');
    expect(await says('FileWrite', { path: 'a.txt', content })).toBe(
      'a.txt was changed since it was last read in this conversation. FileRead it again, then make your change to what it is now.',
    );
    expect((await read('a.txt')).toString()).toBe('changed meanwhile\n');
    await says('FileRead', { path: 'a.txt' });
    expect(await says('FileWrite', { path: 'a.txt', content })).toContain('Replaced a.txt');
    expect(await says('FileWrite', { path: 'a.txt', content: 'newer\n' })).toContain('Replaced');
  });

  it('knows a file that was read by another name', async () => {
    const { folder, says, write } = await setUp();
    await write('real/a.txt', 'x\n');
    await symlink(path.join(folder, 'real'), path.join(folder, 'alias'));
    await says('FileRead', { path: 'alias/a.txt' });
    expect(await says('FileWrite', { path: '/workspace/real/a.txt', content: '' })).toContain(
      'Replaced real/a.txt',
    );
  });

  it('says what it cannot write to', async () => {
    const { folder, says, call, write } = await setUp();
    await write('folder/x', '');
    expect(await says('FileWrite', { path: 'folder', content: '' })).toBe(
      'folder is a folder. Choose a file name.',
    );
    expect(await says('FileWrite', { path: '.', content: '' })).toContain('is a folder');
    await expect(call('FileWrite', { path: 'folder/x/y', content: '' })).rejects.toThrow(
      'a part of its path is a file',
    );
    await expect(call('FileWrite', { path: '/mnt/docs/a', content: '' })).rejects.toThrow(
      'read-only',
    );
    expect(await readdir(path.dirname(folder))).toEqual(['agent', 'agent-other', 'docs']);
  });

  it('says when the encoding becomes another', async () => {
    const { says, tool, context, write, read } = await setUp();
    await write('a.txt', Buffer.from('\ufeffalt', 'utf16le'));
    await says('FileRead', { path: 'a.txt' });
    const preview = await tool('FileWrite').preview({ path: 'a.txt', content: 'neu' }, context);
    expect(preview.text).toMatch(/\(It was UTF-16 LE and is UTF-8 now\.\)$/u);
    expect(await says('FileWrite', { path: 'a.txt', content: 'neu' })).toBe(
      'Replaced a.txt (1 line, 3 bytes). It was UTF-16 LE and is UTF-8 now.',
    );
    expect((await read('a.txt')).toString()).toBe('neu');
  });

  it('never shows a reader half a file', async () => {
    const { call, read } = await setUp();
    const contentOf = (letter: string): string => letter.repeat(300_000);
    await call('FileWrite', { path: 'a.txt', content: contentOf('a') });
    let isWriting = true;
    const writing = Promise.all(
      Array.from('bcdefghij', (letter) =>
        call('FileWrite', { path: 'a.txt', content: contentOf(letter) }),
      ),
    ).finally(() => {
      isWriting = false;
    });
    let looks = 0;
    while (isWriting) {
      const seen = (await read('a.txt')).toString();
      expect(seen).toBe(contentOf(seen.charAt(0)));
      looks += 1;
    }
    expect(looks).toBeGreaterThan(5);
    // Those that ran side by side took turns: each saw the one before, none was refused.
    expect((await writing).map(({ kind }) => kind)).toEqual(Array(9).fill('done'));
    expect((await read('a.txt')).toString()).toBe(contentOf('j'));
  });

  it('writes nowhere else when a folder on the way becomes a link meanwhile', async () => {
    const { outer, folder, call } = await setUp();
    const away = path.join(outer, 'agent-other');
    const x = path.join(folder, 'x');
    // The signal is looked at before each step: the second time all paths were checked.
    const { signal } = new AbortController();
    let looks = 0;
    Object.defineProperty(signal, 'aborted', {
      get: () => {
        looks += 1;
        if (looks === 2) {
          renameSync(x, `${x}-moved`);
          symlinkSync(away, x);
        }
        return false;
      },
    });
    await call('FileWrite', { path: 'x/f.txt', content: 'x' }, { signal });
    expect(looks).toBe(3);
    expect(await readdir(`${x}-moved`)).toEqual(['f.txt']);
    expect(await readdir(away)).toEqual(['secret.txt']);
  });

  it('shows a new file as lines that are added, and a replaced one as its diff', async () => {
    const { tool, context, says, write } = await setUp();
    const preview = (path: string, content: string) =>
      tool('FileWrite').preview({ path, content }, context);
    expect(await preview('notes/new.md', 'one\ntwo\n')).toEqual({
      language: 'diff',
      text: '--- /dev/null\n+++ notes/new.md\n@@ -0,0 +1,2 @@\n+one\n+two',
    });
    expect((await preview('empty.md', '')).text).toContain('(an empty file)');
    await write('old.md', '1\n2\n3\n4\n5\n6\n7\n');
    expect(await preview('old.md', 'x')).toEqual({
      language: 'text',
      text: expect.stringContaining('was not read in this conversation'),
    });
    await says('FileRead', { path: 'old.md' });
    expect((await preview('old.md', '1\n2\n3\n4\n5\nsix\n7\n')).text).toBe(
      '--- old.md\n+++ old.md\n@@ -3,5 +3,5 @@\n 3\n 4\n 5\n-6\n+six\n 7',
    );
    expect((await preview('old.md', '1\n2\n3\n4\n5\n6\n7\n')).text).toContain('no change');
  });

  it('shows long diffs complete', async () => {
    const { tool, context, says, write } = await setUp();
    const old = Array.from({ length: 5000 }, (_, at) => `old ${at}`);
    const next = Array.from({ length: 4000 }, (_, at) => `new ${at}`);
    await write('a.txt', `same\n${old.join('\n')}\nend`);
    await says('FileRead', { path: 'a.txt' });
    const content = `same\n${next.join('\n')}\nend\n`;
    const { text } = await tool('FileWrite').preview({ path: 'a.txt', content }, context);
    expect(text.split('\n')).toEqual([
      '--- a.txt',
      '+++ a.txt',
      '@@ -1,5002 +1,4002 @@',
      ' same',
      ...old.map((line) => `-${line}`),
      '-end',
      '\\ No newline at end of file',
      ...next.map((line) => `+${line}`),
      '+end',
    ]);
  });

  it.each([
    ['notes/plan.md', 'notes/**', false],
    ['/workspace/./notes/plan.md', 'notes/**', false],
    ['plan.md', 'plan.md', false],
    ['a/b/c.md', 'a/b/**', false],
    ['*/x.md', undefined, false],
    ['a/[b]/x.md', undefined, false],
    ['.git/hooks/pre-commit', undefined, true],
    ['repo/.GIT/config', undefined, true],
    ['.git', undefined, true],
    ['link/config', undefined, true],
    ['.github/x.yml', '.github/**', false],
  ])('is judged: %s', async (asked, grant, alwaysAsks) => {
    const { folder, tool, context } = await setUp();
    await mkdir(path.join(folder, '.git'));
    await writeFile(path.join(folder, '.git', 'config'), '');
    await symlink(path.join(folder, '.git'), path.join(folder, 'link'));
    const judged = await tool('FileWrite').assess({ path: asked, content: '' }, context);
    expect(judged).toMatchObject({ isReadOnly: false, needsApproval: true, grant, alwaysAsks });
    const shown = path.posix.normalize(asked.replace('/workspace/', ''));
    expect(judged.subjects[0]).toBe(shown);
    expect(judged.why).toContain(`it changes ${shown}`);
  });

  it('is not asked about where it cannot succeed', async () => {
    const { tool, context, write } = await setUp();
    await write('a.txt', 'x');
    const judged = (asked: string) =>
      tool('FileWrite').assess({ path: asked, content: '' }, context);
    expect(await judged('new.txt')).not.toHaveProperty('fault');
    expect((await judged('a.txt')).fault).toContain('was not read');
    expect((await judged('/mnt/docs/a')).fault).toContain('read-only');
  });
});
