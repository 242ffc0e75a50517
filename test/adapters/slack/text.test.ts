/** Markdown to Slack's texts and back. */

import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Lookups, markdownOfSlack } from '../../../adapters/slack/from-mrkdwn.ts';
import { markdownBlockText } from '../../../adapters/slack/markdown-block.ts';
import { createSplitMentions } from '../../../adapters/slack/mentions.ts';
import { mrkdwnOf } from '../../../adapters/slack/mrkdwn.ts';
import { parseMarkdown } from '../../../src/surface/markdown/parse.ts';
import { displayWidthOf } from '../../../src/surface/markdown/table.ts';
import { readCase } from './cases.ts';

const nobody = createSplitMentions([]);
const toMrkdwn = (markdown: string): string => mrkdwnOf(markdown, nobody).trimEnd();
const textsSchema = z.object({ texts: z.array(z.string()) });
const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```|`[^`]*`/gu, '');

/** What is text, not code, by the parser's own word. */
function drawnProse(markdown: string): string {
  const collect = (node: Nodes): string => {
    if (node.type === 'text' || node.type === 'html') return node.value;
    return 'children' in node ? node.children.map(collect).join('') : '';
  };
  return collect(parseMarkdown(markdown));
}

const lookups: Lookups = {
  botUserId: 'UBOT',
  botName: 'deckhand',
  user: (id) => ({ U1: 'Anna', U2: 'Bo Li' })[id] ?? id,
  channel: (id) => ({ C1: 'ops' })[id] ?? id,
  group: (id) => ({ S1: 'oncall' })[id] ?? id,
};
const fromSlack = (text: string): string => markdownOfSlack(text, lookups);

describe('mrkdwn of Markdown, from public bug reports', () => {
  const exact = z.object({
    input: textsSchema,
    expected: z.object({ outputs: z.array(z.string()) }),
  });

  it.each(['B020', 'B025', 'B035'])('%s gives the exact text', (id) => {
    const { input, expected } = readCase(id, exact);
    expect(input.texts.map(toMrkdwn)).toEqual(expected.outputs);
  });

  it('B021 keeps one level of bold in headings', () => {
    const { input, expected } = readCase(
      'B021',
      z.object({
        input: textsSchema,
        expected: z.object({
          outputsAnyOf: z.array(z.array(z.string())),
          mustNotContain: z.array(z.string()),
        }),
      }),
    );
    for (const [index, text] of input.texts.entries()) {
      expect(expected.outputsAnyOf[index]).toContain(toMrkdwn(text));
      for (const word of expected.mustNotContain) expect(toMrkdwn(text)).not.toContain(word);
    }
  });

  it('B022 shows no raw stars where bold touches a letter', () => {
    const { input, expected } = readCase(
      'B022',
      z.object({
        input: textsSchema,
        expected: z.object({
          mustNotContainOutsideCode: z.array(z.string()),
          mustContain: z.array(z.string()),
        }),
      }),
    );
    const all = input.texts.map(toMrkdwn).join('\n');
    for (const word of expected.mustContain) expect(all).toContain(word);
    for (const word of expected.mustNotContainOutsideCode) {
      expect(withoutCode(all)).not.toContain(word);
    }
    expect(toMrkdwn('**Load:**high')).toBe('*Load:*\u200Bhigh');
    expect(toMrkdwn('2 ** 3 is 8')).toBe('2 ** 3 is 8');
  });

  it('B024 keeps a link one link', () => {
    const { input, expected } = readCase(
      'B024',
      z.object({
        input: textsSchema,
        expected: z.object({
          outputs: z.array(z.union([z.string(), z.object({ matches: z.string() })])),
        }),
      }),
    );
    const fits = input.texts.map((text, index) => {
      const wanted = expected.outputs[index] ?? '';
      const drawn = toMrkdwn(text);
      return typeof wanted === 'string'
        ? drawn === wanted
        : new RegExp(wanted.matches, 'u').test(drawn);
    });
    expect(fits).toEqual([true, true, true]);
    expect(toMrkdwn('[a|b > c](https://example.com/?x=1&y=2|3)')).toBe(
      '<https://example.com/?x=1&amp;y=2%7C3|a¦b &gt; c>',
    );
  });

  it('B027 leaves the body of a fence alone', () => {
    const { input, expected } = readCase(
      'B027',
      z.object({
        input: textsSchema,
        expected: z.object({
          mustContain: z.array(z.string()),
          mustNotContain: z.array(z.string()),
        }),
      }),
    );
    const drawn = toMrkdwn(input.texts[0] ?? '');
    for (const word of expected.mustContain) expect(drawn).toContain(word);
    for (const word of expected.mustNotContain) expect(drawn).not.toContain(word);
  });

  it.each([
    ['fallback', mrkdwnOf],
    ['markdown block', markdownBlockText],
  ])('B030 draws both tables as aligned monospace (%s)', (_name, draw) => {
    const { input, expected } = readCase(
      'B030',
      z.object({
        input: z.object({ text: z.string() }),
        expected: z.object({
          mustNotShow: z.array(z.string()),
          cellsShownInOrder: z.array(z.string()),
          textInOrder: z.array(z.string()),
        }),
      }),
    );
    const drawn = draw(input.text, nobody);
    for (const word of expected.mustNotShow) expect(drawn).not.toContain(word);
    for (const words of [expected.cellsShownInOrder, expected.textInOrder]) {
      let at = -1;
      for (const word of words) {
        at = drawn.indexOf(word, at + 1);
        expect({ word, at }).not.toEqual({ word, at: -1 });
      }
    }
    const rows = (/```\n([\s\S]*?)\n```/u.exec(drawn)?.[1] ?? '').split('\n');
    expect(rows).toEqual([
      'Plant  Pot   Water',
      '─────  ────  ─────',
      'fern   clay      1',
      'ivy    tin      12',
    ]);
  });
});

