/** Bytes as text and back: never another byte than was there. */

import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeText, encodeText, linesOf } from '../../../src/tools/files/text-encoding.ts';

describe('text encodings', () => {
  it.each([
    ['windows-1252', 'Größe: 5 €\nÜber uns – “quoted”\n', 'windows-1252'],
    ['windows-1252', 'café', 'windows-1252'],
    ['windows-1251', 'Привет, как дела? Это обычный русский текст.\n', 'windows-1251'],
    ['shift_jis', 'これは日本語のテキストです。ファイルを読む。\n', 'shift_jis'],
    ['gb18030', '这是一个中文文本文件。我们读取它。\n', 'gb18030'],
    ['euc-kr', '안녕하세요. 이것은 한국어 텍스트입니다.\n', 'euc-kr'],
  ])('guesses %s of %j', (encoding, text, name) => {
    expect(decodeText(iconv.encode(text, encoding))).toEqual({
      text,
      encoding: { name, hasBom: false },
    });
  });

  it('looks for what tells encodings apart beyond a long English beginning', () => {
    const text = `${'An ordinary line.\n'.repeat(2000)}Größe\n`;
    expect(decodeText(iconv.encode(text, 'windows-1252'))?.text).toBe(text);
  });

  it.each([
    ['zeros', Buffer.from([1, 0, 2, 3])],
    ['control characters', Buffer.from('\x01\x02\x03\x04\x05\xff\xfe\x80', 'latin1')],
    ['half a pair of UTF-16', Buffer.from([0xff, 0xfe, 0x41])],
  ])('takes %s for binary', (_what, content) => {
    expect(decodeText(content)).toBeUndefined();
  });

  it('gives the same bytes again, whatever they were (property)', () => {
    let texts = 0;
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.uint8Array({ min: 32, maxLength: 60 }),
      fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text)),
      fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(`\ufeff${text}`, 'utf16le')),
      fc.string({ unit: 'binary-ascii' }).map((text) => Buffer.from(text, 'utf16le')),
    );
    fc.assert(
      fc.property(bytes, (given) => {
        const content = Buffer.from(given);
        const read = decodeText(content);
        if (!read) return;
        texts += 1;
        expect(encodeText(read.text, read.encoding)).toEqual(content);
      }),
      { numRuns: 2000 },
    );
    expect(texts).toBeGreaterThan(500);
  });

  it('knows lines as editors do', () => {
    expect(linesOf('')).toEqual([]);
    expect(linesOf('a')).toEqual(['a']);
    expect(linesOf('a\r\n\nb\n')).toEqual(['a', '', 'b']);
  });
});
