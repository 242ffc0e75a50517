/** A call ends by itself, by its time or when told; what does not is abandoned. */

import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { type CallEnd, callBounded, graceMs } from '../../src/tools/bounded-call.ts';
import type { ToolContext, ToolOutcome } from '../../src/tools/contract.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';
import { plainContext, plainTool } from '../support/tools.ts';

const done: ToolOutcome = { kind: 'done', parts: [{ kind: 'text', text: 'ok' }] };
const timeoutMs = 1000;

function setUp(invoke: (context: ToolContext) => Promise<ToolOutcome>) {
  const clock = createFakeClock();
  const log = createKeptLog();
  const stop = new AbortController();
  const tool = plainTool({ name: 'Slow', invoke: async (_raw, context) => invoke(context) });
  let end: CallEnd | undefined;
  const start = (): void => {
    const context = plainContext({ signal: stop.signal });
    void callBounded({ clock, log }, tool, {}, context, timeoutMs).then((how) => {
      end = how;
    });
  };
  return {
    clock,
    log,
    stop: () => stop.abort(new BotError('stopped', 'Stopped.')),
    start,
    end: () => end,
    events: () => log.lines.map(({ event }) => event),
  };
}

/** Ends when it is told to, with this outcome. */
const obeying =
  (outcome: ToolOutcome) =>
  ({ signal }: ToolContext): Promise<ToolOutcome> =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(outcome), { once: true });
    });
const deaf = (): Promise<ToolOutcome> => new Promise(() => {});

describe('a bounded call', () => {
  it.each<[string, ToolOutcome]>([
    ['done', done],
    ['an error', { kind: 'error', text: 'no' }],
    ['silence', { kind: 'silence', reason: 'x' }],
    ['a wait', { kind: 'suspend', suspension: { kind: 'wait', untilMs: 1 } }],
  ])('that ends by itself gives %s, and leaves no timer', async (_what, outcome) => {
    const stage = setUp(async () => outcome);
    stage.start();
    await stage.clock.settle();
    expect(stage.end()).toEqual(outcome);
    expect(stage.clock.pending).toBe(0);
    expect(stage.events()).toEqual([]);
  });

  it('is told to stop at its time, and not before', async () => {
    const stage = setUp(obeying({ kind: 'error', text: 'cut short' }));
    stage.start();
    await stage.clock.advance(timeoutMs - 1);
    expect(stage.end()).toBeUndefined();
    await stage.clock.advance(1);
    expect(stage.end()).toEqual({ kind: 'timed_out', afterMs: timeoutMs });
    expect(stage.clock.pending).toBe(0);
  });

  it('is told why: its time was over', async () => {
    let reason: unknown;
    const stage = setUp(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(new Error('aborted'));
          });
        }),
    );
    stage.start();
    await stage.clock.advance(timeoutMs);
    expect(reason).toMatchObject({ code: 'tool_failed' });
    expect(stage.end()).toEqual({ kind: 'timed_out', afterMs: timeoutMs });
    expect(stage.events()).toEqual([]);
  });

  it.each<[string, ToolOutcome, CallEnd]>([
    ['what was done is real', done, done],
    ['an error is its stop', { kind: 'error', text: 'x' }, { kind: 'told_to_stop', settled: true }],
    [
      'silence does not count',
      { kind: 'silence', reason: 'x' },
      {
        kind: 'told_to_stop',
        settled: true,
      },
    ],
    [
      'a wait does not count',
      { kind: 'suspend', suspension: { kind: 'wait', untilMs: 1 } },
      { kind: 'told_to_stop', settled: true },
    ],
  ])('that is stopped: %s', async (_what, outcome, expected) => {
    const stage = setUp(obeying(outcome));
    stage.start();
    await stage.clock.settle();
    stage.stop();
    await stage.clock.settle();
    expect(stage.end()).toEqual(expected);
    expect(stage.clock.pending).toBe(0);
  });

  it('that does not hear is abandoned after 2 s, and reported', async () => {
    const stage = setUp(deaf);
    stage.start();
    await stage.clock.settle();
    stage.stop();
    await stage.clock.advance(graceMs - 1);
    expect(stage.end()).toBeUndefined();
    expect(stage.events()).toEqual([]);
    await stage.clock.advance(1);
    expect(stage.end()).toEqual({ kind: 'told_to_stop', settled: false });
    expect(stage.events()).toEqual(['tool_abandoned']);
    expect(stage.clock.pending).toBe(0);
  });

  it.each([timeoutMs - 1, timeoutMs - graceMs / 4])(
    'that is stopped %d ms after its start was stopped, though its time ends in its grace',
    async (afterMs) => {
      const stage = setUp(deaf);
      stage.start();
      await stage.clock.advance(afterMs);
      stage.stop();
      await stage.clock.advance(graceMs);
      expect(stage.end()).toEqual({ kind: 'told_to_stop', settled: false });
    },
  );

  it('that does not hear its time is abandoned as well', async () => {
    const stage = setUp(deaf);
    stage.start();
    await stage.clock.advance(timeoutMs + graceMs);
    expect(stage.end()).toEqual({ kind: 'timed_out', afterMs: timeoutMs });
    expect(stage.events()).toEqual(['tool_abandoned']);
  });

  it('that is stopped before it starts ends at the latest after 2 s', async () => {
    const stage = setUp(deaf);
    stage.stop();
    stage.start();
    await stage.clock.advance(graceMs);
    expect(stage.end()).toEqual({ kind: 'told_to_stop', settled: false });
  });

  it.each<[string, unknown, string, readonly string[]]>([
    [
      'an unexpected error',
      new TypeError('x of undefined'),
      'Slow failed inside. Try another way.',
      ['tool_failed'],
    ],
    ['something that is no error', 'oops', 'Slow failed inside. Try another way.', ['tool_failed']],
    [
      'an expected one',
      new BotError('tool_failed', 'There is no such branch.'),
      'There is no such branch.',
      ['tool_failed'],
    ],
  ])('that throws %s becomes words for the model', async (_what, thrown, text, events) => {
    const stage = setUp(async () => {
      throw thrown;
    });
    stage.start();
    await stage.clock.settle();
    expect(stage.end()).toEqual({ kind: 'error', text });
    expect(stage.events()).toEqual(events);
  });
});
