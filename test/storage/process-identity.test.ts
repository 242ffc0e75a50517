/** Telling whether a process that was written down earlier still runs. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createProcesses } from '../../src/storage/process-identity.ts';

const setUp = async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const end = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { processes: createProcesses(process.pid), pid: child.pid ?? 0, end };
};

describe.skipIf(process.platform !== 'linux')('processes', () => {
  it('know themselves as running', async () => {
    const { processes, end } = await setUp();
    expect(processes.self.pid).toBe(process.pid);
    expect(processes.stateOf(processes.self)).toBe('running');
    await end();
  });

  it('know a child as running, and as gone once it was killed', async () => {
    const { processes, pid, end } = await setUp();
    const child = createProcesses(pid).self;
    expect(processes.stateOf(child)).toBe('running');
    await end();
    expect(processes.stateOf(child)).toBe('gone');
  });

  it('know a process as gone whose pid is now that of another', async () => {
    const { processes, pid, end } = await setUp();
    const earlier = { ...createProcesses(pid).self, started: '1' };
    expect(processes.stateOf(earlier)).toBe('gone');
    await end();
  });

  it('do not judge processes of another host, another boot or another container', async () => {
    const { processes, end } = await setUp();
    expect(processes.stateOf({ ...processes.self, host: 'elsewhere' })).toBe('unknown');
    expect(processes.stateOf({ ...processes.self, machine: 'other boot' })).toBe('unknown');
    expect(processes.stateOf({ ...processes.self, started: '' })).toBe('unknown');
    await end();
  });
});
