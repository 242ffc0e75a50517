/** Holds patterns of rules against calls. */

import picomatch from 'picomatch';
import type { Assessment } from '../tools/contract.ts';
import type { ToolPattern } from './settings.ts';

/** line: `*` stops at a line break, so that an allow rule covers no second line · all: it does not,
 * so that none hides from ask and deny. */
export type Reach = 'line' | 'all';

/** Breaks at which picomatch's `**` would stop. */
const lineBreak = /[\n\r\u2028\u2029]/gu;

export function matchesTool(pattern: ToolPattern, tool: string): boolean {
  return isLike(pattern.tool, tool);
}

/** Does the pattern's input part match this one subject? */
export function matchesSubject(
  { input }: ToolPattern,
  subject: string,
  match: Assessment['match'],
  reach: Reach,
): boolean {
  if (input === undefined || input === '*') return true;
  if (match === 'path') return matchesPath(input, subject, reach);
  return reach === 'all' ? isLike(input, subject) : areLike(lines(input), lines(subject));
}

function matchesPath(pattern: string, subject: string, reach: Reach): boolean {
  const flat = subject.replace(lineBreak, '\uFFFD');
  if (reach === 'line' && flat !== subject) return false;
  const wanted = pattern.replace(lineBreak, '\uFFFD');
  return picomatch.isMatch(flat, wanted, { dot: true, nonegate: true });
}

function lines(text: string): readonly string[] {
  return text.split(/[\n\r]/u);
}

function areLike(patterns: readonly string[], texts: readonly string[]): boolean {
  return (
    patterns.length === texts.length &&
    patterns.every((pattern, index) => isLike(pattern, texts[index] ?? ''))
  );
}

/** `*` is anything. No regular expression: a long subject takes no longer than its length. */
function isLike(pattern: string, text: string): boolean {
  const [first = '', ...pieces] = pattern.split('*');
  const last = pieces.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const piece of pieces) {
    const at = text.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
