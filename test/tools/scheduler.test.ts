/** The calls of one step: each gets exactly one result, whatever the tool does, in whatever order. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sleep } from '../../src/base/clock.ts';
import type { ToolResult } from '../../src/messages/parts.ts';
import type { ToolContext, ToolOutcome } from '../../src/tools/contract.ts';
import { registerTool } from '../../src/tools/registry.ts';
import {
  createToolScheduler,
  type Permit,
  type SchedulerEvent,
} from '../../src/tools/scheduler.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';
import { plainScene } from '../support/tools.ts';

interface SetUpOptions {
  readonly invoke?: (n: number, context: ToolContext) => Promise<ToolOutcome>;
  readonly permit?: (callId: string) => Permit;
  readonly willStart?: (callId: string) => Promise<void>;
  readonly mostRunning?: number;
}

const run: Permit = { kind: 'run', isReadOnly: true };

/** `Safe` runs beside others, `Alone` does not. */
function setUp(options: SetUpOptions = {}) {
  const clock = createFakeClock(0);
  const log = createKeptLog();
  const controller = new AbortController();
  const events: SchedulerEvent[] = [];
  const starts: Record<string, number> = {};
  const ends: Record<string, number> = {};
  const begun: string[] = [];
  const toolOf = (name: string, concurrency: 'always' | 'never') =>
    registerTool({
      name,
      description: '',
      input: z.object({ n: z.number() }),
      category: 'core',
      concurrency,
      isReadOnly: true,
      needsApproval: false,
      describe: ({ n }: { n?: number }) => `Doing ${n}`,
      invoke: ({ n }, context) => (options.invoke ?? doneAtOnce)(n, context),
    });
  const scheduler = createToolScheduler(
    {
      clock,
      log,
      tools: [toolOf('Safe', 'always'), toolOf('Alone', 'never')],
      scene: plainScene,
      signal: controller.signal,
      runSignal: controller.signal,
      redact: (text) => text.replaceAll('s3cr3t', '[redacted]'),
      permit: async ({ callId }) => options.permit?.(callId) ?? run,
      willStart: async ({ callId }) => {
        begun.push(callId);
        await options.willStart?.(callId);
      },
      tell: (event) => {
        events.push(event);
        if (event.kind === 'started') starts[event.callId] = clock.now();
        if (event.kind === 'finished') ends[event.result.callId] = clock.now();
      },
    },
    { timeoutMs: 5000, mostRunning: options.mostRunning ?? 8 },
  );
  const add = (callId: string, name: string, input: unknown = { n: 1 }, inputError?: string) =>
    scheduler.add({ kind: 'tool_call', callId, name, input: input as never }, inputError);
  return { clock, log, controller, scheduler, add, events, starts, ends, begun };
}

const fine: ToolOutcome = { kind: 'done', parts: [{ kind: 'text', text: 'fine' }] };
const doneAtOnce = async (): Promise<ToolOutcome> => fine;
const never = (): Promise<ToolOutcome> => new Promise(() => {});

function told(results: readonly ToolResult[]): readonly string[] {
  return results.map(({ callId, outcome }) => `${callId}:${outcome}`);
}

describe('the scheduler', () => {
  it('gives one result to each call, in the model’s order', async () => {
    const { add, scheduler, events } = setUp();
    add('a', 'Alone');
    add('b', 'Nothing');
    add('c', 'Alone', { n: 'two' });
    add('d', 'Safe', {}, 'Unexpected end');
    scheduler.close();
    const { results, waiting } = await scheduler.ended;
    expect(told(results)).toEqual(['a:ok', 'b:error', 'c:error', 'd:error']);
    expect(waiting).toBeUndefined();
    expect(events.filter(({ kind }) => kind === 'started')).toEqual([
      { kind: 'started', callId: 'a', activity: 'Doing 1' },
    ]);
  });

  it('hands results over in the model’s order, whatever finishes first (B075)', async () => {
    const { add, scheduler, clock, ends } = setUp({
      invoke: async (n, { signal }) => {
        await sleep(clock, n, signal);
        return fine;
      },
    });
    add('A', 'Safe', { n: 300 });
    add('B', 'Safe', { n: 10 });
    scheduler.close();
    await clock.advance(300);
    expect(told((await scheduler.ended).results)).toEqual(['A:ok', 'B:ok']);
    expect(ends).toEqual({ A: 300, B: 10 });
  });

  it('keeps the order where the second is refused at once (B075)', async () => {
    const { add, scheduler, clock } = setUp({
      permit: (callId) => (callId === 'B' ? { kind: 'refuse', text: 'no' } : run),
      invoke: async (n, { signal }) => {
        await sleep(clock, n, signal);
        return fine;
      },
    });
    add('A', 'Safe', { n: 300 });
    add('B', 'Safe', { n: 10 });
    scheduler.close();
    await clock.advance(300);
    expect(told((await scheduler.ended).results)).toEqual(['A:ok', 'B:refused']);
  });

  it('turns a throw into an error result and a line in the log', async () => {
    const { add, scheduler, log } = setUp({
      invoke: async () => {
        throw new TypeError('internal detail');
      },
    });
    add('a', 'Alone');
    scheduler.close();
    const text = JSON.stringify((await scheduler.ended).results);
    expect(text).toContain('Alone failed inside. Try another way.');
    expect(text).not.toContain('internal detail');
    expect(log.lines[0]?.event).toBe('tool_failed');
  });
});

