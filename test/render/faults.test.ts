/** Replies that a platform hinders: what people can read is the answer, whole and once. */

import { describe, expect, it } from 'vitest';
import { endReply, type ReplyStage, readReply, setUpReply } from '../support/reply-stage.ts';

async function say(stage: ReplyStage, ...pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    stage.text(piece);
    await stage.clock.advance(2000);
  }
}

/** The process ends, and the next one takes the reply up. */
async function nextLife(
  before: ReplyStage,
  given: Parameters<typeof setUpReply>[0] = {},
): Promise<ReplyStage> {
  await before.reply.abandon();
  const { adapter, clock, pages } = before;
  return setUpReply({ adapter, clock, pages, ...given });
}

describe('a message that can neither be edited nor deleted', () => {
  it.each(['message_uneditable', 'message_refused'] as const)(
    'stays, and the answer is told in a new one (%s)',
    async (code) => {
      const first = setUpReply();
      await say(first, 'alpha');
      const stage = await nextLife(first);
      stage.adapter.fail({ call: 'edit', nth: 1, code: 'message_uneditable' });
      for (let nth = 1; nth <= 200; nth += 1) stage.adapter.fail({ call: 'remove', nth, code });
      await say(stage, 'alpha ', 'beta');
      await endReply(stage);
      expect(readReply(stage.adapter)).toBe('alpha|alpha beta');
      expect(stage.adapter.calls.filter((call) => call === 'remove')).toHaveLength(1);
    },
  );
});

describe('a step that is made anew after a restart', () => {
  const secrets = [{ name: 'KEY', value: `abcd${'x'.repeat(400)}` }];
  const steps = [`The key is ${secrets[0]?.value}.`];
  const words = (name: string, count: number): string =>
    Array.from({ length: count }, (_, index) => `${name}${index}`).join(' ');

  it('is read from its beginning, also behind text that was redacted', async () => {
    const first = setUpReply({ secrets, steps, most: 400 });
    await say(first, words('old', 80));
    const stage = await nextLife(first, { secrets, steps, most: 400 });
    await say(stage, words('new', 90));
    await endReply(stage);
    const text = stage.adapter.texts('t').join(' ').replace(/\s+/gu, ' ');
    expect(text).toBe(`The key is [redacted: KEY]. ${words('new', 90)}`);
  });
});

describe('a message that takes no more in the middle of a construct', () => {
  it.each<[string, readonly [string, string], readonly string[]]>([
    ['words', ['It goes', ' on.'], ['It goes', 'on.']],
    [
      'a half link',
      ['See [the docs](https://exam', 'ple.com/x) now.'],
      ['See the docs', '[the docs](https://example.com/x) now.'],
    ],
    ['strong words', ['It is **ver', 'y bold** now.'], ['It is **ver**', '**y bold** now.']],
    ['code in words', ['Run `npm r', 'un x` now.'], ['Run `npm r`', '`un x` now.']],
    [
      'the head of a table',
      ['Text.\n\n| a | b', ' |\n| - | - |\n| 1 | 2 |'],
      ['Text.', '| a | b |\n| - | - |\n| 1 | 2 |'],
    ],
    [
      'the rows of a table',
      ['| a | b |\n| - | - |\n| 1 | 2 |\n| 3', ' | 4 |'],
      ['| a | b |\n| - | - |\n| 1 | 2 |', '| a | b |\n| - | - |\n| 3 | 4 |'],
    ],
    [
      'a fence',
      ['```ts\nconst a = 1;\ncon', 'st b = 2;\n```\n\nEnd.'],
      ['```ts\nconst a = 1;\ncon\n```', '```ts\nst b = 2;\n```\n\nEnd.'],
    ],
    [
      'the end of a fence',
      ['```ts\nconst a = 1;\n``', '`\n\nEnd.'],
      ['```ts\nconst a = 1;\n```', '```ts\n```\n\nEnd.'],
    ],
    [
      'a fence in a quote',
      ['> Look:\n>\n> ```ts\n> one\n', '> two\n> ```\n\nEnd.'],
      ['> Look:\n>\n> ```ts\n> one\n> ```', '> ```ts\n> two\n> ```\n\nEnd.'],
    ],
  ])('goes on in a new one with what it does not show: %s', async (_what, [one, two], wanted) => {
    const stage = setUpReply();
    await say(stage, one);
    stage.adapter.fail({ call: 'edit', nth: 1, code: 'message_uneditable' });
    await say(stage, two);
    await endReply(stage);
    expect(stage.adapter.texts('t').map((text) => text.trim())).toEqual(wanted);
  });
});

describe('words that come while a call ends', () => {
  it('are shown, however close they come', async () => {
    for (let turns = 0; turns <= 80; turns += 1) {
      const stage = setUpReply();
      stage.text('one');
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      stage.text(' two');
      await stage.clock.advance(2000);
      expect(readReply(stage.adapter), `after ${turns} turns`).toBe('one two');
      await stage.reply.abandon();
    }
  });
});
