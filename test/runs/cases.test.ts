/** Faults that other bots shipped, played on the whole core. The inputs are in test/cases/. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { drawCard } from '../../src/questions/card.ts';
import { parseControlId, type QuestionRecord } from '../../src/questions/record.ts';
import type { Button } from '../../src/surface/outbound.ts';
import type { Tool } from '../../src/tools/contract.ts';
import { registerTool } from '../../src/tools/registry.ts';
import caseB059 from '../cases/B059.json' with { type: 'json' };
import caseB061 from '../cases/B061.json' with { type: 'json' };
import caseB062 from '../cases/B062.json' with { type: 'json' };
import caseB073 from '../cases/B073.json' with { type: 'json' };
import caseB078 from '../cases/B078.json' with { type: 'json' };
import caseB081 from '../cases/B081.json' with { type: 'json' };
import { textOfMessage } from '../support/fake-adapter.ts';
import { anna, ben, inThread, usingWorlds, type World } from '../support/world.ts';

const setUp = usingWorlds();

/** A tool whose answers are given. */
function tool(name: string, answer: (calls: number) => string): ReturnType<typeof registerTool> {
  let calls = 0;
  const made: Tool<object> = {
    name,
    description: '',
    input: z.looseObject({}),
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: false,
    describe: () => 'Looking',
    invoke: async () => {
      calls += 1;
      return { kind: 'done', parts: [{ kind: 'text', text: answer(calls) }] };
    },
  };
  return registerTool(made);
}

function buttonsOf(record: QuestionRecord): readonly Button[] {
  return drawCard(record, [null]).blocks.flatMap((block) =>
    block.kind === 'buttons' ? block.buttons : [],
  );
}

function recordOf(question: string, options: readonly string[]): QuestionRecord {
  return {
    v: 1,
    id: 'q_0123456789ab',
    conversation: { adapter: 'discord', space: '1', channel: '2', thread: '3' },
    runId: 'run_1',
    callId: 'c',
    questions: [
      {
        question,
        header: 'Pick',
        options: options.map((label) => ({ label, description: '' })),
        multiSelect: false,
      },
    ],
    asker: { id: 'discord:1', name: 'Anna' },
    createdAt: 0,
    expiresAt: 1,
    cardId: null,
    shownAt: null,
    state: 'open',
  };
}

describe('B019: an end that is told by a fresh message', () => {
  it('leaves the answer where it stands while that fails, then comes once, for the asker', async () => {
    const world = await setUp({ reply: { notify: 'always' } });
    world.model.answer({ text: 'The answer for @everyone.' });
    // The first post is the answer; the next two, of the end, fail.
    for (const nth of [2, 3])
      world.adapter.fail({ call: 'post', nth, code: 'surface_unavailable' });
    await world.say('please');
    await world.until(() => world.adapter.calls.filter((call) => call === 'post').length === 2);
    expect(world.adapter.texts('u1')).toEqual(['The answer for @everyone.']);
    await world.clock.advance(60_000);
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual([
      'The answer for @everyone.',
      expect.stringMatching(/^@Anna done/u),
    ]);
    expect(world.adapter.shown.at(-1)?.message.mentionable).toEqual([
      { id: anna.id, name: anna.name },
    ]);
    expect(world.adapter.calls).not.toContain('remove');
  });
});

describe('B013: text beside a tool call', () => {
  it('stays, exactly once, even if the last turn is empty', async () => {
    const world = await setUp({ tools: [tool('Update', () => 'ok')] });
    world.model.answer({ text: 'I will update the schedule.' }, { call: 'Update', input: {} });
    world.model.answer({ text: '' });
    await world.say('please');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['I will update the schedule.']);
  });
});

