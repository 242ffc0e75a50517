/** Tables as aligned monospace, for platforms whose texts have none. */

import type { PhrasingContent, Table, TableCell } from 'mdast';

/** Takes no column; adapters break mention tokens with it. */
export const zeroWidth = '\u200B';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const wide =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Script=Han})/u;

/** Columns a text takes in a monospace font. */
export function displayWidthOf(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    if (segment !== zeroWidth) width += wide.test(segment) ? 2 : 1;
  }
  return width;
}

/**
 * The rows as lines of padded columns, a rule under the header. `quiet` breaks what would notify
 * somebody: it sees the words of a cell joined without their marks, before they are padded.
 */
export function alignedTable(
  table: Table,
  quiet: (words: string) => string = (words) => words,
): string {
  const rows = table.children.map((row) => row.children.map((cell) => quiet(cellText(cell))));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(1, ...rows.map((row) => displayWidthOf(row[column] ?? ''))),
  );
  const lineOf = (row: readonly string[]): string =>
    widths
      .map((width, column) => padded(row[column] ?? '', width, table.align?.[column] ?? null))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  const [header = [], ...body] = rows;
  return [lineOf(header), rule, ...body.map(lineOf)].join('\n');
}

function padded(text: string, width: number, align: 'left' | 'right' | 'center' | null): string {
  const missing = Math.max(0, width - displayWidthOf(text));
  if (align === 'right') return ' '.repeat(missing) + text;
  if (align === 'center') {
    const before = Math.floor(missing / 2);
    return ' '.repeat(before) + text + ' '.repeat(missing - before);
  }
  return text + ' '.repeat(missing);
}

/** The words of a cell, joined without their marks. */
function cellText(cell: TableCell): string {
  return cell.children
    .map(phrasingText)
    .join('')
    .replace(/\s+/gu, ' ')
    .replace(/`{3,}/gu, "''")
    .trim();
}

function phrasingText(node: PhrasingContent): string {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
    case 'html':
      return node.value;
    case 'break':
      return ' ';
    case 'image':
      return node.alt ?? '';
    case 'imageReference':
      return node.alt ?? '';
    case 'footnoteReference':
      return `[${node.identifier}]`;
    case 'link': {
      const label = node.children.map(phrasingText).join('');
      return label === node.url || `mailto:${label}` === node.url
        ? label
        : `${label} (${node.url})`;
    }
    case 'strong':
    case 'emphasis':
    case 'delete':
    case 'linkReference':
      return node.children.map(phrasingText).join('');
  }
}
