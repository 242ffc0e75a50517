/** Files that people send, as parts for the model. */

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { mostPdfBytes } from '../../src/messages/media.ts';
import type { UserPart } from '../../src/messages/parts.ts';
import { partsOfMessage } from '../../src/runs/attachments.ts';
import type { InboundFile } from '../../src/surface/inbound.ts';
import type { Surface } from '../../src/surface/surface.ts';
import { createFakeAdapter } from '../support/fake-adapter.ts';
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

/** The parts of a message with these files, and which of them were fetched. */
async function partsOf(files: readonly Sent[], text = '') {
  const fetched: string[] = [];
  const inbound = files.map(
    ({ name, mediaType, content, bytes }, index): InboundFile => ({
      ...{ id: `F${index}`, name, mediaType, url: `fake:${index}` },
      bytes: bytes ?? (content instanceof Error ? 1 : content.length),
    }),
  );
  const surface: Surface = {
    ...createFakeAdapter().surfaceOf(conversation),
    download: async (file) => {
      fetched.push(file.name);
      const content = files[inbound.indexOf(file)]?.content;
      if (content === undefined || content instanceof Error) throw content ?? new Error('none');
      return content;
    },
  };
  const log = createKeptLog();
  const parts = await partsOfMessage({ log }, surface, {
    ...{ kind: 'message', eventKey: 'e1', conversation, author: anna, at: 0, messageId: 'u1' },
    ...{ channelName: 'general', channelKind: 'public', place: 'thread', text, files: inbound },
    ...{ mentionsBot: true, addressesOther: false },
  });
  return { parts, fetched, log };
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
const kinds = (parts: readonly UserPart[]): readonly string[] => parts.map(({ kind }) => kind);
const notes = (parts: readonly UserPart[]): readonly string[] =>
  parts.flatMap((part) => (part.kind === 'file' ? [part.note] : []));

describe('files of a message', () => {
  it('are shown in order behind the text: images, PDFs, and the names of others', async () => {
    const content = await picture(4);
    const { parts, fetched } = await partsOf(
      [
        png('a.png', content),
        pdf('b.pdf'),
        { name: 'c.mp3', mediaType: 'audio/mpeg', content: Buffer.from('ID3') },
      ],
      'look',
    );
    expect(parts).toEqual([
      { kind: 'text', text: 'look' },
      { kind: 'image', mediaType: 'image/png', base64: content.toString('base64') },
      {
        ...{ kind: 'document', mediaType: 'application/pdf', name: 'b.pdf' },
        base64: pdfThatSays('hello').toString('base64'),
      },
      {
        ...{ kind: 'file', name: 'c.mp3', mediaType: 'audio/mpeg', bytes: 3 },
        note: 'only images and PDFs can be looked at so far',
      },
    ]);
    expect(fetched).toEqual(['a.png', 'b.pdf']);
  });

  it('are what their bytes say, not their names (B110)', async () => {
    const jpeg = await sharp(await picture(4))
      .jpeg()
      .toBuffer();
    const { parts } = await partsOf([
      png('really-a-jpeg.png', jpeg),
      { ...pdf('really-a-pdf.png'), mediaType: 'image/png' },
      { ...pdf('untyped'), mediaType: 'application/octet-stream' },
      png('text.png', Buffer.from('hello')),
      { name: 'text.pdf', mediaType: 'application/pdf', content: Buffer.from('hello') },
    ]);
    expect(parts.slice(0, 3)).toMatchObject([
      { kind: 'image', mediaType: 'image/jpeg' },
      { kind: 'document', name: 'really-a-pdf.png' },
      { kind: 'document', name: 'untyped' },
    ]);
    expect(notes(parts)).toEqual(['not a PNG, JPEG, GIF, WebP, TIFF or AVIF image', 'not a PDF']);
  });

  it('are scaled down when they are too large as base64 or in pixels (B109, B110)', async () => {
    const noise = sharp({
      create: {
        ...{ width: 2000, height: 2000, channels: 3, background: '#888888' },
        noise: { type: 'gaussian', mean: 128, sigma: 80 },
      },
    });
    const photo = await noise.jpeg({ quality: 95 }).toBuffer();
    expect(photo.length).toBeLessThan(5 * 1024 * 1024);
    const { parts } = await partsOf([
      png('photo.png', photo),
      png('wide.png', await picture(2500, 900)),
    ]);
    const sizes = await Promise.all(
      parts.map(async (part) => {
        if (part.kind !== 'image') throw new Error(part.kind);
        expect(part.base64.length).toBeLessThanOrEqual(5 * 1024 * 1024);
        const { width, height } = await sharp(Buffer.from(part.base64, 'base64')).metadata();
        return [width, height];
      }),
    );
    expect(sizes).toEqual([
      [2000, 2000],
      [2000, 720],
    ]);
  });

  it('are at most eight images and five PDFs; what is more is not even fetched', async () => {
    const content = await picture(2);
    const { parts, fetched } = await partsOf([
      ...Array.from({ length: 9 }, (_, index) => png(`${index}.png`, content)),
      ...Array.from({ length: 6 }, (_, index) => pdf(`${index}.pdf`)),
    ]);
    expect(kinds(parts)).toEqual([
      ...[...Array(8).fill('image'), 'file'],
      ...[...Array(5).fill('document'), 'file'],
    ]);
    expect(notes(parts)).toEqual([
      'only the first 8 images of a message are looked at',
      'only the first 5 PDFs of a message are looked at',
    ]);
    expect(fetched).toHaveLength(13);
  });

  it('say how much too large they are', async () => {
    const { parts, fetched } = await partsOf([
      { ...png('huge.png', Buffer.alloc(0)), bytes: 20_000_001 },
      pdf('fits.pdf', mostPdfBytes),
      pdf('long.pdf', mostPdfBytes + 100_000),
      pdf('second.pdf', 1_000_000),
    ]);
    expect(kinds(parts)).toEqual(['file', 'document', 'file', 'file']);
    expect(notes(parts)).toEqual([
      'too large (20.0 MB, at most 20.0 MB)',
      'too large (14.1 MB, at most 14.0 MB)',
      'the files of this message are too large together',
    ]);
    expect(fetched).not.toContain('huge.png');
  });

  it('that cannot be read cost the message nothing else', async () => {
    const { parts, log } = await partsOf(
      [
        png('broken.png', (await picture(4)).subarray(0, 20)),
        { ...png('gone.png', Buffer.alloc(0)), content: new Error('404') },
        {
          ...png('grown.png', Buffer.alloc(0)),
          content: new BotError('message_too_long', 'grown.png is larger than it said.'),
        },
      ],
      'three',
    );
    expect(parts[0]).toEqual({ kind: 'text', text: 'three' });
    expect(notes(parts)).toEqual([
      'it is damaged',
      'it could not be downloaded',
      'too large (at most 20 MB)',
    ]);
    expect(log.lines.filter(({ event }) => event === 'file_not_read')).toHaveLength(2);
  });
});
