/** FileRead: pages of numbered lines, what is shown as it is, and what is refused. */

import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import iconv from 'iconv-lite';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { said, usingFileTools } from '../../support/file-tools.ts';
import { pdfThatSays } from '../../support/pdf.ts';

const setUp = usingFileTools();

describe('FileRead', () => {
  it('numbers lines and pages through them', async () => {
    const { says, write } = await setUp();
    await write('a.txt', 'one\ntwo\nthree\n');
    expect(await says('FileRead', { path: 'a.txt' })).toBe('1\tone\n2\ttwo\n3\tthree');
    expect(await says('FileRead', { path: 'a.txt', offset: 2, limit: 1 })).toBe(
      '2\ttwo\n(1 more lines; continue with offset 3)',
    );
  });

  it.each([
    ['missing.txt', 'There is no file missing.txt. Use Glob to find files.'],
    ['folder', 'folder is a folder. Use Glob to list it.'],
    ['picture.bin', 'picture.bin is a binary file (4 bytes) and cannot be read as text.'],
    [
      'all.zip',
      'all.zip is a ZIP archive (or an office document) (9 bytes) and cannot be read as text.',
    ],
    ['empty.txt', '(The file is empty.)'],
  ])('says what is wrong with %s', async (name, expected) => {
    const { says, write } = await setUp();
    await write('folder/x', '');
    await write('picture.bin', Buffer.from([1, 0, 2, 3]));
    await write('all.zip', 'PK\x03\x04\0\0\0\0\0');
    await write('empty.txt', '');
    expect(await says('FileRead', { path: name })).toBe(expected);
  });

  it('names what may have been meant', async () => {
    const { says, write, writeMounted } = await setUp();
    await write('notes/plan.md', '');
    await write('notes/Report.txt', '');
    await writeMounted('guide.md', '');
    expect(await says('FileRead', { path: 'notes/paln.md' })).toBe(
      'There is no file notes/paln.md. Did you mean notes/plan.md? Use Glob to find files.',
    );
    expect(await says('FileRead', { path: 'notes/report.md' })).toContain('notes/Report.txt?');
    expect(await says('FileRead', { path: '/mnt/docs/guid.md' })).toContain('/mnt/docs/guide.md?');
    expect(await says('FileRead', { path: 'none/plan.md' })).not.toContain('Did you mean');
  });

  it('shows images and PDFs, whatever their name', async () => {
    const { call, write } = await setUp();
    const wide = sharp({ create: { width: 2500, height: 100, channels: 3, background: 'red' } });
    await write('shots/wide.dat', await wide.jpeg().toBuffer());
    const paper = pdfThatSays('hello');
    await write('paper.pdf', paper);
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
          base64: paper.toString('base64'),
          text: '--- page 1 ---\nhello',
        },
      ],
    });
  });

  it('says why an image cannot be shown, and what is too large', async () => {
    const { says, write } = await setUp();
    await write('cut.png', Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'));
    await write('long.pdf', pdfThatSays('again and again', { pages: 101 }));
    await write('long.txt', Buffer.alloc(10 * 1024 * 1024 + 1, 'a'));
    await write('large.gif', Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(20_000_000)]));
    expect(await says('FileRead', { path: 'cut.png' })).toBe(
      'cut.png cannot be looked at: it is damaged.',
    );
    expect(await says('FileRead', { path: 'long.pdf' })).toBe(
      'long.pdf cannot be looked at: too many pages (101, at most 100).',
    );
    expect(await says('FileRead', { path: 'long.txt' })).toBe(
      'long.txt is too large (10485761 bytes, at most 10485760). Use Grep.',
    );
    expect(await says('FileRead', { path: 'large.gif' })).toBe(
      'large.gif is too large (20000006 bytes, at most 20000000).',
    );
  });

  it('names each fault of its arguments', async () => {
    const { says } = await setUp();
    const text = await says('FileRead', { path: 7, ofset: 1 });
    expect(text).toContain('The arguments of FileRead are not right.');
    expect(text).toMatch(/- path: .*string/u);
    expect(text).toContain('ofset');
  });

  it('reads a mount', async () => {
    const { says, writeMounted } = await setUp();
    await writeMounted('a/b.txt', 'shared\n');
    expect(await says('FileRead', { path: '/mnt/docs/a/b.txt' })).toBe('1\tshared');
  });

  it.each(['\n', '\r\n'])('numbers lines that end with %j', async (end) => {
    const { says, write } = await setUp();
    await write('a.txt', `one${end}two${end}`);
    expect(await says('FileRead', { path: 'a.txt' })).toBe('1\tone\n2\ttwo');
  });

  it.each<[string, Buffer, string | undefined]>([
    ['UTF-8', Buffer.from('Größe\n'), undefined],
    ['UTF-8 with a mark', Buffer.from('\ufeffGröße\n'), 'UTF-8 with a byte order mark'],
    ['UTF-16 LE', iconv.encode('\ufeffGröße\n', 'utf-16le'), 'UTF-16 LE'],
    ['UTF-16 BE', iconv.encode('\ufeffGröße\n', 'utf-16be'), 'UTF-16 BE'],
    ['UTF-16 LE without its mark', iconv.encode('Größe\n', 'utf-16le'), 'UTF-16 LE'],
    ['UTF-16 BE without its mark', iconv.encode('Größe\n', 'utf-16be'), 'UTF-16 BE'],
    ['windows-1252', iconv.encode('Größe\n', 'windows-1252'), 'windows-1252'],
  ])('reads %s and says so', async (_what, content, named) => {
    const { says, write } = await setUp();
    await write('a.txt', content);
    expect(await says('FileRead', { path: 'a.txt' })).toBe(
      named === undefined ? '1\tGröße' : `1\tGröße\n(The file is ${named}.)`,
    );
  });

  it('stays below the limit of results, and loses nothing from page to page', async () => {
    const { says, write } = await setUp();
    const lines = Array.from({ length: 3000 }, (_, at) => `line ${at + 1} ${'x'.repeat(at % 90)}`);
    await write('a.txt', `${lines.join('\n')}\n`);
    const seen: string[] = [];
    let offset: number | undefined = 1;
    for (let page = 0; offset !== undefined && page < 20; page += 1) {
      const text: string = await says('FileRead', { path: 'a.txt', offset });
      expect(text.length).toBeLessThanOrEqual(30_000);
      seen.push(...text.split('\n').flatMap((line) => line.split('\t')[1] ?? []));
      offset = Number(/continue with offset (\d+)/u.exec(text)?.[1] ?? Number.NaN) || undefined;
    }
    expect(seen).toEqual(lines);
  });

  it('cuts long lines with a note, and goes on in them by character', async () => {
    const { says, write } = await setUp();
    const line = '😀'.repeat(30_000);
    await write('a.txt', `${line}\nend\n`);
    const first = await says('FileRead', { path: 'a.txt' });
    expect(first.split('\n')[0]).toBe(
      `1\t${line.slice(0, 2000)}… (58000 more characters of this line; continue with offset 1, character 2001)`,
    );
    expect(first.split('\n')[1]).toBe('2\tend');
    let character: number | undefined = 1;
    let whole = '';
    for (let page = 0; character !== undefined && page < 10; page += 1) {
      const text: string = await says('FileRead', { path: 'a.txt', offset: 1, character });
      expect(text.length).toBeLessThanOrEqual(30_000);
      whole += text.split('\n')[0]?.slice(2) ?? '';
      character = Number(/, character (\d+)/u.exec(text)?.[1] ?? Number.NaN) || undefined;
    }
    expect(whole).toBe(line);
    expect(await says('FileRead', { path: 'a.txt', offset: 2, character: 4 })).toBe(
      'Line 2 of a.txt has 3 characters; character 4 does not exist.',
    );
  });

  it('refuses pipes, sockets and devices without waiting for them', async () => {
    const { folder, says, call } = await setUp();
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    await symlink('/dev/zero', path.join(folder, 'zero'));
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(path.join(folder, 'socket'), resolve));
    expect(await says('FileRead', { path: 'pipe' })).toBe(
      'pipe is a named pipe, no ordinary file, and cannot be read.',
    );
    expect(await says('FileRead', { path: 'socket' })).toContain('is a socket');
    expect(await says('FileWrite', { path: 'pipe', content: '' })).toContain('is a named pipe');
    await expect(call('FileRead', { path: 'zero' })).rejects.toMatchObject({
      code: 'path_outside_workspace',
    });
    await new Promise((resolve) => server.close(resolve));
  });

  it('is judged as reading, by the path and by where it leads', async () => {
    const { folder, tool, context, write } = await setUp();
    await write('notes/a.md', '');
    await symlink(path.join(folder, 'notes'), path.join(folder, 'alias'));
    const judged = (asked: string) => tool('FileRead').assess({ path: asked }, context);
    expect(await judged('./notes/a.md')).toEqual({
      isReadOnly: true,
      needsApproval: false,
      why: 'it reads only',
      subjects: ['notes/a.md'],
      match: 'path',
      isWhole: true,
      alwaysAsks: false,
      grant: 'notes/**',
    });
    expect(await judged('alias/a.md')).toMatchObject({
      subjects: ['alias/a.md', 'notes/a.md'],
      grant: undefined,
    });
    expect(await judged('../x')).toMatchObject({
      subjects: ['../x'],
      fault: expect.stringContaining('outside the workspace'),
    });
  });
});
