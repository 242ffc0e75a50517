/** The model server refuses what the real APIs refuse: each objection is shown to be raised. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, message, say } from './model/script.ts';
import { objectOf } from './model/wire.ts';
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
const usedAs = (id: string, name: string) => ({
  role: 'assistant',
  content: [{ ...use, id, name }],
});
const pngBlock = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } };
const failedWith = (block: object) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true, content: [block] }],
});
const answered = (id: string) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }],
});
const responses = (...input: object[]): object => ({ model: 'm', store: false, input });
const calledAs = (callId: string, name: string) => ({
  type: 'function_call',
  call_id: callId,
  name,
  arguments: '{}',
});
const chat = (...messages: object[]): object => ({ model: 'm', messages });
const chatCallsAs = (id: string, name: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
});
const chatCalls = chatCallsAs('c1', 'clock');
const gemini = (...contents: object[]): object => ({ contents });
const asked = { role: 'user', parts: [{ text: 'Hi' }] };
const modelCall = (seal?: string, name = 'clock') => ({
  role: 'model',
  parts: [{ functionCall: { name, args: {} }, ...(seal ? { thoughtSignature: seal } : {}) }],
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
    ['anthropic', { model: 'm', messages: [user] }, /max_tokens/u],
    ['anthropic', anthropic({ messages: [used, answered('t1')] }), /first message/u],
    ['anthropic', anthropic({ messages: [user, { role: 'assistant', content: 'x' }] }), /prefill/u],
    ['anthropic', anthropic({ messages: [user, used, user] }), /without `tool_result`/u],
    ['anthropic', anthropic({ messages: [user, used, answered('t2')] }), /without `tool_result`/u],
    ['anthropic', anthropic({ messages: [answered('t1')] }), /unexpected `tool_use_id`/u],
    ['anthropic', anthropic({ messages: [{ role: 'user', content: ' ' }] }), /non-whitespace/u],
    ['anthropic', anthropic({ messages: [{ role: 'user', content: [] }] }), /must not be empty/u],
    [
      'anthropic',
      anthropic({ messages: [user, usedAs('a.b:0', 'clock'), answered('a.b:0')] }),
      /tool_use\.id.*pattern/u,
    ],
    [
      'anthropic',
      anthropic({ messages: [user, usedAs('t1', ''), answered('t1')] }),
      /tool_use\.name.*pattern/u,
    ],
    [
      'anthropic',
      anthropic({ messages: [user, usedAs('t1', 'a.b'), answered('t1')] }),
      /tool_use\.name.*pattern/u,
    ],
    [
      'anthropic',
      anthropic({ messages: [user, used, failedWith(pngBlock)] }),
      /must be type .{1,2}text/u,
    ],
    ['openai', { model: 'm', input: [user] }, /store false/u],
    ['openai', responses(user, calledAs('c'.repeat(65), 'clock')), /maximum length 64/u],
    ['openai', responses(user, calledAs('c1', 'a.b')), /name.*pattern/u],
    ['openai', responses(user, calledAs('c1', '')), /name.*pattern/u],
    ['openai', responses(user, { type: 'reasoning', id: 'rs' }), /Items are not persisted/u],
    ['compatible', chat(user, chatCallsAs('c'.repeat(41), 'clock')), /maximum length 40/u],
    ['compatible', chat(user, chatCallsAs('c1', 'a.b')), /name.*pattern/u],
    ['gemini', gemini(asked, modelCall(foreign, ''), response), /Name cannot be empty/u],
    ['gemini', gemini(asked, modelCall(foreign, '1a'), response), /Invalid function name/u],
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
    ['gemini', gemini(modelCall(foreign), response), /first content/u],
    ['gemini', gemini(asked, modelCall(), response), /missing a thought_signature/u],
    ['gemini', gemini(asked, modelCall('forged'), response), /Corrupted/u],
    ['gemini', gemini(asked, modelCall(foreign), asked), /number of function response parts/u],
    ['gemini', gemini(asked, response), /must follow a function call/u],
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

  it('wants the thought back that an item of OpenAI came with', async () => {
    server.script(message({ kind: 'reasoning', text: 'Hm.' }, call('c1', 'clock')));
    const text = await (await post('openai', responses(user))).text();
    const item = (pattern: RegExp) => objectOf(JSON.parse(pattern.exec(text)?.[1] ?? '{}'));
    const thought = item(/"item":(\{"type":"reasoning"[^\n]*"encrypted_content":"[^"]*"\})/u);
    const made = item(/"item":(\{"type":"function_call"[^\n]*"status":"completed"\})/u);
    const output = { type: 'function_call_output', call_id: 'c1', output: 'x' };
    const alone = await post('openai', responses(user, made, output));
    expect(alone.status).toBe(400);
    expect(await alone.text()).toMatch(/without its required 'reasoning' item/u);
    const { id: _id, ...bare } = made;
    expect((await post('openai', responses(user, bare, output))).status).toBe(200);
    expect((await post('openai', responses(user, thought, made, output))).status).toBe(200);
    const lonely = await post('openai', responses(user, thought, user));
    expect(await lonely.text()).toMatch(/without its required following item/u);
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
