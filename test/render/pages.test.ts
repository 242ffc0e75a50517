/** Pages that are frozen one after the other show what all of them show when they are drawn at once. */

import { describe, expect, it } from 'vitest';
import { applyEvent, newDocument } from '../../src/render/document.ts';
import { createPageDrawer, type DrawnPage } from '../../src/render/draw.ts';
import type { Beginning } from '../../src/render/page-book.ts';
import { createFakeAdapter, textOfMessage } from '../support/fake-adapter.ts';
import { createRandom } from '../support/random.ts';
import { randomMarkdown } from '../support/random-markdown.ts';

function pagesFrom(text: string, from: Beginning): readonly DrawnPage[] {
  const { capabilities } = createFakeAdapter({ mostMessageLength: 700 });
  const show = { activity: 'line', thinking: 'off' } as const;
  const drawer = createPageDrawer({ capabilities, mentionable: [], show });
  const document = applyEvent(newDocument(0), { kind: 'text_delta', text }, 0);
  return drawer.pages({ ...document, ended: true }, text, { from, now: 0, most: 1000 });
}

const textOf = ({ message }: DrawnPage): string => textOfMessage(message);

function oneByOne(text: string): readonly string[] {
  const texts: string[] = [];
  let from: Beginning = { end: 0, prefix: '' };
  for (;;) {
    const [first, ...others] = pagesFrom(text, from);
    if (!first) return texts;
    texts.push(textOf(first));
    if (others.length === 0) return texts;
    from = first.next;
  }
}

const longLine = 'word '.repeat(60).trim();
const code = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? '' : `const a${index};`));

describe('pages that are frozen', () => {
  it.each<[string, string]>([
    [
      'a list that follows a list',
      `1. ${longLine}\n2. ${longLine}\n\n1. ${longLine}\n2. one\n3. two`,
    ],
    [
      'code with empty lines',
      `Look:\n\n\`\`\`ts\n${code.join('\n').repeat(4)}\n\`\`\`\n\nThat is all.`,
    ],
    [
      'code that ends where a page does',
      `\`\`\`\n${'x'.repeat(640)}\n\`\`\`\n\n${longLine}\n\n${longLine}`,
    ],
    ['a table', `| a | b |\n|---|---|\n${'| one two | three four |\n'.repeat(60)}\nThat is all.`],
  ])('show the same of %s', (_what, text) => {
    const whole = pagesFrom(text, { end: 0, prefix: '' }).map(textOf);
    expect(whole.length).toBeGreaterThan(1);
    expect(oneByOne(text)).toEqual(whole);
  });

  it('show the same of random Markdown', () => {
    for (let seed = 1; seed <= 3; seed += 1) {
      const text = randomMarkdown(createRandom(seed), 'x', 4);
      const whole = pagesFrom(text, { end: 0, prefix: '' }).map(textOf);
      const numbers = oneByOne(text)
        .join('\n')
        .match(/xb\d+[a-z]?\d*/gu);
      expect(numbers, `seed ${seed}`).toEqual(whole.join('\n').match(/xb\d+[a-z]?\d*/gu));
      expect(oneByOne(text).join('\n'), `seed ${seed}`).not.toMatch(/^\s*\d+\. \d+\. /mu);
    }
  });
});
