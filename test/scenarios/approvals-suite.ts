/**
 * Approvals on every platform, with the whole process: what people see and press, what the model is
 * told, and what stands on disk.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, message, say } from '../emulators/model/script.ts';
import type { BotProcess } from '../support/bot-process.ts';
import { until } from '../support/until.ts';
import { type ApprovalsBench, createApprovalsBench } from './approvals-bench.ts';
import type { PlatformStage } from './stages.ts';

export interface ApprovalFeatures {
  /** What Anna is called there. */
  readonly anna: string;
  /** There are others than Anna. */
  readonly hasOthers: boolean;
  /** A name in code as it is drawn there. */
  readonly code: (name: string) => string;
  /** The card of a new notes.md as it is drawn there; the time is `<time>`. */
  readonly card: string;
}

const text = (said: string) => ({ kind: 'text', text: said }) as const;
const write = (id: string, path: string, content: string) =>
  call(id, 'FileWrite', { path, content });
const isAsked = (answers: readonly string[]): boolean =>
  answers.at(-1)?.includes('[Approve]') === true;

export function describeApprovals(
  name: string,
  createStage: () => Promise<PlatformStage>,
  { anna, hasOthers, code, card }: ApprovalFeatures,
): void {
  describe(`${name}, approvals`, { timeout: 60_000 }, () => {
    let bench: ApprovalsBench;
    let bot: BotProcess;

    // Each test writes its own permissions, and speaks in a thread of its own.
    beforeAll(async () => {
      bench = await createApprovalsBench(createStage);
      bot = await bench.start();
    }, 60_000);
    afterAll(() => bench.close());

    const mention = (said: string): Promise<string> =>
      bench.stage.say('anna', said, { mention: true });
    /** The next line that only this person sees, once the work is done. */
    const nextPrivateLine = async (
      person: 'anna' | 'ben',
      work: () => Promise<unknown>,
    ): Promise<string | undefined> => {
      const before = (await bench.stage.privateLines(person)).length;
      await work();
      await until(async () => (await bench.stage.privateLines(person)).length > before, 20_000);
      expect(await bench.stage.privateLines(person)).toHaveLength(before + 1);
      return (await bench.stage.privateLines(person)).at(-1);
    };

    it('a write asks, waits over a restart, and two clicks make it once', async () => {
      const { stage, untilAnswers } = bench;
      await bench.play(
        {},
        message(text('I write it down.'), write('c1', 'notes.md', 'hello\n')),
        say('Written.'),
      );
      const thread = await mention('write it down');
      const asked = await untilAnswers(thread, isAsked);
      expect(asked.map(withoutTime)).toEqual(['I write it down.', card]);
      expect(await bot.kill('SIGTERM')).toBe(0);
      bot = await bench.start();
      expect(await stage.answers(thread)).toEqual(asked);
      expect(await bench.onDisk('notes.md')).toEqual([]);
      const told = await nextPrivateLine('anna', async () => {
        const press = await stage.hold('anna', thread, 'Approve');
        await Promise.all([press(), press()]);
      });
      expect(told).toBe(`${anna} approved this already.`);
      const answers = await untilAnswers(thread, (all) => all.at(-1) === 'Written.');
      expect(answers).toEqual([
        'I write it down.',
        `✓ Writing ${code('notes.md')}: approved by ${anna}`,
        'Written.',
      ]);
      expect(await bench.onDisk('notes.md')).toEqual(['hello\n']);
      expect(bench.requests()).toBe(2);
      expect(bench.told(1)).toEqual([
        { callId: 'c1', text: expect.stringContaining('Created notes.md') },
      ]);
    });

    const amongOthers = hasOthers ? it : undefined;
    amongOthers?.('is not moved by a stranger: a private line, the card as it was', async () => {
      const { stage, untilAnswers } = bench;
      await bench.play(
        {},
        message(text('I write it.'), write('c1', 'mine.md', 'hello\n')),
        say('Written.'),
      );
      const thread = await mention('write');
      const asked = await untilAnswers(thread, isAsked);
      const linesOfAnna = await stage.privateLines('anna');
      const told = await nextPrivateLine('ben', () => stage.press('ben', thread, 'Approve'));
      expect(told).toBe('This is for Anna to decide. Nothing was changed.');
      expect(await stage.privateLines('anna')).toEqual(linesOfAnna);
      expect(await stage.answers(thread)).toEqual(asked);
      expect(await bench.onDisk('mine.md')).toEqual([]);
      await stage.press('anna', thread, 'Approve');
      await untilAnswers(thread, (all) => all.at(-1) === 'Written.');
      expect(await bench.onDisk('mine.md')).toEqual(['hello\n']);
    });

    it('is denied with a note through the form: the model reads it, nothing is written', async () => {
      const { stage, untilAnswers } = bench;
      await bench.play(
        {},
        message(text('I write it.'), write('c1', 'denied.md', 'hello\n')),
        say('Then not.'),
      );
      const thread = await mention('write');
      await untilAnswers(thread, isAsked);
      await stage.fill('anna', thread, 'Deny with a note', 'Only after the freeze.');
      const answers = await untilAnswers(thread, (all) => all.at(-1) === 'Then not.');
      expect(answers[1]).toBe(
        `✗ Writing ${code('denied.md')}: denied by ${anna}: Only after the freeze.`,
      );
      expect(bench.told(1)).toEqual([
        { callId: 'c1', text: expect.stringMatching(/refused.*Only after the freeze\./su) },
      ]);
      expect(await bench.onDisk('denied.md')).toEqual([]);
    });

    it('expires: the card says so, the model is told, a late click does nothing', async () => {
      const { stage, untilAnswers } = bench;
      await bench.play(
        { expiresMs: 3000 },
        message(text('I write it.'), write('c1', 'late.md', 'hello\n')),
        say('Nobody wanted it.'),
      );
      const thread = await mention('write');
      await untilAnswers(thread, isAsked);
      const press = await stage.hold('anna', thread, 'Approve');
      const answers = await untilAnswers(thread, (all) => all.at(-1) === 'Nobody wanted it.');
      expect(answers[1]).toContain('Nobody approved in time. This has expired.');
      expect(answers[1]).not.toContain('[');
      expect(bench.told(1)).toEqual([
        { callId: 'c1', text: expect.stringContaining('Nobody approved this call in time.') },
      ]);
      const told = await nextPrivateLine('anna', press);
      expect(told).toBe('This has expired. Ask me again if it is still needed.');
      expect(await stage.answers(thread)).toEqual(answers);
      expect(bench.requests()).toBe(2);
      expect(await bench.onDisk('late.md')).toEqual([]);
    });

    amongOthers?.('needs two people of the thread where the quorum is two', async () => {
      const { stage, untilAnswers } = bench;
      await bench.play(
        { approvers: ['participants'], quorum: 2 },
        message(text('I write it.'), write('c1', 'two.md', 'hello\n')),
        say('Written.'),
      );
      const thread = await mention('write it');
      const asked = await untilAnswers(thread, isAsked);
      expect(asked.at(-1)).toContain('2 people must approve: none yet.');
      expect(asked.at(-1)).toContain('May be approved by the people of this thread until');
      expect(asked.at(-1)).not.toContain('for this thread');
      // Whoever speaks in the thread is one of its people.
      const notYet = await nextPrivateLine('ben', () => stage.press('ben', thread, 'Approve'));
      expect(notYet).toBe('This is for the people of this thread to decide. Nothing was changed.');
      await stage.say('ben', 'I have looked at it', { thread });
      await stage.press('anna', thread, 'Approve');
      await untilAnswers(thread, (all) => all.at(-1)?.includes('so far Anna.') === true);
      const told = await nextPrivateLine('anna', () => stage.press('anna', thread, 'Approve'));
      expect(told).toBe('You approved this already; somebody else must approve it too.');
      expect(await bench.onDisk('two.md')).toEqual([]);
      await stage.press('ben', thread, 'Approve');
      const answers = await untilAnswers(
        thread,
        (all) => all.at(-1)?.includes('Written.') === true,
      );
      expect(answers[1]).toBe('✓ Writing `two.md`: approved by Anna and Ben');
      expect(await bench.onDisk('two.md')).toEqual(['hello\n']);
    });

    it('plans first: nothing is changed before the plan, changed as wished, is approved', async () => {
      const { stage, untilAnswers } = bench;
      const plan = (id: string, said: string) => call(id, 'ExitPlanMode', { plan: said });
      await bench.play(
        { rules: [{ allow: ['FileWrite(plan/**)'] }] },
        message(text('I try at once.'), write('c1', 'plan/a.md', 'early\n')),
        message(text('So I plan.'), plan('c2', '1. Write `a.md`\n2. Say so')),
        message(text('Another plan.'), plan('c3', '1. Write `b.md`\n2. Say so')),
        message(text('I carry it out.'), write('c4', 'plan/b.md', 'planned\n')),
        say('It is done.'),
      );
      const thread = await mention('plan: tidy up');
      const asked = await untilAnswers(thread, isAsked);
      expect(asked.at(-1)).toContain('My plan');
      expect(asked.at(-1)).toContain(`Write ${code('a.md')}`);
      expect(asked.at(-1)).toContain('[Approve] [Request changes…]');
      expect(bench.told(1)).toEqual([
        { callId: 'c1', text: expect.stringContaining('You are making a plan') },
      ]);
      await stage.fill('anna', thread, 'Request changes', 'Write b.md, please.');
      const again = await untilAnswers(
        thread,
        (all) => isAsked(all) && all.at(-1)?.includes(`Write ${code('b.md')}`) === true,
      );
      expect(again.join('\n')).toContain(`changes wanted by ${anna}: Write b.md, please.`);
      expect(bench.told(2).at(-1)).toEqual({
        callId: 'c2',
        text: expect.stringContaining('Write b.md, please.'),
      });
      await stage.press('anna', thread, 'Approve');
      const answers = await untilAnswers(
        thread,
        (all) => all.at(-1)?.includes('It is done.') === true,
      );
      expect(answers.join('\n')).toContain(`✓ Plan: approved by ${anna}`);
      expect(bench.told(3).at(-1)).toEqual({
        callId: 'c3',
        text: expect.stringContaining(`approved by ${anna}`),
      });
      expect(await bench.onDisk('a.md')).toEqual([]);
      expect(await bench.onDisk('b.md')).toEqual(['planned\n']);
    });

    it('shows a long change in whole in a file above the card, and a small edit in the card', async () => {
      const { stage, untilAnswers } = bench;
      const lines = Array.from(
        { length: 600 },
        (_, index) => `line ${index}: ${'word '.repeat(8)}`,
      );
      const whole = `${lines.join('\n')}\n`;
      const edit = { path: 'long.md', oldText: 'line 7: word', newText: 'line 7: sword' };
      await bench.play(
        {},
        message(text('A long one.'), write('c1', 'long.md', whole)),
        message(text('A small one.'), call('c2', 'FileEdit', edit)),
        say('Both are done.'),
      );
      const thread = await mention('write much');
      const asked = await untilAnswers(thread, isAsked);
      expect(asked.at(-1)).toContain('The whole text is in the file above.');
      expect(asked.at(-1)).not.toContain('line 599');
      const files = await stage.files(thread);
      expect(files.map(({ name: named }) => named)).toEqual(['FileWrite-1.diff.txt']);
      expect(files[0]?.answer).toBeLessThan(asked.length - 1);
      for (const line of lines) expect(files[0]?.text.split(`+${line}\n`)).toHaveLength(2);
      await stage.press('anna', thread, 'Approve');
      const small = await untilAnswers(
        thread,
        (all) => isAsked(all) && all.at(-1)?.includes('sword') === true,
      );
      expect(small.at(-1)).toMatch(/^-line 7: word .*\n\+line 7: sword /mu);
      expect(await bench.onDisk('long.md')).toEqual([whole]);
      await stage.press('anna', thread, 'Approve');
      await untilAnswers(thread, (all) => all.at(-1)?.includes('Both are done.') === true);
      expect(await bench.onDisk('long.md')).toEqual([whole.replace('line 7: w', 'line 7: sw')]);
      expect(await stage.files(thread)).toHaveLength(1);
    });

    it('asks about two writes in one card: by their numbers one is denied, the other made', async () => {
      const { stage, untilAnswers } = bench;
      await bench.play(
        {},
        message(text('Both.'), write('c1', 'first.md', '1\n'), write('c2', 'second.md', '2\n')),
        say('The second it is.'),
      );
      const thread = await mention('write both');
      const asked = await untilAnswers(
        thread,
        (all) => all.at(-1)?.includes('[Approve all]') === true,
      );
      for (const number of [1, 2]) {
        expect(asked.at(-1)).toContain(`${number}. Writing`);
        expect(asked.at(-1)).toContain(`[Deny ${number}] [Deny ${number} with a note…]`);
      }
      await stage.press('anna', thread, 'Deny 1');
      const half = await untilAnswers(thread, (all) => all.at(-1)?.includes('denied') === true);
      expect(half.at(-1)).not.toContain('[Approve 1]');
      expect(half.at(-1)).toContain('[Approve 2]');
      await stage.press('anna', thread, 'Approve 2');
      const answers = await untilAnswers(thread, (all) => all.at(-1) === 'The second it is.');
      expect(answers[1]?.split('\n')).toEqual([
        `✗ Writing ${code('first.md')}: denied by ${anna}`,
        `✓ Writing ${code('second.md')}: approved by ${anna}`,
      ]);
      expect(await bench.onDisk('first.md')).toEqual([]);
      expect(await bench.onDisk('second.md')).toEqual(['2\n']);
    });
  });
}

