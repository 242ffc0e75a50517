/** Patterns against calls: what `*` and `**` reach, and what they do not. */

import { describe, expect, it } from 'vitest';
import { parseToolPattern, type ToolPattern } from '../../src/permissions/settings.ts';
import { matchesSubject, matchesTool, type Reach } from '../../src/permissions/tool-pattern.ts';
import type { Assessment } from '../../src/tools/contract.ts';

function patternOf(text: string): ToolPattern {
  const pattern = parseToolPattern(text);
  if (typeof pattern === 'string') throw new Error(pattern);
  return pattern;
}

function isMatch(
  input: string,
  subject: string,
  match: Assessment['match'],
  reach: Reach = 'line',
): boolean {
  return matchesSubject({ tool: 'T', input }, subject, match, reach);
}

describe('a pattern of a tool', () => {
  it.each<[string, string, boolean]>([
    ['Bash', 'Bash', true],
    ['Bash', 'BashOutput', false],
    ['Bash', 'bash', false],
    ['Bash*', 'BashOutput', true],
    ['*', 'anything', true],
    ['mcp__github__*', 'mcp__github__create_issue', true],
    ['mcp__github__*', 'mcp__gitlab__create_issue', false],
    ['mcp__*__delete*', 'mcp__x__delete_all', true],
  ])('%j against %j is %j', (text, tool, expected) => {
    expect(matchesTool(patternOf(text), tool)).toBe(expected);
  });
});

describe('a pattern of text', () => {
  it.each<[string, string, boolean]>([
    ['git status*', 'git status', true],
    ['git status*', 'git status -s', true],
    ['git status*', 'git stash', false],
    ['git status', 'git status -s', false],
    ['*', 'anything\nat all', true],
    ['git *', 'git', false],
    ['*.md', 'a.md', true],
    ['*.md', 'amd', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a**c', 'abc', true],
    ['a?c', 'abc', false],
    ['a?c', 'a?c', true],
    ['[a-z](x|y)+$^', '[a-z](x|y)+$^', true],
    ['[a-z]', 'b', false],
    ['\\d', '5', false],
    ['a.c', 'abc', false],
    ['{a,b}', 'a', false],
    ['über *', 'über alles', true],
    ['*👍*', 'good 👍🏽 work', true],
    ['café', 'cafe\u0301', false],
  ])('%j against %j is %j', (input, subject, expected) => {
    expect(isMatch(input, subject, 'text')).toBe(expected);
    expect(isMatch(input, subject, 'text', 'all')).toBe(expected);
  });

  it.each<[string, string, boolean, boolean]>([
    ['git *', 'git status\nrm -rf x', false, true],
    ['git *', 'git status\rrm -rf x', false, true],
    ['git *', 'git status\n', false, true],
    ['*x', '\nx', false, true],
    ['a*\n*b', 'a1\n2b', true, true],
    ['a\nb', 'a\nb', true, true],
  ])(
    '%j reaches over the break in %j: to allow %j, to ask and deny %j',
    (input, subject, allow, deny) => {
      expect(isMatch(input, subject, 'text', 'line')).toBe(allow);
      expect(isMatch(input, subject, 'text', 'all')).toBe(deny);
    },
  );

  it('with many stars takes no longer than the subject is long', () => {
    const started = performance.now();
    expect(isMatch('*rm*-rf*/*x*y', 'rm '.repeat(100_000), 'text', 'all')).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('a pattern of paths', () => {
  it.each<[string, string, boolean]>([
    ['reports/**', 'reports/a.md', true],
    ['reports/**', 'reports/deep/er/a.md', true],
    ['reports/**', 'reports', true],
    ['reports/**', 'reports2/a.md', false],
    ['reports/**', 'old/reports/a.md', false],
    ['reports/**', 'reports/.env', true],
    ['reports/**', 'reports/.hidden/x', true],
    ['reports/**', 'reports/../secret', false],
    ['reports/*', 'reports/a.md', true],
    ['reports/*', 'reports/.env', true],
    ['reports/*', 'reports/deep/a.md', false],
    ['**/*.md', 'a.md', true],
    ['**/*.md', 'x/y/a.md', true],
    ['*.{md,txt}', 'a.txt', true],
    ['!secret', 'public', false],
    ['a+b(1).txt', 'a+b(1).txt', true],
    ['$HOME/*', '$HOME/x', true],
    ['/mnt/docs/**', '/mnt/docs/a', true],
    ['berichte/*', 'berichte/März 2026.md', true],
    ['*', 'deep/er', true],
  ])('%j against %j is %j', (input, subject, expected) => {
    expect(isMatch(input, subject, 'path')).toBe(expected);
    expect(isMatch(input, subject, 'path', 'all')).toBe(expected);
  });

  it.each(['\n', '\r', '\u2028', '\u2029'])(
    'is not escaped by a name with %j, and allows no such name',
    (character) => {
      const subject = `secrets/a${character}b`;
      expect(isMatch('secrets/**', subject, 'path', 'all')).toBe(true);
      expect(isMatch('secrets/*', subject, 'path', 'all')).toBe(true);
      expect(isMatch('secrets/**', subject, 'path', 'line')).toBe(false);
      expect(isMatch('secrets/*', subject, 'path', 'line')).toBe(false);
    },
  );
});
