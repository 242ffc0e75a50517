/** The heartbeat lock: refusal of a second owner, and takeover of what was left behind. */

import { describe, expect, it } from 'vitest';
import { createLock, type HeldLock } from '../../src/storage/lock.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import type { Processes, ProcessIdentity } from '../../src/storage/process-identity.ts';
import type { Store } from '../../src/storage/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

const key = 'lock:process';
const ttlMs = 10_000;

const setUp = () => {
  const clock = createFakeClock(Date.parse('2026-01-02T03:04:05Z'));
  const log = createKeptLog();
  const store = createMemoryStore({ clock, log });
  const idleTimers = clock.pending;
  const states = new Map<number, ReturnType<Processes['stateOf']>>();
  const identityOf = (pid: number): ProcessIdentity => ({
    pid,
    host: 'box',
    machine: 'm',
    started: `${pid}`,
  });
  /** A process with its own way to the store, which a test may cut. */
  const start = (pid: number, through: Store = store) => {
    const processes: Processes = {
      self: identityOf(pid),
      stateOf: (identity) => states.get(identity.pid) ?? 'unknown',
    };
    const lock = createLock({ store: through, clock, log, processes });
    return (signal?: AbortSignal) =>
      lock.acquire(key, { ttlMs, owner: `owner-${pid}`, ...(signal ? { signal } : {}) });
  };
  /** Lets a process hold the lock and then die without a word: its heartbeat stops. */
  const leaveBehind = async (pid: number) => {
    const cut = { ...store, get: () => new Promise<never>(() => undefined) };
    await start(pid, cut)();
  };
  const outcomeOf = (acquiring: Promise<HeldLock>) => {
    const outcome: { held?: HeldLock; error?: unknown } = {};
    acquiring.then(
      (held) => {
        outcome.held = held;
      },
      (error: unknown) => {
        outcome.error = error;
      },
    );
    return outcome;
  };
  return { clock, log, store, states, start, leaveBehind, outcomeOf, idleTimers };
};

