/** FileEdit: exactly what was asked for, in a file that was read, and nothing else. */

import { chmod } from 'node:fs/promises';
import path from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { type FileBench, usingFileTools } from '../../support/file-tools.ts';

const newBench = usingFileTools();

/** A bench with a file that was read. */
async function setUp(content: string | Buffer = 'one\ntwo\nthree\n'): Promise<
  FileBench & {
    readonly edit: (oldText: string, newText: string, more?: object) => Promise<string>;
  }
> {
  const bench = await newBench();
  await bench.write('a.txt', content);
  await bench.says('FileRead', { path: 'a.txt' });
  return {
    ...bench,
    edit: (oldText, newText, more = {}) =>
      bench.says('FileEdit', { path: 'a.txt', oldText, newText, ...more }),
  };
}

describe('FileEdit', () => {
  it('replaces a text, shows the diff and keeps the mode', async () => {
    const { edit, folder, modeOf, read } = await setUp();
    await chmod(path.join(folder, 'a.txt'), 0o751);
    expect(await edit('two', 'zwei')).toBe(
      'Changed a.txt (1 place):\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three',
    );
    expect((await read('a.txt')).toString()).toBe('one\nzwei\nthree\n');
    expect(await modeOf('a.txt')).toBe(0o751);
    expect(await edit('zwei', 'deux')).toContain('Changed');
  });

  it('takes the new text as it is, whatever signs it has', async () => {
    const { edit, read } = await setUp();
    await edit('two', "$& $1 $' \\n");
    expect((await read('a.txt')).toString()).toBe("one\n$& $1 $' \\n\nthree\n");
  });

  it('needs one place, unless all are meant', async () => {
    const { edit, read } = await setUp('a\nb\na\nb a\n');
    expect(await edit('a', 'x')).toBe(
      'oldText is in a.txt 3 times (lines 1, 3, 4). Give more of the text around the place that you mean, or set replaceAll.',
    );
    expect(await edit('a', 'x', { replaceAll: true })).toContain('Changed a.txt (3 places)');
    expect((await read('a.txt')).toString()).toBe('x\nb\nx\nb x\n');
  });

  it('must have read the file, and it must be unchanged since', async () => {
    const { edit, write, says } = await setUp();
    await write('a.txt', 'one\ntwo\nthree\nfour\n');
    expect(await edit('two', 'x')).toContain('was changed since it was last read');
    await write('b.txt', 'x');
    expect(await says('FileEdit', { path: 'b.txt', oldText: 'x', newText: 'y' })).toContain(
      'was not read in this conversation',
    );
    expect(await says('FileEdit', { path: 'c.txt', oldText: 'x', newText: 'y' })).toBe(
      'There is no file c.txt. Did you mean a.txt or b.txt?',
    );
  });

  it.each([
    ['white space', '  if (x) {\n\t return 1;\n  }\n', 'if (x) {\n  return 1;\n}', 'white space'],
    ['quotes', 'say “hello” – now\n', 'say "hello" - now', 'case, quotes or dashes'],
  ])('shows the place that differs only in %s', async (_what, content, oldText, named) => {
    const { edit } = await setUp(`first\n${content}`);
    const text = await edit(oldText, 'x');
    expect(text).toContain(`differ from it only in ${named}. The file has:\n2\t`);
    expect(text).toContain(content.split('\n')[0]);
  });

  it('shows the nearest place where the text is not there', async () => {
    const { edit } = await setUp('alpha\nthe quick brown fox jumps\nomega\n');
    expect(await edit('the quick red fox jumps', 'x')).toBe(
      'oldText is not in a.txt. The nearest place is at line 2:\n2\tthe quick brown fox jumps\n3\tomega\n4\t\nCopy the text exactly, without the line numbers.',
    );
    expect(await edit('nothing like it', 'x')).toContain('nor anything like it. FileRead it again');
  });

  it('refuses a change that is none, and an empty old text', async () => {
    const { edit } = await setUp();
    expect(await edit('two', 'two')).toContain('the same: there is nothing to change');
    expect(await edit('', 'two')).toContain('to write a whole file, use FileWrite');
  });

  it('keeps line ends of CRLF', async () => {
    const { edit, read } = await setUp('one\r\ntwo\r\nthree\r\n');
    expect(await edit('one\ntwo', 'one\nand a half\ntwo')).toContain('Changed');
    expect((await read('a.txt')).toString()).toBe('one\r\nand a half\r\ntwo\r\nthree\r\n');
    expect(await edit('half\r\ntwo', 'half\r\n2')).toContain('Changed');
    expect((await read('a.txt')).toString()).toBe('one\r\nand a half\r\n2\r\nthree\r\n');
  });

  it('leaves mixed line ends elsewhere alone', async () => {
    const { edit, read } = await setUp('a\r\nb\nc\nd\n');
    await edit('c\nd', 'c\nD');
    expect((await read('a.txt')).toString()).toBe('a\r\nb\nc\nD\n');
  });

  it.each([
    ['utf8', '\ufeff'],
    ['utf-16le', '\ufeff'],
    ['utf-16be', '\ufeff'],
    ['utf-16le', ''],
    ['windows-1252', ''],
  ])('keeps the encoding %s with the mark %j', async (encoding, bom) => {
    const encode = (text: string): Buffer => iconv.encode(bom + text, encoding, { addBOM: false });
    const { edit, read } = await setUp(encode('Größe: alt\nÜber\n'));
    expect(await edit('alt', 'süß')).toContain('+Größe: süß');
    expect(await read('a.txt')).toEqual(encode('Größe: süß\nÜber\n'));
  });

  it('says which characters the encoding does not have', async () => {
    const content = iconv.encode('Größe\n', 'windows-1252');
    const { edit, read } = await setUp(content);
    expect(await edit('Größe', '→ 大')).toContain('windows-1252, which has no "→", "大"');
    expect(await read('a.txt')).toEqual(content);
  });

  it('shows people the whole diff before', async () => {
    const { tool, context } = await setUp();
    const input = { path: 'a.txt', oldText: 'two\n', newText: '' };
    expect(await tool('FileEdit').preview(input, context)).toEqual({
      language: 'diff',
      text: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,2 @@\n one\n-two\n three',
    });
    const wrong = { ...input, oldText: 'none' };
    expect((await tool('FileEdit').assess(wrong, context)).fault).toContain('is not in a.txt');
    expect(await tool('FileEdit').assess(input, context)).toEqual({
      isReadOnly: false,
      needsApproval: true,
      why: 'it changes a.txt',
      subjects: ['a.txt'],
      match: 'path',
      isWhole: true,
      alwaysAsks: false,
      grant: 'a.txt',
    });
  });

  it('bounds the diff of its result', async () => {
    const { edit } = await setUp('x\n'.repeat(5000));
    const text = await edit('x', 'y', { replaceAll: true });
    expect(text.length).toBeLessThan(5000);
    expect(text).toMatch(/\(\d+ more lines of the diff\)$/u);
  });
});
