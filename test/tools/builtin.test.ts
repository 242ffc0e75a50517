/** The built-in tools on a real workspace folder. */

import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterEach, describe, expect, it } from 'vitest';
import { builtinTools } from '../../src/tools/builtin/all.ts';
import type { ToolContext, ToolOutcome } from '../../src/tools/contract.ts';
import { isInside, resolveInWorkspace } from '../../src/tools/paths.ts';
import { cutMiddle } from '../../src/tools/text-result.ts';
import caseB158 from '../cases/B158.json' with { type: 'json' };

const folders: string[] = [];

async function setUp() {
  const outer = await mkdtemp(path.join(os.tmpdir(), 'deckhand-tools-'));
  folders.push(outer);
  const workspace = path.join(outer, 'agent');
  await mkdir(workspace);
  await mkdir(path.join(outer, 'agent-other'));
  await writeFile(path.join(outer, 'agent-other', 'secret.txt'), 'SECRET outside\n');
  const context: ToolContext = {
    workspace: { folder: workspace, mounts: [] },
    conversationKey: 'web:local:general:1',
    runId: 'run_1',
    step: 1,
    callId: 'call_1',
    addressed: true,
    signal: new AbortController().signal,
    runSignal: new AbortController().signal,
    progress: () => {},
    checklist: () => {},
    sources: () => {},
  };
  const call = (
    name: string,
    input: unknown,
    more: Partial<ToolContext> = {},
  ): Promise<ToolOutcome> => {
    const tool = builtinTools.find((one) => one.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    return tool.invoke(input, { ...context, ...more });
  };
  const write = async (name: string, content: string | Buffer): Promise<void> => {
    await mkdir(path.dirname(path.join(workspace, name)), { recursive: true });
    await writeFile(path.join(workspace, name), content);
  };
  return { outer, workspace, call, write };
}

function said(outcome: ToolOutcome): string {
  if (outcome.kind === 'error') return outcome.text;
  if (outcome.kind !== 'done') throw new Error(outcome.kind);
  return outcome.parts.map((part) => (part.kind === 'text' ? part.text : part.kind)).join('');
}

afterEach(async () => {
  await Promise.all(
    folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })),
  );
});

describe('paths', () => {
  it.each(
    caseB158.input.paths.map((asked, index) => [asked, caseB158.expected.allowed[index]] as const),
  )('B158: %j is inside the workspace: %s', async (asked, isAllowed) => {
    const { workspace } = await setUp();
    const resolved = await resolveInWorkspace({ folder: workspace, mounts: [] }, asked).then(
      (real) => isInside(workspace, real),
      () => false,
    );
    expect(resolved).toBe(isAllowed);
  });

  it('does not follow a link out, in any parent, also for files that do not exist yet', async () => {
    const { outer, workspace, call } = await setUp();
    await symlink(path.join(outer, 'agent-other'), path.join(workspace, 'door'));
    await symlink(path.join(outer, 'agent-other', 'new.txt'), path.join(workspace, 'dangling.txt'));
    await symlink(path.join(outer, 'agent-other', 'secret.txt'), path.join(workspace, 'link.txt'));
    for (const asked of ['door/secret.txt', 'door/new/deep.txt', 'dangling.txt', 'link.txt']) {
      await expect(call('FileRead', { path: asked })).rejects.toMatchObject({
        code: 'path_outside_workspace',
      });
      await expect(call('FileWrite', { path: asked, content: 'x' })).rejects.toMatchObject({
        code: 'path_outside_workspace',
      });
    }
    await expect(stat(path.join(outer, 'agent-other', 'new.txt'))).rejects.toThrow('ENOENT');
  });

  it('follows a link that stays inside', async () => {
    const { workspace, call, write } = await setUp();
    await write('real/a.txt', 'inside\n');
    await symlink(path.join(workspace, 'real'), path.join(workspace, 'alias'));
    expect(said(await call('FileRead', { path: 'alias/a.txt' }))).toBe('1\tinside');
  });
});

