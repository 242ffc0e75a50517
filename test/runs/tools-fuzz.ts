/**
 * Half an hour of fake time in which tools start, fail, hang, ask and finish while people stop runs,
 * streams break and the process dies: each call of a stored message has exactly one result before
 * the next model call (rule 7), and nothing that changes something happens twice.
 */

import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/base/clock.ts';
import { BotError } from '../../src/base/errors.ts';
import type { ChatPrompt } from '../../src/messages/chat.ts';
import type { Entry } from '../../src/messages/entries.ts';
import type { PermissionSettings } from '../../src/permissions/settings.ts';
import type { RegisteredTool, ToolContext, ToolOutcome } from '../../src/tools/contract.ts';
import { createRandom, type Random } from '../support/random.ts';
import type { ScriptedEvent } from '../support/scripted-model.ts';
import { plainTool, safe } from '../support/tools.ts';
import { createWorld, inThread, type World } from '../support/world.ts';

const minuteMs = 60_000;
const threads = ['a', 'b', 'c'] as const;

type Manner = 'quick' | 'slow' | 'fails' | 'throws' | 'hangs' | 'ignores' | 'suspends';
const manners: readonly Manner[] = [
  'quick',
  'quick',
  'slow',
  'slow',
  'fails',
  'throws',
  'hangs',
  'ignores',
  'suspends',
];

const done: ToolOutcome = { kind: 'done', parts: [{ kind: 'text', text: 'done' }] };

function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[random.between(0, items.length - 1)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** What a tool does, by its input. */
async function behave(
  world: () => World,
  { manner, ms }: { readonly manner: Manner; readonly ms: number },
  context: ToolContext,
): Promise<ToolOutcome> {
  const { signal } = context;
  context.progress(`at work for ${ms} ms`);
  switch (manner) {
    case 'quick':
      return done;
    case 'slow':
      await sleep(world().clock, ms, signal);
      return done;
    case 'fails':
      return { kind: 'error', text: 'it did not work' };
    case 'throws':
      await sleep(world().clock, ms, signal);
      throw new TypeError('a fault');
    case 'hangs':
      await sleep(world().clock, 10 * minuteMs, signal);
      return done;
    case 'ignores':
      return new Promise(() => {});
    case 'suspends': {
      const options = ['yes', 'no'].map((label) => ({ label, description: '' }));
      const question = { question: 'Shall I?', header: 'Shall I', options, multiSelect: false };
      return { kind: 'suspend', suspension: { kind: 'questions', questions: [question] } };
    }
  }
}

function toolsOf(world: () => World, changes: string[]): readonly RegisteredTool[] {
  const tool = (name: string, own: Partial<RegisteredTool>): RegisteredTool =>
    plainTool({
      name,
      invoke: (input, context) => {
        const wanted = input as { manner: Manner; ms: number; mark: string };
        if (name === 'Change') changes.push(wanted.mark);
        return behave(world, wanted, context);
      },
      ...own,
    });
  return [
    tool('Look', { concurrencyOf: async () => 'always' }),
    tool('Think', {}),
    tool('Change', { assess: async () => ({ ...safe, isReadOnly: false }) }),
    tool('Risk', { assess: async () => ({ ...safe, isReadOnly: false, needsApproval: true }) }),
  ];
}

/** One answer of the model: words, calls, pauses, sometimes a break. */
function answerOf(random: Random, marks: { next: number }): readonly ScriptedEvent[] {
  const events: ScriptedEvent[] = [{ text: 'I am at it. ' }];
  const calls = random.between(0, 4);
  for (let index = 0; index < calls; index += 1) {
    marks.next += 1;
    const call = pick(random, ['Look', 'Look', 'Think', 'Change', 'Risk']);
    const input = {
      manner: pick(random, manners),
      ms: random.between(1, 20_000),
      mark: `m${marks.next}`,
    };
    events.push({ call, input, id: `call${marks.next}` });
    if (random.isLucky(0.5)) events.push({ waitMs: random.between(1, 3000) });
    if (random.isLucky(0.2)) events.push({ text: 'More words. ' });
  }
  if (random.isLucky(0.15)) {
    events.push({ fail: new BotError('connection_lost', 'the connection broke.') });
  }
  return events;
}

/** One thing that happens from outside. */
async function disturb(world: World, random: Random): Promise<void> {
  const thread = pick(random, threads);
  const kind = pick(random, ['say', 'say', 'say', 'stop', 'click', 'click', 'click', 'restart']);
  if (kind === 'say') await world.say('and this?', inThread(thread));
  if (kind === 'stop') await world.say('!stop', inThread(thread));
  if (kind === 'restart') world.restart();
  if (kind !== 'click') return;
  const buttons = world.adapter.shown.flatMap(({ message, conversation }) =>
    message.blocks.flatMap((block) =>
      block.kind === 'buttons' ? block.buttons.map((button) => ({ button, conversation })) : [],
    ),
  );
  if (buttons.length === 0) return;
  const { button, conversation } = pick(random, buttons);
  if (!button.controlId.startsWith('form.')) await world.click(button.controlId, { conversation });
}

/** Every call of a message is answered once, in order, directly behind it. */
function faultsOf({ messages }: ChatPrompt): readonly string[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'assistant') return [];
    const calls = message.parts.flatMap((part) => (part.kind === 'tool_call' ? [part.callId] : []));
    const next = messages[index + 1];
    const results = next?.role === 'tool' ? next.results.map(({ callId }) => callId) : [];
    return JSON.stringify(calls) === JSON.stringify(results)
      ? []
      : [`calls ${calls.join()} have results ${results.join()}`];
  });
}

