/** Holds patterns of rules against calls. */

import picomatch from 'picomatch';
import type { Assessment } from '../tools/contract.ts';
import type { ToolPattern } from './settings.ts';

export function matchesTool(pattern: ToolPattern, tool: string): boolean {
  return textPattern(pattern.tool).test(tool);
}

/** Does the pattern's input part match this one subject? */
export function matchesSubject(
  { input }: ToolPattern,
  subject: string,
  match: Assessment['match'],
): boolean {
  if (input === undefined || input === '*') return true;
  if (match === 'path') return picomatch.isMatch(subject, input, { dot: true, nonegate: true });
  return textPattern(input).test(subject);
}

/** `*` is anything on one line: a rule never reaches over a line break. */
function textPattern(pattern: string): RegExp {
  const escaped = pattern.replace(/[\\^$.+?()[\]{}|]/gu, '\\$&').replaceAll('*', '[^\\n\\r]*');
  return new RegExp(`^${escaped}$`, 'u');
}
