/**
 * Commands that stand inside another simple command, for rules that forbid or ask: `env rm x` and
 * `/bin/rm x` fall under `Bash(rm *)` too. Too many is harmless here, so nothing is parsed: what
 * follows a command that runs others is taken for a command at each word.
 */

import path from 'node:path';

/** Commands that run what their arguments say. */
const runners: ReadonlySet<string> = new Set(
  'ash bash builtin busybox chroot chrt command dash doas docker env eval exec find flock ionice kubectl ksh nice nohup nsenter parallel podman setpriv setsid sh ssh stdbuf strace su sudo taskset time timeout toybox unshare watch xargs zsh'.split(
    ' ',
  ),
);
const assignment = /^[A-Za-z_]\w*\+?=(?:'[^']*'|[^\s'])*\s+/u;
/** Words of one command that are looked at. */
const mostWords = 200;

/** Of a subject as the analysis gives it; without the subject itself. */
export function carriedCommands(subject: string): readonly string[] {
  const found = new Set<string>();
  const bare = withoutAssignments(subject);
  found.add(bare).add(withBaseName(bare));
  const [head = ''] = bare.split(' ', 1);
  if (runners.has(path.posix.basename(head))) {
    for (const tail of tailsOf(bare)) found.add(tail).add(withBaseName(tail));
  }
  found.delete(subject);
  return [...found];
}

function withoutAssignments(command: string): string {
  let rest = command;
  while (assignment.test(rest)) rest = rest.replace(assignment, '');
  return rest;
}

/** `/bin/rm x` as `rm x`. */
function withBaseName(command: string): string {
  return command.replace(/^[^\s']*\//u, '');
}

/** What follows each blank, line break, separator or quote. */
function tailsOf(command: string): readonly string[] {
  const starts = [...command.matchAll(/[\s'"`;&|({]+/gu)].slice(0, mostWords);
  return starts.flatMap(({ index, 0: between }) => {
    const tail = command.slice(index + between.length);
    return tail === '' ? [] : [tail, withoutLastQuotes(tail)];
  });
}

/** The closing quote of `bash -c 'rm x'` is no part of what runs. */
function withoutLastQuotes(tail: string): string {
  let end = tail.length;
  while (tail[end - 1] === "'" || tail[end - 1] === '"') end -= 1;
  return tail.slice(0, end);
}