/** Stored results: one a call, and none for a call that nobody made. */
function storedFaults(entries: readonly Entry[]): readonly string[] {
  const made = entries.flatMap((entry) =>
    entry.kind === 'assistant_message'
      ? entry.parts.flatMap((part) => (part.kind === 'tool_call' ? [part.callId] : []))
      : [],
  );
  const answered = entries.flatMap((entry) =>
    entry.kind === 'tool_results' ? entry.results.map(({ callId }) => callId) : [],
  );
  return [
    ...made.filter((id) => answered.filter((other) => other === id).length !== 1),
    ...answered.filter((id) => !made.includes(id)),
  ];
}

/** In every other world nobody is asked: more runs on its own. */
function asksSometimes(seed: number): PermissionSettings {
  return seed % 2 === 0 ? { rules: [{ allow: ['*'] }] } : {};
}

/** Each seed costs seconds of computing. */
export function describeToolsFuzz(seeds: readonly number[]): void {
  describe('tools, stops, breaks and crashes in any order', () => {
    it.each(seeds)('leave one result for each call (seed %i)', async (seed) => {
      const random = createRandom(seed);
      const changes: string[] = [];
      const marks = { next: 0 };
      let world: World | undefined;
      const worldNow = (): World => {
        if (!world) throw new Error('no world yet');
        return world;
      };
      world = await createWorld({
        tools: toolsOf(worldNow, changes),
        limits: { stepsPerRun: 12 },
        permissions: asksSometimes(seed),
      });
      world.runs.start();
      const until = world.clock.now() + 30 * minuteMs;
      for (const thread of threads) await world.say('begin', { messageId: thread });
      while (world.clock.now() < until) {
        world.model.answer(...answerOf(random, marks));
        await world.clock.advance(random.between(100, 15_000));
        await disturb(world, random);
      }
      // The end: what still runs is stopped, what waits is taken back.
      for (let round = 0; round < 3; round += 1) {
        for (const thread of threads) await world.say('!stop', inThread(thread));
        await world.clock.advance(2 * minuteMs);
      }
      expect(world.model.requests.length).toBeGreaterThan(50);
      expect(world.model.requests.flatMap(faultsOf)).toEqual([]);
      for (const thread of threads) expect(storedFaults(await world.entries(thread))).toEqual([]);
      expect(changes.length).toBeGreaterThan(10);
      expect(changes.filter((mark, index) => changes.indexOf(mark) !== index)).toEqual([]);
      await world.close();
    });
  });
}
