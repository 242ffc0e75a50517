/** The OpenAI Chat Completions wire format, as compatible servers speak it. */

import { chatVendorAt } from './chat-vendors.ts';
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
  unknownField,
} from './wire.ts';

export const chatWire: ModelWire = {
  name: 'compatible',
  serves: (path) => path.endsWith('/chat/completions'),
  objection,
  frames,
  eventFrames: function* ({ events, doneMark }) {
    for (const event of events) yield dataFrame(event);
    if (doneMark !== false) yield { kind: 'data', text: 'data: [DONE]\n\n' };
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

function objection(body: JsonObject, seals: SealBook, path: string): string | undefined {
  const vendor = chatVendorAt(path);
  const unknown = unknownField(body, vendor.fields);
  if (unknown !== undefined) return `Unrecognized request argument supplied: ${unknown}`;
  const messages = objectsOf(body['messages']);
  const open: string[] = [];
  let before = '';
  for (const [place, message] of messages.entries()) {
    const role = stringOf(message['role']);
    const isSystem = vendor.systemRoles.includes(role);
    const complaint = messageObjection(message, place, before, open, seals, isSystem);
    if (complaint !== undefined) return `messages[${place}]: ${complaint}`;
    before = role;
  }
  if (open.length > 0) return `tool_call_ids did not have response messages: ${open.join()}`;
  if (before === 'assistant') return 'the last message must not be from the assistant';
  return vendor.objection(body, messages);
}

function messageObjection(
  message: JsonObject,
  place: number,
  before: string,
  open: string[],
  seals: SealBook,
  isSystem: boolean,
): string | undefined {
  const role = stringOf(message['role']);
  const { content } = message;
  if (role === 'tool') {
    const at = open.indexOf(stringOf(message['tool_call_id']));
    if (at < 0) return 'a tool message must follow the call it answers';
    open.splice(at, 1);
    return typeof content === 'string' ? undefined : 'tool messages hold text only';
  }
  if (open.length > 0) return `tool_call_ids did not have response messages: ${open.join()}`;
  if (isSystem) return place === 0 ? undefined : 'the system message must come first';
  if (!['user', 'assistant'].includes(role)) return `unknown role: ${role}`;
  // Chat templates of small models insist on alternation.
  if (role === before) return 'roles must alternate user/assistant';
  if (role === 'assistant') return answerObjection(message, open, seals);
  return content === '' || (Array.isArray(content) && content.length === 0)
    ? 'content must not be empty'
    : undefined;
}

function answerObjection(message: JsonObject, open: string[], seals: SealBook): string | undefined {
  const calls = objectsOf(message['tool_calls']);
  for (const { id, function: named } of calls) {
    const complaint = callObjection(stringOf(id), objectOf(named)['name'], seals);
    if (complaint !== undefined) return complaint;
  }
  open.push(...calls.map((call) => stringOf(call['id'])));
  return calls.length === 0 && !message['content'] ? 'content must not be empty' : undefined;
}

/** As api.openai.com has it; small servers are more lenient. Ids may have any characters. */
function callObjection(id: string, name: unknown, seals: SealBook): string | undefined {
  return id.length <= 40 || seals.hasIssuedCallId('compatible', id)
    ? patternObjection('tool_calls.function.name', name, 64)
    : 'tool_calls.id: string too long. Expected a string with maximum length 40';
}

function* frames(answer: MessageAnswer, seals: SealBook, model: string): Iterable<Frame> {
  const usage = usageOfAnswer(answer);
  const chunk = (choices: unknown, rest: JsonObject = {}): Frame =>
    dataFrame({ id: 'chat_1', object: 'chat.completion.chunk', model, choices, ...rest });
  const delta = (fields: JsonObject, finish: string | null = null): Frame =>
    chunk([{ index: 0, delta: fields, finish_reason: finish }], { usage: null });
  yield delta({ role: 'assistant', content: '' });
  let index = 0;
  for (const piece of answer.pieces) {
    yield* pieceFrames(piece, index, delta);
    if (piece.kind === 'error' || piece.kind === 'cut' || piece.kind === 'end') return;
    if (piece.kind !== 'call') continue;
    seals.issueCallId('compatible', piece.id);
    index += 1;
  }
  const stops = {
    end: 'stop',
    tool_calls: 'tool_calls',
    output_limit: 'length',
    refused: 'content_filter',
  };
  yield delta({}, stops[stopOfAnswer(answer)]);
  yield chunk([], {
    usage: {
      prompt_tokens: usage.input + usage.cacheRead + usage.cacheWrite,
      prompt_tokens_details: {
        cached_tokens: usage.cacheRead,
        cache_write_tokens: usage.cacheWrite,
      },
      completion_tokens: usage.output + usage.reasoning,
      completion_tokens_details: { reasoning_tokens: usage.reasoning },
    },
  });
  yield { kind: 'data', text: 'data: [DONE]\n\n' };
}

function* pieceFrames(
  piece: AnswerPiece,
  index: number,
  delta: (fields: JsonObject) => Frame,
): Iterable<Frame> {
  switch (piece.kind) {
    case 'image':
      return;
    case 'text':
      for (const text of textsOf(piece)) yield delta({ content: text });
      return;
    case 'reasoning':
      if (piece.text !== '') yield delta({ reasoning_content: piece.text });
      return;
    case 'call': {
      const head = { index, id: piece.id, type: 'function' };
      yield delta({ tool_calls: [{ ...head, function: { name: piece.name, arguments: '' } }] });
      for (const json of jsonPieces(piece)) {
        yield delta({ tool_calls: [{ index, function: { arguments: json } }] });
      }
      return;
    }
    case 'ping':
      yield { kind: 'data', text: ': still here\n\n' };
      return;
    case 'error':
      yield dataFrame({ error: objectOf({ type: piece.type, message: piece.message }) });
      yield { kind: 'end' };
      return;
    case 'wait':
    case 'cut':
    case 'end':
      yield piece;
      return;
  }
}
