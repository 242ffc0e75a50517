/**
 * How a command is given to a real bash, and how its folder and its exported variables come back.
 *
 * Two shells. The outer one, which sees nothing that commands have exported, gives the inner one a
 * pipe for its output (opening /dev/stderr does not work with the socket that Node hands out) and at
 * the end waits 0.2 s for what is left in it. The inner one limits itself, takes the variables of
 * earlier commands from file descriptor 4, runs the command and reports at descriptor 3. What comes
 * there is data: the command could write there too, but nothing that it could not do anyway.
 */

import type { Channel, ProcessEnd } from '../../base/process.ts';
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
exec {pipe}> >(exec cat)
drain=$!
exec 2>/dev/null
"$BASH" --noprofile --norc -c "$1" bash "$2" "$3" >&"$pipe" 2>&"$pipe" {pipe}>&-
code=$?
exec {pipe}>&- {never}<> <(:)
{ read -rt 0.2 -u "$never"; kill -9 "$drain"; } >/dev/null 3>&- &
limit=$!
wait "$drain"
kill -9 "$limit"
wait
exit "$code"
`;

/** On one line, so that bash counts the command's lines from 1. */
const inner = `
LIMITS
while IFS= builtin read -rd '' __deckhand_pair; do builtin export "$__deckhand_pair"; done <&4 2>/dev/null;
exec 4<&-;
__deckhand_command=$1;
cd -- "$2" 2>/dev/null || { builtin printf 'gone\\0' >&3; exit 0; };
builtin printf 'here\\0' >&3;
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

/** Arguments for bash, which must be given the channels of `shellChannels`. */
export function shellArguments(
  command: string,
  { cwd }: ShellSession,
  limits: ShellLimits,
): readonly string[] {
  const script = inner.replace('LIMITS', () => limitCommands(limits));
  return ['--noprofile', '--norc', '-c', outer, 'deckhand', script, command, cwd];
}

/** The file descriptors 3 and 4 of the shell. */
export function shellChannels(
  { env }: ShellSession,
  onReport = (): void => {},
): readonly Channel[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}\0`);
  return [
    { kind: 'takes', mostChars: mostReportChars, onText: onReport },
    { kind: 'gives', text: variables.join('') },
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
const mostReportChars = 512 * 1024;

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
