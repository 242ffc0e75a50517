/** The strict checker refuses what the real APIs refuse: one bad request for each rule, one good. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, message, say } from './model/script.ts';
import { objectOf, objectsOf } from './model/wire.ts';
import { createModelServer, type ModelServer, type WireName } from './model-server.ts';

const user = { role: 'user', content: 'Hi' };
const answer = { role: 'assistant', content: 'Hello.' };
const claude = (rest: object, model = 'claude-sonnet-5-5'): object => ({
  model,
  max_tokens: 9_000,
  messages: [user],
  ...rest,
});
const marked = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
const unsigned = { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.' }] };
const budget = (tokens: number) => ({ thinking: { type: 'enabled', budget_tokens: tokens } });
const off = { thinking: { type: 'disabled' } };
const gpt = (rest: object, model = 'gpt-6.2-sol'): object => ({
  model,
  store: false,
  input: [user],
  ...rest,
});
const chat = (rest: object, model = 'some-model'): object => ({ model, messages: [user], ...rest });
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'clock', arguments: '{}' } }],
};
const toldTime = { role: 'tool', tool_call_id: 'c1', content: '12:00' };
const deepseek = (made: object, rest: object = {}): object =>
  chat({ messages: [user, made, toldTime, user], ...rest }, 'deepseek-v4-pro');
const asked = { role: 'user', parts: [{ text: 'Hi' }] };
const gemini = (thinkingConfig: object, rest: object = {}): object => ({
  contents: [asked],
  generationConfig: { thinkingConfig, ...rest },
});

describe('createStrictChecker', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const post = async (wire: WireName, body: object, model = 'gemini-3.6-flash') => {
    const paths: Readonly<Record<WireName, string>> = {
      anthropic: '/v1/messages',
      openai: '/v1/responses',
      compatible: `/${model.startsWith('deepseek') ? 'deepseek' : 'v1'}/chat/completions`,
      gemini: `/v1beta/models/${model}:streamGenerateContent`,
    };
    const init = { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(server.url + paths[wire], init);
    return { status: response.status, text: await response.text() };
  };

  it.each<[WireName, object, RegExp, string?]>([
    ['anthropic', claude({ temperature: 1 }), /temperature: Extra inputs/u],
    ['anthropic', claude({ top_k: 4 }), /top_k: Extra inputs/u],
    ['anthropic', claude({ reasoning_effort: 'low' }), /Extra inputs/u],
    ['openai', gpt({ max_tokens: 9 }), /Unknown parameter: 'max_tokens'/u],
    ['compatible', chat({ top_k: 1 }), /Unrecognized request argument supplied: top_k/u],
    ['gemini', { contents: [asked], thinking: {} }, /Unknown name .{1,2}thinking/u],
    ['gemini', gemini({}, { effort: 'low' }), /generation_config/u],
    ['anthropic', claude(budget(2_000)), /thinking\.type\.enabled.{1,2} is not supported/u],
    ['anthropic', claude(budget(9), 'claude-haiku-4-5'), /equal to 1024/u],
    ['anthropic', claude(budget(9_000), 'claude-haiku-4-5'), /must be greater than/u],
    ['anthropic', claude(off), /thinking\.type\.disabled.{1,2} is not supported/u],
    [
      'anthropic',
      claude({ ...off, output_config: { effort: 'max' } }, 'claude-haiku-5-5'),
      /thinking\.type\.disabled.{1,2} is not supported/u,
    ],
    [
      'anthropic',
      claude({ thinking: { type: 'adaptive' } }, 'claude-opus-4-5'),
      /thinking\.type\.adaptive.{1,2} is not supported/u,
    ],
    [
      'anthropic',
      claude({ messages: [{ role: 'user', content: Array(5).fill(marked) }] }),
      /maximum of 4 blocks with cache_control may be provided\. Found 5/u,
    ],
    [
      'anthropic',
      claude({ messages: [user, unsigned, user] }),
      /messages\.1\.content\.0\.thinking\.signature: Field required/u,
    ],
    ['openai', gpt({ temperature: 1 }), /'temperature' is not supported with this model/u],
    ['openai', gpt({ reasoning: { effort: 'none' } }, 'gpt-6.2-astra'), /Unsupported value/u],
    ['compatible', deepseek(called), /must be passed back to the API/u, 'deepseek'],
    [
      'compatible',
      deepseek(called, { ...off, reasoning_effort: 'high' }),
      /cannot be disabled when reasoning_effort is set/u,
      'deepseek',
    ],
    ['gemini', gemini({ thinkingLevel: 'LOW', thinkingBudget: 9 }), /only one of thinking budget/u],
    ['gemini', gemini({ thinkingLevel: 'LOW' }), /level is not supported/u, 'gemini-2.5-flash'],
    ['gemini', gemini({ thinkingBudget: 9 }), /budget is not supported/u, 'gemini-4-argon'],
    ['gemini', gemini({ thinkingBudget: 0 }), /Budget 0 is invalid/u, 'gemini-2.5-pro'],
    ['gemini', gemini({ thinkingLevel: 'MINIMAL' }), /MINIMAL is not/u, 'gemini-4-neon'],
  ])('refuses on %s %j', async (wire, body, objection, model) => {
    const { status, text } = await post(wire, body, model);
    expect(status).toBe(400);
    expect(text).toMatch(objection);
    expect(server.requests[0]?.objection).toMatch(objection);
  });

  it.each<[WireName, object, string?]>([
    ['anthropic', claude({ thinking: { type: 'between_tools' } })],
    ['anthropic', claude({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } })],
    ['anthropic', claude(budget(2_000), 'claude-haiku-4-5')],
    ['anthropic', claude(off, 'claude-haiku-5-5')],
    ['anthropic', claude({ messages: [{ role: 'user', content: Array(4).fill(marked) }] })],
    ['openai', gpt({ reasoning: { effort: 'high' }, text: { verbosity: 'low' } })],
    ['openai', gpt({ temperature: 1 }, 'gpt-4.1')],
    ['compatible', chat({ temperature: 1, reasoning_effort: 'low' })],
    ['compatible', deepseek({ ...called, reasoning_content: '' }), 'deepseek'],
    ['gemini', gemini({ thinkingLevel: 'LOW', includeThoughts: true })],
    ['gemini', gemini({ thinkingBudget: -1 }), 'gemini-2.5-pro'],
  ])('takes on %s %j', async (wire, body, model) => {
    const { status, text } = await post(wire, body, model);
    expect(text).toContain('Fine.');
    expect(status).toBe(200);
  });

  describe('with a thought that is bound', () => {
    const tool = { name: 'clock', description: 'Time', input_schema: { type: 'object' } };
    const system = 'You are a test.';
    const told = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', content: '12:00' }],
    };

    /** A first step with a thought, a text and a call; gives the blocks that came. */
    const firstStep = async (model = 'claude-sonnet-5-5') => {
      server.script(
        message(
          { kind: 'text', text: 'Let me see.' },
          { kind: 'reasoning', text: 'Hm.' },
          call('c1', 'clock', { zone: 'UTC' }),
        ),
      );
      const { text } = await post('anthropic', claude({ system, tools: [tool] }, model));
      const signature = /"signature":"([^"]+)"/u.exec(text)?.[1];
      const said = { type: 'text', text: 'Let me see.' };
      const thought = { type: 'thinking', thinking: 'Hm.', signature };
      const use = { type: 'tool_use', id: 'c1', name: 'clock', input: { zone: 'UTC' } };
      return { said, thought, use };
    };
    const replay = async (
      blocks: readonly object[],
      rest: object = {},
      model = 'claude-sonnet-5-5',
    ) => {
      const messages = [user, { role: 'assistant', content: blocks }, told];
      return await post('anthropic', claude({ system, tools: [tool], messages, ...rest }, model));
    };

    it('takes it back behind what it came from, marks and forms of text aside', async () => {
      const { said, thought, use } = await firstStep();
      expect((await replay([said, thought, use])).status).toBe(200);
      const block = { type: 'text', text: system, cache_control: { type: 'ephemeral' } };
      const messages = [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: [said, thought, use] },
        told,
      ];
      expect((await replay([], { system: [block], messages })).status).toBe(200);
      expect((await replay([said, use])).status).toBe(200);
    });

    it.each<[string, object]>([
      ['another system prompt', { system: 'You are another.' }],
      ['another tool', { tools: [{ ...tool, description: 'Tells the time' }] }],
      ['no tools', { tools: [] }],
    ])('refuses it behind %s', async (_what, rest) => {
      const { said, thought, use } = await firstStep();
      const { status, text } = await replay([said, thought, use], rest);
      expect(status).toBe(400);
      expect(objectOf(objectOf(JSON.parse(text))['error'])['message']).toBe(
        'messages.1.content.1: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
      );
    });

    it('refuses it behind messages that were edited, and behind another start of its own', async () => {
      const { said, thought, use } = await firstStep();
      const content = [said, thought, use];
      const edited = { role: 'user', content: 'Hi!' };
      const messages = [edited, { role: 'assistant', content }, told];
      expect((await replay([], { messages })).text).toContain('bound to a different conversation');
      expect((await replay([thought, use])).text).toContain('bound to a different conversation');
      const longer = [user, answer, user, { role: 'assistant', content }, told];
      expect((await replay([], { messages: longer })).text).toContain('messages.3.content.1');
    });

    it('binds only the models that do so', async () => {
      const { said, thought, use } = await firstStep('claude-sonnet-4-6');
      const { status } = await replay([said, thought, use], { tools: [] }, 'claude-sonnet-4-6');
      expect(status).toBe(200);
      expect(objectsOf(server.requests[1]?.body['messages'])).toHaveLength(3);
    });
  });
});
