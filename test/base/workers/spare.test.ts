/** Threads that wait for their one task. Real time: threads know no other. */

import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../../src/base/clock.ts';
import { createSpareWorkers, type SpareWorkers } from '../../../src/base/workers/spare.ts';

const open: SpareWorkers[] = [];
afterEach(async () => {
  for (const workers of open.splice(0)) await workers.close();
});

function setUp() {
  const module = new URL('../../fixtures/spare-worker.ts', import.meta.url);
  const workers = createSpareWorkers({ clock }, { module, mostMemoryMb: 64 });
  open.push(workers);
  return (task: string, timeoutMs = 10_000, signal = new AbortController().signal) =>
    workers.run(task, timeoutMs, signal);
}

describe('a thread', () => {
  it('answers, is used once, and knows nothing of the environment', async () => {
    const run = setUp();
    const ends = [await run('where'), await run('where')];
    const answers = ends.map((end) => (end.kind === 'answered' ? end.answer : end));
    expect(answers).toEqual([
      { threadId: expect.any(Number), isFirst: true, variables: 0 },
      { threadId: expect.any(Number), isFirst: true, variables: 0 },
    ]);
    expect(JSON.stringify(answers[0])).not.toBe(JSON.stringify(answers[1]));
  });

  it('that is out of time answers with what it has, or is ended', async () => {
    const run = setUp();
    expect(await run('wait', 1200)).toEqual({
      kind: 'answered',
      answer: 'what there is',
      isLate: true,
    });
    expect(await run('spin', 300)).toEqual({ kind: 'timed_out' });
  });

  it('is ended by a stop, also when it computes', async () => {
    const run = setUp();
    const controller = new AbortController();
    const running = run('spin', 10_000, controller.signal);
    await wait(200);
    controller.abort();
    expect(await running).toEqual({ kind: 'stopped' });
    expect(await run('where', 10_000, controller.signal)).toEqual({ kind: 'stopped' });
  });

  it.each([
    ['fill', { kind: 'out_of_memory' }],
    ['throw', { kind: 'died', message: 'thrown in the thread' }],
    ['exit', { kind: 'died', message: 'Its thread ended early.' }],
  ])('that has to %s is told of', async (task, end) => {
    const run = setUp();
    expect(await run(task)).toEqual(end);
    expect((await run('where')).kind).toBe('answered');
  });
});
