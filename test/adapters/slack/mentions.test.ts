/** Nobody is notified by what a model writes, but for known people by their names. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawMessage, plainText } from '../../../adapters/slack/draw.ts';
import { markdownBlockText } from '../../../adapters/slack/markdown-block.ts';
import { createSplitMentions } from '../../../adapters/slack/mentions.ts';
import { mrkdwnOf } from '../../../adapters/slack/mrkdwn.ts';
import type { Block, OutboundMessage } from '../../../src/surface/outbound.ts';
import { notifiedBy } from '../../emulators/slack/drawn.ts';
import { key, setUpThread } from './set-up-thread.ts';

const zoe = { id: 'slack:U_ZOE', name: 'Zoe' };
const nobody = createSplitMentions([]);

/** Every way a text leaves: as blocks, as their fallback, as a notice, and as plain text. */
function notifiedAnyway(text: string): readonly string[] {
  const blocks: readonly Block[] = [
    { kind: 'markdown', text },
    { kind: 'notice', text },
    { kind: 'activity', text },
    { kind: 'buttons', buttons: [{ controlId: 'a', label: `x${text}`, style: 'plain' }] },
  ];
  return blocks.flatMap((block) => {
    const message: OutboundMessage = { blocks: [block], mentionable: [zoe] };
    const drawn = drawMessage(message);
    const shown = drawn.blocks.map((one) => ({ ...one }));
    return [
      ...notifiedBy({ text: drawn.text, blocks: shown }),
      ...notifiedBy({ text: plainText(message), blocks: [] }),
    ];
  });
}

const leaks = [
  '![<!`here`>](x:y)',
  '![<**@U_ANNA**>](x:y)',
  '![@**channel**](x:y)',
  '![a](x:&lt;!here&gt;)',
  '[a](x:&lt;@U_ANNA&gt;)',
  '![<**@U_ANNA**>](https://example.com/a.png)',
  '| a | b |\n|---|---|\n| <**!here**> | @**channel** |',
  '| a |\n|---|\n| <`@U_ANNA`> [@](x:y)here |',
  '> | a |\n> |---|\n> | <**!subteam^S1**> |',
  '@**here** @_channel_ @~~everyone~~ **@**here',
  '@&#104;ere @&#x63;hannel',
  '<&#33;h&#101;re> <@&#85;_ANNA>',
  '@[here](https://example.com) [@](https://example.com)channel',
  '@[channel][x]\n\n[x]: https://example.com',
  '![@[channel][x]][x]\n\n[x]: https://example.com',
  '<[!here][x]>\n\n[x]: https://example.com',
  '<![!here](x:y)>',
  '@<b></b>channel',
  '<<!-- -->!here>',
  '# @**here**',
  '- @**here**\n  - > @*channel*',
  '    @here',
  '[^1]\n\n[^1]: @**here**',
  `${'`'}${'a'.repeat(3_880)} @here ${'b'.repeat(100)}${'`'}`,
  '\\` `@here`',
  'https://\\@here www./*@here*',
];

