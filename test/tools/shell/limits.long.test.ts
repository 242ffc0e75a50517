/** What shells may use up, and that stopping always works. Real time. */

import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../../src/tools/shell/bubblewrap.ts';
import type { Executor, ShellRequest } from '../../../src/tools/shell/executor.ts';
import { bubblewrapOf, hostOf, virtualOf } from './set-up.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function setUp(create: () => Executor) {
  const executor = create();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'deckhand-limits-'));
  cleanUps.push(async () => {
    await executor.close();
    await rm(folder, { recursive: true, force: true });
  });
  const run = (
    command: string,
    more: Partial<ShellRequest> = {},
    signal = new AbortController().signal,
  ) =>
    executor.run(
      {
        command,
        workspace: { folder, mounts: [] },
        session: undefined,
        timeoutMs: 60_000,
        ...more,
      },
      signal,
    );
  return { executor, folder, run };
}

/** Runs while the work goes on; the longest time that a timer of 10 ms had to wait, in ms. */
async function longestGapMs(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  let longest = 0;
  void work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const begun = performance.now();
    await wait(10);
    longest = Math.max(longest, performance.now() - begun);
  }
  return longest;
}

describe('the virtual shell', () => {
  it('does not hold up the process, and ends at once when it is stopped', async () => {
    const { run } = await setUp(virtualOf);
    await run('true');
    const controller = new AbortController();
    const working = run('while :; do :; done', {}, controller.signal);
    const stopping = wait(3000).then(() => {
      controller.abort();
      return performance.now();
    });
    const gap = await longestGapMs(working);
    expect((await working).how).toBe('stopped');
    expect(performance.now() - (await stopping)).toBeLessThan(2000);
    // Roughly: the machine may be busy. In the same thread it would be the whole 3 s.
    expect(gap).toBeLessThan(1500);
  });

  it('ends a loop that is out of time', async () => {
    const { run } = await setUp(virtualOf);
    const result = await run('while :; do :; done', { timeoutMs: 3000 });
    expect(result.how === 'timed_out' || result.output.includes('limit')).toBe(true);
  });

  it('stays within its memory', async () => {
    const { run } = await setUp(virtualOf);
    const before = process.memoryUsage().rss;
    const result = await run('x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; y=$y$x; done');
    expect(result.how === 'out_of_memory' || result.exitCode !== 0).toBe(true);
    const files = await run('while :; do seq 1 100000 >> /tmp/f$((n++)); done');
    expect(files.how === 'out_of_memory' || files.exitCode !== 0).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
    expect((await run('echo alive')).output).toBe('alive\n');
  });

  it('keeps no thread alive once it is closed', async () => {
    const { run, executor } = await setUp(virtualOf);
    const threads = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = threads();
    await run('true');
    await executor.close();
    await run('true');
    expect(threads()).toBeLessThanOrEqual(before);
  });
});

const real: [string, () => Executor][] = [['host', hostOf]];
if (bubblewrapProblem() === undefined) real.push(['bubblewrap', bubblewrapOf]);

describe.each(real)('the %s shell', (_name, create) => {
  it('B079: leaves nothing running after a timeout', async () => {
    const { run, folder } = await setUp(create);
    const begun = Date.now();
    const result = await run('sh -c "sleep 4; touch marker" & sh -c "sleep 4; touch marker"', {
      timeoutMs: 1000,
    });
    expect(result.how).toBe('timed_out');
    expect(Date.now() - begun).toBeLessThan(3500);
    await wait(4000);
    await expect(stat(path.join(folder, 'marker'))).rejects.toThrow('ENOENT');
  });

  it('ends what ignores SIGTERM', async () => {
    const { run } = await setUp(create);
    const begun = Date.now();
    const result = await run("trap '' TERM; while :; do sleep 0.1; done", { timeoutMs: 1000 });
    expect(result.how).toBe('timed_out');
    expect(Date.now() - begun).toBeLessThan(3500);
  });

  it('lets no process have more memory than it may', async () => {
    const { run } = await setUp(create);
    const { output, exitCode } = await run(
      'set -o pipefail; head -c 900000000 /dev/zero | tail -c 900000000 | wc -c',
    );
    expect(exitCode, output).not.toBe(0);
  });
});

describe.skipIf(bubblewrapProblem() !== undefined)('the bubblewrap shell', () => {
  it('bounds a fork bomb, and the machine goes on', async () => {
    const { run } = await setUp(bubblewrapOf);
    const result = await run('f() { f | f & }; f; sleep 20', { timeoutMs: 10_000 });
    const isEnded = result.how === 'too_many_processes' || result.how === 'timed_out';
    expect(isEnded || /fork|Resource/u.test(result.output), JSON.stringify(result)).toBe(true);
    expect((await run('echo alive')).output).toBe('alive\n');
  });

  it('lets as many processes run as it may', async () => {
    const { run } = await setUp(bubblewrapOf);
    const { how, output } = await run('for i in $(seq 20); do sleep 2 & done; wait; echo all');
    expect({ how, output }).toEqual({ how: 'exited', output: 'all\n' });
  });

  it('ends what has left the group', async () => {
    const { run, folder } = await setUp(bubblewrapOf);
    await run('setsid sh -c "sleep 1; touch marker" > /dev/null 2>&1 & sleep 0.2');
    await run('setsid -f sh -c "sleep 2; touch marker"; sleep 9', { timeoutMs: 1000 });
    await wait(2500);
    await expect(stat(path.join(folder, 'marker'))).rejects.toThrow('ENOENT');
  });

  it('bounds what is written to memory', async () => {
    const { run } = await setUp(bubblewrapOf);
    const { output } = await run(
      'for i in $(seq 400); do head -c 1000000 /dev/zero > /tmp/$i 2>/dev/null || { echo full; break; }; done; touch /x /etc/x /dev/x /mnt/x /usr/x',
    );
    expect(output).toMatch(/^full\n/u);
    expect(output.match(/Read-only file system|No such file|Permission denied/gu)).toHaveLength(5);
  });

  it('is nobody, alone, and cannot become more', async () => {
    const { run } = await setUp(bubblewrapOf);
    const { output } = await run(
      'id -u; whoami; hostname; ls /proc | grep -c "^[0-9]"; unshare -Ur true 2>&1 | head -c 40; echo; cat /etc/shadow; ls /root /home; kill -9 -1 2>/dev/null; echo gone',
    );
    expect(output).toMatch(/^65534\nnobody\nsandbox\n\d{1,2}\nunshare: /u);
    expect(output).not.toContain('root:x:0:0:root:/root');
    expect(output).toMatch(/shadow: No such file/u);
  });
});
