/** Answers of the Messages API that no script describes: its own search, cited texts, pauses. */

import type { EventsAnswer } from './script.ts';
import type { JsonObject } from './wire.ts';

interface End {
  readonly stop?: string;
  readonly details?: JsonObject;
}

/** A message of these blocks, as they are streamed. */
export function blocksAnswer(
  blocks: readonly JsonObject[],
  { stop, details }: End = {},
): EventsAnswer {
  const events: unknown[] = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        content: [],
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    },
  ];
  for (const [index, block] of blocks.entries()) events.push(...blockEvents(block, index));
  events.push(
    {
      type: 'message_delta',
      delta: {
        stop_reason: stop ?? 'end_turn',
        stop_sequence: null,
        stop_details: details ?? null,
      },
      usage: { output_tokens: 20, server_tool_use: { web_search_requests: 1 } },
    },
    { type: 'message_stop' },
  );
  return { kind: 'events', events };
}

function blockEvents(block: JsonObject, index: number): unknown[] {
  const delta = (fields: JsonObject) => ({ type: 'content_block_delta', index, delta: fields });
  const start = (content: JsonObject) => ({
    type: 'content_block_start',
    index,
    content_block: content,
  });
  const stop = { type: 'content_block_stop', index };
  switch (block['type']) {
    case 'text': {
      const citations = Array.isArray(block['citations']) ? block['citations'] : undefined;
      return [
        start({ type: 'text', text: '', ...(citations === undefined ? {} : { citations: [] }) }),
        ...(citations ?? []).map((citation: unknown) =>
          delta({ type: 'citations_delta', citation }),
        ),
        delta({ type: 'text_delta', text: block['text'] }),
        stop,
      ];
    }
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...(block['thinking'] === ''
          ? []
          : [delta({ type: 'thinking_delta', thinking: block['thinking'] })]),
        delta({ type: 'signature_delta', signature: block['signature'] }),
        stop,
      ];
    case 'tool_use':
    case 'server_tool_use': {
      const json = JSON.stringify(block['input']);
      return [
        start({ ...block, input: {} }),
        delta({ type: 'input_json_delta', partial_json: '' }),
        delta({ type: 'input_json_delta', partial_json: json.slice(0, 5) }),
        delta({ type: 'input_json_delta', partial_json: json.slice(5) }),
        stop,
      ];
    }
    default:
      return [start(block), stop];
  }
}

export const searchCall = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query: 'weather in Oslo' },
  caller: { type: 'direct' },
};

export const searchResult = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    {
      type: 'web_search_result',
      url: 'https://example.org/oslo',
      title: 'Oslo today',
      page_age: null,
      encrypted_content: 'c2VhbGVk',
    },
  ],
  caller: { type: 'direct' },
};

export const failedSearchResult = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
  caller: { type: 'direct' },
};

export const citedText = {
  type: 'text',
  text: 'It rains in Oslo.',
  citations: [
    {
      type: 'web_search_result_location',
      url: 'https://example.org/oslo',
      title: 'Oslo today',
      cited_text: 'Rain all day …',
      encrypted_index: 'aW5kZXg=',
    },
  ],
};
