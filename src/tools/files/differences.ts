/** What a change does to a text, as a unified diff: for approval cards complete, for results short. */

import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from 'diff';
import { cutToUnits } from '../../base/text.ts';

const contextLines = 3;
/** Changed lines up to which the shortest diff is looked for; the search costs their square. */
const mostChangedLines = 1000;

/** More lines than that between the first and the last change are not compared one by one. */
const mostComparedLines = 20_000;

/** Complete. `before` undefined: the file is new. Empty when nothing changes. */
export function diffOf(name: string, before: string | undefined, after: string): string {
  const oldName = before === undefined ? '/dev/null' : name;
  const hunks = before === after ? [] : hunksOf(linesWithEnds(before ?? ''), linesWithEnds(after));
  if (hunks.length === 0) return '';
  const patch = { oldFileName: oldName, newFileName: name, hunks };
  const text = formatPatch(
    { ...patch, oldHeader: undefined, newHeader: undefined },
    FILE_HEADERS_ONLY,
  );
  return text.replace(/\n$/u, '');
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

type Hunks = StructuredPatch['hunks'];

/** What is the same at the beginning and at the end is not handed to the library: it takes its time
 * for each line, changed or not. */
function hunksOf(old: readonly string[], next: readonly string[]): Hunks {
  const most = Math.min(old.length, next.length);
  let head = 0;
  while (head < most && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  const from = Math.max(0, head - contextLines);
  const end = Math.max(0, tail - contextLines);
  const changed = {
    old: old.slice(from, old.length - end),
    next: next.slice(from, next.length - end),
  };
  const found =
    Math.max(changed.old.length, changed.next.length) > mostComparedLines
      ? undefined
      : structuredPatch('', '', changed.old.join(''), changed.next.join(''), '', '', {
          context: contextLines,
          maxEditLength: mostChangedLines,
        })?.hunks;
  const hunks = found ?? [wholeHunk(changed.old, changed.next, head - from, tail - end)];
  return hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + from,
    newStart: hunk.newStart + from,
  }));
}

/** Takes out all lines but those of the context, and puts in the others. */
function wholeHunk(
  old: readonly string[],
  next: readonly string[],
  leading: number,
  trailing: number,
): Hunks[number] {
  const marked = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) =>
      line.endsWith('\n')
        ? [mark + line.slice(0, -1)]
        : [mark + line, '\\ No newline at end of file'],
    );
  return {
    oldStart: 1,
    newStart: 1,
    oldLines: old.length,
    newLines: next.length,
    lines: [
      ...marked(' ', old.slice(0, leading)),
      ...marked('-', old.slice(leading, old.length - trailing)),
      ...marked('+', next.slice(leading, next.length - trailing)),
      ...marked(' ', old.slice(old.length - trailing)),
    ],
  };
}

/** The last line may have no end. */
function linesWithEnds(text: string): readonly string[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  const ended = lines.map((line) => `${line}\n`);
  return last === '' ? ended : [...ended, last];
}