describe('B059: clicks', () => {
  const [approve = '', deny = ''] = caseB059.input.prompt.options;
  const ask = async (): Promise<{
    world: World;
    press: (label: string, author?: typeof anna | typeof ben) => Promise<void>;
  }> => {
    const world = await setUp();
    const options = caseB059.input.prompt.options.map((label) => ({ label, description: '' }));
    world.model.answer({
      call: 'AskUserQuestion',
      input: { questions: [{ question: 'Go?', header: 'Go', options }] },
    });
    await world.say('ask');
    await world.clock.advance(2000);
    const buttons =
      world.adapter.shown[0]?.message.blocks.flatMap((block) =>
        block.kind === 'buttons' ? block.buttons : [],
      ) ?? [];
    const press = (label: string, author: typeof anna | typeof ben = anna): Promise<void> =>
      world.click(buttons.find((button) => button.label.endsWith(label))?.controlId ?? '', {
        author,
      });
    return { world, press };
  };

  it('the first click after a restart counts', async () => {
    const { world, press } = await ask();
    world.restart();
    await press(approve);
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')).toEqual([`Go?\n\n**${approve}** (Anna)`, 'ok']);
  });

  it('a stranger’s click leaves the prompt open and gets a private line', async () => {
    const { world, press } = await ask();
    await press(approve, ben);
    await world.clock.advance(1000);
    expect(world.adapter.whispers).toHaveLength(1);
    await press(deny);
    await world.clock.advance(3000);
    expect(world.adapter.texts('u1')[0]).toContain(`**${deny}** (Anna)`);
  });

  it('two clicks 50 ms apart resolve once, and neither is silent', async () => {
    const { world, press } = await ask();
    const first = press(approve);
    await world.clock.advance(50);
    await Promise.all([first, press(approve)]);
    await world.clock.advance(3000);
    expect(world.model.requests).toHaveLength(2);
    expect(world.adapter.whispers).toHaveLength(1);
  });
});

