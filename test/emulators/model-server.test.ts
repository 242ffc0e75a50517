/** The model server refuses what the real APIs refuse: each objection is shown to be raised. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, message, say } from './model/script.ts';
import { createModelServer, type ModelServer, type WireName } from './model-server.ts';

const user = { role: 'user', content: 'Hi' };
const anthropic = (rest: object): object => ({
  model: 'm',
  max_tokens: 9,
  messages: [user],
  ...rest,
});
const use = { type: 'tool_use', id: 't1', name: 'clock', input: {} };
const used = { role: 'assistant', content: [use] };
const answered = (id: string) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }],
});
const responses = (...input: object[]): object => ({ model: 'm', store: false, input });
const chat = (...messages: object[]): object => ({ model: 'm', messages });
const chatCalls = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'clock', arguments: '{}' } }],
};
const gemini = (...contents: object[]): object => ({ contents });
const asked = { role: 'user', parts: [{ text: 'Hi' }] };
const modelCall = (seal?: string) => ({
  role: 'model',
  parts: [
    { functionCall: { name: 'clock', args: {} }, ...(seal ? { thoughtSignature: seal } : {}) },
  ],
});
const response = { role: 'user', parts: [{ functionResponse: { name: 'clock', response: {} } }] };
const foreign = 'skip_thought_signature_validator';

describe('createModelServer', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await createModelServer();
    server.otherwise(say('Fine.'));
  });
  afterEach(() => server.close());

  const paths: Readonly<Record<WireName, string>> = {
    anthropic: '/v1/messages',
    openai: '/v1/responses',
    compatible: '/v1/chat/completions',
    gemini: '/v1beta/models/gemini-3.6-flash:streamGenerateContent',
  };
  const post = (wire: WireName, body: object): Promise<Response> =>
    fetch(server.url + paths[wire], { method: 'POST', body: JSON.stringify(body) });

  it.each<[WireName, object, RegExp]>([
    ['anthropic', anthropic({ temperature: 1 }), /temperature: Extra inputs/u],
    ['anthropic', { model: 'm', messages: [user] }, /max_tokens/u],
    ['anthropic', anthropic({ messages: [used, answered('t1')] }), /first message/u],
    ['anthropic', anthropic({ messages: [user, { role: 'assistant', content: 'x' }] }), /prefill/u],
    ['anthropic', anthropic({ messages: [user, used, user] }), /without `tool_result`/u],
    ['anthropic', anthropic({ messages: [user, used, answered('t2')] }), /without `tool_result`/u],
    ['anthropic', anthropic({ messages: [answered('t1')] }), /unexpected `tool_use_id`/u],
    ['anthropic', anthropic({ messages: [{ role: 'user', content: ' ' }] }), /non-whitespace/u],
    ['anthropic', anthropic({ messages: [{ role: 'user', content: [] }] }), /must not be empty/u],
    ['openai', { model: 'm', input: [user] }, /store false/u],
    ['openai', { ...responses(user), temperature: 1 }, /Unknown parameter: 'temperature'/u],
    [
      'openai',
      responses(user, { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' }, user),
      /No tool output found/u,
    ],
    [
      'openai',
      responses(user, { type: 'function_call_output', call_id: 'c', output: 'x' }),
      /No tool call found/u,
    ],
    [
      'openai',
      responses(user, { type: 'reasoning', id: 'rs', encrypted_content: 'forged' }),
      /could not be verified/u,
    ],
    ['compatible', chat(user, chatCalls, user), /did not have response messages/u],
    ['compatible', chat(user, chatCalls), /did not have response messages/u],
    [
      'compatible',
      chat(user, { role: 'tool', tool_call_id: 'c1', content: 'x' }),
      /follow the call/u,
    ],
    ['compatible', chat(user, user), /alternate/u],
    ['compatible', chat(user, { role: 'system', content: 'x' }), /come first/u],
    ['compatible', { ...chat(user), top_k: 1 }, /Unrecognized request argument/u],
    ['gemini', gemini(modelCall(foreign), response), /first content/u],
    ['gemini', gemini(asked, modelCall(), response), /missing a thought_signature/u],
    ['gemini', gemini(asked, modelCall('forged'), response), /Corrupted/u],
    ['gemini', gemini(asked, modelCall(foreign), asked), /number of function response parts/u],
    ['gemini', gemini(asked, response), /must follow a function call/u],
    ['gemini', { ...gemini(asked), store: false }, /Unknown name .{1,2}store/u],
  ])('refuses on %s %j', async (wire, body, objection) => {
    const answer = await post(wire, body);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(objection);
    expect(server.requests[0]?.objection).toMatch(objection);
  });

  it.each<[WireName, object]>([
    ['anthropic', anthropic({ messages: [user, used, answered('t1')] })],
    ['openai', responses(user)],
    ['compatible', chat(user, chatCalls, { role: 'tool', tool_call_id: 'c1', content: 'x' }, user)],
    ['gemini', gemini(asked, modelCall(foreign), response)],
  ])('takes on %s %j', async (wire, body) => {
    const answer = await post(wire, body);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('Fine.');
  });

  it('wants the very signature back that it gave', async () => {
    server.script(message(call('c1', 'clock')));
    const given = /"thoughtSignature":"([^"]+)"/u.exec(
      await (await post('gemini', gemini(asked))).text(),
    );
    expect((await post('gemini', gemini(asked, modelCall(foreign), response))).status).toBe(400);
    expect((await post('gemini', gemini(asked, modelCall(given?.[1]), response))).status).toBe(200);
  });

  it('plays answers in order, then says that none is left', async () => {
    const bare = await createModelServer();
    bare.script(say('One.'), (request) => say(`Two for ${String(request.body['model'])}.`));
    const ask = async (): Promise<string> => {
      const body = JSON.stringify(chat(user));
      return (await fetch(`${bare.url}/v1/chat/completions`, { method: 'POST', body })).text();
    };
    expect(await ask()).toContain('One.');
    expect(await ask()).toContain('Two for m.');
    expect(await ask()).toContain('Nothing is scripted.');
    await bare.close();
  });
});