describe('mrkdwn of Markdown', () => {
  it.each([
    ['one\n\ntwo', 'one\n\ntwo'],
    ['- a\n- b\n  - c', '• a\n• b\n    • c'],
    ['3. a\n4. b', '3. a\n4. b'],
    ['- [x] done\n- [ ] open', '• ☑ done\n• ☐ open'],
    ['> said\n> so', '> said\n> so'],
    ['~~old~~ *it* **b**', '~old~ _it_ *b*'],
    ['foo**bar**baz', 'foo\u200B*bar*\u200Bbaz'],
    ['**これ**は', '*これ*\u200Bは'],
    ['***both***', '_*both*_'],
    ['a & b < c', 'a &amp; b &lt; c'],
    ['<!here> <@U1> <!subteam^S1>', '&lt;!here&gt; &lt;@U1&gt; &lt;!subteam^S1&gt;'],
    ['&lt;!channel&gt;', '&lt;!channel&gt;'],
    ['[x](javascript:alert(1))', 'x (javascript:alert(1))'],
    ['[file](src/a.ts)', 'file (src/a.ts)'],
    ['![shot](https://example.com/a.png)', '<https://example.com/a.png|shot>'],
    ['see https://example.com/a?b=1&c=2', 'see <https://example.com/a?b=1&amp;c=2>'],
    ['`<https://example.com|x>`', '`&lt;https://example.com|x&gt;`'],
    ['`` a`b ``', '`aˋb`'],
    ['````\n```\n````', '```\n``\u200B`\n```'],
    ['[d][e] x[^1]\n\n[e]: https://e.test\n\n[^1]: note', '<https://e.test|d> x[1]\n\n[1] note'],
    ['a\n\n[d]: https://e.test', 'a\n\nd: <https://e.test>'],
    ['a\n\n---\n\nb', 'a\n\n───\n\nb'],
    ['<b>x</b>', '&lt;b&gt;x&lt;/b&gt;'],
  ])('%j becomes %j', (markdown, mrkdwn) => {
    expect(toMrkdwn(markdown)).toBe(mrkdwn);
  });

  it('never writes a token that is neither a safe link nor a known person', () => {
    const words = fc.constantFrom(
      '<!here>',
      '<@U1>',
      '<',
      '>',
      '|',
      '&',
      '*',
      '**',
      '`',
      '```\n',
      '@here',
      '[a](',
      ')',
      'x',
      ' ',
      '\n',
      'https://a.b/c',
      '!subteam^S1',
      '#',
      '- ',
      '~',
    );
    const samples = fc.sample(fc.array(words, { maxLength: 30 }), { numRuns: 500, seed: 7 });
    const unsafe = samples.flatMap((parts) =>
      [...mrkdwnOf(parts.join(''), nobody).matchAll(/<([^>]*)>?/gu)]
        .map((match) => match[1] ?? '')
        .filter((inside) => !/^(?:https?:\/\/|mailto:)[^<>\s]*/u.test(inside)),
    );
    expect(unsafe).toEqual([]);
  });
});

