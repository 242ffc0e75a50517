/** The budget of a platform account, shared by all live replies. */

import { describe, expect, it } from 'vitest';
import { createPacer, type Pacer, type Wish } from '../../../src/render/pacing/pacer.ts';
import type { CallBudget } from '../../../src/surface/calls.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';

const slackEdits: CallBudget = {
  ...{ calls: ['edit'], per: 'space', most: 40, windowMs: 60_000, burst: 10, kept: 2 },
};
const discordEdits: CallBudget = {
  ...{ calls: ['edit'], per: 'thread', most: 5, windowMs: 5000, burst: 5, kept: 1 },
};

interface Stage {
  readonly clock: FakeClock;
  readonly pacer: Pacer;
  /** Who was served, and when. */
  readonly served: string[];
  readonly ask: (name: string, wish?: Partial<Wish>, thread?: string) => void;
}

function setUp(...plans: readonly CallBudget[]): Stage {
  const clock = createFakeClock();
  const begin = clock.now();
  const pacer = createPacer({ clock }, plans);
  const served: string[] = [];
  return {
    clock,
    pacer,
    served,
    ask: (name, wish = {}, thread = 't') => {
      const conversation = { adapter: 'slack', space: 's', channel: 'c', thread };
      void pacer
        .slot({ kind: 'edit', urgency: 'progress', conversation, ...wish })
        .then(() => served.push(`${name}@${clock.now() - begin}`));
    },
  };
}

const place = { adapter: 'slack', space: 's', channel: 'c', thread: 't' };

