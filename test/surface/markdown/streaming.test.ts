/** The last block of a text that streams. */

import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { markdownBlockText } from '../../../adapters/slack/markdown-block.ts';
import { createSplitMentions } from '../../../adapters/slack/mentions.ts';
import { createBlockReader } from '../../../src/surface/markdown/blocks.ts';
import { parseMarkdown } from '../../../src/surface/markdown/parse.ts';
import {
  closedForNow,
  settledLength,
  settledStart,
} from '../../../src/surface/markdown/streaming.ts';
import { writtenBlock, writtenMarkdown } from '../../support/written-markdown.ts';

/** Short enough to be cut at every position. */
const shortMarkdown = fc
  .array(writtenBlock, { minLength: 1, maxLength: 2 })
  .map((blocks) => blocks.join('\n\n'));

describe('closedForNow', () => {
  it.each([
    ['a **bold', 'a **bold**'],
    ['a **bold*', 'a **bold**'],
    ['a **bold**', 'a **bold**'],
    ['a **bold ', 'a **bold**'],
    ['a *it', 'a *it*'],
    ['*a **b** c', '*a **b** c*'],
    ['**bold *it', '**bold *it***'],
    ['**call `init', '**call `init`**'],
    ['a ``co ` de`', 'a ``co ` de``'],
    ['a ~~gone~', 'a ~~gone~~'],
    ['~5 minutes', '~5 minutes'],
    ['snake_case and 2 * 3 and 4*5', 'snake_case and 2 * 3 and 4*5'],
    ['see [the do', 'see the do'],
    ['see [the docs]', 'see the docs'],
    ['see [the docs](https://exa', 'see the docs'],
    ['see [the **docs**](https://x.test "ti', 'see the **docs**'],
    ['see [the docs][re', 'see the docs'],
    ['see ![pic](https://x', 'see pic'],
    ['[![pic](https://x.test)](https://y', '![pic](https://x.test)'],
    ['see [x] there', 'see [x] there'],
    ['a note[^1', 'a note'],
    ['fish &am', 'fish'],
    ['a < b', 'a < b'],
    ['go to <https://x', 'go to'],
    ['a\n-', 'a'],
    ['a\n- ', 'a'],
    ['a\n1.', 'a'],
    ['a\n---', 'a'],
    ['a\n=', 'a'],
    ['a\n#', 'a'],
    ['a\n>', 'a'],
    ['a\n``', 'a'],
    ['a\n~~', 'a'],
    ['- a\n- [ ] ', '- a'],
    ['- a\n- [', '- a'],
    ['- a\n  - **b', '- a\n  - **b**'],
    ['> **a', '> **a**'],
    ['# **a', '# **a**'],
    ['# a #', '# a'],
    ['words\n| a | b', 'words'],
    ['| a | b |\n|--', ''],
    ['| a | b |\n|---|---|', ''],
    ['| a | b |\n|---|---|\n', '| a | b |\n|---|---|\n'],
    ['| a | b |\n|---|---|\n| c | d', '| a | b |\n|---|---|\n'],
    ['```js', ''],
    ['```js\n', ''],
    ['```js\nlet a', '```js\nlet a\n```'],
    ['```js\nlet a\n``', '```js\nlet a\n```'],
    ['- x\n\n  ```js\n  a', '- x\n\n  ```js\n  a\n  ```'],
    ['[docs]: htt', '[docs]: htt'],
    ['[docs]:', ''],
    ['one **two\n\n', 'one **two\n\n'],
    ['', ''],
    ['  ', ''],
  ])('shows %j as %j', (block, expected) => {
    expect(closedForNow(block).trimEnd()).toBe(expected.trimEnd());
  });

  it('shows no raw mark at any moment, and loses nothing but the end of the last block', () => {
    fc.assert(
      fc.property(shortMarkdown, (text) => {
        const whole = seenIn(text);
        const read = createBlockReader();
        for (let end = 1; end <= text.length; end += 1) {
          const prefix = text.slice(0, end);
          const last = read(prefix).at(-1);
          const from = last?.from ?? 0;
          const shown = prefix.slice(0, from) + closedForNow(prefix.slice(from));
          const seen = seenIn(shown);
          expect(seen.words, shown).not.toMatch(/[*_~`[\]|<>#]|&amp/u);
          expect(lettersOf(whole.all).startsWith(lettersOf(seen.all)), shown).toBe(true);
          expect(lettersOf(seen.all).startsWith(lettersOf(seenIn(prefix.slice(0, from)).all))).toBe(
            true,
          );
        }
      }),
      { numRuns: 6, seed: 5 },
    );
  });

  it('leaves a block that is whole as it is drawn', () => {
    fc.assert(
      fc.property(writtenMarkdown, (text) => {
        expect(seenIn(closedForNow(`${text}\n\n`))).toEqual(seenIn(text));
      }),
      { numRuns: 60, seed: 6 },
    );
  });
});

describe('settledLength', () => {
  it.each([
    ['one two thr', 'one two'],
    ['one **two', 'one'],
    ['one **two** thr', 'one **two**'],
    ['one [two](htt', 'one'],
    ['one [two three](https://x.test) four', 'one [two three](https://x.test)'],
    ['one `two', 'one'],
    ['hello @Anna Smi', 'hello'],
    ['| a | b |\n|---|---|\n| c | d |\n', ''],
    ['one two\n| a | b', 'one two'],
    ['```js\none();\ntwo', '```js\none();\n'],
    ['- a b\n- c d', '- a b\n- c'],
    ['one two\n\n', 'one two'],
    ['one', ''],
    ['', ''],
  ])('settles of %j %j', (block, expected) => {
    expect(block.slice(0, settledLength(block)).trimEnd()).toBe(expected.trimEnd());
  });

  it('is the beginning of what is drawn later, whatever comes', () => {
    const split = createSplitMentions([{ id: 'slack:U1', name: 'Monday we' }]);
    const drawn = (text: string): string => markdownBlockText(text, split);
    fc.assert(
      fc.property(shortMarkdown, (text) => {
        const whole = drawn(text);
        const read = createBlockReader();
        let before = '';
        for (let end = 1; end <= text.length; end += 1) {
          const prefix = text.slice(0, end);
          const from = read(prefix).at(-1)?.from ?? 0;
          const settled = prefix.slice(0, from + settledLength(prefix.slice(from)));
          if (settled === before) continue;
          before = settled;
          expect(whole.startsWith(drawn(settled).trimEnd()), JSON.stringify(settled)).toBe(true);
        }
      }),
      { numRuns: 6, seed: 7 },
    );
  });

  it.each([
    ['one', 'one'],
    ['one two thr', 'one two'],
    ['größer.', 'größer'],
    ['**one', ''],
    ['@her', ''],
    ['<!he', ''],
    ['```ts', ''],
    ['| a', ''],
  ])('of a message that shows nothing yet: of %j %j', (block, expected) => {
    expect(block.slice(0, settledStart(block)).trimEnd()).toBe(expected);
  });

  it('never goes back while a block grows', () => {
    fc.assert(
      fc.property(shortMarkdown, (text) => {
        const read = createBlockReader();
        let before = 0;
        for (let end = 1; end <= text.length; end += 1) {
          const prefix = text.slice(0, end);
          const from = read(prefix).at(-1)?.from ?? 0;
          const settled = from + settledLength(prefix.slice(from));
          expect(settled, JSON.stringify(prefix)).toBeGreaterThanOrEqual(before);
          before = settled;
        }
      }),
      { numRuns: 10, seed: 8 },
    );
  });
});

/** What people read: words outside code, and all with code. */
function seenIn(text: string): { words: string; all: string } {
  let words = '';
  let all = '';
  const visit = (node: Nodes): void => {
    if (node.type === 'text' || node.type === 'html') words += node.value;
    if (node.type === 'image') words += node.alt ?? '';
    if (node.type === 'text' || node.type === 'html') all += node.value;
    if (node.type === 'image') all += node.alt ?? '';
    if (node.type === 'code' || node.type === 'inlineCode') all += node.value;
    if ('children' in node) node.children.forEach(visit);
    if (['paragraph', 'heading', 'tableCell', 'code'].includes(node.type)) {
      words += '\n';
      all += '\n';
    }
  };
  visit(parseMarkdown(text));
  return { words, all };
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '');
}
