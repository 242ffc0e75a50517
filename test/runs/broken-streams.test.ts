/** Streams that break after something was shown: nothing is replayed, nothing is lost. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BotError, type ErrorCode } from '../../src/base/errors.ts';
import type { RegisteredTool } from '../../src/tools/contract.ts';
import { registerTool } from '../../src/tools/registry.ts';
import { plainTool } from '../support/tools.ts';
import { inThread, usingWorlds, type World } from '../support/world.ts';

const setUp = usingWorlds();

const lost = (code: ErrorCode = 'connection_lost'): { fail: BotError } => ({
  fail: new BotError(code, 'the connection failed or broke off.'),
});

function countingTool(): { tool: RegisteredTool; made: () => number } {
  let made = 0;
  const tool = registerTool({
    name: 'Deploy',
    description: 'Deploys.',
    input: z.strictObject({ to: z.string() }),
    category: 'core',
    concurrency: 'never',
    isReadOnly: false,
    needsApproval: false,
    describe: () => 'Deploying',
    invoke: async () => {
      made += 1;
      return { kind: 'done', parts: [{ kind: 'text', text: `deployed ${made}` }] };
    },
  });
  return { tool, made: () => made };
}

const messagesOf = (world: World): string => JSON.stringify(world.model.requests.at(-1)?.messages);

describe('a stream that breaks after visible text', () => {
  it.each<ErrorCode>(['connection_lost', 'overloaded', 'model_rate_limited'])(
    'is taken up where it stopped (%s): one text, nothing asked for twice',
    async (code) => {
      const world = await setUp();
      world.model.answer({ text: 'One, two, ' }, lost(code));
      world.model.answer({ text: 'three.' });
      await world.say('count');
      await world.atRest();
      expect(world.adapter.texts('u1')).toEqual(['One, two, three.']);
      expect(messagesOf(world)).toContain('Go on exactly where it stopped.');
      expect(messagesOf(world)).toContain('One, two, ');
    },
  );

  it('keeps the result of a call that had finished, runs it once, and goes on', async () => {
    const { tool, made } = countingTool();
    const world = await setUp({ tools: [tool] });
    world.model.answer(
      { text: 'I deploy.' },
      { call: 'Deploy', input: { to: 'prod' } },
      { waitMs: 100 },
      lost(),
    );
    world.model.answer({ text: 'Deployed.' });
    await world.say('deploy');
    await world.atRest();
    expect(made()).toBe(1);
    expect(messagesOf(world)).toContain('deployed 1');
    expect(world.adapter.texts('u1').join('\n')).toContain('Deployed.');
    const entries = await world.entries('u1');
    const kinds = entries.map(({ kind }) => kind);
    expect(kinds).toEqual([
      'user_message',
      'calls_begun',
      'assistant_message',
      'tool_results',
      'note',
      'assistant_message',
    ]);
  });

  it('ends a call that runs, with an unknown outcome, and drops what had not begun', async () => {
    const ended: string[] = [];
    const slow = plainTool({
      name: 'Deploy',
      invoke: (_input, { signal, callId }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            ended.push(callId);
            reject(new Error('aborted'));
          });
        }),
    });
    const world = await setUp({ tools: [slow] });
    world.model.answer(
      { text: 'I deploy twice.' },
      { call: 'Deploy', input: {}, id: 'first' },
      { call: 'Deploy', input: {}, id: 'second' },
      { waitMs: 100 },
      lost(),
    );
    world.model.answer({ text: 'I look what came of it.' });
    await world.say('deploy');
    await world.atRest();
    expect(ended).toEqual(['first']);
    const results = world.model.requests
      .at(-1)
      ?.messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
    expect(results?.map(({ callId, outcome }) => `${callId}: ${outcome}`)).toEqual([
      'first: interrupted',
      'second: cancelled',
    ]);
    expect(JSON.stringify(results)).toContain('interrupted: outcome unknown');
    expect(world.adapter.texts('u1').join('\n')).toContain('I look what came of it.');
  });

  it('ends visibly when it breaks again and again, and the thread goes on', async () => {
    const world = await setUp();
    for (const word of ['a ', 'b ', 'c ']) world.model.answer({ text: word }, lost());
    await world.say('go');
    await world.atRest();
    const shown = world.adapter.texts('u1').join('\n');
    expect(shown).toContain('a b c');
    expect(shown).toMatch(/@Anna ⚠ .* \(reference run_1\)\n\[Retry\]$/u);
    await world.say('go on', inThread('u1'));
    await world.atRest();
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
  });

  it('is not taken up for what will fail again', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Half ' }, lost('auth_failed'));
    await world.say('go');
    await world.atRest();
    expect(world.model.requests).toHaveLength(1);
    expect(world.adapter.texts('u1').join('\n')).toContain('An admin needs to look at this.');
  });
});
