/** Allow, ask or deny: rules in any order, parts of a call, grants, and real shell lines. */

import { afterAll, describe, expect, it } from 'vitest';
import { type RulingInput, rulingOf } from '../../src/permissions/decide.ts';
import type { PermissionRule } from '../../src/permissions/settings.ts';
import type { Assessment } from '../../src/tools/contract.ts';
import { bashSettings } from '../../src/tools/settings.ts';
import { createShellAssessment } from '../../src/tools/shell/assessment.ts';
import { plainScene, safe } from '../support/tools.ts';
import { addRepository, setUpWorkspace } from '../tools/shell/analysis-support.ts';

const asking: Assessment = {
  ...safe,
  isReadOnly: false,
  needsApproval: true,
  why: 'it changes something',
  subjects: ['prod'],
  grant: 'prod',
};

function ruling(
  rules: readonly PermissionRule[],
  assessment: Partial<Assessment> = {},
  more: Partial<RulingInput> = {},
) {
  return rulingOf({
    tool: 'Deploy',
    assessment: { ...asking, ...assessment },
    rules: rules.map((rule, index) => ({ rule, source: `rule ${index}` })),
    people: [new Set(['slack:U1', 'slack:S9', 'discord:77'])],
    grantedBy: undefined,
    ...more,
  });
}

const allow = { allow: ['Deploy(prod)'] };
const ask = { ask: ['Deploy(p*)'] };
const deny = { deny: ['Dep*'] };

describe('a ruling', () => {
  it.each<[string, readonly PermissionRule[], string]>([
    ['no rule', [], 'ask'],
    ['allow', [allow], 'allow'],
    ['allow, ask', [allow, ask], 'ask'],
    ['ask, allow', [ask, allow], 'ask'],
    ['allow, ask, deny', [allow, ask, deny], 'deny'],
    ['deny, ask, allow', [deny, ask, allow], 'deny'],
    ['ask, deny, allow', [ask, deny, allow], 'deny'],
    ['rules for others', [{ ...allow, for: ['slack:U2'] }], 'ask'],
    ['a rule for the asker', [{ ...allow, for: ['slack:U1'] }], 'allow'],
    ['a rule for their group', [{ ...allow, for: ['web:x', 'slack:S9'] }], 'allow'],
    ['a rule for their role', [{ ...allow, for: ['discord:77'] }], 'allow'],
    ['a denial for others', [allow, { ...deny, for: ['slack:U2'] }], 'allow'],
    ['a denial for them', [allow, { ...deny, for: ['slack:S9'] }], 'deny'],
    ['several patterns', [{ allow: ['Other', 'Deploy(prod)'] }], 'allow'],
    ['another tool', [{ allow: ['Deployment'] }], 'ask'],
  ])('of %s is as the strictest rule that names the call says', (_what, rules, kind) => {
    expect(ruling(rules).kind).toBe(kind);
  });

  it('names the rule and where it stands', () => {
    expect(ruling([allow]).reason).toBe('rule `Deploy(prod)` (rule 0)');
    expect(ruling([allow, ask]).reason).toBe('it falls under the rule `Deploy(p*)` (rule 1)');
    expect(ruling([]).reason).toBe('it changes something');
    expect(ruling([], { needsApproval: false }).reason).toBe('needs no approval');
    expect(ruling([], { needsApproval: false, isReadOnly: true }).reason).toBe('reads only');
  });

  it.each<[string, readonly PermissionRule[], string]>([
    ['allow of one part', [{ allow: ['Deploy(a)'] }], 'ask'],
    ['allow of each part, by one rule', [{ allow: ['Deploy(*)'] }], 'allow'],
    ['ask about one part', [{ allow: ['Deploy'] }, { ask: ['Deploy(b)'] }], 'ask'],
    ['deny of one part', [{ allow: ['Deploy'] }, { deny: ['Deploy(b)'] }], 'deny'],
  ])('of a call of two parts under %s', (_what, rules, kind) => {
    expect(ruling(rules, { subjects: ['a', 'b'] }).kind).toBe(kind);
  });

  it.each<[string, readonly PermissionRule[], string]>([
    ['a pattern of its input', [{ allow: ['Deploy(*)'] }], 'ask'],
    ['the whole tool', [{ allow: ['Deploy'] }], 'allow'],
    [
      'the tool, of which a part is denied',
      [{ allow: ['Deploy'] }, { deny: ['Deploy(x)'] }],
      'ask',
    ],
    ['the tool, of which a part asks', [{ allow: ['Deploy'] }, { ask: ['Dep*(x)'] }], 'ask'],
    ['the tool, while another is denied', [{ allow: ['Deploy'] }, { deny: ['Bash(x)'] }], 'allow'],
  ])('of what cannot be seen through, allowed by %s', (_what, rules, kind) => {
    expect(ruling(rules, { isWhole: false }).kind).toBe(kind);
  });

  it('asks about what always asks, whatever allows or granted it, and denies it where a rule does', () => {
    const always = { alwaysAsks: true };
    expect(ruling([{ allow: ['Deploy'] }], always, { grantedBy: 'Anna' }).kind).toBe('ask');
    expect(ruling([deny], always).kind).toBe('deny');
  });

  it('asks about nothing to cover: no part that asks is no leave', () => {
    expect(ruling([allow], { asking: [] }).kind).toBe('ask');
  });

  it.each<[string, readonly PermissionRule[], Partial<Assessment>, string]>([
    ['spares the question', [], {}, 'allow'],
    ['spares no question of a rule', [ask], {}, 'ask'],
    ['spares no denial', [deny], {}, 'deny'],
    ['is not good for what cannot be seen through', [], { isWhole: false }, 'ask'],
  ])('with a grant: it %s', (_what, rules, assessment, kind) => {
    const found = ruling(rules, assessment, { grantedBy: 'Anna' });
    expect(found.kind).toBe(kind);
    expect(found.reason === 'granted for this thread by Anna').toBe(kind === 'allow');
  });
});

