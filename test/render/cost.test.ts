/** Long runs and long texts: what an event costs does not grow with what came before. */

import { describe, expect, it } from 'vitest';
import { activityLines } from '../../src/render/activity.ts';
import { applyEvent, newDocument } from '../../src/render/document.ts';
import { createPageDrawer, type DrawnPage, drawnOf } from '../../src/render/draw.ts';
import type { Beginning } from '../../src/render/page-book.ts';
import { createFakeAdapter } from '../support/fake-adapter.ts';
import { createRandom } from '../support/random.ts';
import { randomMarkdown } from '../support/random-markdown.ts';
import { endReply, setUpReply } from '../support/reply-stage.ts';

describe('a run of ten thousand tool calls', () => {
  it('keeps the newest and the running ones, and counts the others', () => {
    let document = newDocument(0);
    for (let call = 1; call <= 10_000; call += 1) {
      const callId = `c${call}`;
      document = applyEvent(document, { kind: 'tool_started', callId, activity: callId }, call);
      if (call === 7) continue;
      document = applyEvent(document, { kind: 'tool_finished', callId, outcome: 'ok' }, call);
    }
    const { calls, callsBefore } = document;
    expect(calls.length).toBeLessThan(100);
    expect(calls.length + callsBefore).toBe(10_000);
    expect(calls.at(-1)).toMatchObject({ callId: 'c10000', state: 'done' });
    expect(calls.filter(({ state }) => state === 'running')).toMatchObject([{ callId: 'c7' }]);
  });

  it('tells how many came before the newest', async () => {
    const show = { activity: 'all', thinking: 'off' } as const;
    const stage = setUpReply({ options: { show } });
    for (let call = 1; call <= 200; call += 1) {
      const callId = `c${call}`;
      stage.reply.apply({ kind: 'tool_started', callId, activity: callId });
      stage.reply.apply({ kind: 'tool_finished', callId, outcome: 'ok' });
    }
    stage.text('x');
    await stage.clock.advance(2000);
    expect(stage.adapter.texts('t')[0]).toContain('✓ 192 before_\n_✓ c193_');
    await endReply(stage);
  });
});

describe('a text that is far longer than its pages', () => {
  it('is drawn page by page as it would be as a whole', () => {
    const { capabilities } = createFakeAdapter({ mostMessageLength: 400 });
    const show = { activity: 'off', thinking: 'off' } as const;
    let compared = 0;
    for (let seed = 1; seed <= 2; seed += 1) {
      const text = randomMarkdown(createRandom(seed), 't', 6);
      const document = { ...newDocument(0), ended: seed % 2 === 0 };
      const draw = (from: Beginning, most: number): DrawnPage | undefined =>
        createPageDrawer({ capabilities, mentionable: [], show })
          .pages(document, text, { from, now: 0, most })
          .at(0);
      let from: Beginning = { end: 0, prefix: '' };
      while (text.length - from.end > 2000) {
        const [near, whole] = [draw(from, 1), draw(from, Number.POSITIVE_INFINITY)];
        if (!near || !whole) break;
        expect(drawnOf(near.message), `seed ${seed}`).toBe(drawnOf(whole.message));
        expect(near.end, `seed ${seed}`).toBe(whole.end);
        expect(near.next, `seed ${seed}`).toEqual(whole.next);
        expect(near.end, `seed ${seed}`).toBeGreaterThan(from.end);
        from = near.next;
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(4);
  });

  it('costs a page of it no more than of a short one', async () => {
    const stage = setUpReply();
    const paragraph = `${'Some words that stand in a paragraph. '.repeat(10)}\n\n`;
    const units = 1_000_000;
    stage.text(paragraph.repeat(Math.ceil(units / paragraph.length)));
    const before = process.cpuUsage();
    await stage.clock.advance(8000);
    const { user } = process.cpuUsage(before);
    expect(stage.adapter.shown.length).toBeGreaterThan(6);
    // Reading all of it for each page takes more than a second a page.
    expect(user / 1000 / stage.adapter.shown.length).toBeLessThan(300);
    await stage.reply.abandon();
  });
});

describe('thoughts', () => {
  const show = { activity: 'line', thinking: 'line' } as const;
  const lines = ['first-line-of-a-secret', 'second-line-of-a-secret', 'third-line-of-a-secret'];
  const secrets = [{ name: 'KEY', value: lines.join('\n') }];

  it('show no line of a secret that is not whole yet', async () => {
    const stage = setUpReply({ secrets, options: { show } });
    stage.text('I think.');
    stage.reply.apply({ kind: 'reasoning_delta', text: 'The key is this.\n' });
    const seen: string[] = [];
    for (const line of lines) {
      stage.reply.apply({ kind: 'reasoning_delta', text: `${line}\n` });
      await stage.clock.advance(3000);
      seen.push(...stage.adapter.texts('t'));
    }
    expect(seen.join('\n')).toContain('Thinking: The key is this.');
    expect(seen.join('\n')).not.toContain('of-a-secret');
    await endReply(stage);
  });

  it('are kept no longer than they are looked at', () => {
    let document = newDocument(0);
    for (let count = 0; count < 5000; count += 1) {
      document = applyEvent(document, { kind: 'reasoning_delta', text: `Thought ${count}. ` }, 0);
    }
    expect(document.thoughts.length).toBeLessThan(10_000);
    const lines = activityLines(document, show, 0);
    expect(lines).toEqual(['Thinking: Thought 4999.']);
  });
});
