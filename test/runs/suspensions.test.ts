/** Runs that wait for people or time: what happens to their calls, whatever ids those have. */

import { describe, expect, it } from 'vitest';
import { createWaitTool } from '../../src/tools/builtin/wait.ts';
import { registerTool } from '../../src/tools/registry.ts';
import { plainTool, safe } from '../support/tools.ts';
import { inThread, usingWorlds, type World } from '../support/world.ts';

const newWorld = usingWorlds();

const thread = { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' } as const;

interface Deploys {
  readonly calls: string[];
  readonly deploy: ReturnType<typeof plainTool>;
}

function deploys(): Deploys {
  const calls: string[] = [];
  const deploy = plainTool({
    name: 'Deploy',
    describe: () => 'Deploying',
    assess: async () => ({
      ...safe,
      isReadOnly: false,
      needsApproval: true,
      why: 'it changes the live system',
      grant: undefined,
    }),
    invoke: async (input) => {
      calls.push(JSON.stringify(input));
      return { kind: 'done', parts: [{ kind: 'text', text: 'went well' }] };
    },
  });
  return { calls, deploy };
}

async function remove(world: World, messageId: string): Promise<void> {
  await world.runs.onEvent({
    kind: 'message_deleted',
    eventKey: `deleted:${messageId}`,
    conversation: thread,
    messageId,
    at: world.clock.now(),
  });
  await world.clock.advance(3000);
}

const look = plainTool({
  name: 'Look',
  invoke: async () => ({ kind: 'done', parts: [{ kind: 'text', text: 'seen' }] }),
});

describe('ids of calls that come again in a later step', () => {
  it('do not hide the result of a wait', async () => {
    const wait = registerTool(createWaitTool({ now: () => world.clock.now() }));
    const world: World = await newWorld({ tools: [look, wait] });
    world.model.answer({ text: 'I look.' }, { call: 'Look', input: {}, id: 'call_0' });
    world.model.answer({ text: 'I wait.' }, { call: 'Wait', input: { minutes: 5 }, id: 'call_0' });
    world.model.answer({ text: 'Done.' });
    await world.say('look, then wait');
    await world.clock.advance(20 * 60_000);
    expect(world.adapter.texts('u1').at(-1)).toBe('Done.');
  });

  it('do not hide the refusal of a stop', async () => {
    const { calls, deploy } = deploys();
    const world = await newWorld({ tools: [look, deploy], permissions: {} });
    world.model.answer({ text: 'I look.' }, { call: 'Look', input: {}, id: 'call_0' });
    world.model.answer({ text: 'I deploy.' }, { call: 'Deploy', input: {}, id: 'call_0' });
    await world.say('look, then deploy');
    await world.until(() => world.adapter.texts('u1').length === 2);
    await world.clock.advance(1000);
    await world.say('!stop', inThread('u1'));
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    const results = (await world.entries('u1')).flatMap((entry) =>
      entry.kind === 'tool_results' ? entry.results.map(({ outcome }) => outcome) : [],
    );
    expect(results).toEqual(['ok', 'cancelled']);
  });
});

describe('the messages that a waiting run is about', () => {
  it('end it when the last of them is deleted, also one after the other', async () => {
    const { deploy } = deploys();
    let release = (): void => {};
    const hold = plainTool({
      name: 'Hold',
      invoke: () =>
        new Promise((resolve) => {
          release = () => resolve({ kind: 'done', parts: [{ kind: 'text', text: 'held' }] });
        }),
    });
    const world = await newWorld({
      tools: [deploy, hold],
      permissions: { rules: [{ allow: ['Hold'] }] },
      concurrency: 1,
    });
    // Two messages wait for their turn while another thread has it.
    world.model.answer({ text: 'Held.' }, { call: 'Hold', input: {}, id: 'h1' });
    world.model.answer({ text: 'Done.' });
    await world.say('hold', { messageId: 'u9' });
    await world.clock.advance(1000);
    await world.say('deploy', { messageId: 'u1' });
    await world.say('to prod', { ...inThread('u1'), messageId: 'u2' });
    world.model.answer({ text: 'I deploy.' }, { call: 'Deploy', input: {}, id: 'c1' });
    release();
    await world.until(() => world.adapter.texts('u1').length === 2);
    await world.clock.advance(1000);
    await remove(world, 'u1');
    expect(world.adapter.texts('u1')[1]).toContain('[Approve]');
    expect(world.stoppedJobs).toEqual([]);
    await remove(world, 'u2');
    expect(world.adapter.texts('u1')[1]).toContain('This is no longer needed.');
    // What it left running in the background has nobody to end it otherwise.
    expect(world.stoppedJobs).toEqual(['web:local:general:u1']);
  });
});
