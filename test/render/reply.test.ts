/** The reply against a platform with faults: exact at the end, fresh on the way. */

import { describe, expect, it } from 'vitest';
import type { Fault } from '../support/fake-adapter.ts';
import { endReply as end, readReply as read, setUpReply as setUp } from '../support/reply-stage.ts';

describe('the line on what a tool does', () => {
  const value = 'correct-horse-battery-staple';

  it.each([
    ['while it grows', `Running \`login correct-horse\``],
    ['where it is cut', `Running \`login correct-horse-ba…\``],
    ['whole', `Running \`login ${value}\``],
  ])('shows nothing of a secret %s', async (_what, activity) => {
    const { reply, adapter, clock, text } = setUp({ secrets: [{ name: 'PASSWORD', value }] });
    text('I log in. ');
    reply.apply({ kind: 'tool_input_delta', callId: 'c1', activity });
    reply.apply({
      kind: 'checklist',
      items: [{ text: `${'x'.repeat(45)} ${value}`, state: 'running' }],
    });
    await clock.advance(10_000);
    const shown = adapter.texts('t').join('\n');
    expect(shown).toContain('login');
    expect(shown).not.toContain('corr');
  });
});

describe('a reply', () => {
  it('posts the first text at once and spaces edits by what its budget holds', async () => {
    const stage = setUp();
    stage.text('a');
    await stage.clock.settle();
    expect(read(stage.adapter)).toBe('a');
    stage.text('b');
    await stage.clock.advance(499);
    expect(read(stage.adapter)).toBe('a');
    await stage.clock.advance(1);
    expect(read(stage.adapter)).toBe('ab');
  });

  it('sends the last state at once when it ends, not after the gap', async () => {
    const stage = setUp();
    stage.text('a');
    await stage.clock.settle();
    stage.text('b');
    await stage.clock.settle();
    stage.text('c');
    await stage.clock.settle();
    const done = stage.reply.finish({});
    await stage.clock.settle();
    expect(read(stage.adapter)).toBe('abc');
    await expect(done).resolves.toBe('delivered');
  });

  it.each<[string, Fault[], string]>([
    [
      'a refused last edit: the message is gone (B002)',
      [{ call: 'edit', nth: 1, code: 'message_gone' }],
      'Working on it. The build is green.',
    ],
    [
      'a 429 on the third edit',
      [{ call: 'edit', nth: 3, code: 'rate_limited', retryAfterMs: 7000 }],
      'Working on it. The build is green.',
    ],
    [
      'an outage at the first post, whose effect is unknown',
      [{ call: 'post', nth: 1, code: 'surface_unavailable', afterEffect: true }],
      'Working on it. The build is green.',
    ],
    [
      'an outage at the first post, without effect',
      [{ call: 'post', nth: 1, code: 'surface_unavailable' }],
      'Working on it. The build is green.',
    ],
    [
      'a text refused as too long',
      [{ call: 'edit', nth: 1, code: 'message_too_long' }],
      'Working on it. The build is green.',
    ],
    [
      'outages of edits',
      [1, 2, 3].map((nth) => ({
        call: 'edit' as const,
        nth,
        code: 'surface_unavailable' as const,
      })),
      'Working on it. The build is green.',
    ],
  ])('reads exactly as the model wrote after %s', async (_what, faults, expected) => {
    const stage = setUp();
    for (const fault of faults) stage.adapter.fail(fault);
    stage.text('Working on it');
    await stage.clock.advance(2000);
    for (const piece of ['. The', ' build', ' is', ' green.']) {
      stage.text(piece);
      await stage.clock.advance(2000);
    }
    await end(stage);
    const texts = stage.adapter.texts('t');
    // A message that is gone on the platform is gone here too: only the new one counts.
    expect(texts.at(-1)).toBe(expected);
  });

  it('makes no call before a rate limit has passed', async () => {
    const stage = setUp();
    stage.adapter.fail({ call: 'edit', nth: 1, code: 'rate_limited', retryAfterMs: 30_000 });
    stage.text('a');
    await stage.clock.settle();
    stage.text('b');
    await stage.clock.advance(1000);
    const before = stage.adapter.calls.length;
    stage.text('c');
    const done = stage.reply.finish({});
    await stage.clock.advance(28_999);
    expect(stage.adapter.calls).toHaveLength(before);
    await stage.clock.advance(2000);
    await done;
    expect(read(stage.adapter)).toBe('abc');
  });

  it('goes on in a new message when the old one takes no more edits, and repeats nothing', async () => {
    const stage = setUp();
    stage.text('alpha ');
    await stage.clock.advance(2000);
    stage.adapter.fail({ call: 'edit', nth: 1, code: 'message_uneditable' });
    stage.text('beta gamma');
    await stage.clock.advance(2000);
    await end(stage);
    expect(stage.adapter.texts('t')).toEqual(['alpha', 'beta gamma']);
  });

  it('goes on in a new message before the platform’s age for edits', async () => {
    const stage = setUp();
    stage.text('alpha ');
    await stage.clock.advance(50 * 60_000);
    stage.text('beta');
    await stage.clock.advance(2000);
    expect(stage.adapter.texts('t')).toEqual(['alpha beta']);
    await stage.clock.advance(1000);
    stage.text(' gamma');
    await end(stage);
    expect(stage.adapter.texts('t')).toEqual(['alpha beta', ' gamma']);
  });

  it('reopens a code fence that a frozen message left open', async () => {
    const stage = setUp();
    stage.text('```ts\nconst a = 1;\n');
    await stage.clock.advance(2000);
    stage.adapter.fail({ call: 'edit', nth: 1, code: 'message_uneditable' });
    stage.text('const b = 2;\n```\nEnd.');
    await stage.clock.advance(2000);
    await end(stage);
    const [, second] = stage.adapter.texts('t');
    expect(second).toBe('```ts\nconst b = 2;\n```\nEnd.');
  });

  it('goes over to further messages when one is full, each within the limit', async () => {
    const stage = setUp({ most: 600 });
    const paragraphs = Array.from(
      { length: 12 },
      (_, index) => `Paragraph ${index} ${'word '.repeat(20).trim()}.`,
    );
    for (const paragraph of paragraphs) {
      stage.text(`${paragraph}\n\n`);
      await stage.clock.advance(1500);
    }
    await end(stage, 'One line of mine.');
    const texts = stage.adapter.texts('t');
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.every((text) => text.length <= 600)).toBe(true);
    expect(texts.join('\n\n').replace('\n> One line of mine.', '')).toBe(paragraphs.join('\n\n'));
  });

  it('sends nothing for an empty text (B018) and takes the sign away', async () => {
    for (const text of ['', ' ', '\n', ' \n\t ']) {
      const stage = setUp();
      stage.text(text);
      await end(stage);
      expect(stage.adapter.calls).toEqual([]);
      expect(stage.adapter.statuses.at(-1)).toBe('idle');
    }
  });

  it('takes up its messages after a restart and posts nothing twice', async () => {
    const first = setUp();
    first.text('One. ');
    await first.clock.advance(2000);
    await first.reply.abandon();
    const second = setUp({ adapter: first.adapter, pages: first.pages, steps: ['One. '] });
    second.text('Two.');
    await end(second);
    expect(second.adapter.texts('t')).toEqual(['One. \n\nTwo.']);
  });

  it('shows what is being done while it works, and not at the end', async () => {
    const stage = setUp();
    stage.text('I look.');
    await stage.clock.settle();
    stage.reply.apply({ kind: 'step_finished', step: 1, text: 'I look.', goesOn: false });
    stage.reply.apply({ kind: 'tool_started', callId: 'c', activity: 'Grep `timeout` in logs/' });
    await stage.clock.advance(2000);
    expect(read(stage.adapter)).toBe('I look.\n_Grep `timeout` in logs/_');
    await end(stage);
    expect(read(stage.adapter)).toBe('I look.');
  });

  it('shows the newest word of several tools in one line', async () => {
    const stage = setUp();
    stage.text('I look.');
    stage.reply.apply({ kind: 'tool_started', callId: 'a', activity: 'Grep `a`' });
    stage.reply.apply({ kind: 'tool_started', callId: 'b', activity: 'Grep `b`' });
    await stage.clock.advance(2000);
    expect(read(stage.adapter)).toBe('I look.\n_Grep `b` (and 1 more)_');
    stage.reply.apply({ kind: 'tool_progress', callId: 'a', line: '3 of 9' });
    await stage.clock.advance(2000);
    expect(read(stage.adapter)).toBe('I look.\n_3 of 9 (and 1 more)_');
    await end(stage);
  });

  it('posts a message for progress before there is any text, and none for a start', async () => {
    const stage = setUp();
    stage.reply.apply({ kind: 'tool_started', callId: 'a', activity: 'Building' });
    await stage.clock.advance(2000);
    expect(stage.adapter.calls).toEqual([]);
    stage.reply.apply({ kind: 'tool_progress', callId: 'a', line: 'line 1' });
    await stage.clock.advance(2000);
    expect(read(stage.adapter)).toBe('_line 1_');
    stage.text('Built.');
    await end(stage);
    expect(read(stage.adapter)).toBe('Built.');
  });

  it.each(['x', '*', '`'])(
    'keeps each message within the limit with a long text and a long list of %j',
    async (character) => {
      const stage = setUp({ most: 2000 });
      const items = Array.from({ length: 30 }, (_, index) => ({
        text: `${index} ${character.repeat(190)}`,
        state: index < 5 ? ('done' as const) : ('pending' as const),
      }));
      const paragraphs = Array.from(
        { length: 30 },
        (_, index) => `P${index} ${'word '.repeat(30)}.`,
      );
      for (const [index, paragraph] of paragraphs.entries()) {
        stage.text(`${paragraph}\n\n`);
        if (index === 10) stage.reply.apply({ kind: 'checklist', items });
        await stage.clock.advance(3000);
        for (const shown of stage.adapter.texts('t'))
          expect(shown.length).toBeLessThanOrEqual(2000);
      }
      expect(read(stage.adapter)).toContain('☑ 5 done before\n☐ 5 ');
      await end(stage);
      const texts = stage.adapter.texts('t');
      for (const shown of texts) expect(shown.length).toBeLessThanOrEqual(2000);
      const [list = ''] = /\n> ☑ 5 done before[\s\S]*$/u.exec(texts.join('\n\n')) ?? [];
      expect(texts.join('\n\n').replace(list, '')).toBe(paragraphs.join('\n\n'));
    },
  );

  it('never shows a secret, not even its beginning while it streams', async () => {
    const secret = 'c0ffee00-1234-5678-9abc-def012345678';
    const stage = setUp({ secrets: [{ name: 'DEMO_API_TOKEN', value: secret }] });
    const seen: string[] = [];
    for (const piece of ['The token is ', secret.slice(0, 10), secret.slice(10), ' there.']) {
      stage.text(piece);
      await stage.clock.advance(3000);
      seen.push(read(stage.adapter));
    }
    await end(stage);
    expect(seen.join()).not.toContain(secret.slice(0, 6));
    expect(read(stage.adapter)).toBe('The token is [redacted: DEMO_API_TOKEN] there.');
  });

  it('says so when the platform refuses the text, and never loops', async () => {
    const stage = setUp();
    for (let nth = 1; nth <= 3; nth += 1)
      stage.adapter.fail({
        call: 'post',
        nth,
        code: nth < 3 ? 'message_refused' : 'rate_limited',
        retryAfterMs: 10,
      });
    stage.text('bad words');
    await stage.clock.advance(2000);
    for (let piece = 0; piece < 20; piece += 1) stage.text('.');
    await stage.clock.advance(20_000);
    expect(stage.adapter.calls).toHaveLength(1);
    await end(stage);
    expect(read(stage.adapter)).toContain('This platform refused a part of my answer');
  });

  it('tells that the thread is gone', async () => {
    const stage = setUp();
    stage.adapter.fail({ call: 'post', nth: 1, code: 'surface_gone' });
    stage.text('hello');
    const done = stage.reply.finish({});
    await stage.clock.advance(60_000);
    await expect(done).resolves.toBe('gone');
  });

  it('reports an outage that does not end, so that it can be tried later', async () => {
    const stage = setUp();
    for (let nth = 1; nth <= 60; nth += 1)
      stage.adapter.fail({ call: 'post', nth, code: 'surface_unavailable' });
    stage.text('hello');
    const done = stage.reply.finish({}).then(
      () => 'delivered',
      (error: Error) => error.message,
    );
    await stage.clock.advance(20 * 60_000);
    expect(await done).toBe('a fault of the test');
  });
});
