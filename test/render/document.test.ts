/** The reply as data: one changing line of activity, and the checklist. */

import { describe, expect, it } from 'vitest';
import type { ChecklistItem } from '../../src/messages/checklist.ts';
import type { RunEvent } from '../../src/messages/run-event.ts';
import { mostChecklistLength } from '../../src/render/activity.ts';
import {
  applyEvent,
  newDocument,
  type ReplyDocument,
  textOfDocument,
} from '../../src/render/document.ts';
import { createPageDrawer } from '../../src/render/draw.ts';
import type { ShownWork } from '../../src/render/settings.ts';
import type { Block } from '../../src/surface/outbound.ts';
import { createFakeAdapter } from '../support/fake-adapter.ts';

const text: RunEvent = { kind: 'text_delta', text: 'I look.' };
const started = (callId: string): RunEvent => ({
  kind: 'tool_started',
  callId,
  activity: `Reading ${callId}`,
});
const progress = (callId: string, line: string): RunEvent => ({
  kind: 'tool_progress',
  callId,
  line,
});
const finished = (callId: string): RunEvent => ({
  kind: 'tool_finished',
  callId,
  outcome: 'ok',
});
const checklist = (...items: readonly ChecklistItem[]): RunEvent => ({ kind: 'checklist', items });

function documentAfter(...events: readonly RunEvent[]): ReplyDocument {
  return events.reduce((document, event) => applyEvent(document, event, 0), newDocument(0));
}

const quiet: ShownWork = { activity: 'line', thinking: 'off' };

function blocksOf(document: ReplyDocument, now = 0, show = quiet): readonly Block[] {
  const { capabilities } = createFakeAdapter();
  const drawer = createPageDrawer({ capabilities, mentionable: [], show });
  const from = { end: 0, prefix: '' };
  return drawer
    .pages(document, textOfDocument(document), { from, now, most: 1 })
    .flatMap(({ message }) => message.blocks);
}

function linesAt(document: ReplyDocument, now: number, show = quiet): readonly string[] {
  return blocksOf(document, now, show).flatMap((block) =>
    block.kind === 'activity' ? [block.text] : [],
  );
}

function activityOf(document: ReplyDocument): string | undefined {
  const block = blocksOf(document).find(({ kind }) => kind === 'activity');
  return block?.kind === 'activity' ? block.text : undefined;
}

function listOf(document: ReplyDocument): readonly string[] {
  const block = blocksOf(document).find(({ kind }) => kind === 'notice');
  return block?.kind === 'notice' ? block.text.split('\n') : [];
}

describe('the line of activity', () => {
  it('is the newest word of the tools that run, and says how many more there are', () => {
    const two = [text, started('a'), started('b')];
    expect(activityOf(documentAfter(text, started('a')))).toBe('Reading a');
    expect(activityOf(documentAfter(...two))).toBe('Reading b (and 1 more)');
    expect(activityOf(documentAfter(...two, progress('a', '50 %')))).toBe('50 % (and 1 more)');
    expect(activityOf(documentAfter(...two, progress('a', '50 %'), progress('a', '60 %')))).toBe(
      '60 % (and 1 more)',
    );
    expect(activityOf(documentAfter(...two, progress('a', '50 %'), finished('a')))).toBe(
      'Reading b',
    );
    expect(activityOf(documentAfter(...two, finished('a'), finished('b')))).toBeUndefined();
  });

  it('counts a call once, from its first argument to its end', () => {
    const input: RunEvent = { kind: 'tool_input_delta', callId: 'a', activity: 'Reading …' };
    expect(activityOf(documentAfter(text, input))).toBe('Reading …');
    expect(activityOf(documentAfter(text, input, started('a'), progress('a', 'half')))).toBe(
      'half',
    );
  });

  it('makes no message before there is text, but for progress', () => {
    expect(blocksOf(documentAfter(started('a')))).toEqual([]);
    expect(blocksOf(documentAfter(started('a'), progress('a', '50 %')))).toEqual([
      { kind: 'activity', text: '50 %' },
    ]);
  });

  it('is gone with the next step and at the end', () => {
    const events = [text, started('a'), progress('a', '50 %')];
    const next: RunEvent = { kind: 'step_started', step: 2 };
    expect(activityOf(documentAfter(...events, next))).toBeUndefined();
    expect(activityOf({ ...documentAfter(...events), ended: true })).toBeUndefined();
  });
});

describe('the time it takes', () => {
  it('is told from 10 s on, in steps', () => {
    const document = documentAfter(text, started('a'));
    const told = [0, 9999, 10_000, 25_000, 59_999, 60_000, 95_000, 125_000, 3_600_000];
    expect(told.map((now) => linesAt(document, now)[0])).toEqual([
      'Reading a',
      'Reading a',
      'Reading a · 10 s',
      'Reading a · 20 s',
      'Reading a · 50 s',
      'Reading a · 1 min',
      'Reading a · 1 min 30 s',
      'Reading a · 2 min',
      'Reading a · 60 min',
    ]);
  });

  it('makes a message before there is text, once tools take longer than 3 s', () => {
    const document = documentAfter(started('a'));
    expect(linesAt(document, 2999)).toEqual([]);
    expect(linesAt(document, 3000)).toEqual(['Reading a']);
  });

  it('tells a silence, never older than 30 s, and that alone only after half a minute', () => {
    expect(linesAt(documentAfter(text), 9999)).toEqual([]);
    expect(linesAt(documentAfter(text), 10_000)).toEqual(['Thinking · 10 s']);
    expect(linesAt(documentAfter(), 29_999)).toEqual([]);
    expect(linesAt(documentAfter(), 30_000)).toEqual(['Thinking · 30 s']);
  });
});

