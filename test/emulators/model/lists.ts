/** The list endpoints of the four APIs, in the shapes that each vendor gives. */

import type { IncomingMessage } from 'node:http';
import type { JsonObject } from './wire.ts';

export interface ListAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

/** A key that the list refuses, as a server does that does not know it. */
export const refusedKey = 'refused';

const anthropicModel = {
  type: 'model',
  id: 'claude-sonnet-5-5',
  display_name: 'Claude Sonnet 5.5',
  created_at: '2026-09-01T00:00:00Z',
  max_input_tokens: 1_000_000,
  max_tokens: 128_000,
};

/** The answer to a GET of a list; undefined when the path is none. */
export function listAnswer(request: IncomingMessage): ListAnswer | undefined {
  const path = request.url?.split('?')[0] ?? '';
  if (request.method !== 'GET' || !path.endsWith('/models')) return undefined;
  const keys = [
    request.headers.authorization?.replace(/^Bearer /u, ''),
    request.headers['x-api-key'],
    request.headers['x-goog-api-key'],
  ];
  if (keys.includes(refusedKey)) {
    return { status: 401, body: { error: { type: 'authentication_error', message: 'No.' } } };
  }
  if (path.startsWith('/v1beta')) {
    const model = { name: 'models/gemini-3.6-flash', inputTokenLimit: 1_048_576 };
    return { status: 200, body: { models: [model] } };
  }
  if (request.headers['anthropic-version'] !== undefined) {
    return {
      status: 200,
      body: { data: [anthropicModel], has_more: false, first_id: null, last_id: null },
    };
  }
  const data = ['gpt-6.2-sol', 'test-model'].map((id) => ({ id, object: 'model' }));
  return { status: 200, body: { object: 'list', data } };
}
