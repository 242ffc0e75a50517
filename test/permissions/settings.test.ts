/** Rules as they are written, settings of several levels as one, and approvers who cannot be. */

import { describe, expect, it } from 'vitest';
import {
  approverProblem,
  mergePermissions,
  type PermissionSettings,
  parseToolPattern,
  permissionSettings,
} from '../../src/permissions/settings.ts';

function problemsOf(raw: unknown): readonly string[] {
  const parsed = permissionSettings.safeParse(raw);
  return parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

function merged(...values: readonly PermissionSettings[]) {
  return mergePermissions(values.map((value, index) => ({ value, source: `level ${index}` })));
}

describe('a tool pattern', () => {
  it.each([
    ['Bash', 'Bash', undefined],
    [' Bash ', 'Bash', undefined],
    ['mcp__github__*', 'mcp__github__*', undefined],
    ['Bash(git status*)', 'Bash', 'git status*'],
    ['FileWrite(reports/**)', 'FileWrite', 'reports/**'],
    ['Bash(f() { x; })', 'Bash', 'f() { x; }'],
    ['Bash(a\nb)', 'Bash', 'a\nb'],
    ['WebFetch(*)', 'WebFetch', '*'],
  ])('%j is a tool and what its input must be like', (text, tool, input) => {
    expect(parseToolPattern(text)).toEqual({ tool, input });
  });

  it.each(['', '()', 'Bash()', 'Bash(git', 'Bash git)', 'Bash(x) y', 'Bäsh', 'a.b', 'Bash:git'])(
    '%j is refused with its form and an example',
    (text) => {
      expect(parseToolPattern(text)).toBe(
        `must be a tool's name, with what its input must be like in brackets: Bash(git status*), not ${JSON.stringify(text)}`,
      );
    },
  );
});

describe('permission settings', () => {
  it('take one pattern or a list of them', () => {
    const { rules } = permissionSettings.parse({
      rules: [{ allow: 'Bash(git *)' }, { deny: ['Bash(rm *)', 'FileWrite'] }],
    });
    expect(rules).toEqual([{ allow: ['Bash(git *)'] }, { deny: ['Bash(rm *)', 'FileWrite'] }]);
  });

  it.each<[string, unknown, string]>([
    ['no decision', { rules: [{}] }, 'rules.0: must have exactly one of allow, ask and deny'],
    [
      'two decisions',
      { rules: [{ allow: 'A', deny: 'B' }] },
      'rules.0: must have exactly one of allow, ask and deny',
    ],
    ['a person without a platform', { rules: [{ ask: 'A', for: ['anna'] }] }, 'must be like slack'],
    ['nobody', { rules: [{ ask: 'A', for: [] }] }, 'rules.0.for: '],
    ['no pattern', { rules: [{ ask: [] }] }, 'rules.0.ask: Too small'],
    ['an unknown word', { rules: [{ allow: 'A', when: 'x' }] }, 'rules.0: Unrecognized key'],
    ['no approver', { approvers: [] }, 'approvers: '],
    [
      'an approver by name',
      { approvers: ['asker', 'anna'] },
      'approvers.1: must be asker, participants, or an id like slack:U024BE7LH',
    ],
  ])('refuse %s and name the place', (_what, raw, told) => {
    expect(problemsOf(raw).join('\n')).toContain(told);
  });

  it('say what is wrong with a pattern, and where it stands', () => {
    const told = `must be a tool's name, with what its input must be like in brackets: Bash(git status*), not "Bash("`;
    expect(problemsOf({ rules: [{ allow: 'Bash(' }, { deny: ['B', 'Bash('] }] })).toEqual([
      `rules.0.allow: ${told}`,
      `rules.1.deny.1: ${told}`,
    ]);
  });

  it.each<[keyof PermissionSettings, number, number]>([
    ['quorum', 1, 5],
    ['expiresMs', 1000, 7 * 24 * 3600 * 1000],
    ['grantMs', 60_000, 24 * 3600 * 1000],
  ])('keep %s from %d to %d', (key, least, most) => {
    expect(problemsOf({ [key]: least })).toEqual([]);
    expect(problemsOf({ [key]: most })).toEqual([]);
    expect(problemsOf({ [key]: least - 1 })).toHaveLength(1);
    expect(problemsOf({ [key]: most + 1 })).toHaveLength(1);
  });
});

describe('settings of several levels', () => {
  it('have defaults', () => {
    expect(merged()).toEqual({
      rules: [],
      approvers: ['asker'],
      quorum: 1,
      notAsker: false,
      expiresMs: 4 * 3600 * 1000,
      grantMs: 8 * 3600 * 1000,
    });
  });

  it('add up their rules, each with its source, and the nearest wins field by field', () => {
    const result = merged(
      { rules: [{ deny: ['A'] }], quorum: 2, approvers: ['participants'], notAsker: true },
      {},
      { rules: [{ allow: ['B'] }], quorum: 3, notAsker: false },
    );
    expect(result).toMatchObject({ quorum: 3, approvers: ['participants'], notAsker: false });
    expect(result.rules).toEqual([
      { rule: { deny: ['A'] }, source: 'level 0' },
      { rule: { allow: ['B'] }, source: 'level 2' },
    ]);
  });
});

describe('approvers', () => {
  it.each<[PermissionSettings]>([
    [{}],
    [{ approvers: ['participants'], quorum: 5, notAsker: true }],
    [{ approvers: ['asker', 'slack:U1'], quorum: 2 }],
    [{ approvers: ['asker', 'slack:U1'], notAsker: true }],
    [{ approvers: ['slack:U1'], notAsker: true }],
    [{ approvers: ['slack:S1'], quorum: 5 }],
    [{ approvers: ['discord:1'], quorum: 5, notAsker: true }],
    [{ approvers: ['slack:U1', 'slack:W2', 'web:anna'], quorum: 3 }],
  ])('of %j can approve', (settings) => {
    expect(approverProblem(merged(settings))).toBeUndefined();
  });

  it.each<[PermissionSettings, string]>([
    [
      { notAsker: true },
      'approvers names only the asker, and notAsker forbids the asker to approve: name others, or take notAsker away',
    ],
    [
      { approvers: ['asker', 'asker'], quorum: 2 },
      'quorum is 2, but approvers names only the asker: name others, or set quorum to 1',
    ],
    [
      { approvers: ['slack:U1'], quorum: 2 },
      'quorum is 2, but approvers names only 1 person who may approve: name more, or set quorum to 1',
    ],
    [
      { approvers: ['asker', 'slack:U1'], quorum: 2, notAsker: true },
      'quorum is 2, but approvers names only 1 person who may approve: name more, or set quorum to 1',
    ],
    [
      { approvers: ['slack:U1', 'slack:U1', 'web:anna'], quorum: 3 },
      'quorum is 3, but approvers names only 2 people who may approve: name more, or set quorum to 2',
    ],
  ])('of %j never can, and it is said what to do', (settings, told) => {
    expect(approverProblem(merged(settings))).toBe(told);
  });
});
