/**
 * Commands run in a real bash inside namespaces of their own (bubblewrap): of the host's files only
 * the workspace, the mounts and the system's programs exist, all but the workspace read-only. Nobody
 * (uid 65534) inside is the bot's user outside, so that files belong to who owns the workspace.
 */

import { linkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { BotError } from '../../base/errors.ts';
import { type ProcessEnd, runBriefly, spawnProcess } from '../../base/process.ts';
import type { Workspace } from '../paths.ts';
import { gitReadingEnvironment } from './analysis/git-repository.ts';
import { checkCommand, freshSession, type Variables } from './environment.ts';
import { type Executor, mostOutputChars } from './executor.ts';
import { watchProcesses } from './process-watch.ts';
import { hasStarted, shellArguments, shellChannels, shellResult } from './real-shell.ts';

export interface BubblewrapOptions {
  /** What of the bot's environment may be seen (LANG, TZ), and what the operator hands over. */
  readonly environment: Variables;
  /** All of the host's network: bubblewrap cannot let some hosts pass. */
  readonly network: boolean;
  readonly mostMemoryMb: number;
  readonly mostFileMb: number;
  readonly mostProcesses: number;
}

const nobody = '65534';
const startFolder = '/workspace';
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const accounts = `root:x:0:0:root:/nonexistent:/bin/false\nnobody:x:${nobody}:${nobody}:nobody:${startFolder}:/bin/bash\n`;
const groups = `root:x:0:\nnogroup:x:${nobody}:\n`;

/** Read-only where they exist. Never all of /etc: it holds keys and passwords. */
const systemPaths = [
  '/usr',
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/pki/tls/certs',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
];
/** Links on most systems, folders on some. */
const systemLinks = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
const networkPaths = ['/etc/hosts', '/etc/nsswitch.conf', '/etc/resolv.conf'];

// File descriptors of the channels below, in their order; 3 and 4 are the shell's.
const descriptors = { arguments: 5, accounts: 6, groups: 7, information: 8 } as const;

export function createBubblewrapExecutor(
  { clock, isRoot }: { readonly clock: Clock; readonly isRoot: boolean },
  options: BubblewrapOptions,
): Executor {
  const { mostMemoryMb, mostFileMb, mostProcesses } = options;
  const limits = { mostMemoryMb, mostFileMb, mostProcesses };
  return {
    name: 'bubblewrap',
    description: describe(options),
    streams: true,
    startFolder: () => startFolder,
    run: async (request, signal) => {
      const { command, workspace, timeoutMs } = request;
      checkCommand(command);
      const session = request.session ?? freshSession(startFolder);
      const own = {
        TERM: 'dumb',
        ...gitReadingEnvironment,
        PATH: searchPath,
        ...options.environment,
        HOME: startFolder,
      };
      const sandbox = sandboxArguments(workspace, own, options.network);
      const linked = linkedAbort(signal);
      // The kernel does not count the processes of root.
      const watch = watchProcesses(clock, isRoot ? mostProcesses : undefined, () =>
        linked.abort(new Error('too many processes')),
      );
      try {
        const end = await spawnProcess(
          { clock },
          {
            command: 'bwrap',
            args: [
              ...['--args', String(descriptors.arguments), '--', '/bin/bash'],
              ...shellArguments(command, session, limits),
            ],
            cwd: '/',
            env: { PATH: searchPath },
            signal: linked.signal,
            timeoutMs,
            mostOutputChars,
            onOutput: (text) => request.onOutput?.(text),
            channels: [
              ...shellChannels(session, () => watch.begin()),
              { kind: 'gives', text: sandbox.map((argument) => `${argument}\0`).join('') },
              { kind: 'gives', text: accounts },
              { kind: 'gives', text: groups },
              { kind: 'takes', mostChars: 4096, onText: (text) => watch.inform(text) },
            ],
          },
        );
        checkStarted(end);
        const result = shellResult(end, session, startFolder, own);
        return watch.isOver() ? { ...result, how: 'too_many_processes' } : result;
      } finally {
        watch.end();
        linked.release();
      }
    },
    close: async () => {},
  };
}

function sandboxArguments(
  { folder, mounts }: Workspace,
  environment: Variables,
  hasNetwork: boolean,
): readonly string[] {
  const readOnly = [...systemPaths, ...(hasNetwork ? networkPaths : [])];
  return [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent'],
    ...['--new-session', '--clearenv', '--uid', nobody, '--gid', nobody],
    ...['--hostname', 'sandbox', '--info-fd', String(descriptors.information)],
    ...(hasNetwork ? ['--share-net'] : []),
    ...readOnly.flatMap((path) => ['--ro-bind-try', path, path]),
    ...systemLinks.flatMap((name) => ['--ro-bind-try', `/${name}`, `/${name}`]),
    ...['--ro-bind-data', String(descriptors.accounts), '/etc/passwd'],
    ...['--ro-bind-data', String(descriptors.groups), '/etc/group'],
    ...['--proc', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
    ...[
      '--size',
      temporaryBytes,
      '--tmpfs',
      '/dev/shm',
      '--size',
      temporaryBytes,
      '--tmpfs',
      '/tmp',
    ],
    ...['--bind', folder, startFolder],
    ...mounts.flatMap(({ name, folder: source }) => ['--ro-bind', source, `/mnt/${name}`]),
    ...['--remount-ro', '/', '--chdir', startFolder],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

const temporaryBytes = String(256 * 1024 * 1024);

function checkStarted(end: ProcessEnd): void {
  if (end.how !== 'exited' || hasStarted(end)) return;
  throw new BotError('tool_failed', `The sandbox could not be set up: ${end.output.trim()}`);
}

function describe({ network }: BubblewrapOptions): string {
  return [
    'The shell is a real bash in a sandbox with the programs of the bot’s machine; what is installed there can be seen with `command -v`.',
    'The workspace is /workspace and the only place whose files are kept; read-only folders are under /mnt; /tmp is empty at each call; nothing else can be written.',
    network ? 'There is network.' : 'There is no network.',
    'You are nobody: no sudo, nothing can be installed in the system.',
    'The folder and exported variables are kept for the next call.',
  ].join(' ');
}

/** Why bubblewrap cannot be used here, with what to do; undefined when it can. */
export function bubblewrapProblem(run: typeof runBriefly = runBriefly): string | undefined {
  const environment = { PATH: searchPath };
  const version = run('bwrap', ['--version'], environment);
  if (version.exitCode !== 0) {
    return 'bubblewrap is not installed: install it (apt install bubblewrap, dnf install bubblewrap), or set tools.bash.executor: virtual.';
  }
  const trial = run(
    'bwrap',
    [
      ...['--unshare-all', '--unshare-user', '--disable-userns', '--uid', nobody, '--gid', nobody],
      ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--', 'true'],
    ],
    environment,
  );
  if (trial.exitCode === 0) return undefined;
  const said = trial.output.trim().split('\n').at(-1) ?? '';
  if (/Unknown option/iu.test(said)) {
    return `bubblewrap is too old (${version.output.trim()}): install 0.8 or later, or set tools.bash.executor: virtual.`;
  }
  return `bubblewrap cannot make a sandbox here (${said}). Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces; in Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined), or set tools.bash.executor: virtual.`;
}
