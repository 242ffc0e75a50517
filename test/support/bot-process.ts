/** The whole bot as a process of its own, built and run as `npm start` does, in a folder of its own. */

import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';
import { z } from 'zod';
import { until } from './until.ts';

const root = path.resolve(import.meta.dirname, '../..');
const lineSchema = z.looseObject({ event: z.string(), says: z.string().optional() });
export type LogLine = z.infer<typeof lineSchema>;

export interface BotProcess {
  readonly folder: string;
  readonly lines: readonly LogLine[];
  readonly stderr: () => string;
  /** Address of the page. */
  readonly page: string;
  /** Resolves with the exit code; null when it was killed. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export interface BotFolder {
  readonly path: string;
  start(environment?: Record<string, string>): Promise<BotProcess>;
  /** Starts and waits for the end: for starts that fail. */
  fail(environment?: Record<string, string>): Promise<{ code: number | null; stderr: string }>;
  close(): Promise<void>;
}

/** A fresh folder with the shipped configuration; each start is a new life over the same state. */
export async function createBotFolder(): Promise<BotFolder> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'deckhand-bot-'));
  await cp(path.join(root, 'config'), path.join(folder, 'config'), { recursive: true });
  const children: ChildProcess[] = [];

  const launch = (environment: Record<string, string>): ChildProcess => {
    const child = spawn(
      process.execPath,
      ['--enable-source-maps', path.join(inject('program'), 'dist/src/cli/main.js'), 'start'],
      {
        cwd: folder,
        env: { PATH: process.env['PATH'] ?? '', HOME: folder, PORT: '0', ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    children.push(child);
    return child;
  };

  return {
    path: folder,
    start: async (environment = {}) => {
      const child = launch(environment);
      const lines: LogLine[] = [];
      let stderr = '';
      child.stderr?.on('data', (piece: Buffer) => {
        stderr += piece.toString();
      });
      if (child.stdout) {
        createInterface({ input: child.stdout }).on('line', (line) => {
          lines.push(lineSchema.parse(JSON.parse(line)));
        });
      }
      const isUp = (): boolean => lines.some(({ says }) => says?.startsWith('State is kept'));
      await until(() => {
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${stderr}`);
        return isUp();
      }, 30_000);
      const page = lines
        .map(({ says }) => /http:\/\/[^ ]+\//u.exec(says ?? '')?.[0])
        .find((found) => found);
      return {
        folder,
        lines,
        stderr: () => stderr,
        page: page ?? '',
        kill: (signal) =>
          new Promise((resolve) => {
            if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
            child.once('exit', (code) => resolve(code));
            child.kill(signal);
          }),
      };
    },
    fail: async (environment = {}) => {
      const child = launch(environment);
      let stderr = '';
      child.stderr?.on('data', (piece: Buffer) => {
        stderr += piece.toString();
      });
      const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
      return { code, stderr };
    },
    close: async () => {
      for (const child of children) child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