describe('the schedule', () => {
  /** Three calls complete at 0, 300 and 600 ms and take 500 ms each. */
  const play = async (names: readonly string[]) => {
    const world = setUp({
      invoke: async (_n, { signal }) => {
        await sleep(world.clock, 500, signal);
        return fine;
      },
    });
    const { add, scheduler, clock, starts, ends } = world;
    for (const [index, name] of names.entries()) {
      if (index > 0) await clock.advance(300);
      add(`c${index}`, name);
    }
    await clock.advance(200);
    scheduler.close();
    await clock.advance(5000);
    await scheduler.ended;
    return names.map((_, index) => [starts[`c${index}`], ends[`c${index}`]]);
  };

  /** The ideal: each as early as its completion and those before it allow. */
  const idealOf = (names: readonly string[]) => {
    const slots: { from: number; to: number; name: string }[] = [];
    for (const [index, name] of names.entries()) {
      const clashing = slots.filter((other) => name === 'Alone' || other.name === 'Alone');
      // None overtakes one before it, so it also waits for the start of that.
      const before = slots.at(-1)?.from ?? 0;
      const from = Math.max(index * 300, before, ...clashing.map(({ to }) => to));
      slots.push({ from, to: from + 500, name });
    }
    return slots.map(({ from, to }) => [from, to]);
  };

  it.each([
    [['Safe', 'Safe', 'Alone']],
    [['Alone', 'Safe', 'Safe']],
    [['Safe', 'Alone', 'Safe']],
    [['Safe', 'Safe', 'Safe']],
    [['Alone', 'Alone', 'Alone']],
  ])('equals the computed ideal: %j', async (names) => {
    expect(await play(names)).toEqual(idealOf(names));
  });

  it('is the one that people would compute by hand', () => {
    expect(idealOf(['Safe', 'Safe', 'Alone'])).toEqual([
      [0, 500],
      [300, 800],
      [800, 1300],
    ]);
    expect(idealOf(['Alone', 'Safe', 'Safe'])).toEqual([
      [0, 500],
      [500, 1000],
      [600, 1100],
    ]);
  });

  it('runs no more at a time than allowed', async () => {
    let running = 0;
    let most = 0;
    const { add, scheduler, clock } = setUp({
      mostRunning: 3,
      invoke: async (_n, { signal }) => {
        running += 1;
        most = Math.max(most, running);
        await sleep(clock, 100, signal);
        running -= 1;
        return fine;
      },
    });
    for (let index = 0; index < 10; index += 1) add(`c${index}`, 'Safe');
    scheduler.close();
    await clock.advance(400);
    expect((await scheduler.ended).results).toHaveLength(10);
    expect(most).toBe(3);
  });

  it('lets none overtake one that it may not run beside', async () => {
    const { add, scheduler, clock, starts } = setUp({
      invoke: async (n, { signal }) => {
        await sleep(clock, n, signal);
        return fine;
      },
    });
    add('long', 'Safe', { n: 1000 });
    add('alone', 'Alone', { n: 10 });
    add('safe', 'Safe', { n: 10 });
    scheduler.close();
    await clock.advance(2000);
    await scheduler.ended;
    expect(starts).toEqual({ long: 0, alone: 1000, safe: 1010 });
  });
});

