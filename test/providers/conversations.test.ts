/**
 * Whole conversations past the strict checker, through the loop: tools, a stop in the middle, a
 * crash and its resumption, other models for a while, and back. Each wire in turn is the main one.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run, stopReason } from '../../src/agent/run.ts';
import type { Entry } from '../../src/messages/entries.ts';
import type { RunEvent, RunOutcome } from '../../src/messages/run-event.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import type { RegisteredTool } from '../../src/tools/contract.ts';
import { call, message, say } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer, type WireName } from '../emulators/model-server.ts';
import { createTestDeps, testCatalog, weatherTool } from '../support/providers.ts';
import { plainTool } from '../support/tools.ts';
import { anna } from '../support/world.ts';

const models: Readonly<Record<WireName, string>> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.2-sol',
  compatible: 'qwen3.8-max',
  gemini: 'gemini-3.6-flash',
};
const wires = ['anthropic', 'openai', 'compatible', 'gemini'] as const;

/** Tells the weather; `whenCalled` hears of each call. */
function weatherOf(whenCalled: () => void): RegisteredTool {
  return plainTool({
    ...weatherTool,
    concurrencyOf: async () => 'always',
    invoke: () => {
      whenCalled();
      return Promise.resolve({ kind: 'done', parts: [{ kind: 'text', text: 'rain' }] });
    },
  });
}

interface TurnOptions {
  readonly wire: WireName;
  /** A person stops it at the first word or the first call; the process dies when a message is stored. */
  readonly ending?: 'stop_at_word' | 'stop_at_call' | 'die';
  readonly resumes?: boolean;
}

type Going = AsyncGenerator<RunEvent, RunOutcome>;

async function outcomeOf(going: Going, whenSaid: () => void): Promise<RunOutcome> {
  for (;;) {
    const step = await going.next();
    if (step.done === true) return step.value;
    if (step.value.kind === 'text_delta') whenSaid();
  }
}

/** Nobody reads on: what was not stored when the message was is lost. */
async function died(going: Going, die: () => void): Promise<'died'> {
  for await (const event of going) {
    if (event.kind !== 'step_finished') continue;
    die();
    break;
  }
  return 'died';
}