describe('rules about shell lines', () => {
  const stage = setUpWorkspace();
  addRepository(stage);
  const assess = createShellAssessment(bashSettings.parse({}));
  afterAll(() => stage.remove());

  async function rulingOfLine(
    line: string,
    rules: readonly PermissionRule[],
    carried: readonly string[] = [],
  ): Promise<string> {
    const scene = { ...plainScene, workspace: { folder: stage.folder, mounts: [] } };
    const assessment = await assess(line, scene, { cwd: '/workspace', carried });
    return ruling(rules, assessment, { tool: 'Bash' }).kind;
  }

  const only = (text: string): readonly PermissionRule[] => [{ allow: [text] }];

  it.each<[string, string, string]>([
    ['git status && rm -rf x', 'Bash(git *)', 'ask'],
    ['git status; npm test', 'Bash(npm test)', 'allow'],
    ['git status; npm test', 'Bash(git *)', 'ask'],
    ['npm test', 'Bash(npm test)', 'allow'],
    ['npm test --watch', 'Bash(npm test)', 'ask'],
    ['npm test --watch', 'Bash(npm test*)', 'allow'],
    ['npm test\nrm x', 'Bash(npm test*)', 'ask'],
    ['npm test | tee x', 'Bash(npm test*)', 'ask'],
    ['npm test || rm x', 'Bash(npm *)', 'ask'],
    ['npm test & rm x', 'Bash(npm *)', 'ask'],
    ['npm test $(rm x)', 'Bash(npm *)', 'ask'],
    ['npm test `rm x`', 'Bash(npm *)', 'ask'],
    ['npm test <(rm x)', 'Bash(npm *)', 'ask'],
    ['npm test > out.txt', 'Bash(npm *)', 'ask'],
    ['(npm test; rm x)', 'Bash(npm *)', 'ask'],
    ['if npm test; then rm x; fi', 'Bash(npm *)', 'ask'],
    ['npm test "a\nb"', 'Bash(npm *)', 'ask'],
    ['PATH=. npm test', 'Bash(npm *)', 'ask'],
    ['$RUN test', 'Bash(*)', 'ask'],
    ['f() { npm test; }; f', 'Bash(*)', 'ask'],
    ['npm run "$WHAT"', 'Bash(npm run *)', 'allow'],
    ['ls | wc -l', 'Bash(rm *)', 'allow'],
    ['npm test && npm run lint', 'Bash(npm *)', 'allow'],
  ])('%j with allow %s: %s', async (line, rule, kind) => {
    expect(await rulingOfLine(line, only(rule))).toBe(kind);
  });

  it('allow a line whose parts each fall under one rule of its own only together', async () => {
    const rules = [{ allow: ['Bash(npm *)'] }, { allow: ['Bash(make *)'] }];
    expect(await rulingOfLine('npm test && make all', rules)).toBe('ask');
  });

  it('ask about what only reads once the shell carries exported names', async () => {
    expect(await rulingOfLine('git status; npm test', only('Bash(npm test)'), ['PATH'])).toBe(
      'ask',
    );
    expect(await rulingOfLine('npm test', only('Bash(npm test)'), ['PATH'])).toBe('allow');
  });

  it.each([
    'rm x',
    'rm\tx',
    '  rm   x',
    '\\rm x',
    "'rm' x",
    'r""m x',
    'rm "a\nb"',
    'cat names.txt | rm x',
    'git status && rm x',
    'true || rm x',
    '(rm x)',
    '{ rm x; }',
    'echo $(rm x)',
    'echo "$(echo `rm x`)"',
    'cat <(rm x)',
    'cat <<E\n$(rm x)\nE',
    'if true; then rm x; fi',
    'for f in a b; do rm $f; done',
    'f() { rm x; }; f',
    '! rm x',
    'time rm x',
    'rm x > out',
    'rm x &',
    'A=1 rm x',
    "A='1 2' B=3 rm x",
    '/bin/rm x',
    'command rm x',
    'env A=1 rm x',
    'sudo -u root rm x',
    'nohup rm x',
    'timeout 5 rm x',
    'nice -n 5 /usr/bin/rm x',
    'busybox rm x',
    'ls | xargs rm -f',
    'find . -exec rm {} +',
    'bash -c "rm x"',
    'bash -c "true;rm x"',
    'eval "rm x"',
  ])('deny %j by Bash(rm *), though Bash is allowed', async (line) => {
    const rules = [{ allow: ['Bash'] }, { deny: ['Bash(rm *)'] }];
    expect(await rulingOfLine(line, rules)).toBe('deny');
  });

  it.each(['echo rm x', 'echo "rm x"', 'grep rm names.txt', 'git log --grep "rm x"', 'ls rm'])(
    'do not deny %j by Bash(rm *): it only names the word',
    async (line) => {
      expect(await rulingOfLine(line, [{ deny: ['Bash(rm *)'] }])).not.toBe('deny');
    },
  );

  it('never allow by what stands inside another command', async () => {
    expect(await rulingOfLine('sudo npm test', only('Bash(npm *)'))).toBe('ask');
    expect(await rulingOfLine('bash -c "npm test; rm x"', only('Bash(npm *)'))).toBe('ask');
  });

  it('ask about what writes below .git whatever is allowed', async () => {
    expect(await rulingOfLine('echo x > .git/hooks/pre-commit', only('Bash'))).toBe('ask');
  });
});
