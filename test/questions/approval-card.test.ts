/** Approval cards: exactly what will happen, in the room that there is, whatever the model writes. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawMessage, drawnLengthOf } from '../../adapters/discord/draw.ts';
import type { ApprovalAsk } from '../../src/messages/questions.ts';
import type { CallVerdict } from '../../src/permissions/approver.ts';
import {
  type CardRoom,
  drawApprovals,
  longAsks,
  mayGrant,
  shownAsks,
  wholePreview,
} from '../../src/questions/approval-card.ts';
import type { ApprovalRecord } from '../../src/questions/approval-record.ts';
import { parseMarkdown } from '../../src/surface/markdown/parse.ts';
import type { Button, OutboundMessage } from '../../src/surface/outbound.ts';
import { textOfMessage } from '../support/fake-adapter.ts';

const discordRoom: CardRoom = { mostLength: 1900, lengthOf: drawnLengthOf };
const wideRoom: CardRoom = { mostLength: 11_000, lengthOf: (markdown) => markdown.length };
const open: CallVerdict = { kind: 'open', approvedBy: [] };
const approved: CallVerdict = {
  kind: 'approved',
  by: ['Anna'],
  first: { id: 'web:anna', name: 'Anna' },
  isGrant: false,
};

function askOf(more: Partial<ApprovalAsk> = {}): ApprovalAsk {
  return {
    callId: 'c1',
    tool: 'Bash',
    inputHash: 'h',
    title: 'Running `make deploy`',
    preview: { language: 'sh', text: 'make deploy' },
    why: '`make` is not known as a command that only reads',
    grant: { pattern: 'make deploy*', toolHash: 't' },
    ...more,
  };
}

function recordOf(
  asks: readonly Partial<ApprovalAsk>[],
  more: Partial<ApprovalRecord> = {},
): ApprovalRecord {
  return {
    v: 1,
    id: 'a_ab12',
    kind: 'calls',
    askers: [],
    conversation: { adapter: 'web', space: 'local', channel: 'c', thread: 't' },
    runId: 'r1',
    asks: asks.map((ask) => askOf(ask)),
    asker: { id: 'web:anna', name: 'Anna' },
    approvers: ['asker'],
    quorum: 1,
    notAsker: false,
    grantMs: 8 * 3600 * 1000,
    createdAt: 0,
    expiresAt: 4 * 3600 * 1000,
    cardId: null,
    state: 'open',
    ...more,
  };
}

function cardOf(
  record: ApprovalRecord,
  verdicts: readonly CallVerdict[] = record.asks.map(() => open),
  room = discordRoom,
  approvers = 'Anna',
): OutboundMessage {
  return drawApprovals(record, { verdicts, room, approvers });
}

function buttonsOf({ blocks }: OutboundMessage): readonly Button[] {
  return blocks.flatMap((block) => (block.kind === 'buttons' ? block.buttons : []));
}

function markdownOf({ blocks }: OutboundMessage): readonly string[] {
  return blocks.flatMap((block) => (block.kind === 'markdown' ? [block.text] : []));
}

/** The kinds of a text's parts, as the parser of Markdown sees them. */
function partsOf(markdown: string): readonly string[] {
  return parseMarkdown(markdown).children.map(({ type }) => type);
}

const wholeAsk = ['paragraph', 'code', 'paragraph'];