describe('a whole conversation', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
  });
  afterEach(() => server.close());

  const setUp = () => {
    const deps = createTestDeps();
    const settings = Object.fromEntries(
      wires.map((wire) => [wire, { apiKey: 'k', baseUrl: server.baseUrl(wire) }]),
    );
    const registry = createProviderRegistry(deps, settings, testCatalog);
    const entries: Entry[] = [];
    let runs = 0;
    const hear = (text: string): void => {
      entries.push({
        v: 1,
        at: deps.clock.now(),
        kind: 'user_message',
        messageId: `m${entries.length}`,
        author: anna,
        parts: [{ kind: 'text', text }],
        addressed: true,
      });
    };
    const turn = async (options: TurnOptions): Promise<RunOutcome | 'died'> => {
      const { provider, model, facts } = registry.resolve(
        `${options.wire}/${models[options.wire]}`,
      );
      const { abilities } = facts;
      const controller = new AbortController();
      const stopAt = (ending: TurnOptions['ending']) => (): void => {
        if (options.ending === ending) controller.abort(stopReason('Anna', 'person'));
      };
      const resume = options.resumes === true ? { resume: { kind: 'interrupted' } as const } : {};
      if (options.resumes !== true) runs += 1;
      let isDead = false;
      const going = run(
        {
          clock: deps.clock,
          log: deps.log,
          complete: (prompt, signal) =>
            provider.stream({ ...prompt, model, abilities, mostOutputTokens: 9_000 }, signal),
          transcript: {
            read: () => entries,
            append: async (added) => {
              await deps.clock.advance(1);
              if (isDead) throw new Error('the process has died');
              entries.push(...added);
            },
          },
          permit: async () => ({ kind: 'run', isReadOnly: true }),
          redact: (text) => text,
          takeWaiting: () => Promise.resolve({ messageIds: [], addressed: false }),
          onUsed: () => Promise.resolve(),
          limitReached: () => Promise.resolve(undefined),
          tooManySteps: () => Promise.resolve('Too many steps.'),
          tools: [weatherOf(stopAt('stop_at_call'))],
        },
        {
          runId: `r${runs}`,
          conversationKey: 'web:local:c:1',
          workspace: { folder: 'w', mounts: [] },
          modelName: `${options.wire}/${model}`,
          reasoning: {},
          webSearch: false,
          system: 'You are a test.',
          toolSpecs: [weatherTool],
          mostSteps: 20,
          toolTimeoutMs: 1_000,
          toolsAtOnce: 8,
          addressed: true,
          ...resume,
        },
        controller.signal,
      );
      return options.ending === 'die'
        ? await died(going, () => {
            isDead = true;
          })
        : await outcomeOf(going, stopAt('stop_at_word'));
    };
    return { hear, turn, entries };
  };

  const steps = (name: string) => [
    message(
      { kind: 'reasoning', text: `Thought of ${name}.` },
      { kind: 'text', text: `${name} looks. ` },
      call(`${name}-a`, 'weather', { city: 'Oslo' }),
      call(`${name}-b`, 'weather', { city: 'Łódź' }),
    ),
    message(
      { kind: 'reasoning', text: `Second thought of ${name}.` },
      call(`${name}-c`, 'weather', { city: 'Rome' }),
    ),
    message({ kind: 'reasoning', text: 'Enough.' }, { kind: 'text', text: `${name} knows.` }),
  ];
  const endless = new Promise<void>(() => undefined);

  it.each(wires)('passes with tools, a stop, a crash and other models (%s)', async (wire) => {
    const { hear, turn, entries } = setUp();
    const finished = { kind: 'finished', silent: false };

    hear('How is the weather?');
    server.script(...steps('first'));
    expect(await turn({ wire })).toEqual(finished);

    hear('And elsewhere?');
    server.script(
      message(
        { kind: 'reasoning', text: 'A thought that is stopped.' },
        { kind: 'text', text: 'Half an ans' },
        { kind: 'wait', until: endless },
      ),
    );
    const stopped = { kind: 'stopped', by: 'Anna' };
    expect(await turn({ wire, ending: 'stop_at_word' })).toMatchObject(stopped);
    hear('Not like that.');
    server.script(...steps('cancelled').slice(0, 1));
    expect(await turn({ wire, ending: 'stop_at_call' })).toMatchObject(stopped);
    hear('Go on, please.');
    server.script(...steps('resumed'));
    expect(await turn({ wire })).toEqual(finished);

    hear('Once more?');
    server.script(...steps('crashed').slice(0, 1));
    expect(await turn({ wire, ending: 'die' })).toBe('died');
    server.script(say('It crashed, but here I am.'));
    expect(await turn({ wire, resumes: true })).toEqual(finished);

    for (const other of wires.filter((one) => one !== wire)) {
      hear(`What does ${other} say?`);
      server.script(...steps(other));
      expect(await turn({ wire: other })).toEqual(finished);
    }

    hear('And you?');
    server.script(...steps('back'));
    expect(await turn({ wire })).toEqual(finished);

    expect(server.requests.map(({ objection }) => objection)).toEqual(Array(22).fill(undefined));
    const last = JSON.stringify(server.requests.at(-1)?.body);
    for (const other of wires.filter((one) => one !== wire))
      expect(last).toContain(`${other} knows.`);
    expect(last).toContain('Half an ans');
    expect(last).toContain('interrupted');
    // Thoughts go back where the wire takes them: that they passed is no proof if they were left out.
    expect(last.includes('Thought of first.')).toBe(wire !== 'gemini');
    expect(JSON.stringify(entries)).toContain('Thought of back.');
  });
});
