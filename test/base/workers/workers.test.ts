/** Threads: they answer, end at once when they are told to, and one stays warm. */

import { afterEach, describe, expect, it } from 'vitest';
import { runInWorker } from '../../../src/base/workers/run.ts';
import { moduleBeside } from '../../../src/base/workers/start.ts';
import { createWarmWorkers, type WarmWorkers } from '../../../src/base/workers/warm.ts';
import { until } from '../../support/until.ts';

const module = moduleBeside(import.meta.url, 'echo-worker');
const never = new AbortController().signal;
const opened: WarmWorkers[] = [];

function setUp(mostMemoryMb = 64): WarmWorkers {
  const workers = createWarmWorkers(module, { mostMemoryMb });
  opened.push(workers);
  return workers;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((workers) => workers.close()));
});

describe('a worker for one task', () => {
  it('answers, without the environment of the process', async () => {
    const options = { mostMemoryMb: 64, signal: never };
    expect(await runInWorker(module, { does: 'echo' }, options)).toEqual({ does: 'echo' });
    expect(await runInWorker(module, { does: 'env' }, options)).not.toContain('PATH');
  });

  it('fails as what the task throws, and when it needs too much memory', async () => {
    const options = { mostMemoryMb: 32, signal: never };
    await expect(runInWorker(module, { does: 'throw' }, options)).rejects.toMatchObject({
      code: 'tool_failed',
    });
    await expect(runInWorker(module, { does: 'fill' }, options)).rejects.toThrow('too much memory');
  });
});

describe('warm workers', () => {
  it('do one task after the other in the same thread', async () => {
    const workers = setUp();
    const first = await workers.run({ does: 'thread' }, never);
    expect(await workers.run({ does: 'thread' }, never)).toBe(first);
    const beside = await Promise.all([1, 2, 3].map(() => workers.run({ does: 'thread' }, never)));
    expect(new Set(beside).size).toBe(3);
  });

  it('end at once when a task is stopped, and begin anew', async () => {
    const workers = setUp();
    await workers.run({ does: 'echo' }, never);
    const stop = new AbortController();
    const turns = new Int32Array(new SharedArrayBuffer(4));
    const spinning = workers.run({ does: 'spin', turns }, stop.signal);
    await until(() => Atomics.load(turns, 0) > 0);
    const at = performance.now();
    stop.abort();
    await expect(spinning).rejects.toMatchObject({ code: 'stopped' });
    expect(performance.now() - at).toBeLessThan(100);
    expect(await workers.run({ does: 'echo' }, never)).toEqual({ does: 'echo' });
    await expect(workers.run({ does: 'echo' }, stop.signal)).rejects.toMatchObject({
      code: 'stopped',
    });
    await workers.close();
    const turnsAtEnd = Atomics.load(turns, 0);
    await until(() => performance.now() > at + 100);
    expect(Atomics.load(turns, 0)).toBe(turnsAtEnd);
  });

  it.each([
    ['throw', 'Its thread failed.'],
    ['fill', 'It needed too much memory and was ended.'],
  ])('fail a task that does %s, and no other', async (does, sentence) => {
    const workers = setUp(32);
    await expect(workers.run({ does }, never)).rejects.toMatchObject({
      code: 'tool_failed',
      message: sentence,
    });
    expect(await workers.run({ does: 'echo' }, never)).toEqual({ does: 'echo' });
  });

  it('fail what is under way when they are closed, and what comes later', async () => {
    const workers = setUp();
    const spinning = workers.run({ does: 'spin' }, never);
    const [end] = await Promise.allSettled([spinning, workers.close()]);
    expect(end).toMatchObject({ status: 'rejected', reason: { code: 'tool_failed' } });
    await expect(workers.run({ does: 'echo' }, never)).rejects.toThrow('shutting down');
  });
});
