/** The environment of shell commands: an allow list, never what the bot itself was given. */

import { BotError } from '../../base/errors.ts';
import { mostCommandBytes, type ShellSession } from './executor.ts';

export type Variables = Readonly<Record<string, string>>;

/** What of the bot's environment a shell may see. */
export function allowedEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Variables {
  const kept = Object.entries(environment).filter(([name]) =>
    /^(PATH|LANG|LC_[A-Z]+|TZ)$/u.test(name),
  );
  return Object.fromEntries(kept.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/** Variables of the shell's own making, and those that would run code before a command does. */
const neverCarried =
  /^(_|PWD|OLDPWD|SHLVL|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|IFS|LD_.*|BASH_FUNC_.*|__deckhand.*)$/u;
const mostCarriedBytes = 64 * 1024;

/**
 * What the next call is given of the variables that a command exported: what differs from the
 * shell's own environment, within 64 KiB (the first ones that fit).
 */
export function carriedVariables(
  exported: Iterable<readonly [string, string]>,
  own: Variables,
): Variables {
  let left = mostCarriedBytes;
  const carried: Record<string, string> = {};
  for (const [name, value] of exported) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name) || neverCarried.test(name)) continue;
    if (own[name] === value || value.includes('\0')) continue;
    const size = Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
    if (size > left) continue;
    left -= size;
    carried[name] = value;
  }
  return carried;
}

export function freshSession(cwd: string): ShellSession {
  return { cwd, env: {} };
}

/** Throws tool_failed for what no shell can be given. */
export function checkCommand(command: string): void {
  if (command.includes('\0')) {
    throw new BotError(
      'tool_failed',
      'The command holds a NUL character, which no shell can take.',
    );
  }
  if (Buffer.byteLength(command) > mostCommandBytes) {
    const kilobytes = Math.floor(mostCommandBytes / 1000);
    throw new BotError(
      'tool_failed',
      `The command is longer than ${kilobytes} kB. Write the data to a file with FileWrite first, then use the file.`,
    );
  }
}
