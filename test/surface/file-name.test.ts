/** Names of files that a model chose. */

import { describe, expect, it } from 'vitest';
import { safeFileName } from '../../src/surface/file-name.ts';

describe('safeFileName', () => {
  it.each([
    ['report.md', 'report.md'],
    ['Bericht März (2).csv', 'Bericht März (2).csv'],
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['C:\\temp\\a.txt', 'C:_temp_a.txt'],
    ['a\u0000b\nc.txt', 'a_b_c.txt'],
    ['cv\u202Efdp.exe', 'cv_fdp.exe'],
    ['  a   b .txt ', 'a b .txt'],
    ['half \uD83D.txt', 'half _.txt'],
    ['🧑‍🚀.png', '🧑‍🚀.png'],
    ['', 'file'],
    ['..', 'file'],
    ['/', 'file'],
  ])('makes %j into %j', (name, safe) => {
    expect(safeFileName(name)).toBe(safe);
  });

  it('keeps 120 units as they are, and the ending of longer ones', () => {
    const fits = `${'a'.repeat(116)}.csv`;
    expect(safeFileName(fits)).toBe(fits);
    expect(safeFileName(`a${fits}`)).toBe(fits);
    expect(safeFileName('🧑‍🚀'.repeat(60))).toHaveLength(120);
  });
});