describe('a call that must end', () => {
  it('is told at its timeout and not before, and abandoned when it ignores that', async () => {
    let seen: AbortSignal | undefined;
    const { add, scheduler, clock, log, ends } = setUp({
      invoke: (_n, { signal }) => {
        seen = signal;
        return never();
      },
    });
    add('a', 'Alone');
    scheduler.close();
    await clock.advance(4999);
    expect(seen?.aborted).toBe(false);
    await clock.advance(1);
    expect(seen?.aborted).toBe(true);
    await clock.advance(1999);
    expect(ends).toEqual({});
    await clock.advance(1);
    expect(JSON.stringify((await scheduler.ended).results)).toContain('did not end within 5 s');
    expect(log.lines.map(({ event }) => event)).toEqual(['tool_abandoned']);
  });

  it('ends without the wait when it obeys', async () => {
    const { add, scheduler, clock, ends, log } = setUp({
      invoke: async (_n, { signal }) => {
        await sleep(clock, 60_000, signal);
        return fine;
      },
    });
    add('a', 'Alone');
    scheduler.close();
    await clock.advance(5000);
    expect(ends).toEqual({ a: 5000 });
    expect(log.lines).toEqual([]);
    expect(told((await scheduler.ended).results)).toEqual(['a:error']);
  });

  it('is cancelled with what waits when the run is stopped', async () => {
    const { add, scheduler, controller, clock } = setUp({ invoke: never });
    add('a', 'Alone');
    add('b', 'Alone');
    await clock.settle();
    controller.abort(new Error('stop'));
    add('late', 'Safe');
    scheduler.close();
    await clock.advance(2000);
    expect(told((await scheduler.ended).results)).toEqual([
      'a:cancelled',
      'b:cancelled',
      'late:cancelled',
    ]);
  });

  it('has an unknown outcome when the stream breaks; what waits is dropped, what is done stays', async () => {
    const { add, scheduler, clock } = setUp({
      invoke: async (n, { signal }) => {
        await sleep(clock, n, signal);
        return fine;
      },
    });
    add('done', 'Safe', { n: 10 });
    add('runs', 'Safe', { n: 1000 });
    add('waits', 'Alone', { n: 10 });
    await clock.advance(100);
    scheduler.interrupt();
    await clock.settle();
    const { results } = await scheduler.ended;
    expect(told(results)).toEqual(['done:ok', 'runs:interrupted', 'waits:cancelled']);
    expect(JSON.stringify(results[1])).toContain('interrupted: outcome unknown');
  });

  it('keeps its result when it had come to its end in spite of the signal', async () => {
    const { add, scheduler, controller, clock } = setUp({
      invoke: async () => {
        await sleep(clock, 100);
        return fine;
      },
    });
    add('a', 'Alone');
    await clock.settle();
    controller.abort(new Error('stop'));
    scheduler.close();
    await clock.advance(100);
    expect(told((await scheduler.ended).results)).toEqual(['a:ok']);
  });
});

describe('a call that waits for people', () => {
  const ask = (callId: string): Permit => ({
    kind: 'ask',
    ask: {
      callId,
      tool: 'Alone',
      inputHash: callId,
      title: callId,
      preview: { language: 'json', text: '' },
      why: 'it may',
    },
  });

  it('lets nothing start behind it that may not run beside it', async () => {
    const { add, scheduler, starts } = setUp({
      permit: (callId) => (callId === 'asks' ? ask(callId) : run),
    });
    add('before', 'Safe');
    add('asks', 'Alone');
    add('behind', 'Safe');
    scheduler.close();
    const { results, waiting } = await scheduler.ended;
    expect(told(results)).toEqual(['before:ok']);
    expect(waiting?.callId).toBe('asks');
    expect(Object.keys(starts)).toEqual(['before']);
  });

  it('lets those run that may run beside it', async () => {
    const { add, scheduler } = setUp({
      permit: (callId) => (callId === 'asks' ? ask(callId) : run),
    });
    add('asks', 'Safe');
    add('behind', 'Safe');
    scheduler.close();
    expect(told((await scheduler.ended).results)).toEqual(['behind:ok']);
  });

  it('is asked for together with the others of the step', async () => {
    const { add, scheduler } = setUp({ permit: ask });
    add('one', 'Alone');
    add('two', 'Alone');
    scheduler.close();
    const { waiting } = await scheduler.ended;
    const asks = waiting?.suspension.kind === 'approvals' ? waiting.suspension.asks : [];
    expect(asks.map(({ callId }) => callId)).toEqual(['one', 'two']);
  });

  it('is cancelled by a stop', async () => {
    const { add, scheduler, controller, clock } = setUp({ permit: ask });
    add('one', 'Alone');
    await clock.settle();
    controller.abort(new Error('stop'));
    scheduler.close();
    const { results, waiting } = await scheduler.ended;
    expect(told(results)).toEqual(['one:cancelled']);
    expect(waiting).toBeUndefined();
  });

  it('suspends in the middle of its work, and those behind it wait', async () => {
    const { add, scheduler } = setUp({
      invoke: async () => ({ kind: 'suspend', suspension: { kind: 'questions', questions: [] } }),
    });
    add('a', 'Alone');
    add('b', 'Alone');
    scheduler.close();
    const { results, waiting } = await scheduler.ended;
    expect(results).toEqual([]);
    expect(waiting).toEqual({ callId: 'a', suspension: { kind: 'questions', questions: [] } });
  });
});