describe('mentions that only joining makes', () => {
  it.each(leaks)('%j notifies nobody', (text) => {
    expect(notifiedAnyway(text)).toEqual([]);
  });

  it.each([
    ['![<!`here`>](x:y)', '<\u200B!here> (x:y)'],
    ['![@**channel**](x:y)', '@\u200Bchannel (x:y)'],
    ['a@**here** @**there** @**here**', 'a@**here** @**there** @\u200B**here**'],
    ['`@here` and\n```\n@here\n```', '`@here` and\n```\n@here\n```'],
    ['mail a@b.c @**here** x@y.z', 'mail a@b.c @\u200B**here** x@y.z'],
    ['[@**here**](https://example.com/@here)', '[@\u200B**here**](https://example.com/@here)'],
    ['![@**here**](https://example.com/@x)', '![@\u200B**here**](https://example.com/@x)'],
  ])('the markdown block of %j is %j', (text, block) => {
    expect(markdownBlockText(text, nobody)).toBe(block);
  });

  it('keeps the columns of a table with broken words', () => {
    const table = '| who | x |\n|---|---|\n| @**here** | 1 |\n| Bo | 2 |';
    const drawn = 'who    x\n─────  ─\n@\u200Bhere  1\nBo     2';
    expect(markdownBlockText(table, nobody)).toBe(`\`\`\`\n${drawn}\n\`\`\``);
    expect(mrkdwnOf(table, nobody)).toBe(`\`\`\`\n${drawn}\n\`\`\``);
  });

  it('keeps a known name beside what is broken', () => {
    const split = createSplitMentions([zoe]);
    expect(markdownBlockText('@Zoe @**here** @Zoe ![<!`here`>](x:y) @Zoe', split)).toBe(
      '<@U_ZOE> @\u200B**here** <@U_ZOE> <\u200B!here> (x:y) <@U_ZOE>',
    );
    expect(mrkdwnOf('@Zoe [see @Zoe](https://example.com)', split)).toBe(
      '<@U_ZOE> <https://example.com|see @Zoe>',
    );
  });
});

const pieces = fc.constantFrom(
  ...['<', '>', '@', '!', '|', '&', '\\', '(', ')', '[', ']', ':', '/', '#', '^', '-', ' ', '\n'],
  ...['here', 'channel', 'everyone', 'subteam^S1', 'U_ANNA', '@here', '@channel', '<!here>', 'x'],
  ...['<@U_ANNA>', '<@U_ANNA|Anna>', '<!channel|c>', '<!', '<@', '!here', '@U_ANNA', '@Zoe'],
  ...['*', '**', '_', '__', '~~', '`', '``', '```\n', '~~~\n', '\n\n', '> ', '- ', '1. ', '    '],
  ...['![', '](x:y)', '](https://a.b)', '](https://a.b/@', '][r]', '[r]', '[r]: x:y\n', '![]'],
  ...[
    '[r]: https://a.b/@here "@here"\n',
    '[^1]',
    '[^1]: ',
    '<https://a.b|',
    'https://a.b/',
    'www.',
  ],
  ...['\n\n| a | b |\n|---|---|\n| ', ' | ', ' |\n| ', '<b>', '</b>', '<!-- -->', '<br>', '\u200B'],
  ...['&lt;', '&#60;', '&#x3C;', '&gt;', '&commat;', '&#64;', '&excl;', '&#33;', '&#104;', '&amp;'],
  ...['ere', 'a@b.c', '\uFDD0', '# ', '\\@', '\\<', '\\!'],
);

describe('random Markdown', () => {
  it('notifies nobody but a known person by name, in whatever form it leaves', () => {
    const samples = fc.sample(fc.array(pieces, { maxLength: 30 }), { numRuns: 1_500, seed: 11 });
    const loud = samples
      .map((parts) => parts.join(''))
      .filter((text) => notifiedAnyway(text).some((id) => id !== 'U_ZOE'));
    expect(loud).toEqual([]);
  });

  it('as the workspace sees it, too', async () => {
    const slack = await setUpThread();
    slack.workspace.addUser({ id: 'U_ZOE', name: 'Zoe' });
    const samples = fc.sample(fc.array(pieces, { minLength: 5, maxLength: 30 }), {
      numRuns: 40,
      seed: 12,
    });
    for (const [index, text] of [...leaks, ...samples.map((parts) => parts.join(''))].entries()) {
      const { messageId } = await slack.surface.post(
        { blocks: [{ kind: 'markdown', text: `${text} end` }], mentionable: [zoe] },
        { ...key, key: `k${index}` },
      );
      const notified = slack.workspace.notified(messageId).filter((id) => id !== 'U_ZOE');
      expect({ text, notified }).toEqual({ text, notified: [] });
    }
    await slack.close();
  });
});
