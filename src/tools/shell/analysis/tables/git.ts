/**
 * Subcommands of git that only read. Not -c, --exec-path, --git-dir, --work-tree, --output,
 * --ext-diff, --textconv, --no-index, --open-files-in-pager, --show-signature, -O<file>, --submodule;
 * not `config` (shows credentials) and nothing that speaks to a remote.
 */

import type { CommandRule } from '../rules.ts';

const NUMBER = /^\d+$/u;
/** Some placeholders start gpg. */
const FORMAT = /^(?!.*(?:%G|signature))/su;

const diffFlags = 'pusbwaRzqmcMCBD';
const diffLong =
  'patch no-patch stat shortstat numstat dirstat summary name-only name-status raw no-color color word-diff color-words color-moved minimal patience histogram find-renames find-copies no-renames ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines text full-index abbrev exit-code quiet no-ext-diff no-textconv function-context relative no-relative no-prefix patch-with-stat compact-summary check cc binary cached staged merge-base ignore-submodules';
const diffValues = { U: NUMBER, S: 'text', G: 'text', l: NUMBER } as const;
const diffLongValues = {
  unified: NUMBER,
  'diff-filter': /^[A-Za-z*]+$/u,
  'inter-hunk-context': NUMBER,
  'diff-algorithm': /^\w+$/u,
} as const;

const log: CommandRule = {
  flags: `${diffFlags}gitEFP`,
  values: { ...diffValues, n: /^-?\d+$/u },
  longFlags: `${diffLong} oneline graph decorate no-decorate all branches tags remotes abbrev-commit no-abbrev-commit no-merges merges first-parent reverse follow topo-order date-order author-date-order full-history simplify-merges left-right cherry-pick cherry-mark boundary pretty parents children walk-reflogs regexp-ignore-case extended-regexp fixed-strings perl-regexp invert-grep all-match no-notes source relative-date count objects`,
  longValues: {
    ...diffLongValues,
    'max-count': NUMBER,
    skip: NUMBER,
    since: 'text',
    until: 'text',
    after: 'text',
    before: 'text',
    author: 'text',
    committer: 'text',
    grep: 'text',
    format: FORMAT,
    date: FORMAT,
    glob: 'text',
    exclude: 'text',
  },
  takesNumber: true,
  operands: 'paths',
};

const references: CommandRule = {
  longValues: {
    format: FORMAT,
    sort: FORMAT,
    count: NUMBER,
    contains: 'text',
    'no-contains': 'text',
    'points-at': 'text',
  },
  longFlags: 'merged no-merged ignore-case column no-column color no-color',
  operands: 'text',
};

export const gitCommand: CommandRule = {
  flags: 'P',
  values: { C: 'path' },
  longFlags: 'no-pager no-optional-locks literal-pathspecs version',
  operands: 'text',
  standsAlone: true,
  homeFiles: ['.gitconfig', '.config/git'],
  subcommands: {
    status: {
      flags: 'sbzvuno', // -uno
      longFlags:
        'short branch porcelain long verbose ignored untracked-files ahead-behind no-ahead-behind no-renames show-stash ignore-submodules',
      operands: 'paths',
    },
    log,
    show: log,
    shortlog: {
      ...log,
      values: diffValues,
      flags: 'sne',
      longFlags: 'summary numbered email no-merges all',
      takesNumber: false,
    },
    'rev-list': log,
    diff: {
      flags: diffFlags,
      values: diffValues,
      longFlags: diffLong,
      longValues: diffLongValues,
      operands: 'paths',
    },
    blame: {
      flags: 'wclstpefnMC',
      values: { L: 'text' },
      longFlags: 'porcelain line-porcelain show-email show-name show-number root abbrev',
      longValues: { date: 'text' },
      operands: 'paths',
    },
    'rev-parse': {
      flags: 'q',
      longFlags:
        'abbrev-ref short show-toplevel show-prefix show-cdup git-dir absolute-git-dir is-inside-work-tree is-bare-repository is-shallow-repository verify symbolic-full-name quiet all branches tags',
      operands: 'text',
    },
    'ls-files': {
      flags: 'cdmoisuzt',
      longFlags:
        'cached deleted modified others ignored stage unmerged exclude-standard full-name error-unmatch directory eol',
      operands: 'paths',
    },
    'ls-tree': {
      flags: 'rtdlz',
      longFlags: 'name-only name-status full-name full-tree long abbrev',
      operands: 'paths',
    },
    'cat-file': { flags: 'ptse', operands: 'text', mostOperands: 2 },
    'merge-base': { flags: 'a', longFlags: 'all is-ancestor octopus', operands: 'text' },
    'name-rev': { longFlags: 'name-only tags', operands: 'text' },
    'show-ref': {
      flags: 'dq',
      longFlags: 'head heads tags verify hash dereference',
      operands: 'text',
    },
    'for-each-ref': references,
    describe: {
      longFlags: 'tags always all long abbrev',
      longValues: { match: 'text', exclude: 'text' },
      operands: 'text',
    },
    // Operands make or name a branch unless --list is given: see the judge.
    branch: {
      ...references,
      flags: 'arv',
      longFlags: `${references.longFlags ?? ''} list show-current all remotes verbose no-abbrev abbrev`,
    },
    tag: { ...references, longFlags: `${references.longFlags ?? ''} list`, flags: 'ln' },
    remote: {
      flags: 'v',
      longFlags: 'verbose',
      operands: 'text',
      standsAlone: true,
      subcommands: { 'get-url': { longFlags: 'all push', operands: 'text', mostOperands: 1 } },
    },
    stash: { operands: 'text', subcommands: { list: { ...log, operands: 'none' } } },
    worktree: {
      operands: 'text',
      subcommands: { list: { longFlags: 'porcelain', operands: 'none' } },
    },
    reflog: { operands: 'text', standsAlone: true, subcommands: { show: log } },
    grep: {
      flags: 'nilLcwvEFPGIahHopqW',
      values: { e: 'text', A: NUMBER, B: NUMBER, C: NUMBER, m: NUMBER },
      longFlags:
        'cached line-number ignore-case files-with-matches name-only files-without-match count word-regexp invert-match extended-regexp fixed-strings perl-regexp heading break color no-color show-function untracked and or not all-match full-name column only-matching quiet no-textconv',
      longValues: { 'max-depth': NUMBER, 'max-count': NUMBER },
      operands: 'text-then-paths',
      programOptions: ['e'],
    },
    'count-objects': { flags: 'vH', longFlags: 'verbose human-readable', operands: 'none' },
    'check-ignore': {
      flags: 'vqn',
      longFlags: 'verbose quiet non-matching no-index',
      operands: 'paths',
    },
  },
};