describe('mentions', () => {
  const split = createSplitMentions([
    { id: 'slack:U1', name: 'Anna' },
    { id: 'slack:U2', name: 'Anna Lee' },
    { id: 'slack:U3', name: 'Sam' },
    { id: 'slack:U4', name: 'Sam' },
    { id: 'discord:9', name: 'Zoe' },
    { id: 'slack:B7', name: 'alertbot' },
  ]);

  it.each([
    ['hi @Anna!', 'hi <@U1>!'],
    ['@Anna Lee and @Anna', '<@U2> and <@U1>'],
    ['@Annabel, x@Anna, @Anna-Lena, @Anna.b', '@Annabel, x@Anna, @Anna-Lena, @Anna.b'],
    ["@Anna's **@Anna**", "<@U1>'s **<@U1>**"],
    ['`@Anna`', '`@Anna`'],
    ['```\n@Anna\n```', '```\n@Anna\n```'],
    ['@Sam @Zoe @alertbot', '@Sam @Zoe @alertbot'],
    ['[@Anna](https://example.com)', '[@Anna](https://example.com)'],
    ['@here @Channel @everyone', '@\u200Bhere @\u200BChannel @\u200Beveryone'],
    ['a@here.com @here_', 'a@here.com @\u200Bhere_'],
    ['<!here> `<!channel>` <@U9>', '<\u200B!here> `<\u200B!channel>` <\u200B@U9>'],
    ['&lt;!everyone&gt; &#60;!here>', '&lt;\u200B!everyone&gt; &#60;\u200B!here>'],
    [
      '<\\!here> &lt;&excl;here> &#x3C;&#33;channel>',
      '<\u200B\\!here> &lt;\u200B&excl;here> &#x3C;\u200B&#33;channel>',
    ],
    ['&commat;here \\@everyone', '&commat;\u200Bhere \\@\u200Beveryone'],
    ['_@here_ a.www.a.b @here @Anna', '_@\u200Bhere_ a.www.a.b @\u200Bhere <@U1>'],
    ['/bob@example.com @here http://x.y @Anna', '/bob@example.com @\u200Bhere http://x.y <@U1>'],
    [':www.example.com/@here @here `@here`', ':www.example.com/@here @\u200Bhere `@here`'],
    ['<!-- note --> <!DOCTYPE html>', '<!-- note --> <!DOCTYPE html>'],
    ['[x](javascript:alert(1)) [y](data:x)', 'x (javascript:alert(1)) y (data:x)'],
    ['Read <https://example.org/g|our guide>.', 'Read [our guide](<https://example.org/g>).'],
    ['**Load** and `a|b`', '**Load** and `a|b`'],
  ])('the markdown block of %j is %j', (markdown, block) => {
    expect(markdownBlockText(markdown, split)).toBe(block);
  });

  it('nobody is notified by anything that is not a known name', () => {
    const words = fc.constantFrom(
      ...[
        '<!here>',
        '<@U1>',
        '@here',
        '@everyone',
        '&lt;!channel&gt;',
        '\\',
        '*',
        '_',
        '`',
        '```\n',
      ],
      ...[
        'www.a.b',
        'a@b.c',
        'http://x.y',
        '[',
        '](',
        ')',
        ' ',
        '\n',
        '\n\n',
        '| ',
        '|---|\n',
        '> ',
        '- ',
      ],
    );
    const samples = fc.sample(fc.array(words, { maxLength: 25 }), { numRuns: 1_000, seed: 3 });
    const loud = samples
      .map((parts) => parts.join(''))
      .filter((source) => {
        const drawn = markdownBlockText(source, split);
        const prose = drawnProse(drawn);
        return /<[@!]/u.test(drawn) || /(?<![\p{L}\p{N}_])@(?:here|everyone)/iu.test(prose);
      });
    expect(loud).toEqual([]);
  });

  it('the fallback mentions the same people', () => {
    expect(mrkdwnOf('@Anna Lee, `@Anna` @Sam @here', split)).toBe(
      '<@U2>, `@Anna` @Sam @\u200Bhere',
    );
  });

  it('keeps a table inside its quote', () => {
    expect(markdownBlockText('> | a | b |\n> |---|---|\n> | 1 | 2 |', nobody)).toBe(
      '> ```\n> a  b\n> ─  ─\n> 1  2\n> ```',
    );
  });

  it('counts wide characters as two columns', () => {
    expect(displayWidthOf('茶a🌲é')).toBe(6);
  });
});

