/** What the Anthropic and OpenAI emulators refuse, each rule by a request that breaks it. */

import { describe, expect, it } from 'vitest';
import { anthropicWire } from './model/anthropic.ts';
import { citedText, searchCall, searchResult } from './model/anthropic-events.ts';
import { responsesWire } from './model/responses.ts';
import { searchItem } from './model/responses-events.ts';
import { type JsonObject, SealBook } from './model/wire.ts';

const text = { type: 'text', text: 'Hi' };
const mark = { cache_control: { type: 'ephemeral' } };

describe('anthropicWire', () => {
  const objectionTo = (rest: JsonObject): string | undefined =>
    anthropicWire.objection(
      {
        model: 'claude-opus-5-5',
        max_tokens: 32_000,
        messages: [{ role: 'user', content: [text] }],
        ...rest,
      },
      new SealBook(),
      '/v1/messages',
    );
  const said = (...content: readonly JsonObject[]): JsonObject => ({
    messages: [
      { role: 'user', content: [text] },
      { role: 'assistant', content },
      { role: 'user', content: [text] },
    ],
  });

  it.each<[string, JsonObject, RegExp]>([
    ['an effort in thinking', { thinking: { type: 'adaptive', effort: 'high' } }, /Extra inputs/u],
    [
      'disabled on opus 5.5',
      { thinking: { type: 'disabled' } },
      /"thinking.type.disabled" is not/u,
    ],
    [
      'disabled on sonnet 5.5',
      { model: 'claude-sonnet-5-5', thinking: { type: 'disabled' } },
      /Use "thinking.type.between_tools"/u,
    ],
    [
      'disabled with a high effort',
      {
        model: 'claude-haiku-5-5',
        thinking: { type: 'disabled' },
        output_config: { effort: 'max' },
      },
      /only with effort high or lower/u,
    ],
    [
      'a budget on an adaptive model',
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      /"thinking.type.enabled" is not/u,
    ],
    [
      'a budget that is too small',
      { model: 'claude-haiku-4-5', thinking: { type: 'enabled', budget_tokens: 1_023 } },
      /greater than or equal to 1024/u,
    ],
    [
      'a budget without room',
      { model: 'claude-haiku-4-5', thinking: { type: 'enabled', budget_tokens: 32_000 } },
      /must be greater than/u,
    ],
    [
      'an effort that the model does not know',
      { model: 'claude-opus-4-6', output_config: { effort: 'xhigh' } },
      /effort level 'xhigh'/u,
    ],
    [
      'an effort on a model without',
      { model: 'claude-haiku-4-5', output_config: { effort: 'low' } },
      /does not support the effort parameter/u,
    ],
    [
      'five cache marks',
      {
        cache_control: { type: 'ephemeral' },
        messages: [{ role: 'user', content: Array(4).fill({ ...text, ...mark }) }],
      },
      /A maximum of 4 blocks/u,
    ],
    [
      'a tool twice',
      { tools: Array(2).fill({ name: 'a', input_schema: { type: 'object' } }) },
      /must be unique/u,
    ],
    ['an unknown tool', { tools: [{ type: 'web_search_1', name: 'w' }] }, /does not match/u],
    ['sources from a person', { messages: [{ role: 'user', content: [citedText] }] }, /citations/u],
    ['a document from the model', said({ type: 'document' }), /not permitted in assistant/u],
    ['a search without its result', said(searchCall), /without a corresponding result/u],
    ['a result without its search', said(searchResult, text), /unexpected `tool_use_id`/u],
  ])('refuses %s', (_, body, words) => {
    expect(objectionTo(body)).toMatch(words);
  });

  it('takes what keeps the same rules', () => {
    expect(objectionTo({})).toBeUndefined();
    expect(objectionTo(said(searchCall, searchResult, citedText))).toBeUndefined();
    const four = { messages: [{ role: 'user', content: Array(4).fill({ ...text, ...mark }) }] };
    expect(objectionTo(four)).toBeUndefined();
  });
});

describe('responsesWire', () => {
  const objectionTo = (rest: JsonObject): string | undefined =>
    responsesWire.objection(
      {
        model: 'gpt-6.2-sol',
        store: false,
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
        ...rest,
      },
      new SealBook(),
      '/v1/responses',
    );
  const file = (fields: JsonObject): JsonObject => ({
    input: [{ role: 'user', content: [{ type: 'input_file', ...fields }] }],
  });

  it.each<[string, JsonObject, RegExp]>([
    [
      'an effort that the model does not know',
      { reasoning: { effort: 'none' } },
      /does not support/u,
    ],
    ['thinking of a model without', { model: 'gpt-4.1', reasoning: {} }, /Unsupported parameter/u],
    ['an unknown summary', { reasoning: { summary: 'none' } }, /reasoning.summary/u],
    ['an unknown field of reasoning', { reasoning: { budget: 1 } }, /reasoning.budget/u],
    ['an unknown verbosity', { text: { verbosity: 'max' } }, /text.verbosity/u],
    ['an unknown tool', { tools: [{ type: 'browser' }] }, /tools\[0\]/u],
    [
      'a bare schema',
      { tools: [{ type: 'function', name: 'a', parameters: {} }] },
      /Invalid schema/u,
    ],
    ['a status on a thought', { input: [{ type: 'reasoning', status: 'completed' }] }, /'status'/u],
    ['half a search', { input: [{ ...searchItem, action: undefined }] }, /'action'/u],
    ['a file without a name', file({ file_data: 'data:application/pdf;base64,aa' }), /filename/u],
    ['a file that is no data URL', file({ filename: 'a.pdf', file_data: 'aa' }), /data URL/u],
  ])('refuses %s', (_, body, words) => {
    expect(objectionTo(body)).toMatch(words);
  });

  it('takes what keeps the same rules', () => {
    expect(objectionTo({ reasoning: { effort: 'max', summary: 'auto' } })).toBeUndefined();
  });
});
