/** What is remembered of refusals: only what has helped, and no more than was said. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatProvider, ChatRequest } from '../../src/messages/chat.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { refusedSchema } from '../../src/providers/bare-schemas.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import { type StatusAnswer, say } from '../emulators/model/script.ts';
import { objectOf } from '../emulators/model/wire.ts';
import { createModelServer, type ModelServer, type WireName } from '../emulators/model-server.ts';
import {
  chatRequestOf,
  collectUntilThrow,
  createTestDeps,
  type TestDeps,
} from '../support/providers.ts';

const never = new AbortController().signal;
const refusal = (message: string, more: Partial<StatusAnswer> = {}): StatusAnswer => ({
  ...{ kind: 'status', status: 400, message },
  ...more,
});
const models: Readonly<Record<WireName, string>> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.2-sol',
  compatible: 'm',
  gemini: 'gemini-3.6-flash',
};

describe('what was learned of a refusal', () => {
  let server: ModelServer;
  let deps: TestDeps;
  beforeEach(async () => {
    server = await createModelServer();
    deps = createTestDeps();
  });
  afterEach(() => server.close());

  const makers: Record<WireName, () => ChatProvider> = {
    anthropic: () =>
      createAnthropicProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('anthropic') }),
    openai: () => createOpenaiProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('openai') }),
    compatible: () => createCompatibleProvider(deps, { baseUrl: server.baseUrl('compatible') }),
    gemini: () => createGeminiProvider(deps, { apiKey: 'k', baseUrl: server.baseUrl('gemini') }),
  };
  const ask = (wire: WireName, rest: Partial<ChatRequest> = {}, model = models[wire]) =>
    collectUntilThrow(makers[wire]().stream(chatRequestOf(model, 'Hi', rest), never));
  const learnedBy = (wire: WireName, model = models[wire]) =>
    deps.learned.read(server.baseUrl(wire), model);

  it.each<[WireName, string]>([
    ['anthropic', 'cache_control: Extra inputs are not permitted'],
    ['openai', "Unknown parameter: 'prompt_cache_key'."],
    ['compatible', 'stream_options is not allowed here'],
    ['gemini', 'Thinking is not enabled for this model'],
    ['compatible', 'max_tokens must be less than or equal to 100'],
    ['compatible', "Invalid schema for function 'weather': no."],
  ])('is nothing on %s where the repeat was refused too: %s', async (wire, text) => {
    server.otherwise(refusal(text));
    expect((await ask(wire)).thrown).toMatchObject({ code: 'bad_request' });
    expect(server.requests.length).toBe(2);
    expect(await learnedBy(wire)).toEqual([]);
  });

  it('is each field that was complained of until the request was taken', async () => {
    server.script(
      refusal('stream_options is not allowed here (request 4f6dd0d5a1bc4f0e9d1c)'),
      refusal("Unsupported parameter: 'max_tokens' is not supported with this model."),
      say('Fine.'),
    );
    expect((await ask('compatible')).thrown).toBeUndefined();
    expect(await learnedBy('compatible')).toEqual(['no_stream_options', 'swap_limit']);
  });

  it('is not the first guess where only the second one helped', async () => {
    const text = "Invalid type for 'messages': content must be a string, max_tokens not supported";
    server.script(
      refusal(`${text} (request 4f6dd0d5a1bc4f0e9d1c)`),
      refusal(`${text} (request 99999ad5a1bc4f0e9d1c)`),
      say('Fine.'),
    );
    expect((await ask('compatible')).thrown).toBeUndefined();
    expect(await learnedBy('compatible')).toEqual(['empty_content']);
  });

  it.each<[WireName, string]>([
    ['anthropic', 'tool_use ids were found without tool_result blocks after: call_1 weather'],
    ['compatible', 'Tool call for weather has no answer'],
    ['compatible', 'Failed to parse tool call arguments as JSON: function clock'],
    ['anthropic', "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"],
    ['openai', "Invalid 'tools[0].name': string does not match pattern. Tool weather."],
  ])('is no schema on %s where none was complained of: %s', async (wire, text) => {
    server.otherwise(refusal(text));
    expect((await ask(wire)).thrown).toMatchObject({ code: 'bad_request' });
    expect(server.requests).toHaveLength(1);
    expect(await learnedBy(wire)).toEqual([]);
  });

  it.each<[WireName, string]>([
    ['openai', 'verbosity'],
    ['openai', 'reasoning.effort'],
    ['compatible', 'content'],
    ['compatible', 'reasoning_effort'],
    ['anthropic', 'thinking'],
    ['anthropic', 'cache_control'],
    ['gemini', 'thinking_budget'],
  ])('is the schema alone on %s, whatever its properties are called: %s', async (wire, name) => {
    const text = `Invalid schema for function 'weather': In context=('properties', '${name}'), unsupported: ${name}: is not null`;
    server.script(refusal(text), say('Fine.'));
    expect((await ask(wire)).thrown).toBeUndefined();
    expect(await learnedBy(wire)).toEqual(['bare_schema:weather']);
  });

  it.each<[WireName, string, string, Partial<StatusAnswer>]>([
    [
      'openai',
      "Unsupported value: 'reasoning.effort' does not support 'max' with this model.",
      'no_effort:max',
      {},
    ],
    [
      'openai',
      "Unsupported value: 'max' is not supported with the 'gpt-6.2-sol' model. Supported values are: 'none', 'low', 'medium', and 'high'.",
      'no_effort:xhigh,max',
      { param: 'reasoning.effort' },
    ],
    [
      'anthropic',
      "output_config.effort: This model does not support effort level 'max'.",
      'no_effort:max',
      {},
    ],
    [
      'compatible',
      '`reasoning_effort` must be one of `low`, `medium`, or `high`',
      'no_effort:xhigh,max',
      {},
    ],
  ])('is a level on %s, and no more than that: %s', async (wire, text, learned, more) => {
    server.script(refusal(text, more), say('Fine.'), say('Fine.'));
    const { abilities } = chatRequestOf(models[wire]);
    const efforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
    const thinking =
      wire === 'compatible' || wire === 'openai' ? (['effort'] as const) : abilities.thinking;
    const rest = {
      abilities: { ...abilities, thinking, efforts },
      reasoning: { effort: 'max' },
    } as const;
    expect((await ask(wire, rest)).thrown).toBeUndefined();
    expect((await ask(wire, rest)).thrown).toBeUndefined();
    expect(await learnedBy(wire)).toEqual([learned]);
    const next = learned.includes('xhigh') ? 'high' : 'xhigh';
    const levels = server.requests.map(({ body }) => {
      const config = objectOf(objectOf(body['generationConfig'])['thinkingConfig']);
      const { effort } = objectOf(body['output_config'] ?? body['reasoning']);
      return String(effort ?? body['reasoning_effort'] ?? config['thinkingLevel']).toLowerCase();
    });
    expect(levels).toEqual(['max', next, next]);
  });

  it.each<[WireName, string, Partial<ChatRequest>]>([
    [
      'anthropic',
      'messages.2: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block',
      { webSearch: true },
    ],
    [
      'anthropic',
      '`web_search` tool use with id `srvtoolu_1` was found without a corresponding result block',
      { webSearch: true },
    ],
    [
      'compatible',
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. content required",
      {},
    ],
    ['compatible', 'The reasoning model is temporarily not supported, thinking', {}],
    ['compatible', 'messages[2]: web_search result is unknown here', { webSearch: true }],
    ['openai', "Invalid 'input[2].arguments': unknown verbosity", {}],
    [
      'openai',
      "Invalid 'input[0].content[1].detail': 'high' is not a valid value; expected one of low, auto. effort",
      { reasoning: { effort: 'high' } },
    ],
    [
      'gemini',
      'The thinking budget 24576 is invalid. Please choose a value between 512 and 20000.',
      { reasoning: { effort: 'high' } },
    ],
    ['gemini', 'Thinking is not enabled right now', { reasoning: { effort: 'high' } }],
  ])('is nothing on %s where only this request was wrong: %s', async (wire, text, rest) => {
    server.script(refusal(text), say('Fine.'));
    const model = wire === 'gemini' ? 'gemini-2.5-flash' : models[wire];
    await ask(wire, rest, model);
    expect(await learnedBy(wire, model)).toEqual([]);
  });

  it('is nothing where the model has no eyes for the moment', async () => {
    server.script(refusal('This model does temporarily not support images'), say('Fine.'));
    const image = { kind: 'image', mediaType: 'image/png', base64: 'AAAA' } as const;
    const messages = [{ role: 'user', parts: [image] }] as const;
    expect((await ask('compatible', { messages })).thrown).toBeUndefined();
    expect(server.requests).toHaveLength(2);
    expect(await learnedBy('compatible')).toEqual([]);
  });

  it.each<[WireName, string, string]>([
    [
      'anthropic',
      'messages.0.content.0.cache_control: Extra inputs are not permitted',
      'no_cache_control',
    ],
    ['compatible', 'messages[0]: unknown role: developer', 'system_role'],
    ['gemini', 'Thinking budget is not supported for this model.', 'no_thinking_steer'],
  ])('is on %s what no message of it may hold: %s', async (wire, text, learned) => {
    server.script(refusal(text), say('Fine.'));
    await ask(wire);
    expect(await learnedBy(wire)).toEqual([learned]);
  });

  it('is the level on gemini too, and the weakest of the others is asked for', async () => {
    server.script(refusal('Thinking level MINIMAL is not supported for this model.'), say('Fine.'));
    expect((await ask('gemini', { reasoning: { effort: 'minimal' } })).thrown).toBeUndefined();
    expect(await learnedBy('gemini')).toEqual(['no_effort:minimal']);
    const config = objectOf(server.requests[1]?.body['generationConfig']);
    expect(config['thinkingConfig']).toMatchObject({ thinkingLevel: 'LOW' });
  });

  it('is that a model cannot rest, where it refuses `none`', async () => {
    server.script(say('Fine.'));
    const { abilities } = chatRequestOf(models.openai);
    const rest = {
      abilities: { ...abilities, efforts: ['none', 'low', 'high'] },
      reasoning: { effort: 'none' },
    } as const;
    expect((await ask('openai', rest)).thrown).toBeUndefined();
    expect(server.requests[0]?.objection).toContain("'none' is not supported");
    expect(objectOf(server.requests[1]?.body['reasoning'])['effort']).toBe('low');
    expect(await learnedBy('openai')).toEqual(['no_effort:none']);
  });
});

describe('refusedSchema', () => {
  const names = ['weather', 'clock'];
  it.each<[string, unknown]>([
    [
      'tools.1.custom.input_schema.type: Input should be object',
      { tool: 'clock', isCertain: true },
    ],
    ["Invalid 'tools[0].function.parameters'", { tool: 'weather', isCertain: true }],
    [
      'tools[0].function_declarations[1].parameters.properties[a].items: missing field.',
      { tool: 'clock', isCertain: true },
    ],
    ['Unknown name at tools[0].google_search', undefined],
    ['tools.2: Input tag web_search_20250305 does not match', undefined],
    ['tools.0.custom.cache_control: not permitted', undefined],
    ['The parameters of clock are too deep', { tool: 'clock', isCertain: false }],
    ['The tool weatherman has no schema', undefined],
    ['The model weather is unknown', undefined],
  ])('reads %s', (message, expected) => {
    expect(refusedSchema({ message }, names)).toEqual(expected);
  });
});
