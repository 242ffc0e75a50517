/** What a file is by its first bytes: names and declared types lie. */

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
/** The ones that models take. */
export type ImageType = (typeof imageTypes)[number];

/** What we can tell apart: what models take, and pictures that must be made into that first. */
export type FileType = ImageType | 'image/tiff' | 'image/avif' | 'image/heic' | 'application/pdf';

/** How many bytes of the beginning `fileTypeOf` looks at. */
export const headBytes = 64;

/** Where in the file, read as Latin-1, one of these texts stands. */
const signatures: readonly (readonly [FileType, at: number, texts: readonly string[]])[] = [
  ['image/png', 0, ['\x89PNG\r\n\x1a\n']],
  ['image/jpeg', 0, ['\xff\xd8\xff']],
  ['image/gif', 0, ['GIF87a', 'GIF89a']],
  ['image/webp', 8, ['WEBP']],
  ['image/tiff', 0, ['II*\0', 'MM\0*']],
  ['image/avif', 4, ['ftypavif', 'ftypavis']],
  ['image/heic', 4, ['ftypheic', 'ftypheix', 'ftyphevc', 'ftypmif1', 'ftypmsf1']],
  // Some writers put a byte order mark before it.
  ['application/pdf', 0, ['%PDF-', '\xef\xbb\xbf%PDF-']],
];

/** Undefined: something else. */
export function fileTypeOf(content: Uint8Array): FileType | undefined {
  const head = Buffer.from(content.subarray(0, headBytes)).toString('latin1');
  const found = signatures.find(([, at, texts]) => texts.some((text) => head.startsWith(text, at)));
  return found?.[0];
}

/** `3.8 MB`: millions of bytes. */
export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
