/** Approvals: a call that asks runs once, for the right person, over restarts, or not at all. */

import { describe, expect, it } from 'vitest';
import { createConversations } from '../../src/conversations/conversations.ts';
import { conversationKeyOf } from '../../src/messages/conversation.ts';
import { auditEntrySchema } from '../../src/permissions/audit.ts';
import type { PermissionSettings } from '../../src/permissions/settings.ts';
import { createAppendLog } from '../../src/storage/append-log.ts';
import { exitPlanModeTool } from '../../src/tools/builtin/exit-plan-mode.ts';
import { createWaitTool } from '../../src/tools/builtin/wait.ts';
import type { Assessment, RegisteredTool } from '../../src/tools/contract.ts';
import { registerTool } from '../../src/tools/registry.ts';
import caseB059 from '../cases/B059.json' with { type: 'json' };
import { plainTool, safe } from '../support/tools.ts';
import { anna, ben, inThread, usingWorlds, type World } from '../support/world.ts';

const newWorld = usingWorlds();
const hourMs = 3600 * 1000;

const asking: Assessment = {
  ...safe,
  isReadOnly: false,
  needsApproval: true,
  why: 'it changes the live system',
  subjects: ['prod'],
  grant: 'prod',
};

interface Made {
  readonly calls: string[];
  readonly tools: readonly RegisteredTool[];
}

/** Deploy asks; Look does not. */
function madeTools(assessment: Partial<Assessment> = {}): Made {
  const calls: string[] = [];
  const run = (name: string) => async (input: unknown) => {
    calls.push(`${name} ${JSON.stringify(input)}`);
    return { kind: 'done' as const, parts: [{ kind: 'text' as const, text: `${name} went well` }] };
  };
  return {
    calls,
    tools: [
      plainTool({
        name: 'Deploy',
        describe: () => 'Deploying `prod`',
        assess: async () => ({ ...asking, ...assessment }),
        preview: async (raw) => ({ language: 'json', text: JSON.stringify(raw, null, 2) }),
        invoke: run('Deploy'),
      }),
      plainTool({ name: 'Look', concurrencyOf: async () => 'always', invoke: run('Look') }),
    ],
  };
}

interface SetUp extends Made {
  readonly world: World;
}

async function setUp(
  permissions: PermissionSettings = {},
  assessment: Partial<Assessment> = {},
): Promise<SetUp> {
  const made = madeTools(assessment);
  return { ...made, world: await newWorld({ tools: made.tools, permissions }) };
}

const deployCall = { call: 'Deploy', input: { to: 'prod' }, id: 'c1' } as const;

/** Anna asks for a deployment; the card is the last message. */
async function ask(world: World, calls: readonly object[] = [deployCall]): Promise<void> {
  world.model.answer({ text: 'I deploy.' }, ...(calls as [typeof deployCall]));
  world.model.answer({ text: 'That was that.' });
  await world.say('deploy');
  await world.until(() => world.adapter.texts('u1').length === 2);
  await world.clock.advance(1000);
}

function controlOf(world: World, label: string): string {
  for (const { message } of world.adapter.shown.toReversed()) {
    for (const block of message.blocks) {
      const button =
        block.kind === 'buttons' ? block.buttons.find((one) => one.label === label) : undefined;
      if (button) return button.controlId;
    }
  }
  throw new Error(`no button ${label}`);
}

const fromBen = { author: ben };
const resultsTold = (world: World, request = -1): string =>
  JSON.stringify(
    world.model.requests.at(request)?.messages.findLast(({ role }) => role === 'tool'),
  );
const card = (world: World): string => world.adapter.texts('u1')[1] ?? '';

async function auditOf(world: World): Promise<readonly string[]> {
  const log = createAppendLog({ store: world.store, log: world.log }, 'audit', auditEntrySchema);
  return (await log.read({})).map(({ value }) => {
    switch (value.kind) {
      case 'call_decided':
        return `${value.tool} ${value.decision} ${value.approver ?? '-'}`;
      case 'call_ended':
        return `ended ${value.outcome}`;
      case 'grant_given':
        return `grant ${value.pattern} by ${value.by}`;
      default:
        return value.kind;
    }
  });
}

