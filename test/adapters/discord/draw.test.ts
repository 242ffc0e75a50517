/** What a message looks like on Discord, and what it can never do. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { drawMessage, drawnLengthOf } from '../../../adapters/discord/draw.ts';
import { discordMarkdownOf } from '../../../adapters/discord/markdown.ts';
import { createSplitMentions } from '../../../adapters/discord/mentions.ts';
import type { Block, OutboundMessage } from '../../../src/surface/outbound.ts';
import { checkedMessage } from '../../emulators/discord/checks.ts';
import { readCase } from '../../support/cases.ts';
import { anna, bo, markdown } from './set-up.ts';

const plain = (text: string): string => discordMarkdownOf(text, createSplitMentions([]));
const people = [
  { id: `discord:${anna}`, name: 'Anna' },
  { id: `discord:${bo}`, name: 'Anna Lena' },
];
const withPeople = (text: string): string => discordMarkdownOf(text, createSplitMentions(people));
const blocks = (...list: Block[]): OutboundMessage => ({ blocks: list, mentionable: [] });

describe('Markdown on Discord', () => {
  it.each([
    ['a heading', '## Title\n\ntext', '## Title\ntext'],
    ['bold and italic', '**b** and *i* and ~~s~~', '**b** and *i* and ~~s~~'],
    ['italic in bold', '**a *b* c**', '**a _b_ c**'],
    ['code', 'run `npm ci`', 'run `npm ci`'],
    ['code with a backtick', '`` a`b ``', '`` a`b ``'],
    ['a fence', '```ts title=x\nlet a = 1;\n```', '```ts\nlet a = 1;\n```'],
    ['a nested list', '- a\n  - b\n    1. c', '- a\n  - b\n    1. c'],
    ['an ordered list from 3', '3. a\n4. b', '3. a\n4. b'],
    ['tasks', '- [x] done\n- [ ] open', '- ☑ done\n- ☐ open'],
    ['a quote in a quote', '> a\n>\n> > b', '> a\n> \n> b'],
    ['a rule', 'a\n\n---\n\nb', 'a\n\n──────────\n\nb'],
    ['a footnote', 'a[^1]\n\n[^1]: note', 'a[1]\n\n[1] note'],
    ['a reference', '[docs][d]\n\n[d]: https://example.com/a', '[docs](<https://example.com/a>)'],
    [
      'a definition nobody uses',
      'a\n\n[d]: https://example.com/a',
      'a\n\nd: https://example.com/a',
    ],
    ['a reference to a script', '[x]\n\n[x]: javascript:alert(1)', 'x (javascript:alert(1))'],
    ['a link', '[docs](https://example.com/a)', '[docs](<https://example.com/a>)'],
    ['a bare address', 'see https://example.com/a_b', 'see https://example.com/a_b'],
    ['an image', '![a cat](https://example.com/c.png)', '[a cat](<https://example.com/c.png>)'],
    ['an e-mail address', '<bob@example.com>', 'bob@example.com'],
    ['a link to a script', '[x](javascript:alert(1))', 'x (javascript:alert(1))'],
    [
      'a label that is another address',
      '[https://a.example](https://b.example)',
      'https://a.example (<https://b.example>)',
    ],
    ['brackets in an address', '[w](https://e.org/a_(b))', '[w](<https://e.org/a_%28b%29>)'],
    ['html', 'a <b>c</b>', 'a <b>c</b>'],
    ['arithmetic', '3 * 7 and 2 * 9', '3 \\* 7 and 2 \\* 9'],
    ['a name in snake case', 'use snake_case_name', 'use snake_case_name'],
    ['a spoiler', 'a ||b|| c', 'a \\|\\|b\\|\\| c'],
    ['a written star', 'no \\*bold\\*', 'no \\*bold\\*'],
    ['a written hash', '\\# no heading', '\\# no heading'],
    ['a written small line', '-# no small line', '\\-# no small line'],
    ['a written number', '1\\. no list', '1\\. no list'],
    ['bold before a letter', '**Load:**high', '**Load:**high'],
    ['bold around code', '**call `init()` twice** now', '**call `init()` twice** now'],
  ])('draws %s', (_what, source, drawn) => {
    expect(plain(source)).toBe(drawn);
  });

  it('knows headings of three levels (B038)', () => {
    const { input, expected } = readCase(
      'B038',
      z.object({ texts: z.array(z.string()) }),
      z.object({ outputsAnyOf: z.array(z.array(z.string())) }),
    );
    expect(input.texts).toHaveLength(3);
    for (const [index, text] of input.texts.entries()) {
      expect(expected.outputsAnyOf[index]).toContain(plain(text));
    }
  });

  it('has one level of bold in a deep heading', () => {
    expect(plain('#### **Phase A**: steps')).toBe('**Phase A: steps**');
  });

  it('shows tables as aligned columns, each of them (B030)', () => {
    const { input, expected } = readCase(
      'B030',
      z.object({ text: z.string() }),
      z.object({
        mustNotShow: z.array(z.string()),
        cellsShownInOrder: z.array(z.string()),
        textInOrder: z.array(z.string()),
      }),
    );
    const drawn = plain(input.text);
    for (const wrong of expected.mustNotShow) expect(drawn).not.toContain(wrong);
    let at = 0;
    for (const cell of expected.cellsShownInOrder) {
      const found = drawn.indexOf(cell, at);
      expect(found, cell).toBeGreaterThanOrEqual(at);
      at = found;
    }
    expect(drawn.indexOf('Indoors:')).toBeLessThan(drawn.indexOf('Outdoors:'));
    expect(drawn).toContain('Plant  Pot   Water\n─────  ────  ─────\nfern   clay      1');
  });

  it('writes a table that is too wide as a list', () => {
    const wide = 'w'.repeat(60);
    const table = (cell: string): string => plain(`| A | B |\n|---|---|\n| ${cell} | ${wide} |`);
    // 28 + 2 + 60 columns just fit.
    expect(table('x'.repeat(28))).toContain('```');
    expect(table('x'.repeat(29))).toBe(`- A: ${'x'.repeat(29)} · B: ${wide}`);
  });

  it('keeps code as it is, but for what would end it', () => {
    const body = '# fetch\nvol = a * b * c\n@everyone <@1>';
    expect(plain(`\`\`\`\n${body}\n\`\`\``)).toBe(`\`\`\`\n${body}\n\`\`\``);
    expect(plain('~~~\na ``` b\n~~~').split('```')).toHaveLength(3);
  });

  it('leaves out a fence’s language that is a whole line', () => {
    expect(plain(`\`\`\`${'x'.repeat(30)}\na\n\`\`\``)).toBe(`\`\`\`${'x'.repeat(30)}\na\n\`\`\``);
    expect(plain(`\`\`\`${'x'.repeat(31)}\na\n\`\`\``)).toBe('```\na\n```');
  });
});

describe('mentions on Discord', () => {
  it('mentions known people, the longest name first, not in code', () => {
    expect(withPeople('@Anna Lena and @Anna, `@Anna`')).toBe(`<@${bo}> and <@${anna}>, \`@Anna\``);
  });

  it.each(['@Annabel', 'mail@Anna', '@anna', '@Bob', '@Anna.smith', '@Anna-Marie'])(
    'leaves %s as it is',
    (text) => expect(withPeople(text)).not.toContain('<@'),
  );

  it('mentions nobody by a name that two people share', () => {
    const split = createSplitMentions([
      { id: `discord:${anna}`, name: 'Sam' },
      { id: `discord:${bo}`, name: 'Sam' },
    ]);
    expect(discordMarkdownOf('hi @Sam', split)).toBe('hi @Sam');
  });

  it.each([
    '@everyone',
    '@here',
    '<@123>',
    '<@!123>',
    '<@&900>',
    '<#12>',
    '<t:1700000000:R>',
    '</stop:1>',
  ])('breaks %s in a model’s text', (token) => {
    const drawn = withPeople(`a ${token} b`);
    expect(drawn).not.toContain(token);
    expect(drawn.replaceAll('\u200B', '')).toBe(`a ${token} b`);
  });

  it('allows only those who are mentioned', () => {
    const drawn = drawMessage(markdown('hi @Anna, @everyone', people));
    expect(drawn.allowedMentions).toEqual({ parse: [], users: [anna], replied_user: false });
    const none = drawMessage(markdown('hi <@1> `@Anna`', people));
    expect(none.allowedMentions.users).toEqual([]);
  });

  it('allows 100 people at most', () => {
    const many = Array.from({ length: 101 }, (_, index) => ({
      id: `discord:${1000 + index}`,
      name: `p${String(index).padStart(3, '0')}`,
    }));
    const text = many.map(({ name }) => `@${name}`).join(' ');
    expect(drawMessage(markdown(text, many)).allowedMentions.users).toHaveLength(100);
  });
});

describe('a drawn message', () => {
  it('keeps lines of the bot’s own apart from the model’s words', () => {
    const drawn = drawMessage(
      blocks(
        { kind: 'markdown', text: 'The answer.' },
        { kind: 'activity', text: 'Grep `a*b` in\nlogs/*' },
        { kind: 'notice', text: 'Stopped by **Anna**.' },
      ),
    );
    expect(drawn.content).toBe('The answer.\n-# Grep `a*b` in logs/\\*\n-# Stopped by **Anna**.');
  });

  it('quotes a notice of several lines', () => {
    const drawn = drawMessage(blocks({ kind: 'notice', text: 'one\n\n- two' }));
    expect(drawn.content).toBe('> one\n> \n> - two');
  });

  it('takes 2,000 units and no more', () => {
    expect(drawMessage(markdown('x'.repeat(2_000))).content).toHaveLength(2_000);
    expect(() => drawMessage(markdown('x'.repeat(2_001)))).toThrow(
      expect.objectContaining({ code: 'message_too_long' }),
    );
  });

  it('cuts its own lines to the room that the words leave', () => {
    const drawn = drawMessage(
      blocks(
        { kind: 'markdown', text: 'x'.repeat(1_900) },
        { kind: 'activity', text: 'y'.repeat(300) },
        { kind: 'notice', text: 'z'.repeat(300) },
      ),
    );
    expect(drawn.content.length).toBeLessThanOrEqual(2_000);
    expect(drawn.content).toContain('x'.repeat(1_900));
    expect(drawn.content).toContain('yyy…');
  });

  it.each(['', '   ', '\n'])('refuses a message of %j: nothing is to be seen (B018)', (text) => {
    expect(() => drawMessage(markdown(text))).toThrow(
      expect.objectContaining({ code: 'message_refused' }),
    );
  });

  it('has some content when it is controls alone', () => {
    const button = { controlId: 'a', label: 'Yes', style: 'plain' as const };
    const drawn = drawMessage(blocks({ kind: 'buttons', buttons: [button] }));
    expect(drawn.content.length).toBeGreaterThan(0);
    expect(drawn.components).toHaveLength(1);
  });

  it('has rows of five buttons, five rows at most', () => {
    const buttons = (count: number): OutboundMessage =>
      blocks({
        kind: 'buttons',
        buttons: Array.from({ length: count }, (_, index) => ({
          controlId: `b.${index}`,
          label: `${index}. ${'👩‍👩‍👧'.repeat(20)}`,
          style: 'primary' as const,
        })),
      });
    const full = drawMessage(buttons(25));
    expect(full.components).toHaveLength(5);
    expect(checkedMessage({ content: full.content, components: full.components })).toBeDefined();
    expect(() => drawMessage(buttons(26))).toThrow(
      expect.objectContaining({ code: 'message_refused' }),
    );
  });

  it('has selects of 25 options at most', () => {
    const choice = (count: number): OutboundMessage =>
      blocks({
        kind: 'choice',
        controlId: 'q',
        submitLabel: 'Send',
        options: Array.from({ length: count }, (_, index) => ({
          value: `v${index}`,
          label: `${index}`,
        })),
      });
    const full = drawMessage(choice(25));
    expect(checkedMessage({ content: full.content, components: full.components })).toBeDefined();
    expect(() => drawMessage(choice(26))).toThrow(
      expect.objectContaining({ code: 'message_refused' }),
    );
  });

  it('counts at least the source, and what drawing adds', () => {
    expect(drawnLengthOf('abc')).toBe(3);
    expect(drawnLengthOf('a * b')).toBe(6);
    expect(drawnLengthOf('[a](javascript:x)')).toBe(17);
    expect(drawnLengthOf('x'.repeat(5_000))).toBe(5_000);
  });
});
