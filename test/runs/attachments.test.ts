/** Files that people send, as parts for the model. */

import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterEach, describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { mostPdfBytes } from '../../src/messages/media.ts';
import type { UserPart } from '../../src/messages/parts.ts';
import { partsOfMessage } from '../../src/runs/attachments.ts';
import { createMessageFiles } from '../../src/runs/message-files.ts';
import { type FileSettings, fileSettings } from '../../src/runs/settings.ts';
import type { InboundFile } from '../../src/surface/inbound.ts';
import type { Surface } from '../../src/surface/surface.ts';
import { createFakeAdapter } from '../support/fake-adapter.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';
import { pdfThatSays } from '../support/pdf.ts';
import { anna } from '../support/world.ts';

interface Sent {
  readonly name: string;
  readonly mediaType: string;
  readonly content: Uint8Array | Error;
  /** What the platform says, where that is not so. */
  readonly bytes?: number;
}

const conversation = { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' };
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((one) => rm(one, { recursive: true, force: true })));
});

/** A workspace that takes files of messages. */
async function setUp(settings: Partial<FileSettings> = {}) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'deckhand-files-'));
  folders.push(folder);
  const log = createKeptLog();
  const clock = createFakeClock();
  const limits = (): FileSettings => fileSettings.parse(settings);
  const workspaceOf = async () => ({ folder, mounts: [] });
  const files = createMessageFiles({ clock, log, workspaceOf, limits });
  const fetched: string[] = [];
  /** The parts of a message with these files. */
  const partsOf = async (sent: readonly Sent[], text = '', messageId = 'u1') => {
    const inbound = sent.map(
      ({ name, mediaType, content, bytes }, index): InboundFile => ({
        ...{ id: `F${index}`, name, mediaType, url: `fake:${index}` },
        bytes: bytes ?? (content instanceof Error ? 1 : content.length),
      }),
    );
    const surface: Surface = {
      ...createFakeAdapter().surfaceOf(conversation),
      download: async (file) => {
        fetched.push(file.name);
        const content = sent[inbound.indexOf(file)]?.content;
        if (content === undefined || content instanceof Error) throw content ?? new Error('none');
        return content;
      },
    };
    return await partsOfMessage({ files, limits }, 'web:local:general:u1', surface, {
      ...{ kind: 'message', eventKey: 'e1', conversation, author: anna, at: 0, messageId },
      ...{ channelName: 'general', channelKind: 'public', place: 'thread', text, files: inbound },
      ...{ mentionsBot: true, addressesOther: false },
    });
  };
  return { folder, files, fetched, log, clock, partsOf };
}

const picture = async (width: number, height = width): Promise<Buffer> =>
  await sharp({ create: { width, height, channels: 3, background: '#123456' } })
    .png()
    .toBuffer();
const png = (name: string, content: Uint8Array): Sent => ({
  name,
  mediaType: 'image/png',
  content,
});
const pdf = (name: string, bytes = 0): Sent => {
  // A larger file also writes larger numbers.
  const grown = pdfThatSays('hello', { padding: bytes }).length - bytes;
  const content = pdfThatSays('hello', { padding: bytes === 0 ? 0 : bytes - grown });
  return { name, mediaType: 'application/pdf', content };
};
const text = (name: string, content: string | Buffer, mediaType = 'text/plain'): Sent => ({
  ...{ name, mediaType, content: Buffer.from(content) },
});
const notes = (parts: readonly UserPart[]): readonly string[] =>
  parts.flatMap((part) => (part.kind === 'file' ? [part.note] : []));
const pathsIn = (parts: readonly UserPart[]): readonly string[] =>
  parts.flatMap((part) => (part.kind === 'file' && part.path ? [part.path] : []));
const kinds = (parts: readonly UserPart[]): readonly string[] => parts.map(({ kind }) => kind);

