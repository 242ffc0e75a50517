/** A log that keeps its lines, so that tests can read what was reported. */

import type { Facts, Log } from '../../src/base/log.ts';

export interface KeptLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly facts: Facts;
}

export interface KeptLog extends Log {
  readonly lines: readonly KeptLine[];
}

export function createKeptLog(): KeptLog {
  const lines: KeptLine[] = [];
  const logWith = (bound: Facts): KeptLog => {
    const at =
      (level: KeptLine['level']) =>
      (event: string, facts: Facts = {}): void => {
        lines.push({ level, event, facts: { ...bound, ...facts } });
      };
    return {
      lines,
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      with: (facts) => logWith({ ...bound, ...facts }),
    };
  };
  return logWith({});
}
