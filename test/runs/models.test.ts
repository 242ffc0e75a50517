/** Which model answered: waited for, handed over, and what the reply says of it. */

import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { auditEntrySchema } from '../../src/permissions/audit.ts';
import { createAppendLog } from '../../src/storage/append-log.ts';
import { anna, type ben, inThread, usingWorlds, type World } from '../support/world.ts';

const setUp = usingWorlds();

async function command(
  world: World,
  text: string,
  author: typeof anna | typeof ben = anna,
): Promise<void> {
  await world.say(text, { ...inThread('u1'), author });
  await world.clock.advance(1000);
}

const audited = async (world: World) => {
  const log = createAppendLog({ store: world.store, log: world.log }, 'audit', auditEntrySchema);
  return (await log.read()).map(({ value }) => value);
};

describe('a wait for a model', () => {
  it('is shown in the thread before there is any text, and gives way to the answer', async () => {
    const world = await setUp();
    world.model.answer({ wait: 'anthropic is overloaded', delayMs: 10_000 }, { text: 'Here.' });
    await world.say('hello');
    await world.clock.advance(4000);
    expect(world.adapter.texts('u1').join()).toContain(
      'anthropic is overloaded, trying again in 10 s',
    );
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['Here.']);
  });

  it('is ended by a stop', async () => {
    const world = await setUp();
    world.model.answer({ wait: 'anthropic is overloaded', delayMs: 60_000 }, { text: 'Late.' });
    await world.say('hello');
    await world.clock.advance(4000);
    await command(world, '!stop');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['> Stopped by Anna.\n[Continue]']);
  });
});

describe('another model that took over', () => {
  it('is named in the receipt and the audit', async () => {
    const world = await setUp();
    world.model.answer(
      { switchTo: 'acme/one', because: 'anthropic is overloaded' },
      { text: 'Here.' },
    );
    await world.say('hello');
    await world.atRest();
    const shown = world.adapter.texts('u1').join('\n');
    expect(shown).toContain('Here.');
    expect(shown).toContain(
      'Answered by acme/one in place of scripted/scripted, because anthropic is overloaded.',
    );
    expect(await audited(world)).toMatchObject([
      {
        kind: 'model_handed_over',
        from: 'scripted/scripted',
        to: 'acme/one',
        reason: 'overloaded',
      },
    ]);
  });

  it('goes on after a question and a restart, and is still the one that is named', async () => {
    const standIns: (string | undefined)[] = [];
    const world = await setUp({
      modelOf: (_name, standard, standIn) => {
        standIns.push(standIn);
        return standard;
      },
    });
    const option = (label: string) => ({ label, description: label });
    const question = {
      ...{ question: 'A or B?', header: 'Choice', multiSelect: false },
      options: [option('A'), option('B')],
    };
    world.model.answer(
      { switchTo: 'acme/one', because: 'anthropic is overloaded' },
      { call: 'AskUserQuestion', input: { questions: [question] } },
    );
    world.model.answer({ text: 'A it is.' });
    await world.say('go');
    await world.clock.advance(5000);
    world.restart();
    await world.say('1', inThread('u1'));
    await world.until(() => world.adapter.texts('u1').some((text) => text.includes('A it is.')));
    await world.clock.advance(5000);
    expect(standIns.at(-1)).toBe('acme/one');
    expect(world.adapter.texts('u1').join('\n')).toContain('Answered by acme/one');
  });

  it('is named too when it fails in its turn', async () => {
    const world = await setUp();
    world.model.answer(
      { switchTo: 'acme/one', because: 'anthropic is overloaded' },
      { fail: new BotError('overloaded', 'acme is overloaded.') },
    );
    await world.say('go');
    await world.atRest();
    const shown = world.adapter.texts('u1').join('\n');
    expect(shown).toContain('acme is overloaded.');
    expect(shown).toContain('acme/one in place of scripted/scripted');
  });

  it('is not there with `fallback: off`: the refusal is plain', async () => {
    const world = await setUp();
    world.model.answer({ fail: new BotError('refused', 'm-1 declined to answer this.') });
    await world.say('hello');
    await world.atRest();
    expect(world.adapter.texts('u1').join()).toContain(
      'm-1 declined to answer this. Try asking differently.',
    );
  });
});

describe('the receipt', () => {
  const usage = { input: 1200, cacheRead: 0, cacheWrite: 0, output: 300, reasoning: 0 };

  it('tells model, tools, time, tokens and cost where it is always wanted', async () => {
    const world = await setUp({ receipt: 'always' });
    world.model.answer({ call: 'Glob', input: { pattern: '*' } }, { used: usage, costUsd: 0.01 });
    world.model.answer({ waitMs: 3000 }, { text: 'Done.' }, { used: usage, costUsd: 0.02 });
    await world.say('look');
    await world.atRest();
    expect(world.adapter.texts('u1').join('\n')).toMatch(
      /scripted\/scripted · 1 tool call · \d+ s · 3\.0k tokens · \$0\.03/u,
    );
  });

  it('says that a cost is unknown, or at least what is known', async () => {
    const world = await setUp({ receipt: 'always' });
    world.model.answer({ text: 'A.' }, { used: usage, costUsd: null });
    await world.say('look');
    await world.atRest();
    expect(world.adapter.texts('u1').join('\n')).toContain('1.5k tokens · cost unknown');
  });

  it('is left out as a rule', async () => {
    const world = await setUp();
    world.model.answer({ text: 'A.' }, { used: usage, costUsd: 1 });
    await world.say('look');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual(['A.']);
  });
});

describe('sources of a vendor’s own search', () => {
  it('stand under the answer once each, as links', async () => {
    const world = await setUp();
    const first = { url: 'https://example.org/a', title: 'A [guide]' };
    const second = { url: 'https://example.org/b', title: 'B' };
    world.model.answer({ text: 'It rains.' }, { sources: [first, second] }, { sources: [first] });
    await world.say('weather?');
    await world.atRest();
    expect(world.adapter.texts('u1').join('\n')).toContain(
      'Sources: [A  guide](<https://example.org/a>) · [B](<https://example.org/b>)',
    );
  });

  const found = { url: 'https://example.org/a', title: 'A' };

  it('stand there too when the bot asked before it answered', async () => {
    const world = await setUp();
    const options = ['A', 'B'].map((label) => ({ label, description: label }));
    const question = { question: 'Today?', header: 'When', multiSelect: false, options };
    world.model.answer(
      { text: 'I looked.' },
      { sources: [found] },
      { call: 'AskUserQuestion', input: { questions: [question] } },
    );
    world.model.answer({ text: 'It rains.' });
    await world.say('weather?');
    await world.clock.advance(5000);
    await world.say('1', inThread('u1'));
    await world.until(() => world.adapter.texts('u1').some((text) => text.includes('It rains.')));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1').join('\n')).toContain('Sources: [A](<https://example.org/a>)');
  });

  it('outlive a restart', async () => {
    const world = await setUp();
    world.model.answer(
      { text: 'I looked.' },
      { sources: [found] },
      { call: 'Glob', input: { pattern: '*' } },
    );
    world.model.answer({ waitMs: 60_000 }, { text: 'never seen' });
    await world.say('weather?');
    await world.clock.advance(5000);
    world.restart();
    await world.clock.advance(8000);
    await world.atRest();
    expect(world.adapter.texts('u1').join('\n')).toContain('Sources: [A](<https://example.org/a>)');
  });
});
