/** Outbound messages as Slack blocks. */

import { describe, expect, it } from 'vitest';
import { slackCapabilities } from '../../../adapters/slack/adapter.ts';
import { cutMrkdwn, drawMessage, drawnLengthOf, plainText } from '../../../adapters/slack/draw.ts';
import type { Block } from '../../../src/surface/outbound.ts';
import { checkedBlocks } from '../../emulators/slack/blocks.ts';

const draw = (...blocks: readonly Block[]) => drawMessage({ blocks, mentionable: [] });

const buttons = (count: number): Block => ({
  kind: 'buttons',
  buttons: Array.from({ length: count }, (_, index) => ({
    controlId: `b.${index}`,
    label: `Button ${index}`,
    style: 'plain',
  })),
});

describe('drawing', () => {
  it('draws each kind of block as Slack takes it', () => {
    const drawn = draw(
      { kind: 'markdown', text: '# Hi\n\n**there**' },
      { kind: 'activity', text: 'Grep `a<b` in *.ts & <!here>' },
      { kind: 'notice', text: '**Stopped** by [Anna](https://x.y)' },
      {
        kind: 'buttons',
        buttons: [
          { controlId: 'go', label: 'Go', style: 'primary' },
          { controlId: 'no', label: 'No', style: 'danger' },
        ],
      },
      {
        kind: 'choice',
        controlId: 'q.1',
        options: [{ value: 'v1', label: 'One' }],
        submitLabel: 'Send',
      },
    );
    expect(drawn.blocks).toEqual([
      { type: 'markdown', text: '# Hi\n\n**there**' },
      {
        type: 'context',
        elements: [
          {
            type: 'mrkdwn',
            text: 'Grep `a&lt;b` in *.ts &amp; &lt;!here&gt;',
            verbatim: true,
          },
        ],
      },
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: '*Stopped* by <https://x.y|Anna>', verbatim: true }],
      },
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: 'go',
            text: { type: 'plain_text', text: 'Go', emoji: true },
            style: 'primary',
          },
          {
            type: 'button',
            action_id: 'no',
            text: { type: 'plain_text', text: 'No', emoji: true },
            style: 'danger',
          },
        ],
      },
      {
        type: 'actions',
        elements: [
          {
            type: 'checkboxes',
            action_id: 'choice:q.1:0',
            options: [{ text: { type: 'plain_text', text: 'One', emoji: true }, value: 'v1' }],
          },
          {
            type: 'button',
            action_id: 'q.1',
            text: { type: 'plain_text', text: 'Send', emoji: true },
            style: 'primary',
          },
        ],
      },
    ]);
    expect(drawn.text).toBe(
      '*Hi*\n\n*there*\n\nGrep `a&lt;b` in *.ts &amp; &lt;!here&gt;\n\n*Stopped* by <https://x.y|Anna>',
    );
    expect(checkedBlocks(drawn.blocks)).toEqual(drawn.blocks);
  });

  it('gives the same bytes for the same message', () => {
    const block: Block = { kind: 'markdown', text: '| a |\n|---|\n| @Anna |' };
    expect(JSON.stringify(draw(block, buttons(3)))).toBe(JSON.stringify(draw(block, buttons(3))));
  });

  it.each([
    [25, 1],
    [26, 2],
  ])('puts %i buttons into %i rows', (count, rows) => {
    const { blocks } = draw(buttons(count));
    expect(blocks).toHaveLength(rows);
    expect(checkedBlocks(blocks)).toHaveLength(rows);
  });

  it('leaves out what has no words', () => {
    expect(draw({ kind: 'markdown', text: ' ' }, { kind: 'notice', text: '' }).blocks).toEqual([]);
  });

  it('cuts long labels between characters', () => {
    const label = `${'x'.repeat(73)}😀😀`;
    const { blocks } = draw({
      kind: 'buttons',
      buttons: [{ controlId: 'a', label, style: 'plain' }],
    });
    expect(JSON.stringify(blocks)).toContain(`"${'x'.repeat(73)}…"`);
    expect(checkedBlocks(blocks)).toHaveLength(1);
  });

  it('numbers options in the plain form', () => {
    const text = plainText({
      blocks: [{ kind: 'markdown', text: 'Which **one**?' }, buttons(2)],
      mentionable: [],
    });
    expect(text).toBe('Which *one*?\n\n1. Button 0\n2. Button 1');
  });
});

describe('the fallback text', () => {
  it.each(['&amp;', '<https://example.com/some/long/path|label>', 'é'])(
    'is never cut inside %s',
    (piece) => {
      const text = piece.repeat(200);
      for (let most = 40; most < 60 + Buffer.byteLength(piece); most += 1) {
        const cut = cutMrkdwn(text, most);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(most);
        expect(text.startsWith(cut.replace(/…$/u, ''))).toBe(true);
        expect(cut.replace(/…$/u, '').length % piece.length).toBe(0);
      }
    },
  );

  it('closes a fence that the cut left open', () => {
    const cut = cutMrkdwn(`\`\`\`\n${'x'.repeat(100)}\n\`\`\``, 50);
    expect(cut.endsWith('…\n```')).toBe(true);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(50);
  });

  it('stays as it is when it fits', () => {
    expect(cutMrkdwn('x'.repeat(50), 50)).toBe('x'.repeat(50));
  });
});

describe('the drawn length', () => {
  it('counts what is added for safety and for tables', () => {
    expect(drawnLengthOf('hello')).toBe(5);
    expect(drawnLengthOf('<!here>')).toBe(8);
    expect(drawnLengthOf('| a | b |\n|---|---|\n| wide wide wide | x |\n| y | z |')).toBe(
      '```\na               b\n──────────────  ─\nwide wide wide  x\ny               z\n```'.length,
    );
  });

  it('never counts a longer text less', () => {
    const text =
      'So:\n\n| a | b |\n|--------------------|-----|\n| 1 | 2 |\n\n**end** <@U1> [x](y)';
    let last = 0;
    for (let end = 0; end <= text.length; end += 1) {
      const length = drawnLengthOf(text.slice(0, end));
      expect(length).toBeGreaterThanOrEqual(last);
      last = length;
    }
  });

  it('lets a message of the most length through what Slack checks', () => {
    const words = 'word '.repeat(slackCapabilities.mostMessageLength / 5);
    expect(checkedBlocks(draw({ kind: 'markdown', text: words }, buttons(5)).blocks)).toHaveLength(
      2,
    );
  });
});