describe('B061 and B062: labels and ids of a card', () => {
  it('ids are short, unique, and lead back to their option', () => {
    const { input, expected } = caseB061;
    const buttons = buttonsOf(recordOf(input.question, input.options));
    const ids = buttons.map(({ controlId }) => controlId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(expected.everyCustomIdAtMost);
    expect(ids.slice(0, 3).map((id) => parseControlId(id)?.option)).toEqual(
      expected.clickOnEachOptionReturnsItsIndex,
    );
  });

  it('labels are cut, whole, apart from each other; the full texts stand in the card', () => {
    const { input, expected } = caseB062;
    const record = recordOf(input.question, input.options);
    const labels = buttonsOf(record).map(({ label }) => label);
    expect(new Set(labels).size).toBe(labels.length);
    for (const label of labels) {
      expect(label.length).toBeLessThanOrEqual(expected.everyLabelAtMost);
      expect(label).not.toMatch(/\p{Surrogate}/u);
    }
    const shown = textOfMessage(drawCard(record, [null]));
    for (const option of input.options) expect(shown).toContain(option);
  });
});

describe('B066: a question in a flat direct message', () => {
  it('is answered by a click that says nothing of a thread', async () => {
    const world = await setUp();
    const options = [{ label: 'Yes' }, { label: 'No' }];
    world.model.answer({
      call: 'AskUserQuestion',
      input: { questions: [{ question: 'Go?', header: 'Go', options }] },
    });
    const direct = { adapter: 'web', space: 'local', channel: 'dm', thread: 'main' };
    await world.say('hello', { place: 'direct', channelKind: 'direct', conversation: direct });
    await world.clock.advance(2000);
    const [button] =
      world.adapter.shown[0]?.message.blocks.flatMap((block) =>
        block.kind === 'buttons' ? block.buttons : [],
      ) ?? [];
    await world.click(button?.controlId ?? '', { conversation: { ...direct, thread: 'none' } });
    await world.clock.advance(3000);
    expect(world.adapter.texts('main')).toEqual(['Go?\n\n**Yes** (Anna)', 'ok']);
  });
});

describe('B175: a failure that nobody awaits', () => {
  it('ends neither the process nor other threads', async () => {
    const world = await setUp();
    const before = { ...world.adapter };
    world.adapter.surfaceOf = (conversation) => ({
      ...before.surfaceOf(conversation),
      react: () => Promise.reject(new Error('the sign could not be set')),
      whisper: () => Promise.reject(new Error('the line could not be said')),
    });
    world.restart();
    world.model.answer({ text: 'Working' }, { waitMs: 2000 }, { text: ' done.' });
    await world.say('go');
    await world.clock.advance(500);
    await world.say('more', inThread('u1'));
    await world.say('!nonsense', { messageId: 'u8' });
    await world.say('other', { messageId: 'u9' });
    await world.clock.advance(8000);
    expect(world.adapter.texts('u9')).toEqual(['ok']);
    expect(world.adapter.texts('u1').join()).toContain('Working done.');
    expect(
      world.log.lines.filter(({ event }) => event === 'background_failed').length,
    ).toBeGreaterThan(0);
  });
});

describe('B073 and B074: a model that repeats itself', () => {
  it('ends within the limit, visibly, and the thread stays usable', async () => {
    const { toolCall } = caseB073.input.always;
    const world = await setUp({
      tools: [tool(toolCall.name, () => caseB073.input.toolReturns)],
      limits: { stepsPerRun: caseB073.input.configuredMaxSteps },
    });
    const more = { ...toolCall.arguments, deep: { a: 1, b: 2 } };
    for (let call = 0; call < 30; call += 1) {
      // The same arguments with their keys in another order are the same.
      const input = call % 2 === 0 ? more : { deep: { b: 2, a: 1 }, ...toolCall.arguments };
      world.model.answer({ call: toolCall.name, input });
    }
    await world.say('go');
    await world.atRest();
    expect(world.model.requests.length).toBeLessThan(caseB073.expected.modelCallsAtMost);
    expect(world.adapter.texts('u1')[0]).toContain('repeated the same call');
    for (let call = 0; call < 30; call += 1) world.model.answer({ text: 'fine' });
    await world.say('and now?', inThread('u1'));
    await world.atRest();
    expect(JSON.stringify(world.model.requests.at(-1))).toContain('and now?');
  });

  it('is no loop while the results change', async () => {
    const world = await setUp({ tools: [tool('Poll', (calls) => `state ${calls}`)] });
    for (let call = 0; call < 12; call += 1) world.model.answer({ call: 'Poll', input: {} });
    world.model.answer({ text: 'Finished.' });
    await world.say('wait for it');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual([
      expect.stringMatching(/^Finished\.\n> 12 tools, \d+ s$/u),
    ]);
    expect(JSON.stringify(world.model.requests)).not.toContain('several times');
  });
});

describe('B078: a message at the very end', () => {
  const [first, second] = caseB078.input.turns;
  const [late] = caseB078.input.timeline;

  it.each([25, caseB078.input.variant2.configuredMaxSteps])(
    'is answered without further action, step limit %d',
    async (stepsPerRun) => {
      const world = await setUp({ limits: { stepsPerRun } });
      world.model.answer({ waitMs: first?.durationMs ?? 300 }, { text: first?.streamText ?? '' });
      world.model.answer({ text: second?.text ?? '' });
      await world.say('start');
      await world.clock.advance(late?.atMs ?? 295);
      await world.say(late?.user ?? '', inThread('u1'));
      await world.clock.advance(5000);
      expect(world.model.requests).toHaveLength(caseB078.expected.modelCalls);
      expect(JSON.stringify(world.model.requests[1])).toContain(
        caseB078.expected.secondRequestContains,
      );
      for (const text of caseB078.expected.visibleContains)
        expect(world.adapter.texts('u1').join()).toContain(text);
    },
  );
});

describe('B081: a call that is announced and does not come', () => {
  it.each(caseB081.input.variants)('ends after a few nudges, visibly: %j', async (variant) => {
    const world = await setUp();
    const text = 'text' in variant.always ? variant.always.text : undefined;
    for (let call = 0; call < 10; call += 1) {
      world.model.answer(...(text === undefined ? [] : [{ text }]), { stop: 'tool_calls' });
    }
    await world.say('go');
    await world.clock.advance(10_000);
    expect(world.model.requests.length).toBeLessThanOrEqual(caseB081.expected.modelCallsAtMost);
    expect(world.adapter.texts('u1').join()).not.toBe('');
    expect(world.adapter.texts('u1').join()).toContain(text ?? 'I have no answer');
  });
});

describe('B071: a text behind a thought', () => {
  it('is stored once and shown once', async () => {
    const world = await setUp();
    world.model.answer({ think: 'Let me see.' }, { text: 'It is ' }, { text: 'done.' });
    await world.say('how far?');
    await world.atRest();
    const entries = await world.entries('u1');
    const texts = entries.flatMap((entry) =>
      entry.kind === 'assistant_message'
        ? entry.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
        : [],
    );
    expect(texts).toEqual(['It is done.']);
    expect(world.adapter.texts('u1')).toEqual(['It is done.']);
  });
});