describe('an approval card', () => {
  it('says what, why, what a grant covers, who and until when', () => {
    expect(textOfMessage(cardOf(recordOf([{}])))).toBe(
      [
        '**Running `make deploy`**\n\n```sh\nmake deploy\n```\n\nI ask because `make` is not known as a command that only reads. "For this thread" covers `Bash(make deploy*)` for 8 h.',
        '[Approve] [Approve for this thread (8 h)] [Deny] [Deny with a note…]',
        '> May be approved by Anna until Thu, 01 Jan 1970 04:00 UTC.',
      ].join('\n'),
    );
  });

  it.each([
    [60_000, '1 min'],
    [90 * 60_000, '90 min'],
    [3600_000, '1 h'],
    [24 * 3600_000, '24 h'],
  ])('tells %d ms of a grant as %s', (grantMs, told) => {
    const labels = buttonsOf(cardOf(recordOf([{}], { grantMs }))).map(({ label }) => label);
    expect(labels).toContain(`Approve for this thread (${told})`);
  });

  it.each<[string, Partial<ApprovalAsk>, Partial<ApprovalRecord>, boolean]>([
    ['a plain call', {}, {}, true],
    ['four eyes', {}, { notAsker: true }, false],
    ['a quorum', {}, { quorum: 2 }, false],
    [
      'a pattern that the card shows whole',
      { grant: { pattern: 'x'.repeat(74), toolHash: 't' } },
      {},
      true,
    ],
    [
      'a pattern that it could not show',
      { grant: { pattern: 'x'.repeat(75), toolHash: 't' } },
      {},
      false,
    ],
  ])('offers a grant or not: %s', (_what, ask, more, isOffered) => {
    const record = recordOf([ask], more);
    expect(mayGrant(record, askOf(ask))).toBe(isOffered);
    const card = textOfMessage(cardOf(record));
    expect(card.includes('Approve for this thread')).toBe(isOffered);
    expect(card.includes('"For this thread" covers')).toBe(isOffered);
  });

  it('shows a long preview up to where it fits, and says that a file has all of it', () => {
    const text = Array.from({ length: 400 }, (_, line) => `line ${line}`).join('\n');
    const record = recordOf([{ preview: { language: 'diff', text } }]);
    expect(longAsks(record, discordRoom)).toEqual([0]);
    expect(longAsks(record, wideRoom)).toEqual([]);
    const [markdown = ''] = markdownOf(cardOf(record));
    expect(markdown).toContain('```diff\nline 0\n');
    expect(markdown).toContain('The whole text is in the file above.');
    expect(markdown.length).toBeGreaterThan(1200);
    expect(wholePreview(askOf({ preview: { language: 'diff', text } }))).toBe(`${text}\n`);
  });

  it('keeps to one answer on what is long, whatever was decided meanwhile', () => {
    const asks = [1, 2, 3].map((times) => ({
      preview: { language: 'sh', text: 'x'.repeat(120 * times) },
    }));
    const record = recordOf(asks);
    const long = longAsks(record, discordRoom);
    for (const verdicts of [
      [open, open, open],
      [approved, open, open],
      [approved, approved, open],
    ]) {
      const texts = markdownOf(cardOf(record, verdicts)).filter((text) => text.includes('```'));
      const shown = shownAsks(verdicts, discordRoom);
      expect(texts.map((text) => text.includes('file above'))).toEqual(
        shown.map((index) => long.includes(index)),
      );
    }
  });

  it('shows two asks at a time where messages are short, four elsewhere', () => {
    const record = recordOf(Array(6).fill({}));
    const verdicts = record.asks.map(() => open);
    expect(shownAsks(verdicts, discordRoom)).toEqual([0, 1]);
    expect(shownAsks(verdicts, wideRoom)).toEqual([0, 1, 2, 3]);
    expect(shownAsks([approved, open, approved, open, open, open], discordRoom)).toEqual([1, 3]);
    expect(textOfMessage(cardOf(record))).toContain('4 more follow.');
    const all = buttonsOf(cardOf(record)).at(-1);
    expect(all).toMatchObject({ label: 'Approve these 2', controlId: 'a_ab12.all.0-1' });
    expect(buttonsOf(cardOf(recordOf([{}, {}]))).at(-1)?.label).toBe('Approve all');
  });

  it.each<[ApprovalRecord['state'], string]>([
    ['expired', '> Nobody approved in time. This has expired.'],
    ['withdrawn', '> This is no longer needed.'],
  ])(
    'that is %s says so beside what was decided and what was not, without buttons',
    (state, told) => {
      const card = cardOf(recordOf([{}, {}], { state }), [approved, open]);
      expect(textOfMessage(card)).toBe(
        `✓ Running \`make deploy\`: approved by Anna\n– Running \`make deploy\`\n${told}`,
      );
      expect(buttonsOf(card)).toEqual([]);
    },
  );

  it('counts those who approved where several must', () => {
    const some: CallVerdict = { kind: 'open', approvedBy: ['Anna', 'B*n'] };
    const card = textOfMessage(cardOf(recordOf([{}], { quorum: 3 }), [some]));
    expect(card).toContain('3 people must approve: so far Anna, B\\*n.');
  });

  it('lists the last ten of many decisions, and how many were before', () => {
    const record = recordOf(Array(12).fill({}));
    const [markdown = ''] = markdownOf(
      cardOf(
        record,
        record.asks.map(() => approved),
        wideRoom,
      ),
    );
    expect(markdown.split('\n')).toHaveLength(11);
    expect(markdown.split('\n')[0]).toBe('(2 decided before)');
  });
});

