/** The calls of one step: each gets exactly one result, whatever the tool does. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolOutcome } from '../../src/tools/contract.ts';
import { registerTool } from '../../src/tools/registry.ts';
import { createToolScheduler, type SchedulerEvent } from '../../src/tools/scheduler.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

function setUp(invoke: (input: { n: number }, signal: AbortSignal) => Promise<ToolOutcome>) {
  const clock = createFakeClock();
  const log = createKeptLog();
  const controller = new AbortController();
  const base = {
    description: '',
    input: z.object({ n: z.number() }),
    category: 'core',
    concurrency: 'never',
    isReadOnly: true,
    describe: ({ n }: { n?: number }) => `Doing ${n}`,
  } as const;
  const tools = [
    registerTool({
      ...base,
      name: 'Do',
      needsApproval: false,
      invoke: (input, context) => invoke(input, context.signal),
    }),
    registerTool({
      ...base,
      name: 'Risky',
      needsApproval: true,
      invoke: async () => ({ kind: 'done', parts: [] }),
    }),
  ];
  const scheduler = createToolScheduler({
    clock,
    log,
    tools,
    scene: {
      workspace: { folder: '/tmp', mounts: [] },
      conversationKey: 'k',
      runId: 'r',
      addressed: true,
    },
    signal: controller.signal,
    timeoutMs: 5000,
  });
  const collect = async (): Promise<readonly SchedulerEvent[]> => {
    const events: SchedulerEvent[] = [];
    for await (const event of scheduler.events()) events.push(event);
    return events;
  };
  const add = (callId: string, name: string, input: unknown, inputError?: string): void =>
    scheduler.add({ kind: 'tool_call', callId, name, input: input as never }, inputError);
  return { clock, log, controller, add, collect };
}

const done = async (): Promise<ToolOutcome> => ({
  kind: 'done',
  parts: [{ kind: 'text', text: 'fine' }],
});

function results(events: readonly SchedulerEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'finished' ? [`${event.result.callId}:${event.result.outcome}`] : [],
  );
}

describe('the scheduler', () => {
  it('gives one result to each call, in the model’s order', async () => {
    const { add, collect } = setUp(done);
    add('a', 'Do', { n: 1 });
    add('b', 'Nothing', {});
    add('c', 'Do', { n: 'two' });
    add('d', 'Risky', { n: 1 });
    add('e', 'Do', {}, 'Unexpected end');
    const events = await collect();
    expect(results(events)).toEqual(['a:ok', 'b:error', 'c:error', 'd:refused', 'e:error']);
    expect(events[0]).toEqual({ kind: 'started', callId: 'a', activity: 'Doing 1' });
  });

  it('turns a throw into an error result and a line in the log', async () => {
    const { add, collect, log } = setUp(async () => {
      throw new TypeError('internal detail');
    });
    add('a', 'Do', { n: 1 });
    const [, end] = await collect();
    expect(JSON.stringify(end)).toContain('Do failed inside. Try another way.');
    expect(JSON.stringify(end)).not.toContain('internal detail');
    expect(log.lines[0]?.event).toBe('tool_failed');
  });

  it('abandons a tool that ignores its signal, at its timeout and not before', async () => {
    let seen: AbortSignal | undefined;
    const { add, collect, clock } = setUp((_input, signal) => {
      seen = signal;
      return new Promise(() => {});
    });
    add('a', 'Do', { n: 1 });
    const collected = collect();
    await clock.advance(4999);
    expect(seen?.aborted).toBe(false);
    await clock.advance(1);
    const events = await collected;
    expect(seen?.aborted).toBe(true);
    expect(JSON.stringify(events.at(-1))).toContain('did not end within 5 s');
  });

  it('cancels what runs and what waits when the run is stopped', async () => {
    const { add, collect, controller, clock } = setUp(() => new Promise(() => {}));
    add('a', 'Do', { n: 1 });
    add('b', 'Do', { n: 2 });
    const collected = collect();
    await clock.settle();
    controller.abort(new Error('stop'));
    expect(results(await collected)).toEqual(['a:cancelled', 'b:cancelled']);
  });

  it('starts nothing behind a call that suspends', async () => {
    const { add, collect } = setUp(async () => ({
      kind: 'suspend',
      suspension: { kind: 'questions', questions: [] },
    }));
    add('a', 'Do', { n: 1 });
    add('b', 'Do', { n: 2 });
    expect((await collect()).map(({ kind }) => kind)).toEqual(['started', 'suspended']);
  });
});
