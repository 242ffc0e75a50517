/** Faults of replies that other bots shipped, played on a reply. Rows of test/cases by their ids. */

import { describe, expect, it } from 'vitest';
import { endReply, type ReplyStage, readReply, setUpReply } from '../support/reply-stage.ts';

const minuteMs = 60_000;

async function say(stage: ReplyStage, ...pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    stage.text(piece);
    await stage.clock.advance(2000);
  }
}

function words(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index}`);
}

function read(stage: ReplyStage): readonly string[] {
  return stage.adapter.texts('t').join(' ').match(/\w+/gu) ?? [];
}

describe('B005: a streamed message that is full as a whole', () => {
  it('goes on in a further one: each word once, in order, and what was taken is not sent again', async () => {
    // The platform takes 3,000 units in a stream, the reply believes in 20,000.
    const stage = setUpReply({ streams: true, most: 20_000 });
    const all = words('w', 900);
    for (let at = 0; at < all.length; at += 60)
      await say(stage, `${all.slice(at, at + 60).join(' ')} `);
    const { length: shown } = stage.adapter.shown;
    await endReply(stage);
    expect(read(stage)).toEqual(all);
    expect(shown).toBeGreaterThan(1);
    expect(stage.adapter.calls.filter((call) => call === 'remove')).toEqual([]);
  });
});

describe('B014: an answer that nobody could see while it came', () => {
  it.each<[string, Parameters<typeof setUpReply>[0]]>([
    ['by edits', {}],
    ['in a stream', { streams: true }],
  ])('is posted once at the end (%s)', async (_how, given) => {
    const stage = setUpReply(given);
    // The platform takes nothing while the text comes.
    for (let nth = 1; nth <= 3; nth += 1) {
      stage.adapter.fail({ call: 'post', nth, code: 'surface_unavailable' });
      stage.adapter.fail({ call: 'stream_start', nth, code: 'surface_unavailable' });
    }
    stage.text('The answer is 42.');
    await stage.clock.settle();
    expect(readReply(stage.adapter)).toBe('');
    stage.reply.apply({ kind: 'step_finished', step: 1, text: 'The answer is 42.', goesOn: false });
    await endReply(stage);
    expect(readReply(stage.adapter)).toBe('The answer is 42.');
  });

  it('is posted once where only the work was shown', async () => {
    const stage = setUpReply();
    stage.reply.apply({ kind: 'tool_started', callId: 'c', activity: 'Searching' });
    await stage.clock.advance(5000);
    expect(readReply(stage.adapter)).toBe('_Searching_');
    stage.reply.apply({ kind: 'step_finished', step: 1, text: 'The answer is 42.', goesOn: false });
    await endReply(stage);
    expect(readReply(stage.adapter)).toBe('The answer is 42.');
  });
});

describe('B016: a message that takes no more edits', () => {
  it('is left, and the whole answer is delivered by fresh ones before the end is told', async () => {
    const stage = setUpReply();
    const all = words('w', 80);
    // From the twentieth edit on all edits of the first message are refused.
    for (let nth = 20; nth < 23; nth += 1) {
      stage.adapter.fail({ call: 'edit', nth, code: 'message_uneditable' });
    }
    for (const word of all) await say(stage, `${word} `);
    let isTold = false;
    const done = stage.reply.finish({ notices: ['Done.'] }).then((delivery) => {
      isTold = true;
      return delivery;
    });
    expect(isTold).toBe(false);
    await stage.clock.advance(minuteMs);
    expect(await done).toBe('delivered');
    expect(read(stage).slice(0, -1)).toEqual(all);
    expect(stage.adapter.shown.length).toBeGreaterThan(1);
    expect(stage.adapter.texts('t').at(-1)).toContain('Done.');
  });

  it('is not said to be delivered where nothing takes the rest', async () => {
    const stage = setUpReply();
    await say(stage, 'half ');
    stage.adapter.fail({ call: 'edit', nth: 1, code: 'message_uneditable' });
    for (let nth = 1; nth < 60; nth += 1) {
      stage.adapter.fail({ call: 'post', nth, code: 'surface_unavailable' });
    }
    stage.text('of it');
    const end = stage.reply.finish({}).then(
      () => 'delivered',
      () => 'failed',
    );
    await stage.clock.advance(20 * minuteMs);
    expect(await end).toBe('failed');
  });
});

describe('B017: a message that is older than an hour', () => {
  it('is edited once in vain, and the reply goes on in a new one', async () => {
    const stage = setUpReply();
    await say(stage, 'It begins. ');
    stage.adapter.fail({ call: 'edit', nth: 1, code: 'message_uneditable' });
    await say(stage, 'It goes on.');
    await endReply(stage);
    expect(stage.adapter.texts('t').map((text) => text.trim())).toEqual([
      'It begins.',
      'It goes on.',
    ]);
    expect(stage.adapter.calls).toEqual(['post', 'edit', 'post']);
  });

  it('is not edited at all where its age is known', async () => {
    const show = { activity: 'off', thinking: 'off' } as const;
    const stage = setUpReply({ options: { show } });
    await say(stage, 'It begins. ');
    await stage.clock.advance(61 * minuteMs);
    const edits = stage.adapter.calls.filter((call) => call === 'edit').length;
    await say(stage, 'It goes on.');
    await endReply(stage);
    expect(stage.adapter.calls.filter((call) => call === 'edit')).toHaveLength(edits);
    expect(read(stage).join(' ')).toContain('It goes on');
    expect(stage.adapter.shown).toHaveLength(2);
  });
});
