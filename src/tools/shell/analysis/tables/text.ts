/** Commands that take text apart. The options are GNU's; what writes or runs something is left out. */

import type { CommandRule, CommandTable } from '../rules.ts';

const COUNT = /^[+-]?\d+[A-Za-z]{0,3}$/u;

const encoded: CommandRule = {
  flags: 'di',
  values: { w: /^\d+$/u },
  longFlags: 'decode ignore-garbage',
  longValues: { wrap: /^\d+$/u },
  operands: 'paths',
  mostOperands: 1,
};

// Not -R (follows links), -d, -D, -f of a list (its file is only a path to read).
const grep: CommandRule = {
  flags: 'EFGPivwxychHLlnoqsbTUzZaIr',
  values: {
    e: 'text',
    f: 'path',
    m: /^\d+$/u,
    A: /^\d+$/u,
    B: /^\d+$/u,
    C: /^\d+$/u,
  },
  longFlags:
    'extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp count color colour files-without-match files-with-matches only-matching quiet silent no-messages byte-offset with-filename no-filename line-number initial-tab null text binary-files null-data recursive line-buffered',
  longValues: {
    regexp: 'text',
    file: 'path',
    'max-count': /^\d+$/u,
    'after-context': /^\d+$/u,
    'before-context': /^\d+$/u,
    context: /^\d+$/u,
    label: 'text',
    include: 'text',
    exclude: 'text',
    'exclude-dir': 'text',
  },
  takesNumber: true,
  operands: 'text-then-paths',
  programOptions: ['e', 'f', 'regexp', 'file'],
};