describe('files of a message', () => {
  it('are named in order behind the text; images and PDFs follow their names', async () => {
    const { partsOf, fetched } = await setUp();
    const content = await picture(4);
    const parts = await partsOf(
      [png('a.png', content), pdf('b.pdf'), { ...text('c.mp3', 'ID3\0'), mediaType: 'audio/mpeg' }],
      'look',
    );
    expect(parts).toEqual([
      { kind: 'text', text: 'look' },
      {
        ...{ kind: 'file', name: 'a.png', mediaType: 'image/png', bytes: content.length },
        ...{ note: 'shown next', path: expect.stringMatching(/^inbox\/a-[0-9a-f]{8}\.png$/u) },
      },
      { kind: 'image', mediaType: 'image/png', base64: content.toString('base64') },
      {
        ...{ kind: 'file', name: 'b.pdf', mediaType: 'application/pdf' },
        ...{ bytes: pdfThatSays('hello').length, note: 'shown next' },
        path: expect.stringMatching(/^inbox\/b-[0-9a-f]{8}\.pdf$/u),
      },
      {
        ...{ kind: 'document', mediaType: 'application/pdf', name: 'b.pdf' },
        base64: pdfThatSays('hello').toString('base64'),
        text: '--- page 1 ---\nhello',
      },
      {
        ...{ kind: 'file', name: 'c.mp3', mediaType: 'audio/mpeg', bytes: 4 },
        note: 'an MP3 recording, which cannot be shown here',
        path: expect.stringMatching(/^inbox\/c-[0-9a-f]{8}\.mp3$/u),
      },
    ]);
    expect(fetched).toEqual(['a.png', 'b.pdf', 'c.mp3']);
  });

  it('are kept in the workspace as they came, under plain names that no other file has', async () => {
    const { partsOf, folder } = await setUp();
    const names = [
      ...['Q3 report (final).csv', 'Q3 report (final).csv', '../../etc/passwd', '.bashrc', '-rf'],
      ...['%2e%2e%2fup.txt', '日本'.repeat(90), 'a$(reboot)`b`.tar.gz', '\u202Egnp.exe', '…'],
    ];
    const sent = names.map((name, index) => text(name, `content ${index}`));
    const paths = pathsIn(await partsOf(sent));
    expect(new Set(paths).size).toBe(names.length);
    expect(paths.map((one) => one.replace(/-[0-9a-f]{8}/u, ''))).toEqual([
      ...['inbox/Q3_report_final_.csv', 'inbox/Q3_report_final_.csv', 'inbox/etc_passwd'],
      ...['inbox/bashrc', 'inbox/rf', 'inbox/2e_2e_2fup.txt', `inbox/${'日本'.repeat(16)}日`],
      ...['inbox/a_reboot_b_.tar.gz', 'inbox/gnp.exe', 'inbox/file'],
    ]);
    const read = await Promise.all(paths.map((one) => readFile(path.join(folder, one), 'utf8')));
    expect(read).toEqual(names.map((_, index) => `content ${index}`));
  });

  it('that are short texts are read at once, whatever their encoding; what is cut is said', async () => {
    const { partsOf } = await setUp({ mostTextChars: 12 });
    const parts = await partsOf([
      text('a.txt', Buffer.from('Käse', 'latin1')),
      text('b.svg', '<svg><rect/></svg>', 'image/svg+xml'),
      text('c.txt', 'more'),
    ]);
    expect(parts).toMatchObject([
      { kind: 'file', note: 'its text follows', text: 'Käse' },
      {
        ...{ kind: 'file', mediaType: 'image/svg+xml' },
        ...{ note: 'its first 8 characters follow', text: '<svg><re' },
      },
      { kind: 'file', note: 'text, too long to be shown here with the files before it' },
    ]);
    expect(parts[2]).not.toHaveProperty('text');
  });

  it.each([
    ['UTF-8 in lines', 'Käse 🧀 und Brötchen\n', 'utf8'],
    ['UTF-8 without lines', `${'🧀'.repeat(9)}日本語`, 'utf8'],
    ['UTF-16', 'Käse und Brötchen\n', 'utf16le'],
    ['Latin-1', 'Käse und Brötchen\n', 'latin1'],
  ] as const)(
    'that are long texts (%s) are read up to a whole character',
    async (_what, line, encoding) => {
      const { partsOf } = await setUp({ mostTextChars: 5_001 });
      const whole = line.repeat(4_000);
      const [part] = await partsOf([text('long.txt', Buffer.from(whole, encoding))]);
      const shown = part?.kind === 'file' ? (part.text ?? '') : '';
      expect(whole.startsWith(shown)).toBe(true);
      expect(shown.length).toBeGreaterThan(4_990);
      expect(shown).not.toMatch(/[\uD800-\uDBFF]$/u);
      expect(part).toMatchObject({ note: `its first ${shown.length} characters follow` });
    },
  );

  it('that are large and no text are not taken for one', async () => {
    const { partsOf } = await setUp();
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 256));
    expect(notes(await partsOf([text('a.bin', bytes)]))).toEqual([
      'a binary file, which cannot be shown here',
    ]);
  });

  it('are what their bytes say, not their names (B110)', async () => {
    const { partsOf } = await setUp();
    const jpeg = await sharp(await picture(4))
      .jpeg()
      .toBuffer();
    const parts = await partsOf([
      png('really-a-jpeg.png', jpeg),
      { ...pdf('really-a-pdf.png'), mediaType: 'image/png' },
      { ...pdf('untyped'), mediaType: 'application/octet-stream' },
      png('svg.png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
      { ...text('text.pdf', 'hello'), mediaType: 'application/pdf; charset=x' },
      { ...text('archive.txt', 'PK\x03\x04\0\0'), mediaType: 'Nonsense' },
    ]);
    expect(parts).toMatchObject([
      { kind: 'file', mediaType: 'image/jpeg' },
      { kind: 'image', mediaType: 'image/jpeg' },
      { kind: 'file', mediaType: 'application/pdf' },
      { kind: 'document', name: 'really-a-pdf.png' },
      { kind: 'file', mediaType: 'application/pdf' },
      { kind: 'document', name: 'untyped' },
      { kind: 'file', name: 'svg.png', text: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
      { kind: 'file', mediaType: 'application/pdf', text: 'hello' },
      {
        ...{ kind: 'file', mediaType: 'application/octet-stream' },
        note: 'a ZIP archive (or an office document), which cannot be shown here',
      },
    ]);
  });

  it('are scaled down when they are too large as base64 or in pixels (B109, B110)', async () => {
    const { partsOf } = await setUp();
    const noise = sharp({
      create: {
        ...{ width: 2000, height: 2000, channels: 3, background: '#888888' },
        noise: { type: 'gaussian', mean: 128, sigma: 80 },
      },
    });
    const photo = await noise.jpeg({ quality: 95 }).toBuffer();
    expect(photo.length).toBeLessThan(5 * 1024 * 1024);
    const parts = await partsOf([
      png('photo.png', photo),
      png('wide.png', await picture(2500, 900)),
    ]);
    const images = parts.flatMap((part) => (part.kind === 'image' ? [part] : []));
    const sizes = await Promise.all(
      images.map(async ({ base64 }) => {
        expect(base64.length).toBeLessThanOrEqual(5 * 1024 * 1024);
        const { width, height } = await sharp(Buffer.from(base64, 'base64')).metadata();
        return [width, height];
      }),
    );
    expect(sizes).toEqual([
      [2000, 2000],
      [2000, 720],
    ]);
  });

  it('are shown up to eight images and five PDFs; the others are kept', async () => {
    const { partsOf } = await setUp();
    const content = await picture(2);
    const parts = await partsOf([
      ...Array.from({ length: 9 }, (_, index) => png(`${index}.png`, content)),
      ...Array.from({ length: 6 }, (_, index) => pdf(`${index}.pdf`)),
    ]);
    expect(kinds(parts).filter((kind) => kind === 'image')).toHaveLength(8);
    expect(kinds(parts).filter((kind) => kind === 'document')).toHaveLength(5);
    expect(notes(parts).filter((note) => note !== 'shown next')).toEqual([
      'only the first 8 images of a message are shown',
      'only the first 5 PDFs of a message are shown',
    ]);
    expect(pathsIn(parts)).toHaveLength(15);
  });

  it('are taken up to a count and a size in all; the others are named and not fetched', async () => {
    const { partsOf, fetched } = await setUp({ mostFiles: 4, mostFileMb: 1, mostMessageMb: 1.5 });
    const megabyte = Buffer.alloc(1_000_000, 'a');
    const parts = await partsOf([
      text('fits.txt', megabyte),
      text('large.txt', Buffer.alloc(1_000_001, 'a')),
      text('second.txt', Buffer.alloc(500_001, 'a')),
      text('small.txt', Buffer.alloc(500_000, 'a')),
      text('fifth.txt', 'a'),
    ]);
    expect(notes(parts)).toEqual([
      'its first 20000 characters follow',
      'too large (1.0 MB, at most 1.0 MB)',
      'the files of this message are too large together (at most 1.5 MB)',
      'text, too long to be shown here with the files before it',
      'only the first 4 files of a message are taken',
    ]);
    expect(fetched).toEqual(['fits.txt', 'small.txt']);
  });

  it('say how much too large they are', async () => {
    const { partsOf, fetched } = await setUp();
    const parts = await partsOf([
      { ...png('huge.png', Buffer.alloc(0)), bytes: 20_000_001 },
      pdf('fits.pdf', mostPdfBytes),
      pdf('long.pdf', mostPdfBytes + 100_000),
      pdf('second.pdf', 1_000_000),
    ]);
    expect(kinds(parts)).toEqual(['file', 'file', 'document', 'file', 'file']);
    expect(notes(parts)).toEqual([
      'too large (20.0 MB, at most 20.0 MB)',
      'shown next',
      'too large (14.1 MB, at most 14.0 MB)',
      'the images and PDFs of this message are too large together to be shown',
    ]);
    expect(fetched).not.toContain('huge.png');
  });

  it('that cannot be read cost the message nothing else', async () => {
    const { partsOf, log } = await setUp();
    const parts = await partsOf(
      [
        png('broken.png', (await picture(4)).subarray(0, 20)),
        { ...png('gone.png', Buffer.alloc(0)), content: new Error('404') },
        {
          ...png('grown.png', Buffer.alloc(0)),
          content: new BotError('message_too_long', 'grown.png is larger than it said.'),
        },
        {
          ...png('stub.png', Buffer.alloc(0)),
          content: new BotError('surface_gone', 'Check the scope files:read.'),
        },
        { ...pdf('locked.pdf'), content: pdfThatSays('secret', { isLocked: true }) },
      ],
      'five',
    );
    expect(parts[0]).toEqual({ kind: 'text', text: 'five' });
    expect(notes(parts)).toEqual([
      'it is damaged',
      'it could not be downloaded',
      'too large (at most 20.0 MB)',
      'it could not be downloaded: Check the scope files:read.',
      'it is locked by a password',
    ]);
    expect(log.lines.filter(({ event }) => event === 'file_not_fetched')).toHaveLength(3);
  });
});

