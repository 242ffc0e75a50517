/** The table says what was recorded, failures and gaps included. */

import { describe, expect, it } from 'vitest';
import {
  capabilityNames,
  createCapabilityTable,
  hasTableBlock,
  readmeWith,
} from './capabilities.ts';

describe('createCapabilityTable', () => {
  const rowOf = (table: string, name: string): readonly string[] => {
    const line = table.split('\n').find((one) => one.startsWith(`| ${name} `)) ?? '';
    return line.split('|').map((cell) => cell.trim());
  };

  it('has a row for each capability and a column for each wire', () => {
    const lines = createCapabilityTable(it).markdown().split('\n');
    expect(lines).toHaveLength(capabilityNames.length + 2);
    expect(rowOf(lines.join('\n'), 'text').slice(1, -1)).toEqual([
      'text',
      ...Array(4).fill('untested'),
    ]);
  });

  it('tells what works, what was seen, what fails and what nothing stood for', async () => {
    const declared: (() => Promise<void>)[] = [];
    const table = createCapabilityTable((_fact, test) => declared.push(test));
    table.on('anthropic')('images', 'works', async () => undefined);
    table.on('openai')('images', 'works', async () => undefined);
    table.on('openai')(['images', 'text'], 'works in its way', async () => 'as a note');
    table.on('gemini')('images', 'fails', () => Promise.reject<string>(new Error('broken')));
    table.on('gemini')('images', 'works in its way', async () => 'as a note');
    const ends = await Promise.allSettled(declared.map((test) => test()));
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    const cells = (name: string) => rowOf(table.markdown(), name).slice(2, -1);
    expect(cells('images')).toEqual(['yes', 'as a note', 'no', 'untested']);
    expect(cells('text')).toEqual(['untested', 'as a note', 'untested', 'untested']);
  });

  it('stands between its marks', () => {
    const readme = 'A\n\n<!-- providers-table -->\nold\n<!-- /providers-table -->\n\nB\n';
    expect(hasTableBlock(readme)).toBe(true);
    expect(hasTableBlock('A\n')).toBe(false);
    const next = readmeWith(readme, '| new |');
    expect(next).toBe(
      'A\n\n<!-- providers-table -->\n\n| new |\n\n<!-- /providers-table -->\n\nB\n',
    );
    expect(readmeWith(next, '| new |')).toBe(next);
  });
});
