/**
 * A process may die at any call. Whatever the point: the message that was acknowledged is answered
 * exactly once, what people can read is the model's text, and every call has one result.
 */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Entry } from '../../src/messages/entries.ts';
import type { Tool } from '../../src/tools/contract.ts';
import { registerTool } from '../../src/tools/registry.ts';
import { createWorld, type World } from '../support/world.ts';

interface Death {
  readonly call: number;
  readonly when: 'before' | 'after';
}

/** A tool without real time. */
const lookTool: Tool<object> = {
  name: 'Look',
  description: 'Looks.',
  input: z.object({}),
  category: 'core',
  concurrency: 'always',
  isReadOnly: true,
  needsApproval: false,
  describe: () => 'Looking',
  invoke: async () => ({ kind: 'done', parts: [{ kind: 'text', text: 'nothing' }] }),
};

/** Plays one mention with a tool; the first life dies at the given call. */
async function liveThrough(
  death: Death | undefined,
): Promise<{ world: World; acknowledged: boolean }> {
  const tools = [registerTool(lookTool)];
  const world = await createWorld(death ? { dieAt: death, tools } : { tools });
  // Enough answers for a step that is made twice.
  world.model.answer({ text: 'I look.' }, { call: 'Look', input: {}, id: 'c1' });
  for (let time = 0; time < 4; time += 1)
    world.model.answer({ text: 'It is ' }, { waitMs: 1500 }, { text: 'empty.' });
  world.runs.start();
  let acknowledged = false;
  const said = world.say('look', { messageId: 'u1' }).then(() => {
    acknowledged = true;
  });
  await Promise.race([said, world.clock.settle()]);
  if (death === undefined) {
    await world.atRest();
    return { world, acknowledged };
  }
  // Some deaths come only while the run works.
  for (let turn = 0; turn < 40 && !world.life.isDead; turn += 1) {
    await world.until(() => true);
    await world.clock.advance(250);
    await new Promise((resolve) => setImmediate(resolve));
  }
  world.restart();
  // What was not acknowledged is delivered again, as Slack does.
  await world.clock.settle();
  if (!acknowledged) await world.say('look', { messageId: 'u1' });
  for (let turn = 0; turn < 60; turn += 1) {
    await world.clock.advance(500);
    for (let real = 0; real < 5; real += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  return { world, acknowledged };
}

async function countCalls(): Promise<number> {
  const { world } = await liveThrough(undefined);
  const { calls } = world.life;
  await world.close();
  return calls;
}

function resultsByCall(entries: readonly Entry[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const entry of entries) {
    if (entry.kind === 'assistant_message') {
      for (const part of entry.parts) if (part.kind === 'tool_call') counts[part.callId] ??= 0;
    }
    if (entry.kind === 'tool_results') {
      for (const { callId } of entry.results) counts[callId] = (counts[callId] ?? 0) + 1;
    }
  }
  return counts;
}

describe('a crash at any call of a run', () => {
  it('loses nothing and doubles nothing', { timeout: 120_000 }, async () => {
    const calls = await countCalls();
    expect(calls).toBeGreaterThan(15);
    for (let call = 1; call <= calls; call += 1) {
      for (const when of ['before', 'after'] as const) {
        const { world } = await liveThrough({ call, when });
        const where = `death ${when} call ${call} of ${calls}`;
        const texts = world.adapter.texts('u1');
        expect(texts, where).toHaveLength(1);
        expect(texts[0], where).toMatch(/It is empty\.(\n> I was restarted.*)?$/su);
        expect(texts[0]?.match(/I look\./gu) ?? [], where).toHaveLength(
          texts[0]?.includes('I look.') ? 1 : 0,
        );
        const entries = await world.entries('u1');
        expect(
          entries.filter(({ kind }) => kind === 'user_message'),
          where,
        ).toHaveLength(1);
        expect(Object.values(resultsByCall(entries)), where).toSatisfy((counts: number[]) =>
          counts.every((count) => count === 1),
        );
        expect(await world.store.get('run:web:local:general:u1'), where).toBeUndefined();
        expect(
          await world.store.rangeOfIndex('inbox:web:local:general:u1', { most: 10 }),
          where,
        ).toEqual([]);
        await world.close();
      }
    }
  });
});
