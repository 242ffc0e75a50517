/** Paths stay inside the workspace and its mounts (rule 16), whatever is asked for. */

import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBotError } from '../../src/base/errors.ts';
import { isInside, resolveForReading, resolveForWriting } from '../../src/tools/paths.ts';
import caseB158 from '../cases/B158.json' with { type: 'json' };
import { usingFileTools } from '../support/file-tools.ts';

const setUp = usingFileTools();

describe('paths', () => {
  it.each(
    caseB158.input.paths.map((asked, index) => [asked, caseB158.expected.allowed[index]] as const),
  )('B158: %j is inside the workspace: %s', async (asked, isAllowed) => {
    const { workspace, folder } = await setUp();
    for (const resolve of [resolveForReading, resolveForWriting]) {
      const resolved = await resolve(workspace, asked).then(
        ({ real }) => isInside(folder, real),
        () => false,
      );
      expect(resolved).toBe(isAllowed);
    }
  });

  it.each([
    ['notes/plan.md', 'agent/notes/plan.md', 'notes/plan.md'],
    ['./notes/../plan.md', 'agent/plan.md', 'plan.md'],
    ['/workspace/notes/plan.md', 'agent/notes/plan.md', 'notes/plan.md'],
    ['/workspace', 'agent', '.'],
    ['.', 'agent', '.'],
    ['/mnt/docs/a/b.md', 'docs/a/b.md', '/mnt/docs/a/b.md'],
    ['/mnt/docs', 'docs', '/mnt/docs'],
    ['../mnt/docs/a.md', 'docs/a.md', '/mnt/docs/a.md'],
    ['/mnt/docs/../../workspace/a.md', 'agent/a.md', 'a.md'],
    ['..foo/bar', 'agent/..foo/bar', '..foo/bar'],
    ['/mnt/docs/..foo', 'docs/..foo', '/mnt/docs/..foo'],
    ['100%.txt', 'agent/100%.txt', '100%.txt'],
  ])('%s is %s', async (asked, real, shown) => {
    const { outer, workspace } = await setUp();
    expect(await resolveForReading(workspace, asked)).toMatchObject({
      real: path.join(outer, real),
      shown,
      canonical: shown,
    });
  });

  it('takes the real absolute path of a file inside', async () => {
    const { folder, workspace } = await setUp();
    const asked = path.join(folder, 'a.txt');
    expect(await resolveForWriting(workspace, asked)).toMatchObject({ shown: 'a.txt' });
  });

  it.each([
    '/etc/passwd',
    '/mnt/other/x',
    '/mnt',
    '/mnt/docs/../docs-2/x',
    '/workspace-2/x',
    '/workspace/../etc/passwd',
    '%2e%2e/%2e%2e/etc/passwd',
    'a%00b',
    'd:/x',
  ])('%s is outside', async (asked) => {
    const { workspace } = await setUp();
    await expect(resolveForReading(workspace, asked)).rejects.toMatchObject({
      code: 'path_outside_workspace',
      message: expect.stringContaining('like notes/plan.md, or read below /mnt/docs.'),
    });
  });

  it('lets mounts be read, not changed', async () => {
    const { workspace } = await setUp();
    await expect(resolveForWriting(workspace, '/mnt/docs/a.md')).rejects.toMatchObject({
      code: 'path_outside_workspace',
      message: expect.stringContaining('/mnt/docs is read-only. Write to the workspace instead'),
    });
  });

  it('says of a mount whose folder is gone that it cannot be reached', async () => {
    const { workspace } = await setUp();
    const mounts = [{ name: 'docs', folder: '/does/not/exist' }];
    await expect(resolveForReading({ ...workspace, mounts }, '/mnt/docs/a')).rejects.toMatchObject({
      code: 'tool_failed',
    });
  });

  it('says what is wrong with a name that is too long and with links in a circle', async () => {
    const { folder, workspace } = await setUp();
    await symlink(path.join(folder, 'b'), path.join(folder, 'a'));
    await symlink(path.join(folder, 'a'), path.join(folder, 'b'));
    await expect(resolveForReading(workspace, 'x'.repeat(300))).rejects.toThrow('too long');
    await expect(resolveForReading(workspace, 'a')).rejects.toThrow('in a circle');
  });

  it('does not follow a link out, in any parent, also for files that do not exist yet', async () => {
    const { outer, folder, call } = await setUp();
    await symlink(path.join(outer, 'agent-other'), path.join(folder, 'door'));
    await symlink(path.join(outer, 'agent-other', 'new.txt'), path.join(folder, 'dangling.txt'));
    await symlink(path.join(outer, 'agent-other', 'secret.txt'), path.join(folder, 'link.txt'));
    for (const asked of ['door/secret.txt', 'door/new/deep.txt', 'dangling.txt', 'link.txt']) {
      await expect(call('FileRead', { path: asked })).rejects.toMatchObject({
        code: 'path_outside_workspace',
      });
      for (const [tool, input] of [
        ['FileWrite', { path: asked, content: 'x' }],
        ['FileEdit', { path: asked, oldText: 'SECRET', newText: 'x' }],
      ] as const) {
        await expect(call(tool, input)).rejects.toMatchObject({ code: 'path_outside_workspace' });
      }
    }
    await expect(stat(path.join(outer, 'agent-other', 'new.txt'))).rejects.toThrow('ENOENT');
  });

  it('keeps a link in a mount within that mount', async () => {
    const { outer, folder, says, call, write, writeMounted } = await setUp();
    await write('own.txt', 'own\n');
    await writeMounted('real/a.txt', 'shared\n');
    await symlink(path.join(outer, 'docs', 'real'), path.join(outer, 'docs', 'alias'));
    await symlink(folder, path.join(outer, 'docs', 'back'));
    expect(await says('FileRead', { path: '/mnt/docs/alias/a.txt' })).toBe('1\tshared');
    await expect(call('FileRead', { path: '/mnt/docs/back/own.txt' })).rejects.toMatchObject({
      code: 'path_outside_workspace',
    });
  });

  it('follows a link that stays inside', async () => {
    const { folder, workspace, says, write } = await setUp();
    await write('real/a.txt', 'inside\n');
    await symlink(path.join(folder, 'real'), path.join(folder, 'alias'));
    expect(await says('FileRead', { path: 'alias/a.txt' })).toBe('1\tinside');
    expect(await resolveForReading(workspace, 'alias/a.txt')).toMatchObject({
      shown: 'alias/a.txt',
      canonical: 'real/a.txt',
    });
  });

  it('is never outside, whatever is asked (property)', async () => {
    const { outer, folder, workspace } = await setUp();
    await mkdir(path.join(folder, 'sub/deep'), { recursive: true });
    await writeFile(path.join(folder, 'sub/file'), '');
    await symlink(path.join(outer, 'agent-other'), path.join(folder, 'out'));
    await symlink('../../..', path.join(folder, 'sub/up'));
    await symlink(path.join(folder, 'sub'), path.join(folder, 'in'));
    await symlink('nowhere', path.join(folder, 'dangling'));
    await symlink(folder, path.join(outer, 'docs', 'workspace'));
    const piece = fc.constantFrom(
      ...['..', '.', '', 'sub', 'deep', 'file', 'out', 'up', 'in', 'dangling', 'new', '..new'],
      ...['secret.txt', 'agent-other', 'agent', 'workspace', 'mnt', 'docs', '%2e%2e', '%2F', '%00'],
      ...['%252e%252e', '..%2f', '\\', '..\\', 'C:', '\0', '~', outer.slice(1), folder.slice(1)],
    );
    const asked = fc
      .tuple(fc.constantFrom('', '/', './', '/workspace/', '/mnt/docs/', '../'), fc.array(piece))
      .map(([start, pieces]) => start + pieces.join('/'));
    let inside = 0;
    await fc.assert(
      fc.asyncProperty(asked, fc.boolean(), async (one, isWriting) => {
        const resolve = isWriting ? resolveForWriting : resolveForReading;
        try {
          const { real, root } = await resolve(workspace, one);
          inside += 1;
          expect(isWriting ? [folder] : [folder, path.join(outer, 'docs')]).toContain(root);
          expect(isInside(root, real)).toBe(true);
        } catch (thrown) {
          if (!isBotError(thrown, 'path_outside_workspace', 'tool_failed')) throw thrown;
        }
      }),
      { numRuns: 2000 },
    );
    expect(inside).toBeGreaterThan(200);
  });
});
