/**
 * Grep, in the search thread: lines that match an expression of RE2 syntax, whose time is linear in
 * the text. Files behind links are not read (B160), nor binary ones.
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { RE2JS } from 're2js';
import { isInside, shownBelow } from '../paths.ts';
import { pathMatcher } from './glob-search.ts';
import { createGrepReport, type GrepReport } from './grep-report.ts';
import type { GrepTask, SearchAnswer } from './search-task.ts';
import { decodeText, linesOf } from './text-encoding.ts';
import { walk } from './walk.ts';

const mostFileBytes = 5 * 1024 * 1024;
const mostTotalBytes = 200 * 1024 * 1024;
const mostWalked = 300_000;

export function grepSearch(task: GrepTask): SearchAnswer {
  const regex = compile(task.pattern, task.ignoreCase);
  if (typeof regex === 'string') return { kind: 'error', text: regex };
  const { place } = task;
  const found = lstatSync(place.real, { throwIfNoEntry: false });
  if (!found) {
    return {
      kind: 'error',
      text: `There is no file or folder ${place.shown}. Use Glob to find files.`,
    };
  }
  const report = createGrepReport(task);
  let total = 0;
  let walked = 0;
  for (const { file, shown } of filesOf(task, found.isDirectory())) {
    walked += 1;
    const read = contentOf(file, place.root);
    if (read.kind === 'too_large') report.tooLarge(shown);
    if (read.kind !== 'read') continue;
    total += read.content.length;
    searchFile(regex, shown, read.content, task, report);
    if (report.isFull()) break;
    if (total > mostTotalBytes || walked > mostWalked) {
      report.note('(stopped: too much to search; give a path or a glob)');
      break;
    }
  }
  return { kind: 'done', text: report.text() };
}

/** The expression, or why it is none. */
function compile(pattern: string, ignoreCase: boolean): RE2JS | string {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'unknown reason';
    return `The pattern is not valid in RE2 syntax: ${reason}. Lookaround and backreferences do not exist there.`;
  }
}

function* filesOf(
  { place, glob, includeIgnored }: GrepTask,
  isFolder: boolean,
): Generator<{ readonly file: string; readonly shown: string }> {
  if (!isFolder) {
    yield { file: place.real, shown: place.shown };
    return;
  }
  // Like other tools of its kind: a pattern without a slash means names in any folder.
  const matches =
    glob === undefined ? () => true : pathMatcher(glob.includes('/') ? glob : `**/${glob}`);
  for (const found of walk(place.real, { root: place.root, includeIgnored })) {
    if (found.isLink || !matches(found.relative)) continue;
    yield { file: found.file, shown: shownBelow(place, found.relative) };
  }
}

type Read =
  | { readonly kind: 'read'; readonly content: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'unreadable' };

function contentOf(file: string, root: string): Read {
  let descriptor: number;
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    descriptor = openSync(file, flags);
  } catch {
    return { kind: 'unreadable' }; // gone meanwhile, or no access
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || !isInside(root, actualPath(descriptor, file))) {
      return { kind: 'unreadable' };
    }
    if (stat.size > mostFileBytes) return { kind: 'too_large' };
    return { kind: 'read', content: readFileSync(descriptor) };
  } finally {
    closeSync(descriptor);
  }
}

/** A folder on the way could have been replaced by a link meanwhile; only Linux tells. */
function actualPath(descriptor: number, file: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return file;
  }
}

/** Line by line: an expression means one line, and no more of them are tried than can be shown. */
function searchFile(
  regex: RE2JS,
  shown: string,
  content: Buffer,
  { mode }: GrepTask,
  report: GrepReport,
): void {
  const text = decodeText(content)?.text;
  if (text === undefined) return;
  const lines = linesOf(text);
  const most = { content: report.room(), files: 1, count: lines.length }[mode];
  const matched: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (!regex.test(line)) continue;
    matched.push(index);
    if (matched.length >= most) break;
  }
  report.add({ shown, lines, matched, columnOf: (line) => columnOf(regex, line) });
}

/** Where the first match of a line begins. */
function columnOf(regex: RE2JS, line: string): number {
  const matcher = regex.matcher(line);
  return matcher.find() ? matcher.start() : 0;
}