describe('what a profile lets people see of the work', () => {
  const thoughts: RunEvent = {
    kind: 'reasoning_delta',
    text: 'The log is **large**. I look at its end first. Then I',
  };

  it('is nothing where activity is off', () => {
    const document = documentAfter(text, thoughts, started('a'), progress('a', 'half'));
    expect(linesAt(document, 60_000, { activity: 'off', thinking: 'line' })).toEqual([]);
  });

  it('is each tool with its state where activity is all, the newest ones', () => {
    const all: ShownWork = { activity: 'all', thinking: 'off' };
    const failed: RunEvent = { kind: 'tool_finished', callId: 'b', outcome: 'error' };
    const document = documentAfter(text, started('a'), started('b'), finished('a'), failed);
    expect(linesAt(applyEvent(document, started('c'), 0), 20_000, all)).toEqual([
      '✓ Reading a',
      '✗ Reading b',
      '▸ Reading c · 20 s',
    ]);
    const ten = Array.from({ length: 10 }, (_, index) => started(`t${index}`));
    const lines = linesAt(documentAfter(text, ...ten), 0, all);
    expect(lines).toHaveLength(9);
    expect(lines[0]).toBe('✓ 2 before');
  });

  it('is the newest whole sentence of the thoughts where thinking is line', () => {
    const show: ShownWork = { activity: 'line', thinking: 'line' };
    expect(linesAt(documentAfter(text, thoughts), 0, show)).toEqual([
      'Thinking: I look at its end first.',
    ]);
    expect(linesAt(documentAfter(text, thoughts), 0)).toEqual([]);
    expect(linesAt(documentAfter(thoughts, text), 0, show)).toEqual([]);
  });
});

describe('the checklist', () => {
  const item = (name: string, state: ChecklistItem['state']): ChecklistItem => ({
    text: name,
    state,
  });

  it('stands under the text, above the activity, and is replaced as a whole', () => {
    const document = documentAfter(
      text,
      started('a'),
      checklist(item('Old', 'running')),
      checklist(item('Look', 'done'), item('Mend', 'running'), item('Tell', 'pending')),
    );
    expect(blocksOf(document)).toEqual([
      { kind: 'markdown', text: 'I look.' },
      { kind: 'notice', text: '☑ Look\n▸ Mend\n☐ Tell' },
      { kind: 'activity', text: 'Reading a' },
    ]);
    expect(listOf(applyEvent(document, checklist(), 0))).toEqual([]);
  });

  it('makes a message before there is text, and stays at the end', () => {
    const document = documentAfter(checklist(item('Look', 'running')));
    expect(listOf(document)).toEqual(['▸ Look']);
    expect(listOf({ ...document, ended: true })).toEqual(['▸ Look']);
  });

  it('escapes what the model writes, and keeps it on one line', () => {
    const names = ['a\nb', '**x** [y](https://z) `c` <b> ~~d~~ ||e||', '\\*', '> quote'];
    expect(listOf(documentAfter(checklist(...names.map((name) => item(name, 'pending')))))).toEqual(
      [
        '☐ a b',
        '☐ \\*\\*x\\*\\* \\[y\\](https://z) \\`c\\` \\<b\\> \\~\\~d\\~\\~ \\|\\|e\\|\\|',
        '☐ \\\\\\*',
        '☐ \\> quote',
      ],
    );
  });

  it.each<[number, number, number, readonly string[]]>([
    [0, 12, 12, []],
    [0, 13, 13, ['☐ and 1 more']],
    [3, 12, 13, ['☑ 3 done before']],
    [1, 12, 13, ['☑ 1 done before']],
    [18, 12, 13, ['☑ 18 done before']],
    [5, 20, 14, ['☑ 5 done before', '☐ and 8 more']],
    [30, 0, 13, ['☑ 18 done before']],
  ])(
    'with %d done and %d to do has %d lines, of which it sums up %j',
    (done, open, count, sums) => {
      const items = [
        ...Array.from({ length: done }, (_, index) => item(`D${index}`, 'done')),
        ...Array.from({ length: open }, (_, index) => item(`O${index}`, 'pending')),
      ];
      const lines = listOf(documentAfter(checklist(...items)));
      expect(lines).toHaveLength(count);
      expect(lines.filter((line) => /done before|more$/u.test(line))).toEqual(sums);
    },
  );

  it.each(['x', '*', '\\', '`', '😀', '👩‍💻', '* ', '\n'])(
    'of 30 long items made of %j is no longer than its room',
    (character) => {
      const name = character.repeat(200).slice(0, 200);
      for (const state of ['pending', 'done'] as const) {
        const items = Array.from({ length: 30 }, () => item(name, state));
        const lines = listOf(documentAfter(checklist(...items)));
        // Platforms may put three characters before each line.
        const length = lines.reduce((sum, line) => sum + line.length + 4, 0);
        expect(length).toBeLessThanOrEqual(mostChecklistLength);
      }
    },
  );
});