describe('a call that asks', () => {
  it('shows exactly what will happen, why, until when and who may approve', async () => {
    const { world, calls } = await setUp();
    await ask(world);
    expect(card(world)).toBe(
      [
        '**Deploying `prod`**\n\n```json\n{\n  "to": "prod"\n}\n```\n\nI ask because it changes the live system. "For this thread" covers `Deploy(prod)` for 8 h.',
        '[Approve] [Approve for this thread (8 h)] [Deny] [Deny with a note…]',
        '> May be approved by Anna until Wed, 15 Nov 2023 02:13 UTC.',
      ].join('\n'),
    );
    expect(calls).toEqual([]);
  });

  it('runs once when it is approved; the card says by whom and has no buttons', async () => {
    const { world, calls } = await setUp();
    await ask(world);
    const control = controlOf(world, 'Approve');
    await world.click(control);
    await world.click(control);
    await world.clock.advance(5000);
    expect(calls).toEqual(['Deploy {"to":"prod"}']);
    expect(world.adapter.texts('u1')).toEqual([
      'I deploy.',
      '✓ Deploying `prod`: approved by Anna',
      'That was that.',
    ]);
    expect(resultsTold(world)).toContain('Deploy went well');
    expect(world.adapter.whispers.map(({ text }) => text)).toEqual(['Anna approved this already.']);
    expect(await auditOf(world)).toEqual([
      'Deploy asked -',
      'Deploy approved web:anna',
      'ended ok',
    ]);
  });

  it('is not moved by a stranger: a private line, the card as it was', async () => {
    const { world, calls } = await setUp();
    await ask(world);
    const before = card(world);
    await world.click(controlOf(world, 'Approve'), fromBen);
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    expect(card(world)).toBe(before);
    expect(world.adapter.whispers).toEqual([
      { person: ben.id, text: 'This is for Anna to decide. Nothing was changed.' },
    ]);
    await world.click(controlOf(world, 'Approve'));
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
  });

  it('takes no bot for a person', async () => {
    const { world, calls } = await setUp({ approvers: ['web:bot'] });
    await ask(world);
    const bot = { ...ben, id: 'web:bot', isBot: true };
    await world.click(controlOf(world, 'Approve'), { author: bot });
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    expect(world.adapter.whispers[0]?.text).toContain('Only people can approve this.');
  });

  it('is denied with a note that the model reads', async () => {
    const { world, calls } = await setUp();
    await ask(world);
    await world.runs.onEvent({
      kind: 'form',
      eventKey: 'form:1',
      conversation: { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' },
      author: anna,
      at: world.clock.now(),
      controlId: controlOf(world, 'Deny with a note…'),
      text: 'Only after the freeze.',
      cardId: 'm2',
      interactionId: 'i1',
    });
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    expect(card(world)).toBe('✗ Deploying `prod`: denied by Anna: Only after the freeze.');
    expect(resultsTold(world)).toContain(
      'refused by Anna, who says:\\nOnly after the freeze.\\nDo not',
    );
    expect(resultsTold(world)).toContain('"outcome":"refused"');
  });

  it('is refused without a card when the model tries the same again', async () => {
    const { world, calls } = await setUp();
    world.model.answer({ text: 'I deploy.' }, deployCall);
    world.model.answer({ text: 'Again.' }, { ...deployCall, id: 'c2' });
    world.model.answer({ text: 'Then not.' });
    await world.say('deploy');
    await world.until(() => world.adapter.texts('u1').length === 2);
    await world.click(controlOf(world, 'Deny'));
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    expect(world.adapter.texts('u1').at(-1)).toContain('Then not.');
    expect(resultsTold(world)).toContain('refused before in this run');
  });

  it('is refused without a card when only words around it differ', async () => {
    const bash = plainTool({
      name: 'Bash',
      assess: async () => asking,
      preview: async () => ({ language: 'sh', text: 'rm -rf build' }),
      invoke: async () => ({ kind: 'done', parts: [] }),
    });
    const world = await newWorld({ tools: [bash], permissions: {} });
    const call = { call: 'Bash', input: { command: 'rm -rf build', description: 'Clean up' } };
    world.model.answer({ text: 'I clean.' }, { ...call, id: 'c1' });
    const again = { command: 'rm -rf build', description: 'Make room' };
    world.model.answer({ text: 'Again.' }, { ...call, input: again, id: 'c2' });
    world.model.answer({ text: 'Then not.' });
    await world.say('clean');
    await world.until(() => world.adapter.texts('u1').length === 2);
    await world.click(controlOf(world, 'Deny'));
    await world.clock.advance(5000);
    expect(world.adapter.texts('u1').at(-1)).toContain('Then not.');
    expect(resultsTold(world)).toContain('refused before in this run');
  });

  it('shows no secret, in the card or in the file beside it', async () => {
    const value = 'correct-horse-battery-staple';
    const made = plainTool({
      name: 'Deploy',
      assess: async () => asking,
      // The card is cut somewhere: wherever that is, no half of the secret stays.
      preview: async () => ({ language: 'sh', text: `login ${`${value} `.repeat(400)}` }),
      invoke: async () => ({ kind: 'done', parts: [] }),
    });
    const world = await newWorld({
      tools: [made],
      permissions: {},
      secrets: [{ name: 'PASSWORD', value }],
    });
    await ask(world);
    expect(world.adapter.uploads).toHaveLength(1);
    for (const text of [card(world), world.adapter.uploads[0]?.text ?? '']) {
      expect(text).toContain('[redacted: PASSWORD]');
      expect(text).not.toContain('corr');
    }
  });

  it('waits over a restart, and a click in the new life runs it', async () => {
    const { world, calls } = await setUp();
    await ask(world);
    const control = controlOf(world, 'Approve');
    world.restart();
    await world.clock.advance(hourMs);
    await world.click(control);
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
    expect(world.adapter.texts('u1').at(-1)).toBe('That was that.');
    expect(world.model.requests[1]?.tools).toEqual(world.model.requests[0]?.tools);
  });

  it('expires: the card says so, the model is told, a late click does nothing', async () => {
    const { world, calls } = await setUp({ expiresMs: 10 * 60_000 });
    await ask(world);
    const control = controlOf(world, 'Approve');
    await world.clock.advance(10 * 60_000);
    expect(card(world)).toBe('– Deploying `prod`\n> Nobody approved in time. This has expired.');
    expect(resultsTold(world)).toContain('Nobody approved this call in time.');
    expect(world.adapter.texts('u1').at(-1)).toBe('That was that.');
    await world.click(control);
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    expect(world.adapter.whispers.at(-1)?.text).toContain('This has expired.');
    expect(await auditOf(world)).toContain('Deploy expired -');
  });

  it('does not run any more when it could not before its end', async () => {
    let late = 0;
    for (const call of [3, 4, 5, 6, 7, 8, 9, 10]) {
      const { world, calls } = await setUp({ expiresMs: 10 * 60_000 });
      await ask(world);
      // The process goes down at the click, and stays down for an hour.
      world.life.dieAt = { call: world.life.calls + call, when: 'after' };
      void world.click(controlOf(world, 'Approve'));
      await world.clock.advance(1000);
      const before = calls.length;
      await world.clock.advance(hourMs);
      world.restart();
      await world.clock.advance(5000);
      expect(calls).toHaveLength(before);
      if (before === 0) late += 1;
    }
    expect(late).toBeGreaterThan(0);
  });

  it('is withdrawn by a stop, and by the deletion of its message', async () => {
    for (const how of ['stop', 'delete'] as const) {
      const { world, calls } = await setUp();
      await ask(world);
      const control = controlOf(world, 'Approve');
      if (how === 'stop') await world.say('!stop', inThread('u1'));
      else {
        await world.runs.onEvent({
          kind: 'message_deleted',
          eventKey: 'd1',
          conversation: { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' },
          messageId: 'u1',
          at: world.clock.now(),
        });
      }
      await world.clock.advance(5000);
      expect(card(world)).toContain('This is no longer needed.');
      await world.click(control);
      await world.clock.advance(5000);
      expect(calls).toEqual([]);
    }
  });

  it('never runs for an approval of another input', async () => {
    const { world, calls } = await setUp();
    await ask(world);
    const entries = await world.entries('u1');
    const number = entries.findIndex(({ kind }) => kind === 'assistant_message') + 1;
    const message = entries[number - 1];
    if (message?.kind !== 'assistant_message') throw new Error('no message');
    // Somebody with access to the store changes what the call says.
    const key = conversationKeyOf({
      adapter: 'web',
      space: 'local',
      channel: 'general',
      thread: 'u1',
    });
    await createConversations(world)
      .transcript(key)
      .overwrite(number, {
        ...message,
        parts: message.parts.map((part) =>
          part.kind === 'tool_call' ? { ...part, input: { to: 'everywhere' } } : part,
        ),
      });
    await world.click(controlOf(world, 'Approve'));
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    expect(resultsTold(world)).toContain('The approval was for another input.');
  });
});

describe('B059 on approval cards', () => {
  const people = { U_ALICE: anna, U_MALLORY: ben };

  it.each(caseB059.input.sequences.map((sequence, index) => [index + 1, sequence] as const))(
    'sequence %i resolves once, and no click is silent',
    async (number, sequence) => {
      const { world, calls } = await setUp();
      await ask(world);
      const controls = new Map(
        ['Approve', 'Deny'].map((label) => [label, controlOf(world, label)]),
      );
      for (const step of sequence) {
        if (!('click' in step)) world.restart();
        else {
          await world.clock.advance('afterMs' in step ? step.afterMs : 0);
          const author = people[step.by === 'U_ALICE' ? 'U_ALICE' : 'U_MALLORY'];
          await world.click(controls.get(step.click) ?? '', { author });
        }
      }
      await world.clock.advance(5000);
      expect(calls).toHaveLength(number === 2 ? 0 : 1);
      expect(card(world)).toContain(number === 2 ? 'denied by Anna' : 'approved by Anna');
      expect(world.adapter.whispers).toHaveLength(number === 1 ? 0 : 1);
    },
  );
});

describe('an approval of a call that hangs on where it runs', () => {
  it('is good for no other place', async () => {
    let folder = 'here';
    const calls: unknown[] = [];
    const bash = plainTool({
      name: 'Bash',
      assess: async () => ({ ...asking, state: folder }),
      invoke: async (input) => {
        calls.push(input);
        return { kind: 'done', parts: [] };
      },
    });
    const world = await newWorld({ tools: [bash], permissions: {} });
    await ask(world, [{ call: 'Bash', input: { command: 'rm -rf build' }, id: 'c1' }]);
    folder = 'there';
    await world.click(controlOf(world, 'Approve'));
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    expect(resultsTold(world)).toContain('does not stand where it stood then');
  });
});

describe('a crash around an approval', () => {
  const places = Array.from({ length: 30 }, (_, index) => index + 1).flatMap((call) =>
    (['before', 'after'] as const).map((when) => ({ call, when })),
  );

  it('never runs a call twice or without an entry of who approved, and ends nowhere for ever', async () => {
    let crashes = 0;
    for (const { call, when } of places) {
      const { world, calls } = await setUp();
      await ask(world);
      const control = controlOf(world, 'Approve');
      world.life.dieAt = { call: world.life.calls + call, when };
      // In a life that ends the click never answers.
      void world.click(control);
      await world.clock.advance(5000);
      if (world.life.isDead) {
        crashes += 1;
        world.restart();
        await world.clock.advance(5000);
        // The person sees that nothing came of it, and clicks again.
        if (card(world).includes('[Approve]')) await world.click(control);
        await world.clock.advance(10_000);
      }
      const where = `${when} call ${call}`;
      expect(calls.length, where).toBeLessThanOrEqual(1);
      expect(world.adapter.texts('u1').at(-1), where).toMatch(/That was that|^ok/u);
      const results = (await world.entries('u1')).flatMap((entry) =>
        entry.kind === 'tool_results' ? entry.results.map(({ callId }) => callId) : [],
      );
      expect(results, where).toEqual(['c1']);
      const approvals = (await auditOf(world)).filter((line) => line.includes(' approved '));
      expect(approvals.length, where).toBeGreaterThanOrEqual(1);
    }
    expect(crashes).toBeGreaterThan(20);
  });
});

describe('several calls that ask', () => {
  const two = [deployCall, { call: 'Deploy', input: { to: 'lab' }, id: 'c2' }];

  it('share a card; Approve all approves what it shows, in the model’s order', async () => {
    const { world, calls } = await setUp();
    await ask(world, two);
    expect(world.adapter.texts('u1')).toHaveLength(2);
    await world.click(controlOf(world, 'Approve all'));
    await world.clock.advance(5000);
    expect(calls).toEqual(['Deploy {"to":"prod"}', 'Deploy {"to":"lab"}']);
    expect(card(world)).toBe(
      '✓ Deploying `prod`: approved by Anna\n✓ Deploying `prod`: approved by Anna',
    );
  });

  it('are decided one by one, and the run waits for all', async () => {
    const { world, calls } = await setUp();
    await ask(world, two);
    const [first] = world.adapter.shown[1]?.message.blocks.flatMap((block) =>
      block.kind === 'buttons' ? block.buttons.filter(({ label }) => label === 'Deny 1') : [],
    ) ?? [undefined];
    await world.click(first?.controlId ?? '');
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    await world.click(controlOf(world, 'Approve 2'));
    await world.clock.advance(5000);
    expect(calls).toEqual(['Deploy {"to":"lab"}']);
    expect(resultsTold(world)).toMatch(/c1.+refused.+c2.+ok/u);
  });

  it('are shown a few at a time where messages are short', async () => {
    const { world, calls } = await setUp();
    await ask(
      world,
      ['a', 'b', 'c'].map((to, index) => ({ call: 'Deploy', input: { to }, id: `c${index}` })),
    );
    expect(card(world)).toContain('1 more follow.');
    expect(card(world)).toContain('**2. Deploying `prod`**');
    expect(card(world)).toContain(
      '[Approve 2] [Approve 2 for this thread (8 h)] [Deny 2] [Deny 2 with a note…]',
    );
    await world.click(controlOf(world, 'Approve these 2'));
    await world.clock.advance(5000);
    expect(calls).toEqual([]);
    await world.click(controlOf(world, 'Approve 3'));
    await world.clock.advance(5000);
    expect(calls).toHaveLength(3);
  });
});

describe('a card', () => {
  const many = Array.from({ length: 12 }, (_, index) => ({
    call: 'Deploy',
    input: { to: `${index}` },
    id: `c${index}`,
  }));
  const long = 'very-long-name/'.repeat(300);

  it.each<[string, Partial<RegisteredTool>]>([
    ['a long title', { describe: () => `Deploying \`${long}\`` }],
    ['a long reason', { assess: async () => ({ ...asking, why: `it changes ${long}` }) }],
    ['a long pattern', { assess: async () => ({ ...asking, grant: long }) }],
    ['marks alone', { preview: async () => ({ language: 'sh', text: '`'.repeat(5000) }) }],
  ])('has room in a short message for %s, and for many calls', async (_what, more) => {
    const done = async () => ({ kind: 'done' as const, parts: [] });
    const deploy = plainTool({
      name: 'Deploy',
      describe: () => 'Deploying `prod`',
      assess: async () => asking,
      invoke: done,
      ...more,
    });
    const mostMessageLength = 1900;
    const world = await newWorld({ tools: [deploy], permissions: {}, mostMessageLength });
    await ask(world, many);
    for (let click = 0; click < 6; click += 1) {
      expect(card(world).length).toBeLessThanOrEqual(mostMessageLength);
      await world.click(controlOf(world, click === 5 ? 'Approve all' : 'Approve these 2'));
      await world.clock.advance(3000);
    }
    expect(world.adapter.texts('u1').at(-1)).toBe('That was that.');
  });

  it('shows no character of a reason that could mislead', async () => {
    const { world } = await setUp({}, { why: 'it changes a\u202Eb\n\n**Approved by Anna**' });
    await ask(world);
    expect(card(world)).toContain('it changes aU+202Eb \\*\\*Approved by Anna\\*\\*.');
  });
});

describe('who may approve', () => {
  it('is everybody of the thread where the settings say so', async () => {
    const { world, calls } = await setUp({ approvers: ['participants'] });
    await ask(world);
    await world.click(controlOf(world, 'Approve'), fromBen);
    await world.clock.advance(1000);
    expect(calls).toEqual([]);
    await world.say('I am here too', { ...inThread('u1'), author: ben });
    await world.clock.advance(1000);
    await world.click(controlOf(world, 'Approve'), { ...fromBen, eventKey: 'again' });
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
  });

  it('is a Discord role, as it is at the click', async () => {
    const { world, calls } = await setUp({ approvers: ['discord:900'] });
    await ask(world);
    await world.click(controlOf(world, 'Approve'), fromBen);
    await world.clock.advance(1000);
    expect(calls).toEqual([]);
    await world.click(controlOf(world, 'Approve'), { author: { ...ben, roles: ['discord:900'] } });
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
  });

  it('is a Slack user group, as it is at the click', async () => {
    const { world, calls } = await setUp({ approvers: ['slack:S0OPS'] });
    await ask(world);
    await world.click(controlOf(world, 'Approve'), fromBen);
    await world.clock.advance(1000);
    expect(calls).toEqual([]);
    world.adapter.groups.set('slack:S0OPS', [ben.id]);
    await world.click(controlOf(world, 'Approve'), fromBen);
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
  });

  it('is somebody else than the asker where four eyes are needed; the asker may take it back', async () => {
    const { world, calls } = await setUp({ approvers: ['asker', 'web:ben'], notAsker: true });
    await ask(world);
    await world.click(controlOf(world, 'Approve'));
    await world.clock.advance(1000);
    expect(world.adapter.whispers.at(-1)?.text).toContain('somebody else must approve it');
    expect(calls).toEqual([]);
    await world.click(controlOf(world, 'Deny'));
    await world.clock.advance(5000);
    expect(card(world)).toBe('✗ Deploying `prod`: denied by Anna');
  });

  it('is nobody who wrote into the run, where four eyes are needed', async () => {
    const { world, calls } = await setUp({ approvers: ['participants'], notAsker: true });
    world.model.answer({ text: 'I look first.' }, { call: 'Look', input: {} }, { waitMs: 2000 });
    world.model.answer({ text: 'I deploy.' }, deployCall);
    await world.say('deploy');
    await world.clock.advance(500);
    await world.say('yes, to prod', { ...inThread('u1'), author: ben });
    await world.until(() => world.adapter.texts('u1').some((shown) => shown.includes('[Approve]')));
    await world.click(controlOf(world, 'Approve'), fromBen);
    await world.clock.advance(1000);
    expect(calls).toEqual(['Look {}']);
    expect(world.adapter.whispers.at(-1)?.text).toContain('somebody else must approve it');
  });

  it('is a number of people; the same one twice counts once', async () => {
    const { world, calls } = await setUp({ approvers: ['asker', 'web:ben'], quorum: 2 });
    await ask(world);
    expect(card(world)).toContain('2 people must approve: none yet.');
    await world.click(controlOf(world, 'Approve'));
    await world.clock.advance(1000);
    await world.click(controlOf(world, 'Approve'));
    await world.clock.advance(1000);
    expect(world.adapter.whispers.at(-1)?.text).toContain('somebody else must approve it too');
    expect(card(world)).toContain('so far Anna.');
    expect(calls).toEqual([]);
    await world.click(controlOf(world, 'Approve'), fromBen);
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
    expect(card(world)).toBe('✓ Deploying `prod`: approved by Anna and Ben');
  });
});

describe('rules', () => {
  it.each<[string, PermissionSettings, number]>([
    ['allow', { rules: [{ allow: ['Deploy(prod)'] }] }, 1],
    ['allow of another input', { rules: [{ allow: ['Deploy(lab*)'] }] }, 0],
    ['deny before allow', { rules: [{ allow: ['Deploy'] }, { deny: ['Dep*'] }] }, 0],
    ['allow for the asker', { rules: [{ allow: ['Deploy'], for: ['web:anna'] }] }, 1],
    ['allow for somebody else', { rules: [{ allow: ['Deploy'], for: ['web:ben'] }] }, 0],
    ['ask before allow', { rules: [{ allow: ['Deploy'] }, { ask: ['Deploy(p*)'] }] }, 0],
  ])('%s', async (_what, permissions, times) => {
    const { world, calls } = await setUp(permissions);
    world.model.answer({ text: 'I deploy.' }, deployCall);
    await world.say('deploy');
    await world.clock.advance(5000);
    expect(calls).toHaveLength(times);
  });

  it.each<[string, PermissionSettings, number]>([
    [
      'do not lend the rights of the asker',
      { rules: [{ allow: ['Deploy'], for: ['web:anna'] }] },
      0,
    ],
    ['allow what all may do', { rules: [{ allow: ['Deploy'], for: ['web:anna', 'web:ben'] }] }, 1],
    [
      'deny what one may not do',
      { rules: [{ allow: ['Deploy'] }, { deny: ['Deploy'], for: ['web:ben'] }] },
      0,
    ],
  ])('%s to somebody who writes into the run', async (_what, permissions, times) => {
    const { world, calls } = await setUp(permissions);
    world.model.answer(
      { waitMs: 2000 },
      { text: 'I look.' },
      { call: 'Look', input: {}, id: 'l1' },
    );
    world.model.answer({ text: 'I deploy.' }, deployCall);
    await world.say('look around');
    await world.clock.advance(1000);
    await world.say('now deploy', { ...inThread('u1'), messageId: 'u2', author: ben });
    await world.clock.advance(5000);
    expect(JSON.stringify(await world.entries('u1'))).toContain('now deploy');
    expect(world.model.requests.length).toBeGreaterThan(1);
    expect(calls.filter((call) => call.startsWith('Deploy'))).toHaveLength(times);
  });

  it('say to the model which one denied it', async () => {
    const { world } = await setUp({ rules: [{ deny: ['Deploy(prod)'] }] });
    world.model.answer({ text: 'I deploy.' }, deployCall);
    await world.say('deploy');
    await world.atRest();
    expect(resultsTold(world)).toContain('rule `Deploy(prod)` (test)');
    expect(await auditOf(world)).toEqual(['Deploy denied -', 'ended refused']);
  });

  it('do not spare what always asks', async () => {
    const { world, calls } = await setUp({ rules: [{ allow: ['Deploy'] }] }, { alwaysAsks: true });
    await ask(world);
    expect(calls).toEqual([]);
  });

  it('do not cover what cannot be seen through', async () => {
    const { world, calls } = await setUp(
      { rules: [{ allow: ['Deploy(*)'] }, { deny: ['Deploy(lab)'] }] },
      { isWhole: false },
    );
    await ask(world);
    expect(calls).toEqual([]);
  });
});

describe('a grant', () => {
  it('spares the next question of its kind in the thread, is listed, and is taken back', async () => {
    const { world, calls } = await setUp();
    await ask(world);
    await world.click(controlOf(world, 'Approve for this thread (8 h)'));
    await world.clock.advance(5000);
    world.model.answer({ text: 'Again.' }, { ...deployCall, id: 'c9' });
    world.model.answer({ text: 'Done again.' });
    await world.say('deploy again', { ...inThread('u1'), messageId: 'u2' });
    await world.clock.advance(5000);
    expect(calls).toHaveLength(2);
    await world.say('!grants', inThread('u1'));
    await world.clock.advance(1000);
    expect(world.adapter.whispers.at(-1)?.text).toContain(
      '1. `Deploy(prod)`, approved by Anna, for 8 h more',
    );
    await world.say('!grants revoke 1', inThread('u1'));
    await world.clock.advance(1000);
    world.model.answer({ text: 'And again.' }, { ...deployCall, id: 'c10' });
    await world.say('once more', { ...inThread('u1'), messageId: 'u3' });
    await world.clock.advance(5000);
    expect(calls).toHaveLength(2);
    expect(await auditOf(world)).toContain('grant prod by web:anna');
    expect(await auditOf(world)).toContain('grant_revoked');
  });

  it('is not offered where a rule asks each time', async () => {
    const { world } = await setUp({ rules: [{ ask: ['Deploy'] }] });
    await ask(world);
    expect(card(world)).toContain('[Approve] [Deny]');
    expect(card(world)).not.toContain('this thread');
  });

  it('ends after its time, and is good for no other thread', async () => {
    const { world, calls } = await setUp({ grantMs: hourMs });
    await ask(world);
    await world.click(controlOf(world, 'Approve for this thread (1 h)'));
    await world.clock.advance(5000);
    world.model.answer({ text: 'Elsewhere.' }, { ...deployCall, id: 'c8' });
    await world.say('deploy', { messageId: 'u7' });
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
    await world.clock.advance(hourMs);
    world.model.answer({ text: 'Later.' }, { ...deployCall, id: 'c9' });
    await world.say('deploy again', { ...inThread('u1'), messageId: 'u2' });
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
  });
});

describe('a plan', () => {
  it('keeps everything that changes from running until it is approved', async () => {
    const { world, calls } = await setUp({ rules: [{ allow: ['Deploy'] }] });
    world.model.answer(
      { text: 'I look first.' },
      { call: 'Look', input: {}, id: 'l1' },
      { ...deployCall, id: 'd1' },
    );
    world.model.answer({ text: 'So.' });
    await world.say('plan: deploy it');
    await world.atRest();
    expect(calls).toEqual(['Look {}']);
    expect(resultsTold(world)).toContain('You are making a plan');
  });
});

describe('a plan that is asked for in the middle of a run', () => {
  it('keeps everything that changes from running from there on', async () => {
    const { world, calls } = await setUp({ rules: [{ allow: ['Deploy'] }] });
    world.model.answer({ waitMs: 2000 }, { text: 'I look.' }, { call: 'Look', input: {} });
    world.model.answer({ text: 'I deploy.' }, deployCall);
    await world.say('look around');
    await world.clock.advance(1000);
    await world.say('plan: deploy it', { ...inThread('u1'), messageId: 'u2' });
    await world.clock.advance(5000);
    expect(calls).toEqual(['Look {}']);
    expect(resultsTold(world)).toContain('You are making a plan');
  });
});

describe('a plan that is shown', () => {
  const plan = { call: 'ExitPlanMode', input: { plan: '1. Look\n2. Deploy' }, id: 'p1' };

  async function planWorld() {
    const made = madeTools();
    const tools = [...made.tools, registerTool(exitPlanModeTool)];
    const permissions = { rules: [{ allow: ['Deploy'] }] };
    const world = await newWorld({ tools, permissions });
    world.model.answer({ text: 'My idea:' }, plan);
    await world.say('plan: deploy it');
    await world.until(() => world.adapter.texts('u1').length === 2);
    await world.clock.advance(1000);
    return { ...made, world };
  }

  it('has Approve and Request changes; approved, it is carried out', async () => {
    const { world, calls } = await planWorld();
    expect(card(world)).toContain('**My plan**\n\n1. Look\n2. Deploy');
    expect(card(world)).toContain('[Approve] [Request changes…]');
    world.model.answer({ text: 'So be it.' }, deployCall);
    await world.click(controlOf(world, 'Approve'));
    await world.clock.advance(5000);
    expect(calls).toEqual(['Deploy {"to":"prod"}']);
    expect(card(world)).toBe('**My plan**\n\n1. Look\n2. Deploy\n✓ Plan: approved by Anna');
  });

  it('goes back to the model with the changes, and nothing runs before the next approval', async () => {
    const { world, calls } = await planWorld();
    world.model.answer({ text: 'I try.' }, deployCall);
    world.model.answer({ text: 'Then a new plan.' });
    await world.runs.onEvent({
      kind: 'form',
      eventKey: 'form:1',
      conversation: { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' },
      author: anna,
      at: world.clock.now(),
      controlId: controlOf(world, 'Request changes…'),
      text: 'Look twice.',
      cardId: 'm2',
      interactionId: 'i1',
    });
    await world.clock.advance(5000);
    expect(JSON.stringify(world.model.requests)).toContain(
      'wanted by Anna, who says:\\nLook twice.',
    );
    expect(card(world)).toContain('2. Deploy\n✗ Plan: changes wanted by Anna: Look twice.');
    expect(calls).toEqual([]);
  });
});

describe('a wait', () => {
  async function waitWorld() {
    const world: World = await newWorld({
      tools: [registerTool(createWaitTool({ now: () => world.clock.now() }))],
    });
    world.model.answer({ text: 'I look again later.' }, { call: 'Wait', input: { minutes: 30 } });
    world.model.answer({ text: 'Now it is done.' });
    await world.say('watch the build');
    await world.until(() => world.adapter.texts('u1').length === 1);
    await world.clock.advance(1000);
    return world;
  }

  it('holds no worker, says until when, and goes on at its time, also after a restart', async () => {
    const world = await waitWorld();
    expect(world.adapter.texts('u1')[0]).toMatch(/I go on at 22:43 UTC\. Write here to wake me/u);
    world.restart();
    await world.clock.advance(29 * 60_000);
    expect(world.model.requests).toHaveLength(1);
    await world.clock.advance(2 * 60_000);
    expect(world.adapter.texts('u1').at(-1)).toBe('Now it is done.');
    expect(resultsTold(world)).toContain('The time has come, after 30 min.');
  });

  it('ends early when somebody writes', async () => {
    const world = await waitWorld();
    await world.clock.advance(5 * 60_000);
    await world.say('it is done already', inThread('u1'));
    await world.clock.advance(5000);
    expect(resultsTold(world, 1)).toContain('woke you, after 5 min');
    expect(JSON.stringify(world.model.requests[1]?.messages)).toContain('it is done already');
  });
});

describe('a crash', () => {
  it('while the message still streams does nothing twice that had changed something', async () => {
    const { world, calls } = await setUp({ rules: [{ allow: ['Deploy'] }] });
    world.model.answer({ text: 'I deploy.' }, deployCall, { waitMs: 60_000 });
    world.model.answer({ text: 'I see what came of it.' });
    await world.say('deploy');
    await world.clock.advance(1000);
    expect(calls).toHaveLength(1);
    world.restart();
    await world.clock.advance(5000);
    expect(calls).toHaveLength(1);
    expect(resultsTold(world)).toContain('outcome unknown');
    expect(world.adapter.texts('u1').join('\n')).toContain('I see what came of it.');
  });
});
