/** The built-in tools on real folders: a workspace, a neighbour with the same beginning, a mount. */

import { mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { mediaSettings } from '../../src/messages/settings.ts';
import { builtinTools } from '../../src/tools/builtin/all.ts';
import { createSearches } from '../../src/tools/builtin/searches.ts';
import type { RegisteredTool, ToolContext, ToolOutcome } from '../../src/tools/contract.ts';
import type { Workspace } from '../../src/tools/paths.ts';
import { createGuardedFetch } from '../../src/tools/web/guarded-fetch.ts';
import { createFakeClock } from './fake-clock.ts';
import { createMemoryReadMarks } from './read-marks.ts';
import { createFakeThread, type FakeThread } from './thread.ts';

export interface FileBench {
  /** Holds all folders; a place outside. */
  readonly outer: string;
  /** The workspace's folder. */
  readonly folder: string;
  readonly workspace: Workspace;
  readonly context: ToolContext;
  readonly thread: FakeThread;
  readonly tool: (name: string) => RegisteredTool;
  readonly call: (
    name: string,
    input: unknown,
    more?: Partial<ToolContext>,
  ) => Promise<ToolOutcome>;
  /** The text of the result. */
  readonly says: (name: string, input: unknown, more?: Partial<ToolContext>) => Promise<string>;
  readonly write: (name: string, content: string | Buffer) => Promise<void>;
  /** Into the mount, `/mnt/docs`. */
  readonly writeMounted: (name: string, content: string | Buffer) => Promise<void>;
  readonly read: (name: string) => Promise<Buffer>;
  readonly modeOf: (name: string) => Promise<number>;
}

export function usingFileTools(): () => Promise<FileBench> {
  const folders: string[] = [];
  const searches = createSearches();
  afterEach(async () => {
    const gone = folders.splice(0);
    await Promise.all(gone.map((folder) => rm(folder, { recursive: true, force: true })));
  });
  afterAll(() => searches.close());
  return async () => {
    const outer = await realpath(await mkdtemp(path.join(os.tmpdir(), 'deckhand-tools-')));
    folders.push(outer);
    const folder = path.join(outer, 'agent');
    const mounted = path.join(outer, 'docs');
    await Promise.all([folder, mounted, path.join(outer, 'agent-other')].map((one) => mkdir(one)));
    await writeFile(path.join(outer, 'agent-other', 'secret.txt'), 'SECRET outside\n');
    const thread = createFakeThread();
    const workspace = { folder, mounts: [{ name: 'docs', folder: mounted }] };
    const context: ToolContext = {
      workspace,
      conversationKey: 'web:local:general:1',
      runId: 'run_1',
      step: 1,
      callId: 'call_1',
      addressed: true,
      signal: new AbortController().signal,
      runSignal: new AbortController().signal,
      progress: () => {},
      checklist: () => {},
      sources: () => {},
    };
    const tools = builtinTools({
      clock: createFakeClock(),
      thread,
      readMarks: createMemoryReadMarks(),
      media: () => mediaSettings.parse({}),
      searches,
      web: { fetch: createGuardedFetch(), options: () => ({ allow: [], deny: [] }) },
    });
    const tool = (name: string): RegisteredTool => {
      const found = tools.find((one) => one.name === name);
      if (!found) throw new Error(`no tool ${name}`);
      return found;
    };
    const call: FileBench['call'] = (name, input, more = {}) =>
      tool(name).invoke(input, { ...context, ...more });
    const writeIn = async (base: string, name: string, content: string | Buffer): Promise<void> => {
      await mkdir(path.dirname(path.join(base, name)), { recursive: true });
      await writeFile(path.join(base, name), content);
    };
    return {
      ...{ outer, folder, workspace, context, thread, tool, call },
      says: async (name, input, more) => said(await call(name, input, more)),
      write: (name, content) => writeIn(folder, name, content),
      writeMounted: (name, content) => writeIn(mounted, name, content),
      read: (name) => readFile(path.join(folder, name)),
      modeOf: async (name) => (await stat(path.join(folder, name))).mode & 0o7777,
    };
  };
}

/** The text of an outcome; parts that are no text by their kind. */
export function said(outcome: ToolOutcome): string {
  if (outcome.kind === 'error') return outcome.text;
  if (outcome.kind !== 'done') throw new Error(outcome.kind);
  return outcome.parts.map((part) => (part.kind === 'text' ? part.text : part.kind)).join('');
}