export const textCommands: CommandTable = {
  cat: {
    flags: 'AbeEnstTuv',
    longFlags: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
    operands: 'paths',
  },
  tac: { flags: 'br', values: { s: 'text' }, operands: 'paths' },
  rev: { operands: 'paths' },
  head: {
    flags: 'qvz',
    values: { n: COUNT, c: COUNT },
    longFlags: 'quiet silent verbose zero-terminated',
    longValues: { lines: COUNT, bytes: COUNT },
    takesNumber: true,
    operands: 'paths',
  },
  // Not -f and -F: they never end.
  tail: {
    flags: 'qvz',
    values: { n: COUNT, c: COUNT },
    longFlags: 'quiet silent verbose zero-terminated',
    longValues: { lines: COUNT, bytes: COUNT },
    takesNumber: true,
    operands: 'paths',
  },
  // Not --files0-from: its file names further files.
  wc: {
    flags: 'clLmw',
    longFlags: 'bytes chars lines max-line-length words total',
    operands: 'paths',
  },
  nl: {
    flags: 'p',
    values: {
      b: 'text',
      d: 'text',
      f: 'text',
      h: 'text',
      n: 'text',
      s: 'text',
      v: COUNT,
      w: COUNT,
    },
    operands: 'paths',
  },
  // Not -o, -T, --compress-program, --files0-from, --random-source, --batch-size.
  sort: {
    flags: 'bcCdfghiMmnrRsuVz',
    values: { k: 'text', t: 'text' },
    longFlags:
      'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated sort',
    longValues: { key: 'text', 'field-separator': 'text' },
    operands: 'paths',
  },
  // A second operand is the file that it writes.
  uniq: {
    flags: 'cdDiuz',
    values: { f: /^\d+$/u, s: /^\d+$/u, w: /^\d+$/u },
    longFlags: 'count repeated all-repeated ignore-case unique zero-terminated group',
    longValues: { 'skip-fields': /^\d+$/u, 'skip-chars': /^\d+$/u, 'check-chars': /^\d+$/u },
    operands: 'paths',
    mostOperands: 1,
    optionsFirst: true,
  },
  cut: {
    flags: 'nsz',
    values: { b: 'text', c: 'text', d: 'text', f: 'text' },
    longFlags: 'complement only-delimited zero-terminated',
    longValues: {
      bytes: 'text',
      characters: 'text',
      delimiter: 'text',
      fields: 'text',
      'output-delimiter': 'text',
    },
    operands: 'paths',
  },
  tr: {
    flags: 'cCdst',
    longFlags: 'complement delete squeeze-repeats truncate-set1',
    operands: 'text',
    mostOperands: 2,
  },
  paste: {
    flags: 'sz',
    values: { d: 'text' },
    longFlags: 'serial zero-terminated',
    longValues: { delimiters: 'text' },
    operands: 'paths',
  },
  join: {
    flags: 'iz',
    values: {
      a: /^[12]$/u,
      e: 'text',
      j: /^\d+$/u,
      o: 'text',
      t: 'text',
      v: /^[12]$/u,
      '1': /^\d+$/u,
      '2': /^\d+$/u,
    },
    longFlags: 'ignore-case check-order nocheck-order header zero-terminated',
    operands: 'paths',
  },
  comm: {
    flags: '123z',
    longFlags: 'check-order nocheck-order total zero-terminated',
    longValues: { 'output-delimiter': 'text' },
    operands: 'paths',
    mostOperands: 2,
  },
  fold: { flags: 'bs', values: { w: /^\d+$/u }, operands: 'paths' },
  fmt: { flags: 'cstu', values: { w: /^\d+$/u }, operands: 'paths' },
  expand: { flags: 'i', values: { t: 'text' }, operands: 'paths' },
  unexpand: { flags: 'a', values: { t: 'text' }, operands: 'paths' },
  column: { flags: 'tx', values: { s: 'text', o: 'text', c: /^\d+$/u }, operands: 'paths' },
  od: {
    flags: 'abcdfilosvx',
    values: { A: 'text', j: 'text', N: 'text', t: 'text' },
    operands: 'paths',
  },
  hexdump: { flags: 'bcCdovx', values: { n: 'text', s: 'text' }, operands: 'paths' },
  // A second operand is the file that it writes; -r writes too.
  xxd: {
    flags: 'abeipuE',
    values: { c: /^\d+$/u, g: /^\d+$/u, l: /^\w+$/u, s: /^[+-]?\w+$/u },
    operands: 'paths',
    mostOperands: 1,
    optionsFirst: true,
    isUngrouped: true,
  },
  strings: { flags: 'af', values: { n: /^\d+$/u, t: /^[dox]$/u }, operands: 'paths' },
  base64: encoded,
  base32: encoded,
  // Not -r: it never ends.
  shuf: {
    flags: 'ez',
    values: { i: /^\d+-\d+$/u, n: /^\d+$/u },
    longFlags: 'echo zero-terminated',
    longValues: { 'input-range': /^\d+-\d+$/u, 'head-count': /^\d+$/u },
    operands: 'paths',
  },
  cmp: {
    flags: 'bls',
    values: { i: /^\d+(?::\d+)?$/u, n: /^\d+$/u },
    longFlags: 'print-bytes verbose quiet silent',
    operands: 'paths',
    mostOperands: 4,
  },
  // Folders are compared through links, so they are looked through first. Not -l (starts `pr`).
  diff: {
    flags: 'abBcdeEinNpqrstTuwyZ',
    values: { U: /^\d+$/u, C: /^\d+$/u, W: /^\d+$/u, I: 'text', x: 'text', F: 'text' },
    longFlags:
      'normal brief report-identical-files context unified ed rcs side-by-side left-column suppress-common-lines show-c-function expand-tabs initial-tab recursive no-dereference new-file ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines strip-trailing-cr text minimal speed-large-files color',
    longValues: {
      width: /^\d+$/u,
      exclude: 'text',
      label: 'text',
      'ignore-matching-lines': 'text',
    },
    operands: 'trees',
    mostOperands: 2,
  },
  grep,
  egrep: grep,
  fgrep: grep,
  // Not --pre, --hostname-bin, -z (starts programs), -L (follows links), --ignore-file.
  rg: {
    flags: 'acFHiIlnNopPqsSuUvVwx0h.',
    values: {
      e: 'text',
      f: 'path',
      g: 'text',
      t: 'text',
      T: 'text',
      m: /^\d+$/u,
      A: /^\d+$/u,
      B: /^\d+$/u,
      C: /^\d+$/u,
      d: /^\d+$/u,
      j: /^\d+$/u,
      M: /^\d+$/u,
      r: 'text',
    },
    longFlags:
      'text count count-matches fixed-strings with-filename no-filename hidden ignore-case case-sensitive smart-case files-with-matches files-without-match line-number no-line-number only-matching pretty pcre2 quiet stats unrestricted multiline multiline-dotall invert-match word-regexp line-regexp files json heading no-heading column trim vimgrep no-ignore no-ignore-vcs no-messages no-config null type-list byte-offset version passthru',
    longValues: {
      regexp: 'text',
      file: 'path',
      glob: 'text',
      iglob: 'text',
      type: 'text',
      'type-not': 'text',
      'max-count': /^\d+$/u,
      'after-context': /^\d+$/u,
      'before-context': /^\d+$/u,
      context: /^\d+$/u,
      'max-depth': /^\d+$/u,
      'max-columns': /^\d+$/u,
      'max-filesize': /^\w+$/u,
      threads: /^\d+$/u,
      color: /^\w+$/u,
      sort: /^\w+$/u,
      sortr: /^\w+$/u,
      replace: 'text',
      encoding: 'text',
    },
    // With --files all operands are paths: see the judge.
    operands: 'text-then-paths',
    programOptions: ['e', 'f', 'regexp', 'file', 'files', 'type-list'],
  },
  // Their programs are judged where they are read. Not -i, -f.
  sed: {
    flags: 'nErsuz',
    values: { e: 'text' },
    longFlags: 'quiet silent regexp-extended separate unbuffered null-data posix sandbox',
    longValues: { expression: 'text' },
    operands: 'text-then-paths',
    programOptions: ['e', 'expression'],
  },
  awk: {
    values: { F: 'text', v: /^[a-z]\w*=[^\\]*$/u },
    operands: 'text-then-paths',
    optionsFirst: true,
  },
  // Not -f, -L, --rawfile, --slurpfile, --arg (two values).
  jq: {
    flags: 'acCeGjMnrRsS',
    longFlags:
      'ascii-output compact-output color-output exit-status join-output monochrome-output null-input raw-output raw-input slurp sort-keys tab unbuffered stream raw-output0',
    longValues: { indent: /^\d$/u },
    operands: 'text-then-paths',
    homeFiles: ['.jq'],
  },
  // Not -i, -s (writes files), --from-file.
  yq: {
    flags: 'CeMNPrj',
    values: { o: /^=?\w+$/u, p: /^=?\w+$/u },
    longFlags: 'colors exit-status no-colors no-doc prettyPrint unwrapScalar',
    longValues: { 'output-format': /^\w+$/u, 'input-format': /^\w+$/u, indent: /^\d$/u },
    operands: 'text-then-paths',
  },
};
