/**
 * The configuration while the process runs: an edited file is taken over at the next turn; an
 * invalid one is refused with its problems and the old one stays.
 */

import { statSync } from 'node:fs';
import { botErrorOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';

export interface Live<T> {
  /** The newest valid configuration. Looks at the file's time and size, no more, when nothing changed. */
  current(): T;
}

export function createLive<T>(
  deps: { readonly log: Log; readonly load: () => T },
  first: T,
  file: string,
): Live<T> {
  let value = first;
  let seen = stampOf(file);
  return {
    current: () => {
      const stamp = stampOf(file);
      if (stamp === seen) return value;
      seen = stamp;
      if (stamp === missing) {
        // Without the file all lists would be gone: that is never what somebody meant.
        deps.log.error('config_refused', {
          file,
          problems: 'the file is gone; the old settings stay',
        });
        return value;
      }
      try {
        value = deps.load();
        deps.log.info('config_reloaded', { file });
      } catch (thrown) {
        deps.log.error('config_refused', { file, problems: botErrorOf(thrown).message });
      }
      return value;
    },
  };
}

const missing = 'missing';

function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.mtimeMs}:${stat.size}:${stat.ino}` : missing;
}