describe('a call that changes something', () => {
  const changing = (options: Pick<SetUpOptions, 'willStart'>) => {
    const ran: number[] = [];
    const made = setUp({
      ...options,
      permit: () => ({ kind: 'run', isReadOnly: false }),
      invoke: async (n) => {
        ran.push(n);
        return fine;
      },
    });
    return { ...made, ran };
  };

  it.each(['stop', 'break'] as const)(
    'does not start when a %s comes while its beginning is noted',
    async (what) => {
      let noted = (): void => {};
      const { add, scheduler, controller, ran, starts, clock } = changing({
        willStart: () => new Promise((resolve) => (noted = resolve)),
      });
      add('a', 'Alone');
      await clock.settle();
      if (what === 'stop') controller.abort(new Error('stop'));
      else scheduler.interrupt();
      noted();
      scheduler.close();
      const { results } = await scheduler.ended;
      expect(ran).toEqual([]);
      expect(starts).toEqual({});
      expect(told(results)).toEqual(['a:cancelled']);
      expect(JSON.stringify(results)).toContain('before it started');
    },
  );

  it('is not run when its beginning cannot be noted; the others keep their results', async () => {
    const { add, scheduler, ran, log } = changing({
      willStart: async (callId) => {
        if (callId === 'b') throw new Error('the store is full');
      },
    });
    for (const callId of ['a', 'b', 'c']) add(callId, 'Alone');
    scheduler.close();
    const { results } = await scheduler.ended;
    expect(told(results)).toEqual(['a:ok', 'b:error', 'c:ok']);
    expect(ran).toHaveLength(2);
    expect(log.lines.map(({ event }) => event)).toContain('call_not_started');
  });

  it('is judged anew when another ran before it: what it would do may have changed', async () => {
    let moved = false;
    const { add, scheduler } = setUp({
      invoke: async (n) => {
        moved ||= n === 1;
        return fine;
      },
      permit: () => (moved ? { kind: 'refuse', text: 'the folder is another one' } : run),
    });
    add('a', 'Alone', { n: 1 });
    add('b', 'Alone', { n: 2 });
    scheduler.close();
    expect(told((await scheduler.ended).results)).toEqual(['a:ok', 'b:refused']);
  });

  it('is not run when it cannot be judged', async () => {
    const { add, scheduler } = setUp({
      permit: (callId) => {
        if (callId === 'a') throw new Error('no access');
        return run;
      },
    });
    add('a', 'Alone');
    add('b', 'Alone');
    scheduler.close();
    expect(told((await scheduler.ended).results)).toEqual(['a:error', 'b:ok']);
  });

  it('is announced before it starts; one that only reads is not', async () => {
    const { add, scheduler, begun } = setUp({
      permit: (callId) => ({ kind: 'run', isReadOnly: callId === 'reads' }),
    });
    add('reads', 'Safe');
    add('writes', 'Alone');
    scheduler.close();
    await scheduler.ended;
    expect(begun).toEqual(['writes']);
  });
});

describe('what a tool says', () => {
  it('reaches the model without secrets', async () => {
    const { add, scheduler } = setUp({
      invoke: async () => ({ kind: 'done', parts: [{ kind: 'text', text: 'the key is s3cr3t' }] }),
    });
    add('a', 'Alone');
    scheduler.close();
    expect(JSON.stringify((await scheduler.ended).results)).toContain('the key is [redacted]');
  });

  it('keeps no half of a secret where it is cut', async () => {
    const longSecret = 's3cr3t'.repeat(6000);
    const { add, scheduler } = setUp({
      invoke: async () => ({ kind: 'done', parts: [{ kind: 'text', text: longSecret }] }),
    });
    add('a', 'Alone');
    scheduler.close();
    const said = JSON.stringify((await scheduler.ended).results).replaceAll('[redacted]', '');
    expect(said).not.toMatch(/s3c|r3t/u);
  });
});

describe('what a tool tells', () => {
  it('is told while it runs, and not after its end', async () => {
    let late: (line: string) => void = () => {};
    const { add, scheduler, events } = setUp({
      invoke: async (_n, context) => {
        context.progress('half');
        context.checklist([{ text: 'one', state: 'running' }]);
        context.sources([{ url: 'https://example.org/', title: 'Example' }]);
        late = (line) => context.progress(line);
        return fine;
      },
    });
    add('a', 'Alone');
    scheduler.close();
    await scheduler.ended;
    late('too late');
    expect(events.map(({ kind }) => kind)).toEqual([
      'started',
      'progress',
      'checklist',
      'sources',
      'finished',
    ]);
  });
});
