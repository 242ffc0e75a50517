/** Glob: names by pattern, without what is not of interest, never through a link. */

import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

describe('Glob', () => {
  it('lists matching files by name, without node_modules, .git and .deckhand', async () => {
    const { says, write } = await setUp();
    const hidden = ['node_modules/e.md', '.git/f.md', 'sub/node_modules/g.md', '.deckhand/h.md'];
    for (const name of ['b.md', 'a.md', 'sub/c.md', 'd.txt', ...hidden]) await write(name, '');
    expect(await says('Glob', { pattern: '**/*.md' })).toBe('a.md\nb.md\nsub/c.md');
    expect(await says('Glob', { pattern: '*', path: 'sub' })).toBe('c.md');
    expect(await says('Glob', { pattern: '*.md', path: '.deckhand' })).toBe('h.md');
    expect((await says('Glob', { pattern: '**', includeIgnored: true })).split('\n')).toHaveLength(
      8,
    );
  });

  it.each(['../**', '/etc/*', 'a/../../x'])('refuses the pattern %s', async (pattern) => {
    const { says } = await setUp();
    expect(await says('Glob', { pattern })).toContain('must stay inside the workspace');
  });

  it.each([
    ['**/*.{ts,js}', 'a.ts\nsrc/b.js'],
    ['src/*', 'src/.dot\nsrc/b.js'],
    ['?.ts', 'a.ts'],
    ['./src/[a-c].js', 'src/b.js'],
    ['*.py', 'No file matches *.py.'],
  ])('%s', async (pattern, expected) => {
    const { says, write } = await setUp();
    for (const name of ['a.ts', 'src/b.js', 'src/.dot', 'src/deep/c.txt']) await write(name, '');
    expect(await says('Glob', { pattern })).toBe(expected);
  });

  it('respects .gitignore files, nested ones too, as git does', async () => {
    const { says, write } = await setUp();
    await write('.gitignore', '*.log\n/build/\n!keep.log\n');
    await write('sub/.gitignore', '!b.log\nsecret*\n');
    for (const name of ['a.log', 'A.LOG', 'keep.log', 'build/x', 'sub/b.log', 'sub/build/y']) {
      await write(name, '');
    }
    await write('sub/secrets.txt', '');
    expect(await says('Glob', { pattern: '**' })).toBe(
      '.gitignore\nA.LOG\nkeep.log\nsub/.gitignore\nsub/b.log\nsub/build/y',
    );
    expect(await says('Glob', { pattern: '*', path: 'sub' })).toBe('.gitignore\nb.log');
    expect(await says('Glob', { pattern: '*', path: 'build' })).toBe('x');
    expect(await says('Glob', { pattern: '*.log', includeIgnored: true })).toBe('a.log\nkeep.log');
  });

  it('lists links and does not follow them', async () => {
    const { outer, folder, says, write } = await setUp();
    await write('a.txt', '');
    await symlink(path.join(outer, 'agent-other'), path.join(folder, 'door'));
    await symlink('a.txt', path.join(folder, 'link.txt'));
    await symlink(path.join(outer, 'agent-other', 'secret.txt'), path.join(folder, '.gitignore'));
    expect(await says('Glob', { pattern: '**' })).toBe(
      '.gitignore (link)\na.txt\ndoor (link)\nlink.txt (link)',
    );
  });

  it('lists a mount', async () => {
    const { says, writeMounted } = await setUp();
    await writeMounted('a/b.md', '');
    expect(await says('Glob', { pattern: '**/*.md', path: '/mnt/docs' })).toBe('a/b.md');
  });

  it('says where there is no folder', async () => {
    const { says, write } = await setUp();
    await write('a.txt', '');
    expect(await says('Glob', { pattern: '*', path: 'none' })).toBe('There is no folder none.');
    expect(await says('Glob', { pattern: '*', path: 'a.txt' })).toContain('is no folder');
  });

  it('shows at most 1,000 names', async () => {
    const { says, write } = await setUp();
    for (let at = 0; at < 1001; at += 1) await write(`${at}.txt`, '');
    const lines = (await says('Glob', { pattern: '*' })).split('\n');
    expect(lines).toHaveLength(1001);
    expect(lines.at(-1)).toBe('(and 1 more; narrow the pattern)');
    expect((await says('Glob', { pattern: '1*.txt' })).split('\n')).toHaveLength(112);
  });

  it('ends at once when it is stopped, whatever the pattern costs', async () => {
    const { call, says, write } = await setUp();
    await write('a'.repeat(250), '');
    const stop = new AbortController();
    const pattern = `${'*a'.repeat(30)}b`;
    const listing = call('Glob', { pattern }, { signal: stop.signal });
    await says('Glob', { pattern: 'x' });
    const at = performance.now();
    stop.abort();
    await expect(listing).rejects.toMatchObject({ code: 'stopped' });
    expect(performance.now() - at).toBeLessThan(100);
    expect(await says('Glob', { pattern: 'x' })).toBe('No file matches x.');
  });
});