describe('Markdown of what people write on Slack', () => {
  it('B028 leaves arithmetic and code alone and keeps bold', () => {
    const { input, expected } = readCase(
      'B028',
      z.object({
        input: textsSchema,
        expected: z.object({ outputsAnyOf: z.array(z.array(z.string())) }),
      }),
    );
    for (const [index, text] of input.texts.entries()) {
      expect(expected.outputsAnyOf[index]).toContain(fromSlack(text));
    }
    expect(fromSlack('a *strong* word')).toBe('a **strong** word');
  });

  it.each([
    ['<@U1> and <@U9|x>', '@Anna and @U9'],
    ['B036 <@UBOT> ask <@U1>', 'B036 @deckhand ask @Anna'],
    ['<#C1|ops> <#C1> <#C1|> <#C9>', '#ops #ops #ops #C9'],
    ['<!subteam^S1> <!subteam^S2|@web>', '@oncall @web'],
    ['<!here> <!channel|channel>', '@here @channel'],
    ['<!date^1392734382^{date}|18 Feb>', '18 Feb'],
    ['<https://x.y|label>', '[label](https://x.y)'],
    ['<https://x.y/a?b=1&amp;c=2>', 'https://x.y/a?b=1&c=2'],
    ['<http://x.y|x.y> <mailto:a@b.c|a@b.c>', 'http://x.y a@b.c'],
    ['<https://x.y/(a)|l[1]>', '[l\\[1\\]](<https://x.y/(a)>)'],
    ['a &lt; b &amp;&amp; c &gt; d &amp;lt;', 'a < b && c > d &lt;'],
    ['*<https://x.y|l> now*', '**[l](https://x.y) now**'],
    ['~gone~ _it_ ~5', '~~gone~~ _it_ ~5'],
    ['2*3*4 and snake_case_name', '2*3*4 and snake_case_name'],
    ['**already**', '**already**'],
    ['`a &lt; *b*`', '`a < *b*`'],
    ['`<https://x.y>` `<@U1>`', '`https://x.y` `@Anna`'],
    ['```\na *b*\n```', '```\na *b*\n```'],
    ['```js\nlet a\n```', '```js\nlet a\n```'],
    ['so: ```let a\nlet b``` ok', 'so: \n```\nlet a\nlet b\n```\n ok'],
    ['`a\u00A0b`', '`a b`'],
    ['• one\n    ◦ two', '- one\n    - two'],
    ['&gt; quoted', '> quoted'],
  ])('%j becomes %j', (slack, markdown) => {
    expect(fromSlack(slack)).toBe(markdown);
  });
});
