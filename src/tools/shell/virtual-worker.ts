/**
 * The thread of the virtual shell: one command over the workspace's files, then its answer. Only the
 * workspace, the mounts (read-only) and a /tmp in memory exist; links that lead out of them are
 * neither followed nor made.
 */

import { parentPort } from 'node:worker_threads';
import {
  Bash,
  defineCommand,
  InMemoryFs,
  MountableFs,
  OverlayFs,
  parse,
  ReadWriteFs,
  type TransformPlugin,
} from 'just-bash';
import { createBoundedText } from '../../base/bounded-text.ts';
import type { WorkerOrder } from '../../base/workers/spare.ts';
import { mostOutputChars } from './executor.ts';
import { virtualCommands } from './virtual-commands.ts';
import type { VirtualAnswer, VirtualTask } from './virtual-task.ts';

const megabyte = 1024 * 1024;
const startFolder = '/workspace';
const reportName = '__deckhand_report';

async function answer(task: VirtualTask, signal: AbortSignal): Promise<VirtualAnswer> {
  const files = fileSystem(task);
  if (!(await isFolder(files, task.cwd))) {
    return { output: '', isCut: false, exitCode: 0, session: undefined, isFolderLost: true };
  }
  let session: VirtualAnswer['session'];
  const report = defineCommand(reportName, async (args, context) => {
    session = { cwd: context.cwd, exported: Object.entries(context.exportedEnv ?? {}) };
    return { stdout: '', stderr: '', exitCode: Number(args[0] ?? 0) };
  });
  const bash = new Bash({
    fs: files,
    cwd: task.cwd,
    env: task.env,
    commands: [...virtualCommands],
    customCommands: [report],
    executionLimits: limitsOf(task),
    ...(task.origins.length === 0
      ? {}
      : {
          network: {
            allowedUrlPrefixes: [...task.origins],
            allowedMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
            denyPrivateRanges: true,
          },
        }),
  });
  bash.registerTransformPlugin(reporting());
  const { stdout, stderr, exitCode } = await bash
    .exec(task.command, { rawScript: true, signal })
    .catch(refusal);
  const output = createBoundedText(mostOutputChars);
  output.append(stdout);
  if (stderr !== '' && stdout !== '' && !stdout.endsWith('\n')) output.append('\n');
  output.append(stderr);
  return { output: output.read(), isCut: output.isCut, exitCode, session, isFolderLost: false };
}

/** The report is a statement after the command's last one, whatever that looks like as text. Shells
 * within the command (`bash -c`) report nothing. */
function reporting(): TransformPlugin {
  let isOutermost = true;
  return {
    name: 'report',
    transform: ({ ast }) => {
      if (!isOutermost) return { ast };
      isOutermost = false;
      const { statements } = parse(`${reportName} "$?"`);
      return { ast: { ...ast, statements: [...ast.statements, ...statements] } };
    },
  };
}

/** The library throws for a redirection that the file system refuses; the output so far is lost. */
function refusal(thrown: unknown): { stdout: string; stderr: string; exitCode: number } {
  const reason = thrown instanceof Error ? thrown.message : 'unknown reason';
  const stderr = `bash: ${reason}\n(The command ended there; its output before that is lost.)\n`;
  return { stdout: '', stderr, exitCode: 1 };
}

function fileSystem({ folder, mounts, mostMemoryMb, mostFileMb }: VirtualTask): MountableFs {
  const base = new InMemoryFs({}, { maxTotalBytes: (mostMemoryMb / 4) * megabyte });
  base.mkdirSync('/tmp');
  const maxFileReadSize = (mostMemoryMb / 8) * megabyte;
  const most = mostFileMb * megabyte;
  return new MountableFs({
    base,
    mounts: [
      {
        mountPoint: startFolder,
        filesystem: new ReadWriteFs({
          root: folder,
          maxFileReadSize,
          maxCopySize: most,
          allowSymlinks: false,
        }),
      },
      ...mounts.map((mount) => ({
        mountPoint: `/mnt/${mount.name}`,
        filesystem: new OverlayFs({
          root: mount.folder,
          mountPoint: '/',
          readOnly: true,
          maxFileReadSize,
          allowSymlinks: false,
        }),
      })),
    ],
  });
}

async function isFolder(files: MountableFs, folder: string): Promise<boolean> {
  try {
    return (await files.stat(folder)).isDirectory;
  } catch {
    return false;
  }
}

function limitsOf({ mostMemoryMb, timeoutMs }: VirtualTask) {
  const bytes = (mostMemoryMb / 8) * megabyte;
  return {
    maxExecutionTimeMs: timeoutMs + 10_000,
    maxCommandCount: 1_000_000,
    maxLoopIterations: 10_000_000,
    maxAwkIterations: 10_000_000,
    maxSedIterations: 10_000_000,
    maxJqIterations: 10_000_000,
    maxWorkUnits: 100_000_000,
    maxStringLength: bytes,
    maxHeredocSize: bytes,
    maxLiveBytes: (mostMemoryMb / 2) * megabyte,
    maxArchiveBytes: (mostMemoryMb / 2) * megabyte,
  };
}

const port = parentPort;
const controller = new AbortController();

async function run(task: VirtualTask): Promise<void> {
  port?.postMessage(await answer(task, controller.signal));
}

// Orders come from this very process; to check them by a schema would double the start-up time.
port?.on('message', (order: WorkerOrder<VirtualTask>) => {
  switch (order.kind) {
    case 'task':
      void run(order.task);
      return;
    case 'end':
      controller.abort();
  }
});
