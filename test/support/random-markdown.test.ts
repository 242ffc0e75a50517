/** The comparison of shown messages with a model's text is itself shown to fail. */

import { describe, expect, it } from 'vitest';
import { createRandom } from './random.ts';
import { differenceOf, randomDeltas, randomMarkdown } from './random-markdown.ts';

const text = ['Hello there.', '', '```ts', 'one();', '  two();', '```', '', '| a | b |'].join('\n');
const table = `${text}\n|---|---|\n| 1 | 2 |\n| 3 | 4 |`;
const drawn = ['```', 'a  b', '─  ─', '1  2', '```'];

describe('the comparison of what is shown', () => {
  it.each<[string, readonly string[]]>([
    ['as written', [table]],
    [
      'a fence opened again',
      [
        'Hello there.\n\n```ts\none();\n```',
        ['```ts', '  two();', '```', '', ...drawn.slice(0, 4), '3  4', '```'].join('\n'),
      ],
    ],
    [
      'a table cut, its head repeated',
      [
        ['Hello there.', '```ts', 'one();', '  two();', '```', '', ...drawn]
          .join('\n')
          .replace('there.\n', 'there.\n\n'),
        ['```', 'a  b', '─  ─', '3  4', '```'].join('\n'),
      ],
    ],
  ])('finds nothing wrong with %s', (_what, messages) => {
    expect(differenceOf(table, messages)).toBeUndefined();
  });

  it.each<[string, readonly string[], RegExp]>([
    ['a lost word', ['Hello.'], /differs at 5/u],
    ['a lost end', ['Hello there.'], /missing: "one/u],
    ['a doubled message', ['Hello there.', 'Hello there.'], /message 1 differs/u],
    ['messages out of order', ['```ts\none();\n```', 'Hello there.'], /message 0 differs/u],
    ['a fence left open', ['Hello there.\n\n```ts\none();'], /not closed/u],
    ['lost indentation', ['Hello there.\n\n```ts\none();\ntwo();\n```'], /differs/u],
  ])('finds %s', (_what, messages, expected) => {
    expect(differenceOf(table, messages)).toMatch(expected);
  });

  it('takes random texts as they are, and deltas that join to them', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = createRandom(seed);
      const made = randomMarkdown(random, `t${seed}`, 5);
      expect(differenceOf(made, [made])).toBeUndefined();
      expect(randomDeltas(random, made, 40).join('')).toBe(made);
    }
  });
});
