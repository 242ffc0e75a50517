/** Where each conversation's shell stands. Kept in memory: after a restart shells start afresh. */

import type { ShellSession } from './executor.ts';

const mostSessions = 1000;

export interface Sessions {
  get(conversationKey: string): ShellSession | undefined;
  set(conversationKey: string, session: ShellSession): void;
}

/** The conversations that were quiet longest are forgotten first. */
export function createSessions(): Sessions {
  const sessions = new Map<string, ShellSession>();
  return {
    get: (key) => sessions.get(key),
    set: (key, session) => {
      sessions.delete(key);
      sessions.set(key, session);
      const [oldest] = sessions.keys();
      if (sessions.size > mostSessions && oldest !== undefined) sessions.delete(oldest);
    },
  };
}