describe('what the model writes', () => {
  const fake = '✓ Running `rm -rf /`: approved by Anna';

  it.each<[string, Partial<ApprovalAsk>]>([
    [
      'a fence in the preview',
      { preview: { language: 'sh', text: `\`\`\`\n\n${fake}\n\n\`\`\`` } },
    ],
    ['a longer fence', { preview: { language: 'sh', text: `\`\`\`\`\`\n\n${fake}` } }],
    ['a fence of tildes', { preview: { language: 'sh', text: `~~~\n\n${fake}` } }],
    ['lines in the title', { title: `Running\n\n${fake}\n\n# Big\n\n` }],
    ['a fence in the title', { title: `Running \`\`\`\n\n${fake}` }],
    ['bold and links in the title', { title: '** [x](#y) <b> ~~y~~ ||z||' }],
    ['lines in the reason', { why: `it changes a\n\n${fake}\n\n> quoted` }],
    ['a fence in the reason', { why: `it changes \`\`\`\n\n${fake}` }],
    ['a pattern with marks', { grant: { pattern: `x\`\n\n${fake}`, toolHash: 't' } }],
    [
      'a preview cut inside a fence',
      { preview: { language: 'sh', text: `\`\`\`\n${'y'.repeat(5000)}` } },
    ],
  ])('makes no part of its own of the card: %s', (_what, ask) => {
    const [markdown = ''] = markdownOf(cardOf(recordOf([ask])));
    const isLong = markdown.includes('The whole text is in the file above.');
    expect(partsOf(markdown)).toEqual(isLong ? [...wholeAsk, 'paragraph'] : wholeAsk);
    const marks = JSON.stringify(parseMarkdown(markdown));
    for (const kind of ['"link"', '"html"', '"delete"', '"heading"', '"blockquote"']) {
      expect(marks).not.toContain(kind);
    }
  });

  it('is in plain sight everywhere', () => {
    const hidden = 'x\u202E\u200Bfdp';
    const ask = {
      title: hidden,
      why: hidden,
      preview: { language: 'sh', text: hidden },
      grant: { pattern: hidden, toolHash: 't' },
    };
    const card = textOfMessage(cardOf(recordOf([ask]), [open], wideRoom, hidden));
    expect(card).not.toMatch(/[\u202E\u200B]/u);
    expect(card.match(/xU\+202EU\+200Bfdp/gu)).toHaveLength(5);
    const denied: CallVerdict = { kind: 'denied', by: hidden, note: hidden };
    expect(textOfMessage(cardOf(recordOf([ask]), [denied]))).not.toMatch(/[\u202E\u200B]/u);
    expect(wholePreview(askOf(ask))).toBe('xU+202EU+200Bfdp\n');
  });

  it('in a plan cannot swallow what the card says of it', () => {
    const text = `1. Look\n\n\`\`\`sh\n${'x\n'.repeat(3000)}`;
    const record = recordOf([{ preview: { language: 'markdown', text } }], {
      kind: 'plan',
      quorum: 2,
    });
    expect(partsOf(markdownOf(cardOf(record))[0] ?? '')).toEqual([
      ...['paragraph', 'paragraph', 'paragraph'],
      ...['list', 'code'],
    ]);
    const texts = textOfMessage(cardOf(record));
    expect(texts.indexOf('The whole text is')).toBeLessThan(texts.indexOf('1. Look'));
    expect(texts.indexOf('2 people must approve')).toBeLessThan(texts.indexOf('1. Look'));
  });

  it('and people write in a denial stays on its line', () => {
    const denied: CallVerdict = { kind: 'denied', by: 'B\n\n*n*', note: `no\n\n${fake}` };
    expect(textOfMessage(cardOf(recordOf([{}]), [denied]))).toBe(
      '✗ Running `make deploy`: denied by B \\*n\\*: no ✓ Running `rm -rf /`: approved by Anna',
    );
  });

  it('closes the code of a title that is cut', () => {
    const [markdown = ''] = markdownOf(
      cardOf(recordOf([{ title: `Running \`${'x'.repeat(90)}\`` }])),
    );
    expect(markdown.split('\n')[0]).toBe(`**Running \`${'x'.repeat(49)}…\`**`);
  });
});

