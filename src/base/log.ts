/**
 * The log contract. One line an event: a noun_verb name and facts. Never what people wrote, never
 * a secret; the implementation in src/app redacts again.
 */

export type Facts = Readonly<Record<string, unknown>>;

export interface Log {
  debug(event: string, facts?: Facts): void;
  info(event: string, facts?: Facts): void;
  warn(event: string, facts?: Facts): void;
  error(event: string, facts?: Facts): void;
  /** A log whose lines all carry these facts. */
  with(facts: Facts): Log;
}

/** For work whose findings are told in another way. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
};

/** Facts of a thrown value that are safe to log: name, code, facts, causes; not its message's data. */
export function errorFacts(thrown: unknown, depth = 0): Facts {
  if (!(thrown instanceof Error)) return { thrown: typeof thrown };
  const code = 'code' in thrown && typeof thrown.code === 'string' ? { code: thrown.code } : {};
  const facts = 'facts' in thrown && typeof thrown.facts === 'object' ? thrown.facts : {};
  return {
    name: thrown.name,
    ...code,
    message: thrown.message,
    ...facts,
    ...(thrown.cause !== undefined && depth < 3
      ? { cause: errorFacts(thrown.cause, depth + 1) }
      : {}),
  };
}
