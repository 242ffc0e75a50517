/** A mention, its answer, and what may happen in between: the whole way without a network. */

import { afterEach, describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import {
  anna,
  ben,
  createWorld,
  inThread,
  type World,
  type WorldOptions,
} from '../support/world.ts';

const worlds: World[] = [];

async function setUp(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld(options);
  worlds.push(world);
  world.runs.start();
  await world.clock.settle();
  return world;
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

describe('a mention', () => {
  it('is answered in its thread, streamed by edits, exactly once', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Hello ' }, { waitMs: 3000 }, { text: 'Anna.' });
    await world.say('hello');
    await world.clock.settle();
    expect(world.adapter.texts('u1')).toEqual(['Hello\n[Stop]']);
    await world.clock.advance(10_000);
    expect(world.adapter.texts('u1')).toEqual(['Hello Anna.']);
    expect(world.adapter.calls).toEqual(['post', 'edit', 'edit']);
    expect(world.adapter.statuses).toEqual(['working', 'idle']);
  });

  it('reaches the model with its author and is followed up with context', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.clock.advance(2000);
    await world.say('and you?', { ...inThread('u1'), author: ben });
    await world.clock.advance(2000);
    const [first, second] = world.model.requests;
    expect(first?.messages).toMatchObject([
      { role: 'user', parts: [{ text: expect.stringContaining('Anna: hello') }] },
    ]);
    expect(second?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(second?.messages[2])).toContain('Ben: and you?');
    expect(world.adapter.texts('u1')).toEqual(['ok', 'ok']);
  });

  it('delivered five times is answered once, before and after a restart', async () => {
    const world = await setUp();
    for (let time = 0; time < 5; time += 1) await world.say('hello', { messageId: 'u1' });
    await world.clock.advance(2000);
    world.restart();
    await world.say('hello', { messageId: 'u1' });
    await world.clock.advance(2000);
    expect(world.adapter.texts('u1')).toEqual(['ok']);
    expect(world.model.requests).toHaveLength(1);
  });

  it('gets one short line when the model has nothing to say', async () => {
    const world = await setUp();
    world.model.answer({ text: ' \n' });
    await world.say('hello');
    await world.clock.advance(2000);
    expect(world.adapter.texts('u1')).toEqual([
      '> I have no answer to that. Could you put it differently?',
    ]);
  });

  it('ends in a failure that says what to do when the model fails for good', async () => {
    const world = await setUp();
    world.model.answer({
      fail: new BotError('auth_failed', 'The key of scripted was refused; look at SCRIPTED_KEY.'),
    });
    await world.say('hello');
    await world.clock.advance(2000);
    expect(world.adapter.texts('u1')).toEqual([
      expect.stringMatching(
        /^> ⚠ The key of scripted was refused; look at SCRIPTED_KEY\. An admin .*\(reference run_\d+\)\n\[Retry\]$/u,
      ),
    ]);
  });
});

describe('a thread message that did not address the bot', () => {
  it('may be met with silence, which is recorded', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.clock.advance(2000);
    world.model.answer({ call: 'StaySilent', input: { reason: 'they talk to each other' } });
    await world.say('ben, lunch?', inThread('u1'));
    await world.clock.advance(2000);
    expect(world.adapter.texts('u1')).toEqual(['ok']);
    expect(world.log.lines).toContainEqual(
      expect.objectContaining({
        event: 'run_ended',
        facts: expect.objectContaining({ silent: true }),
      }),
    );
  });

  it('is left alone when it is addressed to somebody else', async () => {
    const world = await setUp();
    await world.say('hello');
    await world.clock.advance(2000);
    await world.say('@Ben look', { ...inThread('u1'), addressesOther: true });
    await world.clock.advance(2000);
    expect(world.model.requests).toHaveLength(1);
  });
});

describe('tools', () => {
  it('run after the message and their results go back in the model’s order', async () => {
    const world = await setUp();
    world.model.answer(
      { text: 'I write it down.' },
      { call: 'FileWrite', input: { path: 'a.txt', content: 'one' } },
      { call: 'FileRead', input: { path: 'a.txt' } },
    );
    world.model.answer({ text: 'Done.' });
    await world.say('write');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual([
      expect.stringMatching(/^I write it down\.\n\nDone\.\n> 2 tools, \d s$/u),
    ]);
    expect(world.model.requests[1]?.messages[2]).toMatchObject({
      role: 'tool',
      results: [
        { callId: 'call_1', outcome: 'ok' },
        { callId: 'call_2', outcome: 'ok', parts: [{ text: '1\tone' }] },
      ],
    });
  });

  it('that fail in ten steps in a row end the run', async () => {
    const world = await setUp();
    for (let step = 0; step < 12; step += 1) {
      world.model.answer({ call: 'FileRead', input: { path: `missing-${step}.txt` } });
    }
    await world.say('read');
    await world.atRest();
    expect(world.model.requests).toHaveLength(10);
    expect(world.adapter.texts('u1').join()).toContain('its tools failed in 10 steps in a row');
  });

  it('are told of a loop of identical rounds, then the run ends', async () => {
    const world = await setUp();
    for (let step = 0; step < 12; step += 1)
      world.model.answer({ call: 'Glob', input: { pattern: '*' } });
    await world.say('list');
    await world.atRest();
    expect(world.model.requests).toHaveLength(6);
    expect(JSON.stringify(world.model.requests[3]?.messages.at(-1))).toContain(
      'same call with the same result',
    );
    expect(world.adapter.texts('u1').join()).toContain('repeated the same call');
  });

  it('end at the step limit with a notice and a Continue button that works once', async () => {
    const world = await setUp({ limits: { stepsPerRun: 2 } });
    for (let step = 0; step < 3; step += 1) {
      world.model.answer({ call: 'FileWrite', input: { path: `f${step}.txt`, content: '' } });
    }
    await world.say('work');
    await world.atRest();
    expect(world.adapter.texts('u1')).toEqual([expect.stringContaining('I stopped after 2 steps')]);
    expect(world.adapter.texts('u1')[0]).toContain('[Continue]');
    await world.click('run.continue');
    await world.click('run.continue');
    await world.until(() => world.model.requests.length > 2);
    await world.atRest();
    expect(world.model.requests.length).toBeGreaterThan(2);
    expect(JSON.stringify(world.model.requests[2]?.messages.at(-1))).toContain('Anna: Go on.');
    expect(world.adapter.whispers).toEqual([
      { person: 'web:anna', text: 'I am going on already.' },
    ]);
  });
});

