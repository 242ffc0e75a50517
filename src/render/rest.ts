/**
 * Where a new message goes on when the one before takes no more: its last block was shown with what
 * was open closed, and with what could not be shown yet held back.
 */

import { openLeafOf } from '../surface/markdown/open-leaf.ts';

export interface Rest {
  /** So much of the block's source is shown. */
  readonly shown: number;
  /** Opens what was closed. */
  readonly prefix: string;
}

/** `source`: the block so far · `closed`: as it was drawn (`closedForNow`). */
export function restOf(source: string, closed: string): Rest {
  if (closed.trim() === '') return { shown: 0, prefix: '' };
  if (source.startsWith(closed)) return { shown: closed.length, prefix: headOf(closed) };
  const [fence = ''] = /\n[ \t>]*(?:`{3,}|~{3,})$/u.exec(closed) ?? [];
  const code = closed.slice(0, closed.length - fence.length);
  if (fence !== '' && source.startsWith(code)) {
    return { shown: lineEndAfter(source, code.length), prefix: `${openingOf(code, fence)}\n` };
  }
  const [marks = ''] = /[*_~`]*$/u.exec(closed) ?? [];
  for (let length = marks.length; length > 0; length -= 1) {
    const words = closed.slice(0, closed.length - length);
    // The inner mark was closed first: it is opened last.
    const prefix = closed.slice(words.length).split('').toReversed().join('');
    if (source.startsWith(words)) return { shown: words.length, prefix };
  }
  // A half link was shown by its words alone: they are told again, with the address.
  return { shown: sharedLength(source, closed), prefix: '' };
}

/** The head of the table whose rows go on; empty elsewhere. */
function headOf(closed: string): string {
  const leaf = openLeafOf(closed);
  if (leaf?.node.type !== 'table' || /\n[ \t>]*\n$/u.test(closed)) return '';
  const from = closed.lastIndexOf('\n', leaf.start - 1) + 1;
  return `${closed.slice(from).split('\n').slice(0, 2).join('\n')}\n`;
}

/** The line that opens the code, which may stand in a quote or a list. */
function openingOf(code: string, fence: string): string {
  const marks = fence.trim().replace(/^[>\s]+/u, '');
  const lines = code.split('\n').filter((line) => /^(?:[ \t>]|[-+*]|\d+[.)])*[`~]/u.test(line));
  return lines.findLast((line) => line.includes(marks)) ?? marks;
}

/** Behind the end of a line whose words are shown: the next message begins with the next line. */
function lineEndAfter(source: string, at: number): number {
  return source[at] === '\n' ? at + 1 : at;
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
