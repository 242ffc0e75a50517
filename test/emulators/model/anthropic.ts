/** The Anthropic Messages wire format (version 2026-10-21). */

import {
  cacheObjection,
  placeObjection,
  serverToolObjection,
  thinkingObjection,
  toolsObjection,
  turnObjection,
} from './anthropic-rules.ts';
import {
  type AnswerPiece,
  jsonPieces,
  type MessageAnswer,
  stopOfAnswer,
  textsOf,
  usageOfAnswer,
} from './script.ts';
import {
  dataFrame,
  type Frame,
  type JsonObject,
  type ModelWire,
  objectOf,
  objectsOf,
  patternObjection,
  type SealBook,
  stringOf,
} from './wire.ts';

export const anthropicWire: ModelWire = {
  name: 'anthropic',
  serves: (path) => path.endsWith('/v1/messages'),
  objection,
  frames,
  eventFrames: function* ({ events }) {
    for (const event of events) yield named(objectOf(event));
  },
  errorBody: ({ type, message, status }) =>
    JSON.stringify({
      type: 'error',
      error: { type: type ?? errorTypes[status] ?? 'api_error', message: message ?? 'Refused.' },
      request_id: 'req_1',
    }),
};

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function named(event: JsonObject): Frame {
  return dataFrame(event, stringOf(event['type']));
}

function objection(body: JsonObject, seals: SealBook): string | undefined {
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required';
  const messages = objectsOf(body['messages']);
  if (messages.length === 0) return 'messages: at least one message is required';
  if (messages[0]?.['role'] !== 'user') return 'messages: first message must use the "user" role';
  const last = messages.at(-1);
  if (last?.['role'] === 'assistant' && !isPaused(last)) {
    return 'This model does not support assistant message prefill.';
  }
  for (const [place, message] of messages.entries()) {
    const complaint =
      blockObjection(blocksOf(message), seals) ??
      placeObjection(message['role'], blocksOf(message)) ??
      pairObjection(messages, place, message);
    if (complaint !== undefined) return `messages.${place}: ${complaint}`;
  }
  return (
    thinkingObjection(body) ??
    turnObjection(body) ??
    cacheObjection(body) ??
    toolsObjection(body) ??
    serverToolObjection(
      messages.filter(({ role }) => role === 'assistant').map(blocksOf),
      mayRunTools(body, messages),
    )
  );
}

/** The server goes on with its own calls when nobody has said anything since. */
function mayRunTools(body: JsonObject, messages: readonly JsonObject[]): boolean {
  const isDeclared = objectsOf(body['tools']).some(({ type }) =>
    /^web_search_/u.test(stringOf(type)),
  );
  const last = messages.at(-1);
  if (!isDeclared || last === undefined) return false;
  return last['role'] === 'assistant' || blocksOf(last).every(({ type }) => type === 'tool_result');
}

function blocksOf(message: JsonObject): readonly JsonObject[] {
  const { content } = message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
}

function isPaused(message: JsonObject): boolean {
  const type = stringOf(blocksOf(message).at(-1)?.['type']);
  return type === 'server_tool_use' || /^(?!tool_result).*_tool_result$/u.test(type);
}

function blockObjection(blocks: readonly JsonObject[], seals: SealBook): string | undefined {
  if (blocks.length === 0) return 'content must not be empty';
  for (const block of blocks) {
    if (block['type'] === 'text' && stringOf(block['text']).trim() === '') {
      return 'text content blocks must contain non-whitespace text';
    }
    const complaint = callObjection(block, seals);
    if (complaint !== undefined) return complaint;
    if (block['type'] === 'thinking') {
      if (seals.contentOf(stringOf(block['signature'])) !== block['thinking']) {
        return 'Invalid `signature` in `thinking` block. The block is bound to a different conversation.';
      }
    }
  }
  if (blocks.at(-1)?.['type'] === 'thinking') {
    return 'The final block in an assistant message cannot be `thinking`.';
  }
  return undefined;
}

function callObjection(block: JsonObject, seals: SealBook): string | undefined {
  const idObjection = (field: 'id' | 'tool_use_id'): string | undefined =>
    seals.hasIssuedCallId('anthropic', stringOf(block[field]))
      ? undefined
      : patternObjection(`${stringOf(block['type'])}.${field}`, block[field], 256);
  if (block['type'] === 'tool_use') {
    return idObjection('id') ?? patternObjection('tool_use.name', block['name'], 64);
  }
  if (block['type'] !== 'tool_result') return undefined;
  const { content } = block;
  if (
    block['is_error'] === true &&
    typeof content !== 'string' &&
    objectsOf(content).some(({ type }) => type !== 'text')
  ) {
    return 'tool_result: all content must be type "text" if `is_error` is true';
  }
  return idObjection('tool_use_id');
}

