/** PDFs are looked into before a model is sent them. */

import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { inspectPdf } from '../../src/base/pdf.ts';
import { pdfThatSays } from '../support/pdf.ts';

const limits = { mostPages: 3, mostSeconds: 20, mostTextChars: 60 };

/** A PDF whose table of objects unpacks to much more than itself. */
function bomb(unpackedBytes: number): Buffer {
  const packed = deflateSync(Buffer.alloc(unpackedBytes, 1), { level: 9 });
  const rows = Math.floor(unpackedBytes / 3);
  const head = `%PDF-1.5\n1 0 obj\n<< /Type /XRef /Size ${rows} /W [1 1 1] /Root 2 0 R /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`;
  const tail = '\nendstream\nendobj\nstartxref\n9\n%%EOF';
  return Buffer.concat([Buffer.from(head), packed, Buffer.from(tail)]);
}

describe('inspectPdf', () => {
  it('counts pages and reads them', async () => {
    const one = await inspectPdf(pdfThatSays('hello'), limits);
    expect(one).toEqual({ kind: 'pdf', pages: 1, text: '--- page 1 ---\nhello' });
  });

  it('reads as much text as is allowed', async () => {
    const text = '--- page 1 ---\nhello\n\n--- page 2 ---\nhello\n\n--- page 3 ---…';
    const three = await inspectPdf(pdfThatSays('hello', { pages: 3 }), limits);
    expect(three).toEqual({ kind: 'pdf', pages: 3, text });
  });

  it('takes as many pages as are allowed, and not one more', async () => {
    const three = pdfThatSays('hello', { pages: 3 });
    expect(await inspectPdf(three, limits)).toMatchObject({ kind: 'pdf', pages: 3 });
    const four = await inspectPdf(pdfThatSays('hello', { pages: 4 }), limits);
    expect(four).toEqual({ kind: 'problem', problem: 'too many pages (4, at most 3)' });
  });

  it.each([
    ['is no PDF behind its first line', Buffer.from('%PDF-1.7\nxxxx'), 'it is damaged'],
    ['breaks off', pdfThatSays('hello').subarray(0, 60), 'it is damaged'],
    ['needs a password', pdfThatSays('hello', { isLocked: true }), 'it is locked by a password'],
  ])('says of a file that %s why it cannot be read', async (_what, content, problem) => {
    expect(await inspectPdf(content, limits)).toEqual({ kind: 'problem', problem });
  });

  it('gives up when its time is over', async () => {
    const given = await inspectPdf(pdfThatSays('hello'), { ...limits, mostSeconds: 0.001 });
    expect(given).toEqual({ kind: 'problem', problem: 'reading it takes more than 0.001 s' });
  });

  it('survives a bomb', async () => {
    const content = bomb(200_000_000);
    expect(content.length).toBeLessThan(1_000_000);
    expect(await inspectPdf(content, limits)).toMatchObject({ kind: 'problem' });
  });
});
