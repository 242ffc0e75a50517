/** What rules, grants and people are told about a shell line. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the expansions of a shell are what is tested

import { afterAll, describe, expect, it } from 'vitest';
import { addRepository, setUpWorkspace } from './analysis-support.ts';

const setUp = setUpWorkspace();
addRepository(setUp);
afterAll(() => {
  setUp.remove();
});

describe('the commands of a line', () => {
  it.each<[string, readonly string[]]>([
    ['git status -s', ['git status -s']],
    ['\'git\' "status" -\\s', ['git status -s']],
    ['git   status\t-s # comment', ['git status -s']],
    ['a; b && c || d | e', ['a', 'b', 'c', 'd', 'e']],
    ['a\nb', ['a', 'b']],
    ['(a; b)', ['a', 'b']],
    ['{ a; }', ['a']],
    ['! a', ['a']],
    ['a &', ['a']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['while a; do b; done', ['a', 'b']],
    ['until a; do b; done', ['a', 'b']],
    ['for x in $(a); do b "$x"; done', ['a', 'b "$x"']],
    ['case $(a) in x) b;; y) c;; esac', ['a', 'b', 'c']],
    ['f() { a; }', ['a']],
    ['[[ -n $(a) ]] && b', ['a', 'b']],
    ['a $(b)', ['a $(b)', 'b']],
    ['a "x $(b) y"', ['a "x $(b) y"', 'b']],
    ['a `b`', ['a `b`', 'b']],
    ['a <(b)', ['a <(b)', 'b']],
    ['a "${x:-$(b)}"', ['a "${x:-$(b)}"', 'b']],
    ['x=$(b) a', ['x=$(b) a', 'b']],
    ['x=(1 $(b))', ['x=(1 $(b))', 'b']],
    ['a < $(b)', ['a', '< $(b)', 'b']],
    ['a <<EOF\n$(b)\nEOF', ['a', 'b']],
    ['a <<< "$(b)"', ['a', 'b']],
    ['a > out.txt', ['a', '> out.txt']],
    ['a >> "my file" 2>&1', ['a', ">> 'my file'"]],
    ['a >/dev/null', ['a']],
    ['a &> out', ['a', '&> out']],
    ['{ a; } > out', ['a', '> out']],
    ['a < names.txt', ['a']],
    ['a < /etc/passwd', ['a', '< /etc/passwd']],
    ['PATH=. git status', ['PATH=. git status']],
    ['git commit -m "a; rm b"', ["git commit -m 'a; rm b'"]],
    ['"git status" x', ["'git status' x"]],
    ['git commit -m "it\'s"', ["git commit -m 'it'\\''s'"]],
    ['rm *.ts', ['rm *.ts']],
    ['rm {a,b}', ['rm {a,b}']],
    ['[[ -f /etc/x ]]', ['[[ -f /etc/x ]]']],
  ])('%j are %j', async (line, commands) => {
    expect((await setUp.analyse(line)).commands).toEqual(commands);
  });

  it.each<[string, readonly string[]]>([
    ['git status && npm test', ['npm test']],
    ['cat names.txt | sh', ['sh']],
    ['ls > out', ['> out']],
    ['ls; pwd', []],
    ['for x in $(ls); do echo "$x"; done', ['for x in $(ls); do echo "$x"; done']],
  ])('of %j those that are not known to only read are %j', async (line, unknown) => {
    expect((await setUp.analyse(line)).unknown).toEqual(unknown);
  });

  it('are the whole line where it cannot be parsed', async () => {
    const facts = await setUp.analyse('git status "');
    expect(facts).toMatchObject({ commands: ['git status "'], isWhole: false, grant: undefined });
  });
});

describe('a line with commands that are not seen', () => {
  it.each([
    'eval "$x"',
    'source x.sh',
    '. x.sh',
    'exec ls',
    'trap ls EXIT',
    'alias ls=rm',
    'enable -f x y',
    'hash -p x ls',
    'builtin eval ls',
    'command eval ls',
    'declare a=1',
    'export x=(1 $(b))',
    'let x=1',
    "unset 'a[$(b)]'",
    'mapfile -C b x',
    "read 'a[$(b)]'",
    "printf -v 'a[$(b)]' x",
    'printf "$x" y',
    "test -v 'a[$(b)]'",
    '[ "$x" "$y" ]',
    '$x',
    '$(x) y',
    'l* y',
    'git $x',
    'git "$x" y',
    'git $(x)',
    'docker *',
    'echo $((a[1]))',
    'echo ${a[1]}',
    'echo "${x@P}"',
    'echo "${!x}"',
    'a[$(b)]=1',
    '[[ -v x ]]',
    '[[ a -eq b ]]',
    '((1))',
    'for ((;;)); do ls; done',
    'f() { ls; }',
    'for PATH in .; do ls; done',
    'git status "',
    'select x in a; do ls; done',
    'ls\u00a0x',
    'l\\\ns',
    "cat <<'A B'\nx\nA B",
  ])('is not whole: %j', async (line) => {
    expect((await setUp.analyse(line)).isWhole).toBe(false);
  });

  it.each([
    'npm test',
    'npm test "$x"',
    'rm "$x"',
    'sh -c x',
    'xargs rm',
    'sudo ls',
    'a | b > c',
    'x=1 a',
  ])('is not this one: %j', async (line) => {
    expect((await setUp.analyse(line)).isWhole).toBe(true);
  });
});

describe('what may write below .git/', () => {
  it.each([
    'rm -rf .git',
    'echo x > .git/config',
    'echo x >> ./.git/hooks/post-commit',
    'echo x >| src/../.git/x',
    'cp x .git/hooks/pre-commit',
    'tee .git/config',
    'cat x | tee .git/config',
    'sed -i s/a/b/ .git/config',
    "rm '.git'/config",
    'rm .g"i"t/config',
    "rm $'.\\x67it/config'",
    'rm .gi*/config',
    'rm .g?t/config',
    'rm .[g]it/config',
    'rm .*/config',
    'rm {.git,x}/config',
    'rm .GIT/config',
    'rm git~1/config',
    'rm "$x/.git/config"',
    'dd of=.git/config',
    'cp --target-directory=.git/hooks x',
    'cd .git && rm config',
    'cd .git/hooks; touch x',
    'pushd .git; rm x',
    'x=.git; rm -rf $x',
    'git config core.fsmonitor x',
    'git -C . config core.fsmonitor x',
    'git --git-dir=.git status',
    'for f in .git/config; do rm "$f"; done',
    'rm .git/x "',
    'chmod +x .git/hooks/x && git status',
  ])('always asks: %j', async (line) => {
    expect(await setUp.analyse(line)).toMatchObject({ alwaysAsks: true, grant: undefined });
  });

  it('is found in a pattern of any length', async () => {
    expect((await setUp.analyse(`rm .${'*g'.repeat(9_000)}`)).alwaysAsks).toBe(false);
    expect((await setUp.analyse(`rm .g${'*'.repeat(9_000)}t`)).alwaysAsks).toBe(true);
  });

  it('always asks in the folder itself', async () => {
    expect(await setUp.analyse('touch x', { cwd: '/workspace/.git' })).toMatchObject({
      alwaysAsks: true,
    });
    expect(await setUp.analyse('ls', { cwd: '/workspace/.git' })).toMatchObject({
      alwaysAsks: false,
    });
  });

  it.each([
    'cat .git/config',
    'ls .git',
    'rm .gitignore',
    'rm .github/x',
    'rm x.git',
    'git clone https://example.com/a.git',
    'git push',
    'git config --get user.name',
    'rm *',
  ])('is not this one: %j', async (line) => {
    expect((await setUp.analyse(line)).alwaysAsks).toBe(false);
  });
});

