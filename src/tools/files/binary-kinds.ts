/** What a file is that is neither text nor shown to models, by its first bytes; for error texts. */

/** Where in the file, read as Latin-1, the text stands. */
const signatures: readonly (readonly [what: string, at: number, text: string])[] = [
  ['a ZIP archive (or an office document)', 0, 'PK\x03\x04'],
  ['a gzip archive', 0, '\x1f\x8b'],
  ['a bzip2 archive', 0, 'BZh'],
  ['an xz archive', 0, '\xfd7zXZ\0'],
  ['a Zstandard archive', 0, '\x28\xb5\x2f\xfd'],
  ['a 7-Zip archive', 0, "7z\xbc\xaf'\x1c"],
  ['a tar archive', 257, 'ustar'],
  ['a program (ELF)', 0, '\x7fELF'],
  ['a program (Windows)', 0, 'MZ'],
  ['a WebAssembly module', 0, '\0asm'],
  ['a Java class', 0, '\xca\xfe\xba\xbe'],
  ['an SQLite database', 0, 'SQLite format 3\0'],
  ['an old office document', 0, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  ['a Parquet table', 0, 'PAR1'],
  ['an MP4 or QuickTime video', 4, 'ftyp'],
  ['a Matroska or WebM video', 0, '\x1a\x45\xdf\xa3'],
  ['an Ogg recording', 0, 'OggS'],
  ['an MP3 recording', 0, 'ID3'],
  ['a WAV recording', 8, 'WAVE'],
  ['a font', 0, 'wOF2'],
  ['an icon', 0, '\0\0\x01\0'],
  ['a BMP image', 0, 'BM'],
];

/** What a binary file is called whose kind is not known. */
export const unknownBinary = 'a binary file';

/** `an SQLite database`; `a binary file` when it is not known. */
export function binaryKindOf(content: Buffer): string {
  const head = content.subarray(0, 512).toString('latin1');
  return signatures.find(([, at, text]) => head.startsWith(text, at))?.[0] ?? unknownBinary;
}
