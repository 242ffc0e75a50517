/** TodoWrite: the whole list, in place of the one before. */

import { describe, expect, it } from 'vitest';
import type { ChecklistItem } from '../../../src/messages/checklist.ts';
import { said, usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

async function write(input: unknown) {
  const { call } = await setUp();
  const shown: (readonly ChecklistItem[])[] = [];
  const outcome = await call('TodoWrite', input, { checklist: (items) => shown.push(items) });
  return { outcome, shown };
}

const item = (text: string, state = 'pending') => ({ text, state });

describe('TodoWrite', () => {
  it.each([
    [[item('Look', 'done'), item('Mend', 'running'), item('Tell')], '3 items, 2 left.'],
    [[item('Look', 'done')], '1 item, 0 left.'],
  ])('shows %j and says how much is left', async (items, told) => {
    const { outcome, shown } = await write({ items });
    expect(said(outcome)).toBe(`The people see the checklist: ${told}`);
    expect(shown).toEqual([items]);
  });

  it('takes the list away', async () => {
    const { outcome, shown } = await write({ items: [] });
    expect(said(outcome)).toBe('The people see no checklist any more.');
    expect(shown).toEqual([[]]);
  });

  it('mends a list that came as text', async () => {
    const { shown } = await write({ items: JSON.stringify([item('Look')]) });
    expect(shown).toEqual([[item('Look')]]);
  });

  it.each<[string, unknown, boolean]>([
    ['30 items', { items: Array(30).fill(item('x')) }, true],
    ['31 items', { items: Array(31).fill(item('x')) }, false],
    ['200 characters', { items: [item('x'.repeat(200))] }, true],
    ['201 characters', { items: [item('x'.repeat(201))] }, false],
    ['an empty text', { items: [item('')] }, false],
    ['an unknown state', { items: [item('x', 'blocked')] }, false],
    ['a further field', { items: [{ ...item('x'), id: 1 }] }, false],
    ['text that is no list', { items: '[{"text":' }, false],
    ['nothing', null, false],
  ])('of %s', async (_what, input, isTaken) => {
    const { outcome, shown } = await write(input);
    expect(outcome.kind).toBe(isTaken ? 'done' : 'error');
    expect(shown).toHaveLength(isTaken ? 1 : 0);
  });
});