describe('FileRead', () => {
  it('numbers lines and pages through them', async () => {
    const { call, write } = await setUp();
    await write('a.txt', 'one\ntwo\nthree\n');
    expect(said(await call('FileRead', { path: 'a.txt' }))).toBe('1\tone\n2\ttwo\n3\tthree');
    expect(said(await call('FileRead', { path: 'a.txt', offset: 2, limit: 1 }))).toBe(
      '2\ttwo\n(1 more lines; continue with offset 3)',
    );
  });

  it.each([
    ['missing.txt', 'There is no file missing.txt. Use Glob to find files.'],
    ['folder', 'folder is a folder. Use Glob to list it.'],
    ['picture.bin', 'picture.bin is a binary file (4 bytes) and cannot be read as text.'],
    ['empty.txt', '(The file is empty.)'],
  ])('says what is wrong with %s', async (name, expected) => {
    const { call, write } = await setUp();
    await write('folder/x', '');
    await write('picture.bin', Buffer.from([1, 0, 2, 3]));
    await write('empty.txt', '');
    expect(said(await call('FileRead', { path: name }))).toBe(expected);
  });

  it('shows images and PDFs, whatever their name', async () => {
    const { call, write } = await setUp();
    const wide = sharp({ create: { width: 2500, height: 100, channels: 3, background: 'red' } });
    await write('shots/wide.dat', await wide.jpeg().toBuffer());
    await write('paper.pdf', '%PDF-1.7 …');
    const image = await call('FileRead', { path: 'shots/wide.dat' });
    expect(said(image)).toBe('shots/wide.dat (image/jpeg):image');
    const shown = image.kind === 'done' ? image.parts[1] : undefined;
    const base64 = shown?.kind === 'image' ? shown.base64 : '';
    expect(await sharp(Buffer.from(base64, 'base64')).metadata()).toMatchObject({ width: 2000 });
    expect(await call('FileRead', { path: 'paper.pdf' })).toEqual({
      kind: 'done',
      parts: [
        { kind: 'text', text: 'paper.pdf (application/pdf):' },
        {
          ...{ kind: 'document', mediaType: 'application/pdf', name: 'paper.pdf' },
          base64: Buffer.from('%PDF-1.7 …').toString('base64'),
        },
      ],
    });
  });

  it('says why an image cannot be shown, and what is too large', async () => {
    const { call, write } = await setUp();
    await write('cut.png', Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'));
    await write('long.txt', Buffer.alloc(10 * 1024 * 1024 + 1, 'a'));
    await write('large.gif', Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(20_000_000)]));
    expect(said(await call('FileRead', { path: 'cut.png' }))).toBe(
      'cut.png cannot be looked at: it is damaged.',
    );
    expect(said(await call('FileRead', { path: 'long.txt' }))).toBe(
      'long.txt is too large (10485761 bytes, at most 10485760). Use Grep.',
    );
    expect(said(await call('FileRead', { path: 'large.gif' }))).toBe(
      'large.gif is too large (20000006 bytes, at most 20000000).',
    );
  });

  it('names each fault of its arguments', async () => {
    const { call } = await setUp();
    const text = said(await call('FileRead', { path: 7, ofset: 1 }));
    expect(text).toContain('The arguments of FileRead are not right.');
    expect(text).toMatch(/- path: .*string/u);
    expect(text).toContain('ofset');
  });
});

