/** The rehearsal model: what it does by which words. */

import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import type { ChatMessage, ChatRequest } from '../../src/messages/chat.ts';
import { questionSchema } from '../../src/messages/questions.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { planOf } from '../../src/providers/rehearsal/plan.ts';
import { createRehearsalProvider } from '../../src/providers/rehearsal/provider.ts';
import {
  assistantText,
  chatRequestOf,
  collectUntilThrow,
  createTestDeps,
  okResult,
  userText,
} from '../support/providers.ts';

const tools = ['Glob', 'FileRead', 'FileWrite', 'Grep', 'AskUserQuestion'].map((name) => ({
  name,
  description: name,
  inputSchema: {},
}));
const asked = (messages: string | readonly ChatMessage[]): ChatRequest =>
  chatRequestOf('rehearsal', messages, { tools });

describe('the rehearsal model', () => {
  it.each([
    ['Anna: please list files', 'Glob', { pattern: '**/*' }],
    ['read notes/a.md', 'FileRead', { path: 'notes/a.md' }],
    ['Can you read the file b.txt?', 'FileRead', { path: 'b.txt' }],
    ['write a.txt: one\ntwo', 'FileWrite', { path: 'a.txt', content: 'one\ntwo' }],
    ['search timeout', 'Grep', { pattern: 'timeout' }],
    ['grep for TODO.', 'Grep', { pattern: 'TODO' }],
  ])('calls a tool on %j', (said, name, input) => {
    expect(planOf(asked(said)).calls).toEqual([{ name, input }]);
    expect(planOf(chatRequestOf('rehearsal', said, { tools: [] }))).toEqual({
      text: `I would call ${name}, but it is not among my tools.`,
      calls: [],
    });
  });

  it.each<[string, string[][], boolean]>([
    ['ask me whether red or blue', [['red', 'blue']], false],
    ['ask me whether to use tea or coffee', [['tea', 'coffee']], false],
    ['ask me if A, B or C?', [['A', 'B', 'C']], false],
    ['ask me to go on', [['Yes', 'No']], false],
    ['ask me', [['Yes', 'No']], false],
    [
      'ask me two things',
      [
        ['Blue', 'Green'],
        ['Small', 'Large'],
      ],
      false,
    ],
    ['ask me to pick several of A, B, C', [['A', 'B', 'C']], true],
    ['ask me to pick several of A, B, C, D, E and F', [['A', 'B', 'C', 'D']], true],
  ])('asks on %j', (said, options, multiSelect) => {
    const [call] = planOf(asked(said)).calls;
    expect(call?.name).toBe('AskUserQuestion');
    const questions = questionSchema.array().parse(call?.input['questions']);
    expect(questions.map((one) => one.options.map(({ label }) => label))).toEqual(options);
    expect(questions.every((one) => one.multiSelect === multiSelect)).toBe(true);
    expect(questions.every((one) => one.header.length <= 12)).toBe(true);
  });

  it('says what came back', () => {
    const reportOn = (result: ChatMessage): string => planOf(asked([userText('go'), result])).text;
    expect(reportOn(okResult('c', 'Glob', 'a.md\nb.md'))).toBe(
      'Glob came back with 2 lines:\n\n```\na.md\nb.md\n```',
    );
    expect(reportOn(okResult('c', 'AskUserQuestion', 'Anna chose red.'))).toContain(
      'Anna chose red.',
    );
    expect(
      reportOn({
        role: 'tool',
        results: [
          {
            callId: 'c',
            name: 'Grep',
            outcome: 'error',
            parts: [{ kind: 'text', text: 'No such file.' }],
          },
        ],
      }),
    ).toBe('Grep did not work (error): No such file.');
  });

  it('greets, counts what it can see, and says what it is', () => {
    expect(planOf(asked('hello')).text).toContain('first message');
    const text = planOf(asked([userText('a'), assistantText('b'), userText('hello')])).text;
    expect(text).toContain('I can see 2 earlier messages');
    expect(text).toContain('not a language model');
    expect(text).toContain('ANTHROPIC_API_KEY');
  });

  it.each([1, 50, 400])('writes a long text of %i words', (words) => {
    const { text } = planOf(asked(`write ${words} words`));
    expect(text.split(/\s+/u).length).toBeGreaterThanOrEqual(words);
    expect(text).toMatch(/^## Part 1\n\n/u);
    expect(text).toContain('\n- **');
    expect((text.match(/```/gu)?.length ?? 1) % 2).toBe(0);
    expect(planOf(asked(`write ${words} words`)).text).toBe(text);
  });

  it('streams about 40 words a second and loses no character', async () => {
    const deps = createTestDeps();
    const accumulator = createMessageAccumulator();
    const request = asked('write 200 words');
    const done = (async () => {
      const never = new AbortController().signal;
      for await (const event of createRehearsalProvider(deps).stream(request, never)) {
        accumulator.add(event);
      }
    })();
    await deps.clock.advance(1_000);
    const words = accumulator.text().trim().split(/\s+/u).length;
    expect(words).toBe(40);
    await deps.clock.advance(60_000);
    await done;
    expect(accumulator.text()).toBe(planOf(request).text);
    expect(accumulator).toMatchObject({ stop: 'end' });
    expect(accumulator.usage?.output).toBeGreaterThan(100);
  });

  it('ends with a call when it calls', async () => {
    const deps = createTestDeps();
    const accumulator = createMessageAccumulator();
    const done = (async () => {
      const never = new AbortController().signal;
      for await (const event of createRehearsalProvider(deps).stream(asked('list files'), never)) {
        accumulator.add(event);
      }
    })();
    await deps.clock.advance(1_000);
    await done;
    expect(accumulator.stop).toBe('tool_calls');
    expect(accumulator.calls()).toMatchObject([{ part: { name: 'Glob', callId: 'call_new1' } }]);
  });

  it('stops at once when stopped', async () => {
    const deps = createTestDeps();
    const controller = new AbortController();
    const reading = collectUntilThrow(
      createRehearsalProvider(deps).stream(asked('hello'), controller.signal),
    );
    await deps.clock.advance(60);
    const reason = new BotError('stopped', 'Anna stopped it.');
    controller.abort(reason);
    const { events, thrown } = await reading;
    expect(thrown).toBe(reason);
    expect(events.filter(({ kind }) => kind === 'text_delta')).toHaveLength(2);
    expect(deps.clock.pending).toBe(0);
  });
});