describe('the pacer', () => {
  it('never lets more calls through than the platform takes in any minute', async () => {
    const { clock, ask, served } = setUp(slackEdits);
    for (let index = 0; index < 400; index += 1) {
      ask(`p${index}`, { urgency: index % 7 === 0 ? 'end' : 'progress' });
    }
    await clock.advance(8 * 60_000);
    const times = served.map((one) => Number(one.split('@')[1]));
    expect(times.length).toBeGreaterThan(300);
    for (const from of times) {
      const inMinute = times.filter((at) => at >= from && at < from + 60_000).length;
      expect(inMinute, `from ${from}`).toBeLessThanOrEqual(50);
    }
  });

  it('spends a burst bit by bit, and leaves some of it to ends', async () => {
    const { clock, ask, served } = setUp(slackEdits);
    for (let index = 0; index < 30; index += 1) ask(`p${index}`);
    await clock.advance(3000);
    // Four calls in three seconds: more than comes back, less than the burst.
    expect(served.length).toBeGreaterThanOrEqual(4);
    expect(served.length).toBeLessThanOrEqual(7);
    await clock.advance(20_000);
    for (const name of ['e1', 'e2']) ask(name, { urgency: 'end' });
    const before = served.length;
    await clock.settle();
    expect(served.slice(before).map((one) => one.split('@')[0])).toEqual(['e1', 'e2']);
  });

  it('serves ends first, then first texts, then what waited longest, weighted by its length', async () => {
    const { clock, ask, served } = setUp({ ...slackEdits, burst: 3, kept: 2 });
    const now = clock.now();
    const unseen = (waitedMs: number, length: number) => () => ({ since: now - waitedMs, length });
    ask('burst', { urgency: 'end' });
    ask('burst', { urgency: 'end' });
    ask('burst', { urgency: 'end' });
    await clock.settle();
    served.length = 0;
    ask('short', { unseen: unseen(5000, 10) });
    ask('long', { unseen: unseen(4000, 2000) });
    ask('old', { unseen: unseen(30_000, 10) });
    ask('first', { urgency: 'first' });
    ask('end', { urgency: 'end' });
    await clock.advance(60_000);
    expect(served.map((one) => one.split('@')[0])).toEqual([
      'end',
      'first',
      'old',
      'long',
      'short',
    ]);
  });

  it('is closed by a 429 until its time has passed, for that scope alone', async () => {
    const { clock, pacer, ask, served } = setUp({ ...slackEdits, per: 'thread' });
    pacer.refuse({ kind: 'edit', conversation: place }, { retryAfterMs: 3000, isGlobal: false });
    ask('a', { urgency: 'end' });
    ask('b', { urgency: 'end' }, 'other');
    await clock.advance(2999);
    expect(served).toEqual(['b@0']);
    await clock.advance(1);
    expect(served).toEqual(['b@0', 'a@3000']);
  });

  it('is closed as a whole by a 429 that is about the account', async () => {
    const account: CallBudget = {
      ...{ calls: ['edit', 'post'], per: 'account', most: 50, windowMs: 1000, burst: 50, kept: 5 },
    };
    const { clock, pacer, ask, served } = setUp(discordEdits, account);
    pacer.refuse({ kind: 'edit', conversation: place }, { retryAfterMs: 2000, isGlobal: true });
    ask('b', { urgency: 'end' }, 'other');
    await clock.advance(1999);
    expect(served).toEqual([]);
    await clock.advance(1);
    expect(served).toEqual(['b@2000']);
  });

  it('learns from a 429: it plans fewer calls for some minutes', async () => {
    const count = async (isRefused: boolean): Promise<number> => {
      const { clock, pacer, ask, served } = setUp(slackEdits);
      for (let index = 0; index < 100; index += 1) ask(`p${index}`);
      if (isRefused) {
        const refusal = { retryAfterMs: 1000, isGlobal: false };
        pacer.refuse({ kind: 'edit', conversation: place }, refusal);
      }
      await clock.advance(60_000);
      return served.length;
    };
    expect(await count(true)).toBeLessThan((await count(false)) * 0.8);
  });

  it('believes the windows that a platform tells, and spreads its calls over them', async () => {
    const { clock, pacer, ask, served } = setUp(discordEdits);
    // Another process has used the window up.
    pacer.learn(
      { kind: 'edit', conversation: place },
      { limit: 5, remaining: 0, resetAfterMs: 4000 },
    );
    ask('end', { urgency: 'end' });
    await clock.advance(3999);
    expect(served).toEqual([]);
    await clock.advance(1);
    expect(served).toEqual(['end@4000']);
    pacer.learn(
      { kind: 'edit', conversation: place },
      { limit: 5, remaining: 4, resetAfterMs: 5000 },
    );
    for (const name of ['p1', 'p2', 'p3', 'p4']) ask(name);
    await clock.advance(4800);
    // The fourth is kept for an end, until the window is all but over.
    expect(served.slice(1).map((one) => one.split('@')[0])).toEqual(['p1', 'p2', 'p3']);
    ask('end', { urgency: 'end' });
    await clock.settle();
    expect(served.at(-1)).toBe('end@8800');
  });

  it('gives a slot back that is not used, and forgets who does not wait any more', async () => {
    const { clock, pacer } = setUp({ ...discordEdits, most: 1, burst: 1, kept: 0 });
    const wish = { kind: 'edit', urgency: 'end', conversation: place } as const;
    const slot = await pacer.slot(wish);
    const gone = new AbortController();
    const left = pacer.slot(wish, gone.signal).catch((thrown: unknown) => thrown);
    gone.abort(new Error('gone'));
    expect(await left).toMatchObject({ code: 'stopped' });
    let isServed = false;
    void pacer.slot(wish).then(() => {
      isServed = true;
    });
    await clock.settle();
    expect(isServed).toBe(false);
    slot.giveBack();
    await clock.settle();
    expect(isServed).toBe(true);
  });

  it('keeps no timer for who does not wait any more', async () => {
    const { clock, pacer } = setUp(discordEdits);
    pacer.refuse({ kind: 'edit', conversation: place }, { retryAfterMs: 600_000, isGlobal: false });
    const gone = new AbortController();
    const left = pacer
      .slot({ kind: 'edit', urgency: 'end', conversation: place }, gone.signal)
      .catch(() => {});
    expect(clock.pending).toBe(1);
    gone.abort(new Error('gone'));
    await left;
    expect(clock.pending).toBe(0);
  });

  it('remembers what counts of a thread, however many others there are', async () => {
    const { clock, pacer, ask, served } = setUp(discordEdits);
    pacer.refuse({ kind: 'edit', conversation: place }, { retryAfterMs: 60_000, isGlobal: false });
    ask('waits', { urgency: 'end' });
    for (let index = 0; index < 2000; index += 1) ask('other', { urgency: 'end' }, `t${index}`);
    await clock.advance(59_999);
    expect(served).not.toContain('waits@60000');
    expect(served).toHaveLength(2000);
    await clock.advance(1);
    expect(served.at(-1)).toBe('waits@60000');
  });
});
