/** Commands that look at files and folders. The options are GNU's; what writes is left out. */

import type { CommandRule, CommandTable } from '../rules.ts';

const digest: CommandRule = {
  // Not -c: the list names further files.
  flags: 'btz',
  longFlags: 'binary text tag zero',
  operands: 'paths',
};

export const fileCommands: CommandTable = {
  ls: {
    flags: '1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ',
    values: { I: 'text', T: /^\d+$/u, w: /^\d+$/u },
    longFlags:
      'all almost-all author escape block-size ignore-backups color directory dired classify file-type format full-time group-directories-first no-group human-readable si hyperlink indicator-style inode kibibytes numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style reverse recursive size sort time time-style context zero',
    longValues: { ignore: 'text', hide: 'text', width: /^\d+$/u, tabsize: /^\d+$/u },
    operands: 'paths',
  },
  // Not -o (writes), -l (follows links), --fromfile.
  tree: {
    flags: 'adfixpsuhgDFqNQrtcUvnCASJX',
    values: { L: /^\d+$/u, I: 'text', P: 'text' },
    longFlags:
      'dirsfirst noreport gitignore prune inodes device du si charset sort matchdirs ignore-case',
    longValues: { filelimit: /^\d+$/u },
    operands: 'paths',
  },
  pwd: { flags: 'LP', operands: 'none' },
  // Not -f of df and the like: every command below takes only the paths that are seen.
  stat: {
    flags: 'ftL',
    values: { c: 'text' },
    longFlags: 'dereference file-system terse',
    longValues: { format: 'text', printf: 'text' },
    operands: 'paths',
  },
  // Not -C (writes), -m, -f, -z (starts programs), -s.
  file: {
    flags: 'bEhiknNprv0',
    values: { F: 'text' },
    longFlags: 'brief extension mime mime-type mime-encoding no-dereference keep-going raw no-pad',
    operands: 'paths',
    homeFiles: ['.magic', '.magic.mgc'],
  },
  readlink: {
    flags: 'femnqsvz',
    longFlags:
      'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero',
    operands: 'paths',
  },
  realpath: {
    flags: 'emLPqsz',
    longFlags:
      'canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero',
    longValues: { 'relative-to': 'path', 'relative-base': 'path' },
    operands: 'paths',
  },
  basename: {
    flags: 'az',
    values: { s: 'text' },
    longFlags: 'multiple zero',
    longValues: { suffix: 'text' },
    operands: 'text',
  },
  dirname: { flags: 'z', longFlags: 'zero', operands: 'text' },
  // Not -L, -D, -X, --files0-from.
  du: {
    flags: '0abchHklmPsSx',
    values: { d: /^\d+$/u, t: /^-?\w+$/u },
    longFlags:
      'null all apparent-size bytes total human-readable inodes no-dereference separate-dirs si summarize time time-style one-file-system block-size',
    longValues: { 'max-depth': /^\d+$/u, exclude: 'text', threshold: /^-?\w+$/u },
    operands: 'paths',
  },
  df: {
    flags: 'ahHiklPTv',
    values: { t: 'text', x: 'text', B: /^\w+$/u },
    longFlags:
      'all human-readable si inodes local no-sync output portability print-type total block-size',
    longValues: { type: 'text', 'exclude-type': 'text' },
    operands: 'paths',
  },
  md5sum: digest,
  sha1sum: digest,
  sha224sum: digest,
  sha256sum: digest,
  sha384sum: digest,
  sha512sum: digest,
  b2sum: digest,
  cksum: { operands: 'paths' },
  sum: { flags: 'rs', operands: 'paths' },
  // Its expression is judged where it is read.
  find: { operands: 'text', hasNoOptions: true },
  test: { operands: 'text', hasNoOptions: true },
  '[': { operands: 'text', hasNoOptions: true },
};
