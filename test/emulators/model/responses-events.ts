/** Answers of the Responses API that no script describes: searches, cited texts, phases. */

import type { EventsAnswer } from './script.ts';
import type { JsonObject } from './wire.ts';

interface End {
  readonly type?: 'response.completed' | 'response.incomplete' | 'response.failed';
  readonly response?: JsonObject;
}

/** A response of these output items, as they are streamed. */
export function itemsAnswer(items: readonly JsonObject[], end: End = {}): EventsAnswer {
  const events: unknown[] = [{ type: 'response.created', response: { status: 'in_progress' } }];
  for (const [place, item] of items.entries()) events.push(...itemEvents(item, place));
  const usage = { input_tokens: 10, output_tokens: 5 };
  events.push({
    type: end.type ?? 'response.completed',
    response: { status: 'completed', incomplete_details: null, usage, ...end.response },
  });
  return { kind: 'events', events };
}

function itemEvents(item: JsonObject, place: number): unknown[] {
  const at = { output_index: place, item_id: item['id'] };
  const added = { type: 'response.output_item.added', output_index: place, item };
  const done = { type: 'response.output_item.done', output_index: place, item };
  if (item['type'] === 'web_search_call') {
    return [
      added,
      ...['in_progress', 'searching', 'completed'].map((step) => ({
        type: `response.web_search_call.${step}`,
        ...at,
      })),
      done,
    ];
  }
  if (item['type'] !== 'message') return [added, done];
  const parts: unknown[] = Array.isArray(item['content']) ? item['content'] : [];
  return [
    { ...added, item: { ...item, content: [] } },
    ...parts.flatMap((part, index) => partEvents(part, { ...at, content_index: index })),
    done,
  ];
}

function partEvents(part: unknown, at: JsonObject): unknown[] {
  if (typeof part !== 'object' || part === null || !('text' in part)) return [];
  const annotations =
    'annotations' in part && Array.isArray(part.annotations) ? part.annotations : [];
  return [
    { type: 'response.content_part.added', ...at },
    { type: 'response.output_text.delta', ...at, delta: part.text },
    ...annotations.map((annotation: unknown, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      ...at,
      annotation_index,
      annotation,
    })),
    { type: 'response.output_text.done', ...at, text: part.text },
  ];
}

export const searchItem = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'weather in Oslo', queries: ['weather in Oslo'] },
};

export const citedItem = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  phase: 'final_answer',
  content: [
    {
      type: 'output_text',
      text: 'It rains in Oslo.',
      annotations: [
        {
          type: 'url_citation',
          start_index: 0,
          end_index: 17,
          url: 'https://example.org/oslo',
          title: 'Oslo today',
        },
      ],
    },
  ],
};