describe('a message during a run', () => {
  it('enters at the next step boundary, with a sign while it waits', async () => {
    const world = await setUp();
    world.model.answer({ waitMs: 1000 }, { call: 'Glob', input: { pattern: '*' } });
    await world.say('list');
    await world.clock.settle();
    await world.say('only text files', inThread('u1'));
    await world.clock.settle();
    expect(world.adapter.reactions).toEqual(['+waiting:u2']);
    await world.atRest();
    expect(world.adapter.reactions).toEqual(['+waiting:u2', '-waiting:u2']);
    const last = world.model.requests[1]?.messages;
    expect(last?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(JSON.stringify(last?.at(-1))).toContain('only text files');
    expect(world.model.requests).toHaveLength(2);
  });

  it('that comes while the last words stream is answered without further ado', async () => {
    const world = await setUp();
    world.model.answer({ text: 'First.' }, { waitMs: 1000 });
    world.model.answer({ text: 'Second.' });
    await world.say('one');
    await world.clock.settle();
    await world.say('two', inThread('u1'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1')).toEqual(['First.\n\nSecond.']);
  });

  it('edited while it waits reaches the model in its new form only', async () => {
    const world = await setUp();
    world.model.answer({ waitMs: 1000 }, { call: 'Glob', input: { pattern: '*' } });
    await world.say('list');
    await world.clock.settle();
    const said = await world.say('the secret draft', inThread('u1'));
    await world.runs.onEvent({
      kind: 'message_edited',
      eventKey: 'web:general:u2:edit',
      conversation: said.conversation,
      author: anna,
      at: world.clock.now() + 50,
      messageId: said.messageId,
      text: 'the final text',
    });
    await world.atRest();
    const sent = JSON.stringify(world.model.requests[1]);
    expect(sent).toContain('the final text');
    expect(sent).not.toContain('the secret draft');
  });
});

describe('edits and deletions later', () => {
  it('an edit of a seen message becomes a note at the next turn', async () => {
    const world = await setUp();
    const said = await world.say('deploy to staging');
    await world.clock.advance(2000);
    await world.runs.onEvent({
      kind: 'message_edited',
      eventKey: 'web:general:u1:edit',
      conversation: said.conversation,
      author: anna,
      at: world.clock.now(),
      messageId: 'u1',
      text: 'deploy to production',
    });
    await world.clock.advance(2000);
    expect(world.model.requests).toHaveLength(1);
    await world.say('go', inThread('u1'));
    await world.clock.advance(2000);
    expect(JSON.stringify(world.model.requests[1])).toContain('It now reads: deploy to production');
  });

  it('a deletion while the run is on stops it', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Thinking' }, { waitMs: 60_000 }, { text: ' done' });
    const said = await world.say('compute');
    await world.clock.settle();
    await world.runs.onEvent({
      kind: 'message_deleted',
      eventKey: 'web:general:u1:deleted',
      conversation: said.conversation,
      messageId: 'u1',
      at: world.clock.now(),
    });
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1')).toEqual([
      'Thinking\n> Stopped: the message that asked for this was deleted.',
    ]);
  });

  it('a deletion later leaves no word of the message in any value', async () => {
    const world = await setUp();
    const said = await world.say('the canary is blue');
    await world.clock.advance(2000);
    await world.runs.onEvent({
      kind: 'message_deleted',
      eventKey: 'web:general:u1:deleted',
      conversation: said.conversation,
      messageId: 'u1',
      at: world.clock.now(),
    });
    await world.clock.advance(2000);
    await world.say('what was it?', inThread('u1'));
    await world.clock.advance(2000);
    expect(JSON.stringify(await world.entries('u1'))).not.toContain('canary is blue');
    expect(JSON.stringify(world.model.requests.at(-1))).not.toContain('canary is blue');
    expect(JSON.stringify(await world.store.get('event:web:general:u1'))).not.toContain('canary');
    expect(JSON.stringify(await world.store.get('head:web:local:general:u1'))).not.toContain(
      'canary',
    );
  });
});

describe('stop', () => {
  it('ends the run, keeps the partial answer and names who stopped it', async () => {
    const world = await setUp();
    world.model.answer({ text: 'Part' }, { waitMs: 60_000 }, { text: ' never' });
    await world.say('go');
    await world.clock.settle();
    await world.say('!stop', { ...inThread('u1'), author: ben });
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1')).toEqual(['Part\n> Stopped by Ben.\n[Continue]']);
    await world.say('and now?', inThread('u1'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1').at(-1)).toBe('ok');
    expect(JSON.stringify(world.model.requests.at(-1))).toContain('Part');
  });
});