function pairObjection(
  messages: readonly JsonObject[],
  place: number,
  message: JsonObject,
): string | undefined {
  const idsIn = (blocks: readonly JsonObject[], type: string, key: string): string[] =>
    blocks.flatMap((block) => (block['type'] === type ? [stringOf(block[key])] : []));
  const next = messages[place + 1];
  const nextBlocks = next === undefined ? [] : blocksOf(next);
  if (message['role'] === 'assistant') {
    const calls = idsIn(blocksOf(message), 'tool_use', 'id');
    const head = nextBlocks.slice(0, calls.length);
    const answered = idsIn(head, 'tool_result', 'tool_use_id');
    const open = calls.filter((id) => !answered.includes(id));
    return open.length === 0
      ? undefined
      : `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join()}`;
  }
  const before = messages[place - 1];
  const calls = before === undefined ? [] : idsIn(blocksOf(before), 'tool_use', 'id');
  const strays = idsIn(blocksOf(message), 'tool_result', 'tool_use_id').filter(
    (id) => !calls.includes(id),
  );
  return strays.length === 0 ? undefined : `unexpected \`tool_use_id\` found: ${strays.join()}`;
}

function* frames(answer: MessageAnswer, seals: SealBook, model: string): Iterable<Frame> {
  const usage = usageOfAnswer(answer);
  const input = {
    input_tokens: usage.input,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
  };
  yield named({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      usage: { ...input, output_tokens: 1 },
    },
  });
  yield named({ type: 'ping' });
  let index = 0;
  for (const piece of answer.pieces) {
    yield* pieceFrames(piece, index, seals);
    if (piece.kind === 'error' || piece.kind === 'cut' || piece.kind === 'end') return;
    if (piece.kind === 'text' || piece.kind === 'reasoning' || piece.kind === 'call') index += 1;
  }
  const stops = {
    end: 'end_turn',
    tool_calls: 'tool_use',
    output_limit: 'max_tokens',
    refused: 'refusal',
  };
  yield named({
    type: 'message_delta',
    delta: { stop_reason: stops[stopOfAnswer(answer)], stop_sequence: null },
    usage: {
      output_tokens: usage.output + usage.reasoning,
      output_tokens_details: { thinking_tokens: usage.reasoning },
    },
  });
  yield named({ type: 'message_stop' });
}

function* pieceFrames(piece: AnswerPiece, index: number, seals: SealBook): Iterable<Frame> {
  const delta = (fields: JsonObject): Frame =>
    named({ type: 'content_block_delta', index, delta: fields });
  const start = (block: JsonObject): Frame =>
    named({ type: 'content_block_start', index, content_block: block });
  const stop = named({ type: 'content_block_stop', index });
  switch (piece.kind) {
    case 'image':
      return;
    case 'text':
      yield start({ type: 'text', text: '' });
      for (const text of textsOf(piece)) yield delta({ type: 'text_delta', text });
      yield stop;
      return;
    case 'reasoning':
      yield start({ type: 'thinking', thinking: '', signature: '' });
      if (piece.text !== '') yield delta({ type: 'thinking_delta', thinking: piece.text });
      yield delta({ type: 'signature_delta', signature: seals.give(piece.text) });
      yield stop;
      return;
    case 'call':
      seals.issueCallId('anthropic', piece.id);
      yield start({ type: 'tool_use', id: piece.id, name: piece.name, input: {} });
      yield delta({ type: 'input_json_delta', partial_json: '' });
      if (piece.json !== '' && JSON.stringify(piece.input) !== '{}') {
        for (const json of jsonPieces(piece)) {
          yield delta({ type: 'input_json_delta', partial_json: json });
        }
      }
      yield stop;
      return;
    case 'ping':
      yield named({ type: 'ping' });
      return;
    case 'error':
      yield named({ type: 'error', error: { type: piece.type, message: piece.message } });
      yield { kind: 'end' };
      return;
    case 'wait':
    case 'cut':
    case 'end':
      yield piece;
      return;
  }
}