describe('a grant', () => {
  it.each([
    ['git push origin main', 'git push*'],
    ['git push', 'git push*'],
    ["'git' push", 'git push*'],
    ['git commit -m "x y"', 'git commit*'],
    ['git stash pop', 'git stash pop*'],
    ['npm run test -- -x', 'npm run test*'],
    ['npm install', 'npm install*'],
    ['kubectl delete pod x', 'kubectl delete*'],
    ['kubectl rollout restart deploy/x', 'kubectl rollout restart*'],
    ['docker stop web', 'docker stop*'],
    ['gh pr merge 1', 'gh pr merge*'],
    ['systemctl restart nginx', 'systemctl restart*'],
    ['mkdir -p a/b', 'mkdir*'],
    ['touch x', 'touch*'],
    ['vitest run', 'vitest*'],
  ])('for %j would cover %j', async (line, grant) => {
    expect((await setUp.analyse(line)).grant).toBe(grant);
  });

  it.each([
    'git push; ls',
    'git push && ls',
    'git push | cat',
    'git push > x',
    'git push 2>&1',
    'git push < x',
    'git push "$x"',
    'git push $(x)',
    'git push *',
    'git push ~/x',
    'git push <<< x',
    'git push &',
    '(git push)',
    'if true; then git push; fi',
    'x=1 git push',
    'git push\nls',
    'git',
    'git -C x push',
    'git -c a=b push',
    'git --no-pager push',
    'git "push x"',
    'git config a b',
    'git rebase -x id',
    'git bisect run id',
    'git submodule foreach id',
    'npm exec x',
    'npm run',
    'npx x',
    'docker run x',
    'docker exec x y',
    'kubectl exec x -- y',
    'go run x',
    'cargo run',
    'gh api x',
    'gh pr',
    'sh x',
    'bash -c x',
    'env x',
    'xargs x',
    'sudo x',
    'python3 x',
    'python3.12 x',
    'node x',
    'node20 x',
    'eval x',
    'ssh x',
    'find . -delete',
    'awk x',
    'sed x y',
    'make x',
    'tee x',
    'tar xf x',
    './deploy.sh',
    '/bin/touch x',
    '"mkdir x"',
    'rm -rf .git',
  ])('is not offered for %j', async (line) => {
    expect((await setUp.analyse(line)).grant).toBeUndefined();
  });
});

describe('the reason', () => {
  it.each([
    ['rm x', '`rm` is not known as a command that only reads'],
    ['git push', '`git push` is not known to only read'],
    ['sort -o x y', '`-o` of `sort` is not known to only read'],
    ['cat /etc/passwd', '`/etc/passwd` is outside what may be read here'],
    ['ls > x', 'it writes to x'],
    ['ls "', 'it cannot be parsed'],
    ['echo "$KEY"', 'the variable `KEY` may hold a secret'],
    ['ls; rm x; mv y z', '`rm` is not known as a command that only reads'],
  ])('of %j is the first obstacle', async (line, why) => {
    expect((await setUp.analyse(line)).why).toBe(why);
  });
});
