/**
 * How a command is given to a real bash, and how its folder and its exported variables come back.
 *
 * Two shells: the outer one gives the inner one a pipe for its output (opening /dev/stderr does not
 * work with the socket that Node hands out) and, at the end, waits 0.2 s for what is left in it; the
 * inner one runs the command and reports at file descriptor 3. What it reports is data: the command could write there
 * too, and could say nothing that it may not do anyway.
 */

import type { ProcessEnd } from '../../base/process.ts';
import { carriedVariables, type Variables } from './environment.ts';
import type { ShellResult, ShellSession } from './executor.ts';

export interface ShellLimits {
  readonly mostMemoryMb: number | undefined;
  readonly mostFileMb: number;
  /** Undefined: not limited here. */
  readonly mostProcesses: number | undefined;
}

const outer = `
umask 022
exec 9> >(exec cat)
drain=$!
exec 2>/dev/null
"$BASH" --noprofile --norc -c "$1" bash "$2" "$3" "$4" >&9 2>&9 9>&-
code=$?
exec 9>&-
exec 8<> <(:)
{ read -rt 0.2 -u 8; kill -9 "$drain"; } >/dev/null 3>&- &
limit=$!
wait "$drain"
kill -9 "$limit"
wait
exit "$code"
`;

/** On one line, so that bash counts the command's lines from 1. */
const inner = `
LIMITS
__deckhand_command=$1;
if cd -- "$2" 2>/dev/null; then builtin printf 'here\\0' >&3;
else cd -- "$3" || exit 126; builtin printf 'gone\\0' >&3; fi;
set --;
__deckhand_end() {
builtin set +eu;
builtin local IFS=$' \\t\\n' name;
builtin printf '%s\\0' "$PWD";
for name in $(builtin compgen -e); do builtin printf '%s=%s\\0' "$name" "\${!name}"; done;
};
trap '{ set +x; __deckhand_end >&3; } 2>/dev/null' EXIT;
eval "$__deckhand_command"
`
  .trim()
  .replaceAll('\n', ' ');

/** Arguments for bash; file descriptor 3 must be open for writing. */
export function shellArguments(
  command: string,
  session: ShellSession,
  startFolder: string,
  limits: ShellLimits,
): readonly string[] {
  const script = inner.replace('LIMITS', () => limitCommands(limits));
  return [
    '--noprofile',
    '--norc',
    '-c',
    outer,
    'deckhand',
    script,
    command,
    session.cwd,
    startFolder,
  ];
}

function limitCommands({ mostMemoryMb, mostFileMb, mostProcesses }: ShellLimits): string {
  return [
    'ulimit -c 0',
    `ulimit -f ${mostFileMb * 1024}`,
    ...(mostMemoryMb === undefined ? [] : [`ulimit -d ${mostMemoryMb * 1024}`]),
    ...(mostProcesses === undefined ? [] : [`ulimit -u ${mostProcesses}`]),
  ]
    .map((limit) => `${limit} 2>/dev/null;`)
    .join(' ');
}

/** UTF-16 units of the report that are read: 64 KiB of variables and what is dropped of them. */
export const mostReportChars = 512 * 1024;

export function shellResult(
  end: ProcessEnd,
  session: ShellSession,
  startFolder: string,
  own: Variables,
): ShellResult {
  const [where, cwd, ...exported] = (end.taken[0] ?? '').split('\0');
  const isGone = where === 'gone';
  const hasReport = end.how === 'exited' && cwd !== undefined && cwd.startsWith('/');
  // The last one is what follows the last NUL: nothing, or a record that was cut.
  const pairs = exported.slice(0, -1).map(splitPair);
  return {
    how: end.how,
    output: end.output,
    isCut: end.isCut,
    exitCode: end.exitCode,
    session: hasReport
      ? { cwd, env: carriedVariables(pairs, own) }
      : { ...session, cwd: isGone ? startFolder : session.cwd },
    lostFolder: isGone ? session.cwd : undefined,
  };
}

/** Whether the inner shell began at all. */
export function hasStarted(end: ProcessEnd): boolean {
  return /^(here|gone)\0/u.test(end.taken[0] ?? '');
}

function splitPair(pair: string): readonly [string, string] {
  const place = pair.indexOf('=');
  return [pair.slice(0, place), pair.slice(place + 1)];
}