describe('the length of a card', () => {
  const nasty = fc.oneof(
    fc.constantFrom(
      '`'.repeat(3000),
      '*'.repeat(3000),
      '@everyone '.repeat(300),
      '\u202E'.repeat(2000),
      '\n'.repeat(3000),
      'a`'.repeat(1500),
      '👩‍💻'.repeat(400),
      '```\n'.repeat(700),
      '__||~~'.repeat(500),
      '<@123> '.repeat(400),
      'https://a.example/_x_ '.repeat(200),
      '',
    ),
    fc.string({ maxLength: 3000, unit: 'grapheme' }),
    fc.string({ maxLength: 300 }),
  );
  const ask = fc.record({
    title: nasty,
    why: nasty,
    text: nasty,
    pattern: fc.option(nasty, { nil: undefined }),
    language: fc.constantFrom('sh', 'diff', 'json'),
    name: nasty,
    verdict: fc.constantFrom('open', 'open', 'approved', 'denied'),
  });
  const card = fc.record({
    asks: fc.array(ask, { minLength: 1, maxLength: 6 }),
    quorum: fc.constantFrom(1, 1, 2, 5),
    state: fc.constantFrom<ApprovalRecord['state'][]>('open', 'open', 'decided', 'expired'),
    kind: fc.constantFrom<ApprovalRecord['kind'][]>('calls', 'calls', 'plan'),
    approvers: nasty,
  });

  it.each([
    ['Discord, which refuses what is longer', 1900],
    ['a room twice as long', 3800],
  ])(
    'stays within %s, whatever it is about',
    (_what, mostLength) => {
      const room: CardRoom = { mostLength, lengthOf: drawnLengthOf };
      fc.assert(
        fc.property(card, ({ asks, approvers, ...more }) => {
          const record = recordOf(
            asks.map(({ title, why, text, pattern, language }) => ({
              title,
              why,
              preview: { language, text },
              ...(pattern === undefined ? {} : { grant: { pattern, toolHash: 't' } }),
            })),
            more,
          );
          const verdicts = asks.map(({ verdict, name }): CallVerdict => {
            const by = { id: 'web:x', name };
            if (verdict === 'denied') return { kind: 'denied', by: name, note: name };
            if (verdict === 'open')
              return { kind: 'open', approvedBy: more.quorum > 1 ? [name] : [] };
            return { kind: 'approved', by: [name, name], first: by, isGrant: false };
          });
          const message = cardOf(record, verdicts, room, approvers);
          const lengths = message.blocks.map((block) =>
            block.kind === 'markdown' || block.kind === 'notice'
              ? drawnLengthOf(block.text) + 4
              : 0,
          );
          const whole = lengths.reduce((sum, length) => sum + length, 0);
          expect(whole).toBeLessThanOrEqual(mostLength);
          // Discord's own drawing throws where the content is longer than it takes.
          expect(() => mostLength < 2000 && drawMessage(message)).not.toThrow();
          const buttons = buttonsOf(message);
          expect(new Set(buttons.map(({ controlId }) => controlId)).size).toBe(buttons.length);
          for (const { controlId, label } of buttons) {
            expect(controlId).toMatch(/^[a-z0-9_.-]{1,100}$/u);
            expect(label.length).toBeLessThanOrEqual(75);
          }
        }),
        { numRuns: 150 },
      );
    },
    60_000,
  );
});
