/** Images are made to fit before anybody sends them. */

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { fileTypeOf } from '../../src/base/file-types.ts';
import { fitImage, mostImageBytes } from '../../src/base/images.ts';

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } });
const noise = (width: number, height: number) =>
  sharp({
    create: {
      ...{ width, height, channels: 3, background: '#888888' },
      noise: { type: 'gaussian', mean: 128, sigma: 80 },
    },
  });

const limits = { mostPixels: 64_000_000, mostSeconds: 20 };

async function fitted(content: Uint8Array) {
  const image = await fitImage(content, limits);
  if (image.kind === 'problem') throw new Error(image.problem);
  const { format, width, height, hasAlpha } = await sharp(image.bytes).metadata();
  return { ...image, format, width, height, hasAlpha };
}

async function problemOf(content: Uint8Array): Promise<string> {
  const image = await fitImage(content, limits);
  return image.kind === 'problem' ? image.problem : 'none';
}

describe('fileTypeOf', () => {
  it.each([
    ['image/jpeg', '\xff\xd8\xff\xe0'],
    ['image/gif', 'GIF89a'],
    ['image/heic', '\0\0\0\x18ftypheic'],
    ['image/avif', '\0\0\0\x18ftypavif'],
    ['application/pdf', '%PDF-1.7'],
    ['application/pdf', '\xef\xbb\xbf%PDF-1.4'],
    [undefined, 'see %PDF-1.7'],
    [undefined, '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    [undefined, ''],
  ])('knows %s by %j', (type, head) => {
    expect(fileTypeOf(Buffer.from(head, 'latin1'))).toBe(type);
  });
});

describe('fitImage', () => {
  it.each(['png', 'jpeg', 'webp'] as const)('leaves a %s that fits as it is', async (format) => {
    const content = await plain(2000, 900).toFormat(format).toBuffer();
    const image = await fitImage(content, limits);
    expect(image).toEqual({ kind: 'image', mediaType: `image/${format}`, bytes: content });
  });

  it('scales a side of 2,001 px down to 2,000 px (B109)', async () => {
    const image = await fitted(await plain(2001, 1000).png().toBuffer());
    expect(image).toMatchObject({ mediaType: 'image/png', width: 2000, height: 1000 });
    const tall = await fitted(await plain(500, 4000).jpeg().toBuffer());
    expect(tall).toMatchObject({ mediaType: 'image/jpeg', width: 250, height: 2000 });
  });

  it('measures what is sent, not what is stored: 4 MB are too much in base64 (B110)', async () => {
    const content = await noise(2000, 2000).jpeg({ quality: 95 }).toBuffer();
    expect(content.length).toBeGreaterThan(mostImageBytes);
    expect(content.length).toBeLessThan(5 * 1024 * 1024);
    const image = await fitted(content);
    expect(image).toMatchObject({ mediaType: 'image/jpeg', width: 2000, height: 2000 });
    expect(Buffer.from(image.bytes).toString('base64').length).toBeLessThanOrEqual(5_242_880);
  });

  it('fills 5 MB of base64 and no more', () => {
    expect(Math.ceil(mostImageBytes / 3) * 4).toBe(5_242_880);
  });

  it('takes the type from the bytes, and looks at nothing else (B110)', async () => {
    const jpeg = await plain(10, 10).jpeg().toBuffer();
    expect(await fitImage(jpeg, limits)).toMatchObject({ mediaType: 'image/jpeg' });
    expect(await problemOf(Buffer.from('not an image'))).toBe('it is no image');
  });

  it('makes a drawing that is too large as PNG a JPEG', async () => {
    const content = await noise(2200, 2200).png().toBuffer();
    const image = await fitted(content);
    expect(image).toMatchObject({ mediaType: 'image/jpeg', width: 2000 });
    expect(image.bytes.length).toBeLessThanOrEqual(mostImageBytes);
  });

  it('keeps holes of a scaled image', async () => {
    const content = await plain(3000, 300).ensureAlpha(0.5).webp().toBuffer();
    expect(await fitted(content)).toMatchObject({ mediaType: 'image/png', hasAlpha: true });
  });

  it('turns a photograph the right way up when it is written anew', async () => {
    const content = await plain(3000, 1000).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect(await fitted(content)).toMatchObject({ width: 667, height: 2000 });
  });

  it('drops what a camera noted, also of a photograph that fits, and turns it', async () => {
    const place = { IFD3: { GPSLatitude: '52/1 31/1 0/1', GPSLatitudeRef: 'N' } };
    const photo = plain(300, 100).withExif(place).withMetadata({ orientation: 6 });
    const content = await photo.jpeg().toBuffer();
    expect((await sharp(content).metadata()).exif).toBeDefined();
    const image = await fitted(content);
    expect(image).toMatchObject({ mediaType: 'image/jpeg', width: 100, height: 300 });
    const { exif, orientation } = await sharp(image.bytes).metadata();
    expect({ exif, orientation }).toEqual({ exif: undefined, orientation: undefined });
  });

  it('makes an animation its first picture, and a GIF a PNG', async () => {
    const frames = await sharp(
      [await plain(8, 8).png().toBuffer(), await plain(8, 8).png().toBuffer()],
      {
        join: { animated: true },
      },
    )
      .gif()
      .toBuffer();
    const image = await fitted(frames);
    expect(image).toMatchObject({ mediaType: 'image/png', width: 8, height: 8 });
  });

  it.each(['tiff', 'avif'] as const)('makes a %s something that models take', async (format) => {
    const image = await fitted(await plain(40, 30).toFormat(format).toBuffer());
    expect(image.mediaType).toMatch(/^image\/(?:png|jpeg)$/u);
    expect(image).toMatchObject({ width: 40, height: 30 });
  });

  it('mends an image that breaks off', async () => {
    const whole = await noise(300, 300).jpeg().toBuffer();
    const image = await fitted(whole.subarray(0, whole.length / 2));
    expect(image).toMatchObject({ width: 300, height: 300 });
    await sharp(image.bytes, { failOn: 'warning' }).raw().toBuffer();
  });

  it('refuses what cannot be read, with the reason', async () => {
    const png = await plain(10, 10).png().toBuffer();
    expect(await problemOf(png.subarray(0, 20))).toBe('it is damaged');
    expect(await problemOf(Buffer.from('\0\0\0\x18ftypheic', 'latin1'))).toContain('HEIC');
    expect(await problemOf(Buffer.from('%PDF-1.7'))).toBe('it is no image');
  });

  it('does not unpack a bomb', async () => {
    const bomb = await plain(8001, 8000).png().toBuffer();
    expect(bomb.length).toBeLessThan(1_000_000);
    expect(await problemOf(bomb)).toBe('too many pixels (8001 x 8000, at most 64 million)');
    const few = await fitImage(await plain(11, 10).png().toBuffer(), {
      ...limits,
      mostPixels: 100,
    });
    expect(few).toMatchObject({ problem: 'too many pixels (11 x 10, at most 0.0001 million)' });
  });

  it('gives up on an image when its time is over', async () => {
    const content = await noise(3000, 3000).png().toBuffer();
    const image = await fitImage(content, { ...limits, mostSeconds: 0.001 });
    expect(image).toEqual({ kind: 'problem', problem: 'reading it takes more than 0.001 s' });
  });
});
