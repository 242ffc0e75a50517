// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the expansions of a shell are what is tested
/** Random shell lines: reading commands, options that write, quotes, lists, expansions, and tricks. */

import fc from 'fast-check';
import { readingLines } from './reading-lines.ts';

const from = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);

const operand = fc.oneof(
  {
    weight: 6,
    arbitrary: from('names.txt', 'big.txt', 'src', 'src/app.ts', '.', 'notes/plan.md', 'data.json'),
  },
  {
    weight: 2,
    arbitrary: from('*.txt', 'src/*', '"*.ts"', '{names,big}.txt', './src/../big.txt', '--', '-'),
  },
  {
    weight: 1,
    arbitrary: from('out', 'out2', 'x.sh', '-o', 'links/names', '"$x"', '$(ls)', '-oout', '*'),
  },
);

const option = fc.oneof(
  {
    weight: 4,
    arbitrary: from('-n', '-r', '-c', '-u', '-l', '-a', '-i', '-s', '-1', '-5', '-k1', '-d:'),
  },
  {
    weight: 2,
    arbitrary: from('-rn', '-nr', '-la', '-e', '-f', '-n3', '-v', '-w', '-p', '-b', '-t,', '-E'),
  },
  {
    weight: 1,
    arbitrary: from(
      '-o',
      '-oout',
      '--output=out',
      '-i.bak',
      '-w out',
      '-T.',
      '-z',
      '--compress-program=./x.sh',
    ),
  },
);

const program = from(
  "'1p'",
  "'s/a/b/g'",
  "'s/a/b/w out'",
  "'w out'",
  "'1,2d'",
  "'{print $1}'",
  '\'{print > "out"}\'',
  "'NR>1'",
  "'/o/'",
  '\'BEGIN{system("./x.sh")}\'',
  "'s/o/touch out/e'",
  "'.'",
  "'.name'",
  'foo',
  "'a|b'",
  "-name '*.ts'",
  '-delete',
  '-type f',
  '-exec touch out \\;',
  '-fprint out',
  '-maxdepth 1',
  "'%s\\n'",
  'status',
  'log',
  'diff',
  'branch',
  'branch out',
  'add .',
  'diff --output=out',
  'show HEAD',
  'log -p',
  'stash',
  'tag out',
  'ls-files -s',
  'grep foo',
  'config a.b c',
  'a-z A-Z',
  '-1 -p',
);

const name = fc.oneof(
  {
    weight: 8,
    arbitrary: from(
      'ls',
      'cat',
      'head',
      'tail',
      'wc',
      'sort',
      'uniq',
      'cut',
      'tr',
      'nl',
      'tac',
      'rev',
      'paste',
      'comm',
      'join',
      'fold',
      'od',
      'xxd',
      'strings',
      'base64',
      'md5sum',
      'cmp',
      'diff',
      'stat',
      'file',
      'tree',
      'du',
      'grep',
      'egrep',
      'sed',
      'awk',
      'jq',
      'find',
      'echo',
      'printf',
      'test',
      'date',
      'seq',
      'expr',
      'basename',
      'readlink',
      'shuf',
      'column',
      'git',
      'read',
      'true',
    ),
  },
  {
    weight: 1,
    arbitrary: from(
      'tee',
      'rm',
      'touch',
      'cp',
      'mv',
      'split',
      './x.sh',
      'xargs touch',
      'eval',
      'env',
    ),
  },
);

const redirection = fc.oneof(
  {
    weight: 3,
    arbitrary: from('2>/dev/null', '< names.txt', '2>&1', '>/dev/null', '<<< text', ''),
  },
  {
    weight: 1,
    arbitrary: from(
      '> out',
      '>> names.txt',
      '&> out',
      '>| out',
      '<> out',
      '>& out',
      '2> out',
      '>&-',
    ),
  },
);

const simple: fc.Arbitrary<string> = fc
  .tuple(
    name,
    fc.array(option, { maxLength: 2 }),
    fc.option(program, { nil: '', freq: 2 }),
    fc.array(operand, { maxLength: 3 }),
    fc.array(option, { maxLength: 1 }),
    fc.option(redirection, { nil: '', freq: 3 }),
  )
  .map(([command, before, inner, operands, after, end]) =>
    [command, ...before, inner, ...operands, ...after, end].filter((text) => text !== '').join(' '),
  );

const quoting = from(
  '"',
  "'",
  '\\',
  "$'",
  '`',
  '$(',
  ')',
  '#',
  '\n',
  '!',
  '{',
  '}',
  ';',
  '&',
  '[[',
  '((',
  '$',
  '<<',
  '*',
  '~',
);

/** Whole lines; a few are broken at a random place by a character that means something. */
const grownLine: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(simple, { minLength: 1, maxLength: 3 }),
    fc.array(from(' | ', ' && ', ' ; ', ' || ', '\n', ' |& ', ' & ', ' ;\\\n '), {
      minLength: 3,
      maxLength: 3,
    }),
    from(
      '$',
      '$',
      '$',
      '$',
      '($)',
      '{ $; }',
      'echo "$($)"',
      'echo `$`',
      'if $; then ls; fi',
      'for x in a b; do $; done',
      'while $; do break; done',
      'cd src && $',
      '! $',
      'x=1 $',
      'cat <<EOF\n$($)\nEOF',
      "cat <<'EOF'\n$\nEOF",
      'cat <($)',
      'case a in a) $;; esac',
      'f() { $; }; f',
      'echo "${x:-$($)}"',
      '[[ -n "$($)" ]]',
      'test -n x && $',
      '(($)) ; ls',
    ),
    fc.option(fc.tuple(fc.nat(60), quoting), { nil: undefined, freq: 5 }),
  )
  .map(([commands, joins, frame, broken]) => {
    const list = commands
      .map((command, index) => (index === 0 ? command : `${joins[index] ?? ';'}${command}`))
      .join('');
    const line = frame.replace(/\$(?![({])/u, () => list);
    if (!broken) return line;
    const [at, text] = broken;
    return line.slice(0, at) + text + line.slice(at);
  });

/** A line that reads, with words put in, taken out or said twice. */
const changedLine: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...readingLines.filter((line) => !line.startsWith('sleep'))),
    fc.array(
      fc.tuple(fc.nat(12), fc.oneof(option, operand, program, redirection, quoting), fc.nat(3)),
      {
        maxLength: 2,
      },
    ),
  )
  .map(([line, changes]) =>
    changes.reduce((text, [at, word, kind]) => {
      const words = text.split(' ');
      const place = at % (words.length + 1);
      const old = words[place] ?? '';
      const made = [[word, old], [word], [`${word}${old}`], [`${old}${word}`]][kind] ?? [old];
      return words.toSpliced(place, 1, ...made).join(' ');
    }, line),
  );

export const shellLine: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: changedLine },
  {
    weight: 1,
    arbitrary: fc
      .tuple(changedLine, changedLine, from(' | ', ' && ', '; ', '\n'))
      .map(([a, b, join]) => a + join + b),
  },
  { weight: 3, arbitrary: grownLine },
);
