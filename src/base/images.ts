/**
 * Images as every model takes them, whatever else stands in the same request. Anthropic refuses
 * more than 5 MB of base64 an image, and more than 2,000 px a side once a request holds more than
 * 20 images (Vision guide, "General limits"); the others take at least that. What is larger is
 * scaled down before it enters a history, so that an image that was fine never becomes too big.
 */

import { setTimeout as wait } from 'node:timers/promises';
import type { Metadata, Sharp, SharpOptions } from 'sharp';
import { type FileType, fileTypeOf, type ImageType, imageTypes } from './file-types.ts';

export type FittedImage =
  | { readonly kind: 'image'; readonly mediaType: ImageType; readonly bytes: Uint8Array }
  /** A clause for people and models: "it is damaged". */
  | { readonly kind: 'problem'; readonly problem: string };

const mostBase64Chars = 5 * 1024 * 1024;
/** What 5 MB of base64 hold. */
export const mostImageBytes = Math.floor(mostBase64Chars / 4) * 3;
export const mostImageSidePx = 2000;

export interface ImageLimits {
  /** An image with more is not decoded: it takes four times as many bytes of memory. */
  readonly mostPixels: number;
  readonly mostSeconds: number;
}

/** One way to write an image. Taken in turn until the result is small enough. */
interface Writing {
  readonly mediaType: 'image/png' | 'image/jpeg';
  readonly quality: number;
  readonly mostSidePx: number;
}

const asPng: Writing = { mediaType: 'image/png', quality: 100, mostSidePx: mostImageSidePx };
/** Pure noise of 2,000 x 2,000 px has 2.8 MB at quality 85: the last one always fits. */
const asJpeg: readonly Writing[] = [
  { mediaType: 'image/jpeg', quality: 85, mostSidePx: mostImageSidePx },
  { mediaType: 'image/jpeg', quality: 60, mostSidePx: 1400 },
];

/**
 * The image as models take it: unchanged where it already is, else scaled down or written anew, then
 * without what cameras note (place, owner) and the right way up. Animations become their first
 * picture. Throws only where the library cannot be loaded. The work is
 * done in the library's own threads; it never takes longer than the limit, whatever the file is.
 */
export async function fitImage(content: Uint8Array, limits: ImageLimits): Promise<FittedImage> {
  const over = new AbortController();
  const late = wait(limits.mostSeconds * 1000, undefined, { signal: over.signal, ref: false }).then(
    () => problemOf(`reading it takes more than ${limits.mostSeconds} s`),
    () => problemOf('it was read'), // nobody waits for it any more
  );
  try {
    return await Promise.race([late, fitted(content, limits)]);
  } finally {
    over.abort();
  }
}

async function fitted(content: Uint8Array, limits: ImageLimits): Promise<FittedImage> {
  const { mostPixels } = limits;
  const type = fileTypeOf(content);
  if (type === 'image/heic') return problemOf('HEIC images cannot be read here; PNG and JPEG can');
  if (type === undefined || type === 'application/pdf') return problemOf('it is no image');
  const open = await opener(content, limits);
  const metadata = await open({ failOn: 'none', limitInputPixels: false })
    .metadata()
    .catch(() => undefined);
  if (metadata === undefined) return problemOf('it is damaged');
  const { width, height } = metadata;
  if (width * height > mostPixels) {
    return problemOf(`too many pixels (${width} x ${height}, at most ${mostPixels / 1e6} million)`);
  }
  const kept = keptType(type, metadata, content.length);
  if (kept !== undefined && (await isWhole(open))) {
    return { kind: 'image', mediaType: kept, bytes: content };
  }
  return await rewritten(open, metadata);
}

function problemOf(problem: string): FittedImage {
  return { kind: 'problem', problem };
}

type Open = (options: SharpOptions) => Sharp;

/** Loaded on first use: most processes never see an image. */
async function opener(
  content: Uint8Array,
  { mostPixels, mostSeconds }: ImageLimits,
): Promise<Open> {
  const { default: sharp } = await import('sharp');
  // Each image is read once: kept results would only hold memory.
  sharp.cache(false);
  // It counts whole seconds; the library's own end keeps its threads from working on for nobody.
  const seconds = Math.ceil(mostSeconds);
  return (options) =>
    sharp(content, { limitInputPixels: mostPixels, ...options }).timeout({ seconds });
}

/** The type under which it can stay as it is. */
function keptType(type: FileType, metadata: Metadata, bytes: number): ImageType | undefined {
  const { width, height, space, pages = 1 } = metadata;
  // Gemini takes no GIF, and nobody looks at more than the first picture of an animation.
  if (type === 'image/gif' || pages > 1 || space === 'cmyk') return undefined;
  if (hasNotes(metadata)) return undefined;
  if (bytes > mostImageBytes || Math.max(width, height) > mostImageSidePx) return undefined;
  return imageTypes.find((known) => known === type);
}

/** What a camera or a program notes beside the picture: where, when and with what, which way up. */
function hasNotes({ exif, xmp, iptc, orientation = 1 }: Metadata): boolean {
  return [exif, xmp, iptc].some((notes) => notes !== undefined) || orientation !== 1;
}

/** Decodes all of it: a server would refuse what breaks off in the middle. */
async function isWhole(open: Open): Promise<boolean> {
  return await open({ failOn: 'error' })
    .raw()
    .toBuffer()
    .then(
      () => true,
      () => false,
    );
}

async function rewritten(open: Open, { format, hasAlpha }: Metadata): Promise<FittedImage> {
  // Photographs are far smaller as JPEG; drawn things keep their edges, and their holes, as PNG.
  const isPhoto = (format === 'jpeg' || format === 'webp' || format === 'heif') && !hasAlpha;
  for (const writing of isPhoto ? asJpeg : [asPng, ...asJpeg]) {
    // What can be read of a damaged image is shown.
    const bytes = await write(open({ failOn: 'none' }), writing).catch(() => undefined);
    if (bytes === undefined) return problemOf('it is damaged');
    if (bytes.length <= mostImageBytes) {
      return { kind: 'image', mediaType: writing.mediaType, bytes };
    }
  }
  return problemOf('it is too large, also when scaled down');
}

async function write(image: Sharp, { mediaType, quality, mostSidePx }: Writing): Promise<Buffer> {
  const fitted = image
    .autoOrient()
    .resize({ width: mostSidePx, height: mostSidePx, fit: 'inside', withoutEnlargement: true })
    .toColorspace('srgb');
  return mediaType === 'image/png'
    ? await fitted.png().toBuffer()
    : await fitted.flatten({ background: 'white' }).jpeg({ quality }).toBuffer();
}
