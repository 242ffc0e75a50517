/** A reply on a platform with streaming of its own: appended, never lost, never twice. */

import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/messages/run-event.ts';
import type { Fault } from '../support/fake-adapter.ts';
import { endReply, type ReplyStage, readReply, setUpReply } from '../support/reply-stage.ts';

const started: RunEvent = { kind: 'tool_started', callId: 'c1', activity: 'Searching logs/' };
const finished: RunEvent = { kind: 'tool_finished', callId: 'c1', outcome: 'ok' };

async function say(stage: ReplyStage, ...pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    stage.text(piece);
    await stage.clock.advance(2000);
  }
}

describe('a reply that streams', () => {
  it('starts with the first words, appends what is new, and stops with its notices', async () => {
    const stage = setUpReply({ streams: true });
    await say(stage, 'The build ', 'is green. ', 'All of it.');
    await endReply(stage, 'Done.');
    expect(stage.adapter.calls).toEqual([
      'stream_start',
      'stream_append',
      'stream_append',
      'stream_stop',
    ]);
    expect(readReply(stage.adapter)).toBe('The build is green. All of it.\n> Done.');
    expect(stage.pages.pages).toMatchObject([{ key: 'r.1.1' }]);
    expect(stage.pages.pages[0]).not.toHaveProperty('streams');
  });

  it('shows tools and the checklist as tasks, and nothing of them twice', async () => {
    const stage = setUpReply({ streams: true });
    stage.reply.apply(started);
    stage.reply.apply({ kind: 'checklist', items: [{ text: 'Look', state: 'running' }] });
    await say(stage, 'I look. ');
    const { messageId = '' } = stage.adapter.shown[0] ?? {};
    expect(stage.adapter.streams.tasks(messageId)).toEqual([
      'running: Look',
      'running: Searching logs/',
    ]);
    stage.reply.apply(finished);
    stage.reply.apply({ kind: 'checklist', items: [{ text: 'Look', state: 'done' }] });
    await stage.clock.advance(2000);
    expect(stage.adapter.streams.tasks(messageId)).toEqual(['done: Look', 'done: Searching logs/']);
    expect(readReply(stage.adapter)).toBe('I look.');
    await endReply(stage);
    expect(readReply(stage.adapter)).toContain('I look.');
  });

  it('is posted at once where it is whole before a stream began', async () => {
    const stage = setUpReply({ streams: true, steps: ['All at once.'] });
    await endReply(stage);
    expect(stage.adapter.calls).toEqual(['post']);
  });

  it('is posted where it begins within something that stays open', async () => {
    const stage = setUpReply({ streams: true });
    stage.text('| a | b |\n|---|---|\n| 1 |');
    await stage.clock.advance(399);
    expect(stage.adapter.calls).toEqual([]);
    await stage.clock.advance(1);
    expect(stage.adapter.calls).toEqual(['post']);
    stage.text(' 2 |\n\nThat is all.');
    await endReply(stage);
    expect(readReply(stage.adapter)).toBe('| a | b |\n|---|---|\n| 1 | 2 |\n\nThat is all.');
  });

  it('goes on by posts and edits after the first refusal, and loses nothing', async () => {
    const stage = setUpReply({ streams: true });
    stage.adapter.fail({ call: 'stream_start', nth: 1, code: 'stream_unavailable' });
    await say(stage, 'one ', 'two ', 'three');
    await endReply(stage);
    expect(stage.adapter.calls).toEqual(['stream_start', 'post', 'edit', 'edit']);
    expect(readReply(stage.adapter)).toBe('one two three');
  });

  it('goes over to a further message before it is 4 minutes old, in the same fence', async () => {
    const stage = setUpReply({ streams: true });
    await say(stage, 'Look:\n\n```ts\nconst a = 1;\n');
    await stage.clock.advance(226_000);
    await say(stage, 'const b = 2;\n', '```\n\nThat is all.');
    await endReply(stage);
    expect(stage.adapter.texts('t')).toEqual([
      'Look:\n\n```ts\nconst a = 1;\n```',
      '```ts\nconst b = 2;\n```\n\nThat is all.',
    ]);
  });

  it('goes over to a further message when one is full', async () => {
    const stage = setUpReply({ streams: true, most: 900 });
    const words = Array.from({ length: 400 }, (_, index) => `w${index} `);
    for (let at = 0; at < words.length; at += 20) {
      await say(stage, words.slice(at, at + 20).join(''));
    }
    await endReply(stage);
    const texts = stage.adapter.texts('t');
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.join(' ').match(/w\d+/gu)).toEqual(words.map((word) => word.trim()));
  });

  it.each<[string, readonly Fault[]]>([
    [
      'the platform has ended it (B001)',
      [{ call: 'stream_append', nth: 1, code: 'message_uneditable' }],
    ],
    [
      'the platform has ended it, and refuses the stop too (B001)',
      [
        { call: 'stream_append', nth: 1, code: 'message_uneditable' },
        { call: 'stream_stop', nth: 1, code: 'message_uneditable' },
      ],
    ],
    ['it is refused at the end', [{ call: 'stream_stop', nth: 1, code: 'message_uneditable' }]],
    ['it takes no more (B005)', [{ call: 'stream_append', nth: 2, code: 'message_too_long' }]],
    ['a piece is refused', [{ call: 'stream_append', nth: 1, code: 'message_refused' }]],
    ['its end is refused', [{ call: 'stream_stop', nth: 1, code: 'message_refused' }]],
    [
      'its end is refused each time',
      [1, 2, 3, 4].map((nth) => ({ call: 'stream_stop', nth, code: 'message_refused' })),
    ],
    ['its end is too long', [{ call: 'stream_stop', nth: 1, code: 'message_too_long' }]],
    [
      'an answer was lost, with the effect',
      [{ call: 'stream_append', nth: 1, code: 'surface_unavailable', afterEffect: true }],
    ],
    [
      'an answer was lost, without effect',
      [{ call: 'stream_append', nth: 1, code: 'surface_unavailable' }],
    ],
    [
      'the answer to its start was lost',
      [{ call: 'stream_start', nth: 1, code: 'surface_unavailable', afterEffect: true }],
    ],
    [
      'the answer to its end was lost',
      [{ call: 'stream_stop', nth: 1, code: 'surface_unavailable', afterEffect: true }],
    ],
    [
      'it is limited',
      [
        { call: 'stream_start', nth: 1, code: 'rate_limited', retryAfterMs: 3000 },
        { call: 'stream_append', nth: 1, code: 'rate_limited', retryAfterMs: 9000 },
      ],
    ],
    ['the message was deleted', [{ call: 'stream_append', nth: 1, code: 'message_gone' }]],
  ])('reads exactly as the model wrote where %s', async (_what, faults) => {
    const stage = setUpReply({ streams: true });
    for (const fault of faults) stage.adapter.fail(fault);
    await say(stage, 'alpha ', 'beta, ', 'gamma, ', 'delta.');
    await endReply(stage);
    const text = stage.adapter
      .texts('t')
      .map((one) => one.trim())
      .join(' ');
    expect(text).toBe('alpha beta, gamma, delta.');
  });

  it('goes on by edits where what was appended looks different now', async () => {
    const stage = setUpReply({
      streams: true,
      secrets: [{ name: 'KEY', value: 'ab cd-ef-gh-ij' }],
    });
    await say(stage, 'The key is ab ', 'cd-ef-gh-ij today. ', 'It goes on.');
    expect(readReply(stage.adapter)).toBe('The key is [redacted: KEY] today. It goes on.');
    await endReply(stage);
    expect(stage.adapter.shown).toHaveLength(1);
  });

  it('shows its tools in a further message too, after many in those before', async () => {
    const stage = setUpReply({ streams: true });
    for (let call = 1; call <= 40; call += 1) {
      const callId = `c${call}`;
      stage.reply.apply({ kind: 'tool_started', callId, activity: callId });
      stage.reply.apply({ kind: 'tool_finished', callId, outcome: 'ok' });
    }
    await say(stage, 'one ');
    await stage.clock.advance(226_000);
    stage.reply.apply(started);
    await say(stage, 'two ', 'three ');
    stage.reply.apply({ kind: 'tool_started', callId: 'c50', activity: 'Reading' });
    await stage.clock.advance(2000);
    const { messageId = '' } = stage.adapter.shown.at(-1) ?? {};
    expect(stage.adapter.shown).toHaveLength(2);
    expect(stage.adapter.streams.tasks(messageId)).toContain('running: Reading');
    await endReply(stage);
  });

  it('of an earlier life is ended, and its message written anew', async () => {
    const first = setUpReply({ streams: true });
    await say(first, 'alpha ', 'beta');
    await first.reply.abandon();
    const second = setUpReply({
      ...{ adapter: first.adapter, clock: first.clock, pages: first.pages },
    });
    await say(second, 'alpha ', 'beta ', 'gamma');
    await endReply(second);
    expect(readReply(second.adapter)).toBe('alpha beta gamma');
    expect(second.adapter.shown).toHaveLength(1);
  });
});
