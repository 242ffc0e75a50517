/** Grep: linear in the text, in a thread of its own, never behind a link. */

import { execFileSync } from 'node:child_process';
import { link, symlink } from 'node:fs/promises';
import path from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

describe('Grep', () => {
  it('shows lines, files or counts', async () => {
    const { says, write } = await setUp();
    await write('a.log', 'ok\ntimeout 1\ntimeout 2\n');
    await write('b.log', 'timeout 3\n');
    await write('c.txt', 'timeout 4\n');
    expect(await says('Grep', { pattern: 'timeout \\d', glob: '*.log' })).toBe(
      'a.log:2: timeout 1\na.log:3: timeout 2\nb.log:1: timeout 3',
    );
    expect(await says('Grep', { pattern: 'timeout', mode: 'files' })).toBe('a.log\nb.log\nc.txt');
    expect(await says('Grep', { pattern: 'timeout', mode: 'count', path: 'a.log' })).toBe(
      'a.log: 2',
    );
    expect(await says('Grep', { pattern: 'nothing here' })).toBe('No match.');
    expect(await says('Grep', { pattern: 'x', path: 'none' })).toBe(
      'There is no file or folder none. Use Glob to find files.',
    );
  });

  it('takes a glob without a slash for names in any folder', async () => {
    const { says, write } = await setUp();
    await write('a/b/c.log', 'x\n');
    await write('d.log', 'x\n');
    expect(await says('Grep', { pattern: 'x', glob: '*.log', mode: 'files' })).toBe(
      'a/b/c.log\nd.log',
    );
    expect(await says('Grep', { pattern: 'x', glob: 'a/**', mode: 'files' })).toBe('a/b/c.log');
    expect(await says('Grep', { pattern: 'x', path: 'a' })).toBe('a/b/c.log:1: x');
  });

  it('shows lines around matches, each once', async () => {
    const { says, write } = await setUp();
    await write('a.txt', '1\n2\nX\n4\nX\n6\n7\n8\n9\nX\n');
    await write('b.txt', 'X\n');
    expect(await says('Grep', { pattern: 'X', before: 1, after: 1 })).toBe(
      [
        ...['a.txt-2- 2', 'a.txt:3: X', 'a.txt-4- 4', 'a.txt:5: X', 'a.txt-6- 6', '--'],
        ...['a.txt-9- 9', 'a.txt:10: X', '--', 'b.txt:1: X'],
      ].join('\n'),
    );
  });

  it('knows upper and lower case, unless told otherwise', async () => {
    const { says, write } = await setUp();
    await write('a.txt', 'Größe\n');
    expect(await says('Grep', { pattern: 'GRÖSSE|GRÖßE' })).toBe('No match.');
    expect(await says('Grep', { pattern: 'GRÖßE', ignoreCase: true })).toBe('a.txt:1: Größe');
  });

  it('reads no file behind a link (B160)', async () => {
    const { outer, folder, says, write } = await setUp();
    await symlink(path.join(outer, 'agent-other', 'secret.txt'), path.join(folder, 'link.txt'));
    await symlink(path.join(outer, 'agent-other'), path.join(folder, 'door'));
    await write('inside.txt', 'inside S\n');
    expect(await says('Grep', { pattern: 'S' })).toBe('inside.txt:1: inside S');
    expect(await says('Grep', { pattern: 'S', includeIgnored: true })).toBe(
      'inside.txt:1: inside S',
    );
  });

  it('waits for no pipe', async () => {
    const { folder, says, write } = await setUp();
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    await write('z.txt', 'x\n');
    expect(await says('Grep', { pattern: 'x' })).toBe('z.txt:1: x');
    expect(await says('Grep', { pattern: 'x', path: 'pipe' })).toBe('No match.');
  });

  it('searches mounts and shows their files as they are named', async () => {
    const { says, writeMounted } = await setUp();
    await writeMounted('a/b.md', 'needle\n');
    expect(await says('Grep', { pattern: 'needle', path: '/mnt/docs' })).toBe(
      '/mnt/docs/a/b.md:1: needle',
    );
    expect(await says('Grep', { pattern: 'needle', path: '/mnt/docs/a/b.md' })).toBe(
      '/mnt/docs/a/b.md:1: needle',
    );
    expect(await says('Grep', { pattern: 'needle' })).toBe('No match.');
  });

  it('leaves out what .gitignore does, unless told otherwise', async () => {
    const { says, write } = await setUp();
    await write('.gitignore', 'dist/\n');
    await write('dist/a.js', 'needle\n');
    expect(await says('Grep', { pattern: 'needle' })).toBe('No match.');
    expect(await says('Grep', { pattern: 'needle', includeIgnored: true })).toContain('dist/a.js');
    expect(await says('Grep', { pattern: 'needle', path: 'dist' })).toContain('dist/a.js');
  });

  it('decodes UTF-16, ends lines at CRLF and skips binary files', async () => {
    const { says, write } = await setUp();
    await write('a.txt', iconv.encode('\ufefffirst\r\nGröße\r\n', 'utf-16le'));
    await write('b.bin', Buffer.concat([Buffer.from([0, 1, 2, 3, 0, 0]), Buffer.from('Größe')]));
    await write('c.txt', iconv.encode('Größe\r\n', 'windows-1252'));
    expect(await says('Grep', { pattern: 'Größe$' })).toBe('a.txt:2: Größe\nc.txt:1: Größe');
  });

  it('names what is too large to be searched', async () => {
    const { says, write } = await setUp();
    await write('a.txt', Buffer.alloc(5 * 1024 * 1024 + 1, 'a'));
    await write('b.txt', Buffer.alloc(5 * 1024 * 1024, 'a'));
    expect(await says('Grep', { pattern: 'a', mode: 'files' })).toBe(
      'b.txt\n(not searched, over 5 MB: a.txt)',
    );
  });

  it('stops at 500 matches, and long before the limit of results', async () => {
    const { says, write } = await setUp();
    await write('a.txt', 'x\n'.repeat(499));
    expect((await says('Grep', { pattern: 'x' })).split('\n')).toHaveLength(499);
    await write('b.txt', 'x\n'.repeat(10));
    const cut = (await says('Grep', { pattern: 'x' })).split('\n');
    expect(cut).toHaveLength(501);
    expect(cut.at(-1)).toBe('(stopped at 500 matches; narrow the search)');
    await write('c.txt', `${'y'.repeat(1000)}\n`.repeat(100));
    const long = await says('Grep', { pattern: 'y' });
    expect(long.length).toBeLessThan(30_000);
    expect(long).toContain('more than can be shown');
  });

  it('shows of a long line the part around the match', async () => {
    const { says, write } = await setUp();
    await write('a.txt', `${'😀'.repeat(5000)}needle${'x'.repeat(5000)}\n`);
    const text = await says('Grep', { pattern: 'needle' });
    expect(text.length).toBeLessThan(600);
    expect(text).toContain('😀needlex');
    expect(text).not.toMatch(/[\uD800-\uDFFF]/u);
  });

  it('cannot be hung by a pattern, and says what is wrong with one', async () => {
    const { says, write } = await setUp();
    await write('a.txt', `${'a'.repeat(1_000_000)}!\n`);
    const at = performance.now();
    expect(await says('Grep', { pattern: '(a+)+$' })).toBe('No match.');
    expect(await says('Grep', { pattern: '(a|aa)*b$' })).toBe('No match.');
    expect(performance.now() - at).toBeLessThan(10_000);
    expect(await says('Grep', { pattern: '(?<=a)b' })).toContain('not valid in RE2 syntax');
    expect(await says('Grep', { pattern: '(' })).toContain('not valid in RE2 syntax');
    expect(await says('Grep', { pattern: '(a{1000}){1000}' })).toContain('not valid in RE2');
  });

  it('leaves the main thread free', async () => {
    const { says, write } = await setUp();
    for (let at = 0; at < 4; at += 1) await write(`${at}.txt`, `${'a'.repeat(4_000_000)}\n`);
    await says('Grep', { pattern: 'warm' });
    let longest = 0;
    let last = performance.now();
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    await says('Grep', { pattern: '(a|b|ab|ba)*c' });
    clearInterval(watch);
    expect(longest).toBeLessThan(500);
  });

  it('ends its thread at once when it is stopped, and goes on afterwards', async () => {
    const { folder, call, says, write } = await setUp();
    await write('0.txt', `${'ab'.repeat(2_500_000)}\n`);
    for (let at = 1; at < 40; at += 1) {
      await link(path.join(folder, '0.txt'), path.join(folder, `${at}.txt`));
    }
    const stop = new AbortController();
    const pattern = '(x+x+)+y|(a|b)*[ab]{500}c';
    const searching = call('Grep', { pattern }, { signal: stop.signal });
    // Another search runs beside it and is not harmed.
    const beside = says('Grep', { pattern: 'a', path: '0.txt', mode: 'count' });
    expect(await beside).toBe('0.txt: 1');
    const at = performance.now();
    stop.abort();
    await expect(searching).rejects.toMatchObject({ code: 'stopped' });
    expect(performance.now() - at).toBeLessThan(100);
    expect(await says('Grep', { pattern: 'zzz', path: '0.txt' })).toBe('No match.');
  });
});
