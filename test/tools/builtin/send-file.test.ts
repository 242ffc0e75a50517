/** SendFile: a file of the workspace goes into the thread, once for each call. */

import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isBotError } from '../../../src/base/errors.ts';
import { usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

describe('SendFile', () => {
  it('sends the bytes under the name of the file, with its line', async () => {
    const { says, thread, write } = await setUp();
    await write('out/report.csv', 'a,b\n');
    expect(await says('SendFile', { path: 'out/report.csv', comment: 'All of it' })).toBe(
      'out/report.csv is in the thread.',
    );
    expect(thread.sent).toMatchObject([{ name: 'report.csv', comment: 'All of it' }]);
    expect(Buffer.from(thread.sent[0]?.content ?? []).toString()).toBe('a,b\n');
  });

  it('has one key for a call, and another for each further one', async () => {
    const { says, thread, write } = await setUp();
    await write('a.txt', 'x');
    for (const callId of ['c1', 'c1', 'c2']) await says('SendFile', { path: 'a.txt' }, { callId });
    const [first, again, other] = thread.sent.map(({ key }) => key);
    expect(first).toMatch(/^run_1\.[0-9a-f]{12}$/u);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it.each([
    ['missing.txt', 'There is no file missing.txt. Look with Glob.'],
    ['folder', 'folder is a folder. Send a file, or pack it first.'],
  ])('says what is wrong with %s and sends nothing', async (name, told) => {
    const { call, thread, write } = await setUp();
    await write('folder/x', '');
    expect(await call('SendFile', { path: name })).toEqual({ kind: 'error', text: told });
    expect(thread.sent).toEqual([]);
  });

  it.each(['../agent-other/secret.txt', '/etc/passwd', 'link', 'way/secret.txt'])(
    'sends nothing from outside: %s',
    async (asked) => {
      const { call, folder, outer, thread } = await setUp();
      await symlink(path.join(outer, 'agent-other/secret.txt'), path.join(folder, 'link'));
      await symlink(path.join(outer, 'agent-other'), path.join(folder, 'way'));
      const failed = await call('SendFile', { path: asked }).catch((thrown: unknown) => {
        if (!isBotError(thrown, 'path_outside_workspace', 'tool_failed')) throw thrown;
        return { kind: 'error' };
      });
      expect(failed.kind).toBe('error');
      expect(thread.sent).toEqual([]);
    },
  );

  it('is more than reading, of its path, but asks nobody by itself', async () => {
    const { context, tool, write } = await setUp();
    await write('out/a.txt', 'x');
    expect(await tool('SendFile').assess({ path: './out/a.txt' }, context)).toMatchObject({
      isReadOnly: false,
      needsApproval: false,
      subjects: ['out/a.txt'],
      match: 'path',
    });
  });
});
