/** What a change does to a text, as a unified diff: for approval cards complete, for results short. */

import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from 'diff';
import { cutToUnits } from '../../base/text.ts';

const contextLines = 3;
/** Changed lines up to which the shortest diff is looked for; the search costs their square. */
const mostChangedLines = 1000;

/** Complete. `before` undefined: the file is new. Empty when nothing changes. */
export function diffOf(name: string, before: string | undefined, after: string): string {
  const oldName = before === undefined ? '/dev/null' : name;
  const old = before ?? '';
  const found =
    structuredPatch(oldName, name, old, after, undefined, undefined, {
      context: contextLines,
      maxEditLength: mostChangedLines,
    }) ?? wholePatch(oldName, name, old, after);
  return found.hunks.length === 0 ? '' : formatPatch(found, FILE_HEADERS_ONLY).replace(/\n$/u, '');
}

const mostShownLines = 60;
const mostShownChars = 4000;

/** The beginning of a diff without its file names, for the result of a tool. */
export function shortDiff(diff: string): string {
  const lines = diff.split('\n').slice(2);
  const shown: string[] = [];
  let chars = 0;
  for (const line of lines) {
    const cut = cutToUnits(line, 300);
    chars += cut.length + 1;
    if (shown.length >= mostShownLines || chars > mostShownChars) break;
    shown.push(cut);
  }
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 ? [`(${rest} more lines of the diff)`] : [])].join('\n');
}

/** One hunk: what lies between the common beginning and the common end is taken out and put in. */
function wholePatch(
  oldName: string,
  newName: string,
  before: string,
  after: string,
): StructuredPatch {
  const [old, next] = [patchLines(before), patchLines(after)];
  const most = Math.min(old.length, next.length);
  let head = 0;
  while (head < most && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  const from = Math.max(0, head - contextLines);
  const gone = old.slice(head, old.length - tail);
  const put = next.slice(head, next.length - tail);
  const leading = old.slice(from, head);
  const trailing = old.slice(old.length - tail, old.length - tail + contextLines);
  const common = leading.length + trailing.length;
  const marked = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) => (mark + line).split('\n'));
  return {
    oldFileName: oldName,
    newFileName: newName,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [
      {
        oldStart: from + 1,
        newStart: from + 1,
        oldLines: gone.length + common,
        newLines: put.length + common,
        lines: [
          ...marked(' ', leading),
          ...marked('-', gone),
          ...marked('+', put),
          ...marked(' ', trailing),
        ],
      },
    ],
  };
}

/** A last line without an end is another line than the same with one; patches say so below it. */
function patchLines(text: string): readonly string[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}
