/** Commands that say something about the system, and the shell's own. What changes a state is left out. */

import type { CommandTable } from '../rules.ts';

const nothing = { operands: 'none' } as const;

export const systemCommands: CommandTable = {
  echo: { operands: 'text', hasNoOptions: true, takesOpenWords: true },
  printf: { operands: 'text', takesOpenWords: true },
  true: { operands: 'text', hasNoOptions: true, takesOpenWords: true },
  false: { operands: 'text', hasNoOptions: true, takesOpenWords: true },
  ':': { operands: 'text', hasNoOptions: true, takesOpenWords: true },
  cd: { flags: '', operands: 'paths', mostOperands: 1 },
  read: { flags: 'r', operands: /^[a-z][a-z0-9_]*$/u },
  exit: { operands: /^\d{1,3}$/u, mostOperands: 1 },
  break: { operands: /^\d$/u, mostOperands: 1 },
  continue: { operands: /^\d$/u, mostOperands: 1 },
  // Only to look names up: -v and -V.
  command: { flags: 'vV', operands: /^[\w.+-]+$/u },
  type: { flags: 'afpPt', operands: /^[\w.+-]+$/u },
  which: { flags: 'a', operands: /^[\w.+-]+$/u },
  // Not -s, -f (a list). Without `+` an operand sets the clock.
  date: {
    flags: 'uR',
    values: { d: 'text', r: 'path' },
    longFlags: 'utc universal iso-8601 rfc-3339 rfc-email',
    longValues: { date: 'text', reference: 'path' },
    operands: /^\+/u,
    mostOperands: 1,
  },
  cal: { flags: '13jmsy', operands: /^\d+$/u, mostOperands: 3 },
  sleep: { operands: /^\d{1,3}$/u, mostOperands: 1 },
  seq: { flags: 'w', values: { s: 'text' }, operands: /^-?\d+$/u, mostOperands: 3 },
  expr: { operands: 'text', hasNoOptions: true },
  factor: { operands: /^\d+$/u },
  uname: { flags: 'amnoprsv', operands: 'none' },
  arch: nothing,
  nproc: { longFlags: 'all', operands: 'none' },
  whoami: nothing,
  logname: nothing,
  groups: nothing,
  tty: nothing,
  id: { flags: 'gGnru', longFlags: 'user group groups name real', operands: /^[\w.-]+$/u },
  // An operand sets the name.
  hostname: { flags: 'dfiIsA', operands: 'none' },
  uptime: { flags: 'ps', operands: 'none' },
  free: { flags: 'bkmghtw', longFlags: 'human si total wide', operands: 'none' },
  // What its operands may be is judged where they are read: `e` shows environments.
  ps: {
    // Not -x and -u: `-axe` and `-auxe` are read as `axe` and `auxe`.
    flags: 'AaefFHjlLTw',
    values: { o: 'text', p: /^[\d,]+$/u, C: /^[\w.-]+$/u },
    longFlags: 'forest no-headers headers sort',
    longValues: { pid: /^[\d,]+$/u, ppid: /^[\d,]+$/u, format: 'text' },
    operands: /^[afhjlrsuvwxTS]+$/u,
    mostOperands: 1,
  },
  pgrep: { flags: 'cflnoxa', values: { u: /^[\w.-]+$/u, d: 'text' }, operands: 'text' },
  lscpu: nothing,
  lsblk: { flags: 'abdfiJlmnprSt', operands: 'none' },
};