describe('FileWrite', () => {
  it('creates folders, replaces whole files and keeps their mode', async () => {
    const { workspace, call } = await setUp();
    expect(said(await call('FileWrite', { path: 'x/y.sh', content: 'a\nb' }))).toBe(
      'Created x/y.sh (2 lines, 3 bytes).',
    );
    await chmod(path.join(workspace, 'x/y.sh'), 0o755);
    expect(said(await call('FileWrite', { path: 'x/y.sh', content: '' }))).toBe(
      'Replaced x/y.sh (0 lines, 0 bytes).',
    );
    expect((await stat(path.join(workspace, 'x/y.sh'))).mode & 0o777).toBe(0o755);
    expect(await readFile(path.join(workspace, 'x/y.sh'), 'utf8')).toBe('');
  });

  it('leaves nothing half written behind', async () => {
    const { workspace, call } = await setUp();
    const stopped = new AbortController();
    stopped.abort();
    await expect(
      call('FileWrite', { path: 'a.txt', content: 'x' }, { signal: stopped.signal }),
    ).rejects.toThrow('aborted');
    expect(said(await call('Glob', { pattern: '**/*' }))).toBe('No file matches **/*.');
    await expect(stat(path.join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
  });
});

describe('Glob', () => {
  it('lists matching files by name, without node_modules and .git', async () => {
    const { call, write } = await setUp();
    for (const name of ['b.md', 'a.md', 'sub/c.md', 'd.txt', 'node_modules/e.md', '.git/f.md'])
      await write(name, '');
    expect(said(await call('Glob', { pattern: '**/*.md' }))).toBe('a.md\nb.md\nsub/c.md');
    expect(said(await call('Glob', { pattern: '*', path: 'sub' }))).toBe('c.md');
  });

  it.each(['../**', '/etc/*', 'a/../../x'])('refuses the pattern %s', async (pattern) => {
    const { call } = await setUp();
    expect(said(await call('Glob', { pattern }))).toContain('must stay inside the workspace');
  });
});

describe('Grep', () => {
  it('shows lines, files or counts', async () => {
    const { call, write } = await setUp();
    await write('a.log', 'ok\ntimeout 1\ntimeout 2\n');
    await write('b.log', 'timeout 3\n');
    await write('c.txt', 'timeout 4\n');
    expect(said(await call('Grep', { pattern: 'timeout \\d', glob: '*.log' }))).toBe(
      'a.log:2: timeout 1\na.log:3: timeout 2\nb.log:1: timeout 3',
    );
    expect(said(await call('Grep', { pattern: 'timeout', mode: 'files' }))).toBe(
      'a.log\nb.log\nc.txt',
    );
    expect(said(await call('Grep', { pattern: 'timeout', mode: 'count', path: 'a.log' }))).toBe(
      'a.log: 2',
    );
    expect(said(await call('Grep', { pattern: 'nothing here' }))).toBe('No match.');
  });

  it('reads no file behind a link (B160)', async () => {
    const { outer, workspace, call } = await setUp();
    await symlink(path.join(outer, 'agent-other', 'secret.txt'), path.join(workspace, 'link.txt'));
    await symlink(path.join(outer, 'agent-other'), path.join(workspace, 'door'));
    expect(said(await call('Grep', { pattern: 'SECRET' }))).toBe('No match.');
  });

  it('cannot be hung by a pattern, and says what is wrong with one', async () => {
    const { call, write } = await setUp();
    await write('a.txt', `${'a'.repeat(50_000)}!\n`);
    expect(said(await call('Grep', { pattern: '(a+)+$' }))).toBe('No match.');
    expect(said(await call('Grep', { pattern: '(?<=a)b' }))).toContain('not valid in RE2 syntax');
  });
});

describe('AskUserQuestion', () => {
  const question = {
    question: 'Which?',
    header: 'Pick',
    options: [{ label: 'A' }, { label: 'B' }],
  };

  it('suspends the run with the question', async () => {
    const { call } = await setUp();
    expect(await call('AskUserQuestion', { questions: [question] })).toEqual({
      kind: 'suspend',
      suspension: {
        kind: 'questions',
        questions: [
          {
            ...question,
            options: [
              { label: 'A', description: '' },
              { label: 'B', description: '' },
            ],
            multiSelect: false,
          },
        ],
      },
    });
  });

  it.each<[string, unknown]>([
    ['a question without the list', question],
    ['the list as JSON text', { questions: JSON.stringify([question]) }],
  ])('mends %s', async (_what, raw) => {
    const { call } = await setUp();
    expect((await call('AskUserQuestion', raw)).kind).toBe('suspend');
  });

  it.each<[string, object]>([
    ['five questions', { questions: Array(5).fill(question) }],
    ['no question', { questions: [] }],
    ['one option', { questions: [{ ...question, options: [{ label: 'A' }] }] }],
    ['five options', { questions: [{ ...question, options: Array(5).fill({ label: 'A' }) }] }],
    ['a header of 13 characters', { questions: [{ ...question, header: '1234567890123' }] }],
  ])('refuses %s and says so to the model', async (_what, raw) => {
    const { call } = await setUp();
    expect((await call('AskUserQuestion', raw)).kind).toBe('error');
  });

  it('takes a header of 12 characters', async () => {
    const { call } = await setUp();
    expect(
      (await call('AskUserQuestion', { questions: [{ ...question, header: '123456789012' }] }))
        .kind,
    ).toBe('suspend');
  });
});

describe('StaySilent', () => {
  it('is refused where the bot was addressed', async () => {
    const { call } = await setUp();
    expect(said(await call('StaySilent', { reason: 'x' }))).toContain('You were addressed');
    expect(await call('StaySilent', { reason: 'x' }, { addressed: false })).toEqual({
      kind: 'silence',
      reason: 'x',
    });
  });
});

describe('results', () => {
  it('are cut in the middle, with a note, at 30,000 characters', () => {
    expect(cutMiddle('x'.repeat(30_000), 30_000)).toBe('x'.repeat(30_000));
    const cut = cutMiddle(`A${'x'.repeat(30_000)}Z`, 30_000);
    expect(cut.startsWith('A')).toBe(true);
    expect(cut.endsWith('Z')).toBe(true);
    expect(cut).toContain('[… 2 characters left out …]');
  });
});
