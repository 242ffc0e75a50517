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
    const lines = createCapabilityTable().markdown().split('\n');
    expect(lines).toHaveLength(capabilityNames.length + 2);
    expect(rowOf(lines.join('\n'), 'text').slice(1, -1)).toEqual([
      'text',
      ...Array(4).fill('untested'),
    ]);
  });

  it('tells what works, what was seen, what fails and what nothing stood for', () => {
    const table = createCapabilityTable();
    table.record('anthropic', 'images', 'yes');
    table.record('openai', 'images', 'yes');
    table.record('openai', 'images', 'as a note');
    table.record('gemini', 'images', 'no');
    table.record('gemini', 'images', 'as a note');
    expect(rowOf(table.markdown(), 'images').slice(2, 6)).toEqual([
      'yes',
      'as a note',
      'no',
      'untested',
    ]);
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
