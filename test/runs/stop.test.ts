/** Stop is final, wherever it meets a run: before it begins, in it, at its question, over a crash. */

import { describe, expect, it } from 'vitest';
import { inThread, usingWorlds } from '../support/world.ts';

const setUp = usingWorlds();

const question = { question: 'Go?', header: 'Go', options: [{ label: 'Yes' }, { label: 'No' }] };

describe('stop', () => {
  it('holds for a run that waits for room', async () => {
    const world = await setUp({ concurrency: 1 });
    world.model.answer({ text: 'Long' }, { waitMs: 60_000 });
    await world.say('first');
    await world.clock.advance(1000);
    await world.say('second', { messageId: 'u9' });
    await world.clock.advance(1000);
    await world.say('!stop', inThread('u9'));
    await world.clock.advance(1000);
    expect(world.adapter.whispers.at(-1)?.text).toBe('Stopping.');
    await world.say('!stop', inThread('u1'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u9')).toEqual(['> Stopped by Anna.\n[Continue]']);
    expect(world.model.requests).toHaveLength(1);
    await world.say('and now?', inThread('u9'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u9').at(-1)).toBe('ok');
  });

  it('holds while the history is read', async () => {
    const world = await setUp();
    let release = (): void => {};
    const before = { ...world.adapter };
    world.adapter.surfaceOf = (conversation) => ({
      ...before.surfaceOf(conversation),
      history: () =>
        new Promise((resolve) => {
          release = () => resolve([]);
        }),
    });
    world.restart();
    await world.say('help', { ...inThread('old'), mentionsBot: true });
    await world.clock.advance(1000);
    await world.say('!stop', inThread('old'));
    release();
    await world.clock.advance(5000);
    expect(world.adapter.texts('old')).toEqual(['> Stopped by Anna.\n[Continue]']);
    expect(world.model.requests).toEqual([]);
  });

  it('holds while the card of a question is on its way', async () => {
    const world = await setUp();
    world.model.answer(
      { text: 'First.' },
      { call: 'AskUserQuestion', input: { questions: [question] } },
    );
    world.adapter.fail({ call: 'post', nth: 2, code: 'rate_limited', retryAfterMs: 10_000 });
    await world.say('go');
    await world.clock.advance(2000);
    await world.say('!stop', inThread('u1'));
    await world.clock.advance(30_000);
    expect(world.adapter.texts('u1').join('|')).not.toContain('[1. Yes]');
    expect(world.adapter.texts('u1').at(-1)).toBe('> Stopped by Anna.\n[Continue]');
    expect(world.model.requests).toHaveLength(1);
  });

  it('holds over a crash right after it', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Part' }, { waitMs: 60_000 }, { text: ' never' });
    await world.say('go');
    await world.clock.advance(1000);
    const { calls } = world.life;
    // The process dies as soon as the stop is stored.
    world.life.dieAt = { call: calls + 2, when: 'after' };
    await Promise.race([world.say('!stop', inThread('u1')), world.clock.advance(2000)]);
    await world.clock.advance(2000);
    expect(world.life.isDead).toBe(true);
    world.restart();
    await world.clock.advance(10_000);
    expect(world.model.requests).toHaveLength(1);
    expect(world.adapter.texts('u1')[0]).toContain('Stopped by Anna.');
  });

  it('said before a message does not hold for it', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Part' }, { waitMs: 60_000 });
    await world.say('go');
    await world.clock.advance(1000);
    await world.say('!stop', inThread('u1'));
    await world.clock.advance(10);
    await world.say('another thing', inThread('u1'));
    await world.clock.advance(10_000);
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
  });
});

describe('a stop of the process', () => {
  it('ends a run that begins after its time is over', async () => {
    const world = await setUp({ concurrency: 1 });
    world.model.answer({ text: 'One' }, { waitMs: 60_000 });
    world.model.answer({ text: 'Two' }, { waitMs: 60_000 });
    await world.say('one');
    await world.say('two', { messageId: 'u9' });
    await world.clock.advance(500);
    let ended = false;
    const stopped = world.runs.stop().then(() => {
      ended = true;
    });
    await world.clock.advance(6000);
    expect(ended).toBe(true);
    await stopped;
  });

  it('does not wait for a platform that asked for half a minute', async () => {
    const world = await setUp();
    world.adapter.fail({ call: 'post', nth: 1, code: 'rate_limited', retryAfterMs: 30_000 });
    await world.say('hello');
    await world.clock.advance(500);
    let ended = false;
    void world.runs.stop().then(() => {
      ended = true;
    });
    await world.clock.advance(4500);
    expect(ended).toBe(true);
    world.restart();
    await world.clock.advance(40_000);
    expect(world.adapter.texts('u1')).toEqual(['ok']);
  });
});
