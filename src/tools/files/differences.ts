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
  const hunks = before === after ? [] : hunksOf(before ?? '', after);
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

/** What is the same at the beginning and at the end is not even divided into lines: a change of a
 * large file costs little. */
function hunksOf(old: string, next: string): Hunks {
  const most = Math.min(old.length, next.length);
  let start = 0;
  while (start < most && old.charCodeAt(start) === next.charCodeAt(start)) start += 1;
  let same = 0;
  while (
    same < most - start &&
    old.charCodeAt(old.length - 1 - same) === next.charCodeAt(next.length - 1 - same)
  ) {
    same += 1;
  }
  const from = linesBack(old, start, contextLines);
  const isAtLine = isLineStart(old, old.length - same) && isLineStart(next, next.length - same);
  const end = linesOn(old, old.length - same, isAtLine ? contextLines : contextLines + 1);
  const changed = {
    old: old.slice(from, end),
    next: next.slice(from, next.length - (old.length - end)),
  };
  const lines = { old: linesWithEnds(changed.old), next: linesWithEnds(changed.next) };
  const found =
    Math.max(lines.old.length, lines.next.length) > mostComparedLines
      ? undefined
      : structuredPatch('', '', changed.old, changed.next, '', '', {
          context: contextLines,
          maxEditLength: mostChangedLines,
        })?.hunks;
  const before = old.slice(0, from).split('\n').length - 1;
  return (found ?? [wholeHunk(lines.old, lines.next)]).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + before,
    newStart: hunk.newStart + before,
  }));
}

function isLineStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === '\n';
}

/** The start of the line of `at`, or of one that is so many lines before. */
function linesBack(text: string, at: number, lines: number): number {
  let start = at;
  for (let left = lines; ; left -= 1) {
    while (!isLineStart(text, start)) start = text.lastIndexOf('\n', start - 1) + 1;
    if (left === 0 || start === 0) return start;
    start -= 1;
  }
}

/** The end of so many lines from `at` on. */
function linesOn(text: string, at: number, lines: number): number {
  let end = at;
  for (let left = lines; left > 0 && end < text.length; left -= 1) {
    const next = text.indexOf('\n', end);
    end = next < 0 ? text.length : next + 1;
  }
  return end;
}

/** Takes out all lines but those of the context, and puts in the others. */
function wholeHunk(old: readonly string[], next: readonly string[]): Hunks[number] {
  const most = Math.min(old.length, next.length);
  let leading = 0;
  while (leading < most && old[leading] === next[leading]) leading += 1;
  let trailing = 0;
  while (trailing < most - leading && old.at(-1 - trailing) === next.at(-1 - trailing)) {
    trailing += 1;
  }
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
