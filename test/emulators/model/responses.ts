/** The OpenAI Responses wire format. */

import { shapeObjection, thinkingObjection, toolsObjection } from './responses-rules.ts';
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

export const responsesWire: ModelWire = {
  name: 'openai',
  serves: (path) => path.endsWith('/responses'),
  objection,
  frames,
  eventFrames: function* ({ events }) {
    for (const event of events) yield named(objectOf(event));
  },
  errorBody: ({ type, code, message, param }) =>
    JSON.stringify({
      error: {
        message: message ?? 'Refused.',
        type: type ?? 'invalid_request_error',
        code: code ?? null,
        param: param ?? null,
      },
    }),
};

function named(event: JsonObject): Frame {
  return dataFrame(event, stringOf(event['type']));
}

function objection(body: JsonObject, seals: SealBook): string | undefined {
  if (body['store'] !== false) return 'This emulator stores nothing: send store false.';
  const asked = thinkingObjection(body) ?? toolsObjection(body);
  if (asked !== undefined) return asked;
  const input = objectsOf(body['input']);
  if (input.length === 0) return "Missing required parameter: 'input'.";
  const called: string[] = [];
  const thoughts = new Set<unknown>();
  for (const [place, item] of input.entries()) {
    if (item['type'] === 'reasoning') thoughts.add(item['id']);
    const complaint =
      shapeObjection(item) ??
      thoughtObjection(item, thoughts, seals) ??
      itemObjection(item, input[place + 1], seals, called);
    if (complaint !== undefined) return `input[${place}]: ${complaint}`;
  }
  return called.length === 0 ? undefined : `No tool output found for function call ${called[0]}.`;
}

/** An item that came with a thought is taken under its id only behind that thought. */
function thoughtObjection(
  item: JsonObject,
  thoughts: ReadonlySet<unknown>,
  seals: SealBook,
): string | undefined {
  const id = stringOf(item['id']);
  const thought = seals.thoughtOf(id);
  if (thought === undefined || thoughts.has(thought)) return undefined;
  const type = stringOf(item['type']);
  return `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${thought}'.`;
}

function itemObjection(
  item: JsonObject,
  next: JsonObject | undefined,
  seals: SealBook,
  called: string[],
): string | undefined {
  const type = item['type'] ?? 'message';
  if (type === 'function_call') {
    const callId = stringOf(item['call_id']);
    called.push(callId);
    if (callId.length > 64 && !seals.hasIssuedCallId('openai', callId)) {
      return 'call_id: string too long. Expected a string with maximum length 64';
    }
    if (typeof item['arguments'] !== 'string') return 'arguments must be a string';
    return patternObjection('name', item['name'], 64);
  }
  if (type === 'function_call_output') {
    const place = called.indexOf(stringOf(item['call_id']));
    if (place < 0)
      return `No tool call found for function call output ${stringOf(item['call_id'])}.`;
    called.splice(place, 1);
    return undefined;
  }
  if (type === 'reasoning') return reasoningObjection(item, next, seals);
  if (called.length > 0) return `No tool output found for function call ${called[0]}.`;
  if (type === 'web_search_call') return undefined;
  const { content } = item;
  const isEmpty = typeof content === 'string' ? content === '' : objectsOf(content).length === 0;
  return isEmpty ? 'content must not be empty' : undefined;
}

function reasoningObjection(
  item: JsonObject,
  next: JsonObject | undefined,
  seals: SealBook,
): string | undefined {
  const { id, encrypted_content: sealed } = item;
  if (typeof sealed !== 'string') {
    return `Item with id '${stringOf(id)}' not found. Items are not persisted when \`store\` is set to false.`;
  }
  if (seals.contentOf(sealed) !== id) return 'The encrypted content could not be verified.';
  const follows = ['function_call', 'web_search_call', 'reasoning'];
  return follows.includes(stringOf(next?.['type'])) || next?.['role'] === 'assistant'
    ? undefined
    : `Item '${stringOf(id)}' of type 'reasoning' was provided without its required following item.`;
}

