/** A page of numbered lines, small enough to be a result as a whole. */

import { cutPoint } from '../../base/text.ts';

/** Below the limit of results, with room for notes. */
const mostPageChars = 28_000;
const mostLineChars = 2000;
const mostPieceChars = 20_000;

/** Lines from `offset` (1 is the first), at most `limit`; what is left is told in a last line. */
export function pageOf(lines: readonly string[], offset: number, limit: number): string {
  const shown: string[] = [];
  let chars = 0;
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const text = numbered(line, offset + index);
    if (shown.length > 0 && chars + text.length > mostPageChars) break;
    chars += text.length + 1;
    shown.push(text);
  }
  const rest = lines.length - (offset - 1 + shown.length);
  const more = `(${rest} more lines; continue with offset ${offset + shown.length})`;
  return [...shown, ...(rest > 0 ? [more] : [])].join('\n');
}

function numbered(line: string, number: number): string {
  if (line.length <= mostLineChars) return `${number}\t${line}`;
  const end = cutPoint(line, mostLineChars);
  return `${number}\t${line.slice(0, end)}… (${line.length - end} more characters of this line; continue with offset ${number}, character ${end + 1})`;
}

/** A piece of one long line, from a character (1 is the first). */
export function pieceOf(line: string, number: number, character: number): string {
  const start = cutPoint(line, character - 1);
  const end = cutPoint(line, start + mostPieceChars);
  const rest = line.length - end;
  const more =
    rest > 0
      ? `(${rest} more characters of line ${number}; continue with offset ${number}, character ${end + 1})`
      : `(line ${number} ends here; continue with offset ${number + 1})`;
  return `${number}\t${line.slice(start, end)}\n${more}`;
}
