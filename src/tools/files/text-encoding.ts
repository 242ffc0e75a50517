/**
 * Bytes of text files as text and back. UTF-8 and UTF-16 are told by their marks and their form,
 * older encodings are guessed; a guess is taken only where encoding the text again gives the very
 * same bytes, so that a file that was read can be changed without harm to the rest of it.
 */

import { analyse } from 'chardet';
import iconv from 'iconv-lite';

export interface TextFile {
  readonly text: string;
  readonly encoding: TextEncoding;
}

export interface TextEncoding {
  /** As iconv-lite knows it: utf8, utf-16le, utf-16be, windows-1252, shift_jis … */
  readonly name: string;
  readonly hasBom: boolean;
}

export const plainUtf8: TextEncoding = { name: 'utf8', hasBom: false };

const boms: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ['utf8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
/** How much of the beginning decides. */
const sampleBytes = 8192;
const leastConfidence = 60;

/** Undefined: binary. */
export function decodeText(content: Buffer): TextFile | undefined {
  const marked = boms.find(([, bytes]) => bytes.every((byte, index) => content[index] === byte));
  if (marked) {
    const [name, bytes] = marked;
    return sameAgain(content, content.subarray(bytes.length), { name, hasBom: true });
  }
  if (content.subarray(0, sampleBytes).includes(0)) {
    const name = utf16Of(content.subarray(0, sampleBytes));
    if (name === undefined) return undefined;
    const read = sameAgain(content, content, { name, hasBom: false });
    return read && !hasControls(read.text.slice(0, sampleBytes)) ? read : undefined;
  }
  const text = content.toString('utf8');
  if (!text.includes('\ufffd') || Buffer.from(text).equals(content)) {
    return { text, encoding: plainUtf8 };
  }
  return decodeOlder(content);
}

/** Undefined: the text has a character that the encoding does not know. */
export function encodeText(text: string, encoding: TextEncoding): Buffer | undefined {
  const { name, hasBom } = encoding;
  const encoded = iconv.encode(text, name);
  if (iconv.decode(encoded, name, { stripBOM: false }) !== text) return undefined;
  const bom = hasBom ? (boms.find(([one]) => one === name)?.[1] ?? []) : [];
  return bom.length === 0 ? encoded : Buffer.concat([Buffer.from(bom), encoded]);
}

/** For people and models: `UTF-16 LE`; undefined for plain UTF-8. */
export function formatEncoding({ name, hasBom }: TextEncoding): string | undefined {
  switch (name) {
    case 'utf8':
      return hasBom ? 'UTF-8 with a byte order mark' : undefined;
    case 'utf-16le':
      return 'UTF-16 LE';
    case 'utf-16be':
      return 'UTF-16 BE';
    default:
      return name;
  }
}

/** The lines of a text, without their ends; the end of the last line begins no new one. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/u);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** A byte order mark that is inside the text stays text: it is not stripped a second time. */
function sameAgain(whole: Buffer, bytes: Buffer, encoding: TextEncoding): TextFile | undefined {
  const text = iconv.decode(bytes, encoding.name, { stripBOM: false });
  return encodeText(text, encoding)?.equals(whole) ? { text, encoding } : undefined;
}

/** Which half of the byte pairs is zero: western text in UTF-16 without its mark. */
function utf16Of(sample: Buffer): string | undefined {
  const zeros = Array.from(sample.keys()).filter((at) => sample[at] === 0);
  const odd = zeros.filter((at) => at % 2 === 1).length;
  const even = zeros.length - odd;
  const pairs = sample.length / 2;
  if (odd > pairs * 0.4 && even < pairs * 0.05) return 'utf-16le';
  if (even > pairs * 0.4 && odd < pairs * 0.05) return 'utf-16be';
  return undefined;
}

function decodeOlder(content: Buffer): TextFile | undefined {
  if (hasControls(content.subarray(0, sampleBytes).toString('latin1'))) return undefined;
  for (const name of [guessOf(nonAscii(content)), 'windows-1252']) {
    const read = sameAgain(content, content, { name, hasBom: false });
    if (read) return read;
  }
  // Knows every byte.
  return sameAgain(content, content, { name: 'iso-8859-1', hasBom: false });
}

/** Western, unless something else is clearly ahead. */
function guessOf(sample: Buffer): string {
  const western = 'windows-1252';
  const [best, second] = analyse(sample);
  if (!best || best.name === 'ISO-8859-1' || !iconv.encodingExists(best.name)) return western;
  const isAhead = best.confidence >= 30 && best.confidence >= 2 * (second?.confidence ?? 0);
  return best.confidence >= leastConfidence || isAhead ? best.name.toLowerCase() : western;
}

/** The lines that tell encodings apart, up to a sample: a long English beginning says nothing. */
function nonAscii(content: Buffer): Buffer {
  const first = content.findIndex((byte) => byte > 0x7f);
  const start = Math.max(0, content.lastIndexOf(0x0a, first));
  return content.subarray(start, start + sampleBytes);
}

/** Bell, backspace, white space, escape; C1 are letters in older encodings. */
const usualControls = new Set([
  ...['\x07', '\b', '\t', '\n', '\v', '\f', '\r', '\x1b', '\x7f'],
  ...Array.from({ length: 32 }, (_, at) => String.fromCharCode(0x80 + at)),
]);

/** Control characters that no text has; a few are let through. */
function hasControls(text: string): boolean {
  const found = text.match(/\p{Cc}/gu)?.filter((one) => !usualControls.has(one)) ?? [];
  return text.includes('\0') || found.length > text.length / 50;
}