function* frames(answer: MessageAnswer, seals: SealBook, model: string): Iterable<Frame> {
  const usage = usageOfAnswer(answer);
  const response = { id: 'resp_1', object: 'response', model, output: [] };
  yield named({ type: 'response.created', response: { ...response, status: 'in_progress' } });
  let place = 0;
  let thought: string | undefined;
  for (const piece of answer.pieces) {
    const id = seals.newItemId(idPrefixes[piece.kind] ?? 'item');
    if (piece.kind === 'reasoning') thought = id;
    else if (thought !== undefined) seals.bind(id, thought);
    yield* pieceFrames(piece, place, id, seals);
    if (piece.kind === 'error' || piece.kind === 'cut' || piece.kind === 'end') return;
    if (piece.kind === 'text' || piece.kind === 'reasoning' || piece.kind === 'call') place += 1;
  }
  const stop = stopOfAnswer(answer);
  const cut = { output_limit: 'max_output_tokens', refused: 'content_filter' };
  const reason = stop === 'output_limit' || stop === 'refused' ? cut[stop] : undefined;
  yield named({
    type: reason === undefined ? 'response.completed' : 'response.incomplete',
    response: {
      ...response,
      status: reason === undefined ? 'completed' : 'incomplete',
      incomplete_details: reason === undefined ? null : { reason },
      usage: {
        input_tokens: usage.input + usage.cacheRead + usage.cacheWrite,
        input_tokens_details: {
          cached_tokens: usage.cacheRead,
          cache_write_tokens: usage.cacheWrite,
        },
        output_tokens: usage.output + usage.reasoning,
        output_tokens_details: { reasoning_tokens: usage.reasoning },
        total_tokens: 0,
      },
    },
  });
}

const idPrefixes: Readonly<Partial<Record<AnswerPiece['kind'], string>>> = {
  text: 'msg',
  reasoning: 'rs',
  call: 'fc',
};

function* pieceFrames(
  piece: AnswerPiece,
  place: number,
  id: string,
  seals: SealBook,
): Iterable<Frame> {
  const item = (phase: 'added' | 'done', fields: JsonObject): Frame =>
    named({ type: `response.output_item.${phase}`, output_index: place, item: fields });
  switch (piece.kind) {
    case 'image':
      return;
    case 'text': {
      const fields = { type: 'message', id, role: 'assistant', phase: 'final_answer' };
      yield item('added', { ...fields, status: 'in_progress', content: [] });
      const at = { item_id: id, output_index: place, content_index: 0 };
      for (const delta of textsOf(piece)) {
        yield named({ type: 'response.output_text.delta', ...at, delta });
      }
      const text = textsOf(piece).join('');
      yield named({ type: 'response.output_text.done', ...at, text });
      yield item('done', {
        ...fields,
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      });
      return;
    }
    case 'reasoning': {
      yield item('added', { type: 'reasoning', id, summary: [] });
      const at = { item_id: id, output_index: place, summary_index: 0 };
      if (piece.text !== '') {
        yield named({ type: 'response.reasoning_summary_text.delta', ...at, delta: piece.text });
      }
      yield item('done', {
        type: 'reasoning',
        id,
        summary: [{ type: 'summary_text', text: piece.text }],
        encrypted_content: seals.give(id),
      });
      return;
    }
    case 'call': {
      seals.issueCallId('openai', piece.id);
      const json = piece.json ?? JSON.stringify(piece.input);
      const fields = { type: 'function_call', id, call_id: piece.id, name: piece.name };
      yield item('added', { ...fields, arguments: '', status: 'in_progress' });
      const at = { item_id: id, output_index: place };
      for (const delta of jsonPieces(piece)) {
        yield named({ type: 'response.function_call_arguments.delta', ...at, delta });
      }
      yield named({ type: 'response.function_call_arguments.done', ...at, arguments: json });
      yield item('done', { ...fields, arguments: json, status: 'completed' });
      return;
    }
    case 'ping':
      yield named({ type: 'keepalive' });
      return;
    case 'error':
      yield named({ type: 'error', code: piece.type, message: piece.message, param: null });
      yield { kind: 'end' };
      return;
    case 'wait':
    case 'cut':
    case 'end':
      yield piece;
      return;
  }
}
