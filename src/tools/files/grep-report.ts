/** What a search found, as text of bounded size. */

import { cutPoint } from '../../base/text.ts';
import type { GrepTask } from './search-task.ts';

export interface FileMatches {
  readonly shown: string;
  readonly lines: readonly string[];
  /** Indexes of lines, ascending. */
  readonly matched: readonly number[];
  /** Where in a line the match begins. */
  readonly columnOf: (line: string) => number;
}

export interface GrepReport {
  add(found: FileMatches): void;
  /** Matching lines that still have a place. */
  room(): number;
  isFull(): boolean;
  tooLarge(shown: string): void;
  note(text: string): void;
  text(): string;
}

const mostMatches = 500;
const mostFiles = 1000;
const mostChars = 26_000;
const mostLineChars = 500;
const mostNamed = 5;

export function createGrepReport({
  mode,
  before,
  after,
}: Pick<GrepTask, 'mode' | 'before' | 'after'>): GrepReport {
  const shown: string[] = [];
  const skipped: string[] = [];
  const notes: string[] = [];
  let chars = 0;
  let matches = 0;
  let isCut = false;

  const push = (line: string): void => {
    if (isCut || chars + line.length > mostChars) {
      isCut = true;
      return;
    }
    chars += line.length + 1;
    shown.push(line);
  };
  const addLines = (found: FileMatches): void => {
    const hits = new Set(found.matched);
    let next = 0;
    for (const at of found.matched) {
      const from = Math.max(next, at - before);
      if (before + after > 0 && shown.length > 0 && (from > next || next === 0)) push('--');
      // Context after a match ends where the next match begins its own.
      const to = Math.min(found.lines.length - 1, at + after);
      for (let index = from; index <= to; index += 1) {
        const line = found.lines[index] ?? '';
        const mark = hits.has(index) ? ':' : '-';
        const column = hits.has(index) ? found.columnOf(line) : 0;
        push(`${found.shown}${mark}${index + 1}${mark} ${excerptOf(line, column)}`);
      }
      next = Math.max(next, to + 1);
    }
  };
  const endNote = (): string => {
    if (matches >= mostMatches && mode === 'content') {
      return `(stopped at ${mostMatches} matches; narrow the search)`;
    }
    return '(stopped: there is more than can be shown; narrow the search)';
  };
  const isFull = (): boolean =>
    isCut || (mode === 'content' ? matches >= mostMatches : shown.length >= mostFiles);
  return {
    add: (found) => {
      if (found.matched.length === 0) return;
      matches += found.matched.length;
      switch (mode) {
        case 'files':
          return push(found.shown);
        case 'count':
          return push(`${found.shown}: ${found.matched.length}`);
        case 'content':
          return addLines(found);
      }
    },
    room: () => mostMatches - matches,
    isFull,
    tooLarge: (name) => {
      skipped.push(name);
    },
    note: (text) => {
      notes.push(text);
    },
    text: () => {
      const named = skipped.slice(0, mostNamed).join(', ');
      const more = skipped.length > mostNamed ? ` and ${skipped.length - mostNamed} more` : '';
      return [
        ...(shown.length === 0 ? ['No match.'] : shown),
        ...(isFull() ? [endNote()] : []),
        ...notes,
        ...(skipped.length > 0 ? [`(not searched, over 5 MB: ${named}${more})`] : []),
      ].join('\n');
    },
  };
}

/** The part of a line where the match begins. */
function excerptOf(line: string, column: number): string {
  if (line.length <= mostLineChars) return line;
  const start = column < mostLineChars / 2 ? 0 : cutPoint(line, column - 100);
  const end = cutPoint(line, start + mostLineChars);
  return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`;
}