describe('the folder of files', () => {
  it('is not left by a link that a tool put there', async () => {
    const { partsOf, folder } = await setUp();
    await symlink(os.tmpdir(), path.join(folder, 'inbox'));
    const parts = await partsOf([text('a.txt', 'hello')]);
    expect(parts).toMatchObject([{ kind: 'file', text: 'hello' }]);
    expect(notes(parts)[0]).toMatch(/^its text follows; it could not be kept in the workspace: /u);
    expect(pathsIn(parts)).toEqual([]);
  });

  it('does not read through a link at the place of a file, and does not write through it', async () => {
    const { partsOf, folder, fetched } = await setUp();
    const outside = `${folder}-outside.txt`;
    folders.push(outside);
    await writeFile(outside, 'SECRET');
    const [where = ''] = pathsIn(await partsOf([text('a.txt', 'hello')]));
    await rm(path.join(folder, where));
    await symlink(outside, path.join(folder, where));
    const parts = await partsOf([text('a.txt', 'hello')]);
    expect(parts).toMatchObject([{ kind: 'file', text: 'hello' }]);
    expect(fetched).toEqual(['a.txt', 'a.txt']);
    expect(await readFile(outside, 'utf8')).toBe('SECRET');
  });

  it('holds no more than it may, and says so', async () => {
    const { partsOf } = await setUp({ mostInboxMb: 1 });
    const half = Buffer.alloc(500_000, '\x01');
    expect(notes(await partsOf([text('a.bin', half), text('b.bin', half)]))).not.toContain('full');
    expect(notes(await partsOf([text('c.txt', 'x')], '', 'u2'))).toEqual([
      'its text follows; it could not be kept in the workspace: the folder inbox is full (1.0 MB); remove from it what is not needed any more, or raise files.mostInboxMb.',
    ]);
  });

  it('has a file that was fetched before, and asks for it no more', async () => {
    const { partsOf, fetched } = await setUp();
    const first = await partsOf([text('a.txt', 'hello')]);
    expect(await partsOf([text('a.txt', 'hello')])).toEqual(first);
    expect(fetched).toEqual(['a.txt']);
  });

  it('keeps nothing of a message that was deleted, neither before nor after', async () => {
    const { partsOf, files, folder } = await setUp();
    const paths = pathsIn(await partsOf([text('a.txt', 'hello')]));
    await files.forget('web:local:general:u1', paths);
    expect(await readdir(path.join(folder, 'inbox'))).toEqual([]);
    expect(notes(await partsOf([text('a.txt', 'hello')]))).toEqual(['its message was deleted']);
  });
});