describe('the lock', () => {
  it('is held at once where nobody holds it, and again after its release', async () => {
    const { start, clock, idleTimers } = setUp();
    const first = await start(1)();
    await first.release();
    await first.release();
    expect(clock.pending).toBe(idleTimers);
    const second = await start(2)();
    expect(second.lost.aborted).toBe(false);
    await second.release();
  });

  it('refuses a second owner at once when the first is known to run', async () => {
    const { start, states } = setUp();
    states.set(1, 'running');
    await start(1)();
    await expect(start(2)()).rejects.toMatchObject({
      code: 'store_locked',
      message:
        'The store is in use by another process (pid 1 on box, since 2026-01-02T03:04:05.000Z). Stop that one first, or give this one a store of its own.',
      facts: { pid: 1, host: 'box', since: '2026-01-02T03:04:05.000Z' },
    });
  });

  it('refuses a second owner as soon as the heart of the first, elsewhere, beats', async () => {
    const { start, clock, outcomeOf } = setUp();
    const first = await start(1)();
    const outcome = outcomeOf(start(2)());
    await clock.advance(2_400);
    expect(outcome).toEqual({});
    await clock.advance(600);
    expect(outcome.error).toMatchObject({ code: 'store_locked' });
    expect(first.lost.aborted).toBe(false);
  });

  it('stays with its owner for hours', async () => {
    const { start, clock, states } = setUp();
    states.set(1, 'running');
    const first = await start(1)();
    await clock.advance(3_600_000);
    await expect(start(2)()).rejects.toMatchObject({ code: 'store_locked' });
    expect(first.lost.aborted).toBe(false);
  });

  it('is taken over at once from a process that is gone', async () => {
    const { start, states, log, leaveBehind } = setUp();
    await leaveBehind(1);
    states.set(1, 'gone');
    const second = await start(2)();
    expect(second.lost.aborted).toBe(false);
    expect(log.lines.map(({ event }) => event)).toContain('store_lock_taken_over');
  });

  it('is taken over from a gone process by exactly one of many', async () => {
    const { start, states, clock, leaveBehind, outcomeOf } = setUp();
    await leaveBehind(1);
    states.set(1, 'gone');
    for (const pid of [2, 3, 4, 5, 6]) states.set(pid, 'running');
    const outcomes = [2, 3, 4, 5, 6].map((pid) => outcomeOf(start(pid)()));
    await clock.advance(ttlMs);
    expect(outcomes.filter(({ held }) => held)).toHaveLength(1);
    expect(outcomes.filter(({ error }) => error)).toHaveLength(4);
    expect(outcomes.some(({ held }) => held?.lost.aborted)).toBe(false);
  });

  it('is taken over after one life from a silent owner of unknown state, saying why it waits', async () => {
    const { start, clock, log, leaveBehind, outcomeOf } = setUp();
    await leaveBehind(1);
    const outcome = outcomeOf(start(2)());
    await clock.advance(ttlMs - 1);
    expect(outcome).toEqual({});
    const waits = log.lines.filter(({ event }) => event === 'store_lock_waiting');
    const reason: unknown = expect.stringContaining('waiting for its heartbeat to stop');
    expect(waits).toEqual([
      {
        level: 'warn',
        event: 'store_lock_waiting',
        facts: {
          reason,
          pid: 1,
          host: 'box',
          mostMs: ttlMs,
          since: '2026-01-02T03:04:05.000Z',
        },
      },
    ]);
    await clock.advance(ttlMs / 20);
    expect(outcome.held?.lost.aborted).toBe(false);
  });

  it('stops waiting when it is told to', async () => {
    const { start, clock, leaveBehind, outcomeOf, idleTimers } = setUp();
    await leaveBehind(1);
    const controller = new AbortController();
    const before = clock.pending;
    const outcome = outcomeOf(start(2)(controller.signal));
    await clock.settle();
    expect(clock.pending).toBe(before + 1);
    controller.abort();
    await clock.settle();
    expect(outcome.error).toMatchObject({ code: 'stopped' });
    expect(clock.pending).toBe(before);
    expect(before).toBeGreaterThan(idleTimers);
  });

  it('tells its owner when another has taken it', async () => {
    const { start, store, clock, log } = setUp();
    const first = await start(1)();
    await store.delete(key);
    const second = await start(2)();
    await clock.advance(ttlMs / 4);
    expect(first.lost.aborted).toBe(true);
    expect(first.lost.reason).toMatchObject({ code: 'store_locked' });
    expect(second.lost.aborted).toBe(false);
    expect(log.lines.map(({ event }) => event)).toContain('store_lock_lost');
    await first.release();
    expect(await store.get(key)).toMatchObject({ owner: 'owner-2' });
    expect(second.lost.aborted).toBe(false);
  });

  it('is kept by an owner whose store was away longer than its life, if nobody took it', async () => {
    const { start, store, clock } = setUp();
    let away = false;
    const failing = <T>(run: () => Promise<T>) =>
      away ? Promise.reject(new Error('away')) : run();
    const shaky: Store = {
      ...store,
      get: (at) => failing(() => store.get(at)),
      set: (at, value, options) => failing(() => store.set(at, value, options)),
      claim: (at, value, options) => failing(() => store.claim(at, value, options)),
    };
    const first = await start(1, shaky)();
    away = true;
    await clock.advance(3 * ttlMs);
    expect(first.lost.aborted).toBe(false);
    away = false;
    await clock.advance(ttlMs / 4);
    expect(first.lost.aborted).toBe(false);
    expect(await store.get(key)).toMatchObject({ owner: 'owner-1' });
  });

  it('is lost to an owner whose store was away longer than its life, if another took it', async () => {
    const { start, store, clock } = setUp();
    let away = false;
    const failing = <T>(run: () => Promise<T>) =>
      away ? Promise.reject(new Error('away')) : run();
    const shaky: Store = {
      ...store,
      get: (at) => failing(() => store.get(at)),
      claim: (at, value, options) => failing(() => store.claim(at, value, options)),
    };
    const first = await start(1, shaky)();
    away = true;
    await clock.advance(ttlMs);
    const second = await start(2)();
    away = false;
    await clock.advance(ttlMs / 4);
    expect(first.lost.aborted).toBe(true);
    expect(second.lost.aborted).toBe(false);
  });
});