/** The process dies in the middle of a call that was approved. */
export function describeKilledApproval(
  name: string,
  createStage: () => Promise<PlatformStage>,
): void {
  it(`${name} never runs an approved call again that kill -9 has cut off`, async () => {
    const bench = await createApprovalsBench(createStage);
    const { stage, untilAnswers } = bench;
    try {
      const bot = await bench.start();
      const command = 'echo begun >> begun.txt; sleep 2; echo done >> mark.txt';
      await bench.play(
        {},
        message(text('I run it.'), call('c1', 'Bash', { command })),
        say('I do not know what came of it.'),
      );
      const thread = await stage.say('anna', 'run it', { mention: true });
      await untilAnswers(thread, isAsked);
      await stage.press('anna', thread, 'Approve');
      await until(async () => (await bench.onDisk('begun.txt'))[0] === 'begun\n');
      await bot.kill('SIGKILL');
      await bench.start();
      await untilAnswers(thread, (all) => all.at(-1)?.includes('I do not know') === true);
      expect(bench.told(1)).toEqual([
        { callId: 'c1', text: expect.stringContaining('outcome unknown') },
      ]);
      expect(bench.requests()).toBe(2);
      expect(await bench.onDisk('begun.txt')).toEqual(['begun\n']);
      expect(await bench.onDisk('mark.txt')).toEqual([]);
    } finally {
      await bench.close();
    }
  });
}

function withoutTime(drawn: string): string {
  return drawn.replace(/(?<=until )\w{3}, \d\d \w{3} \d{4} \d\d:\d\d UTC/u, '<time>');
}
