/** The Gemini streamGenerateContent wire format. */

import { settingsObjection } from './gemini-settings.ts';
import {
  type AnswerPiece,
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
  type SealBook,
  stringOf,
} from './wire.ts';

const foreignSeal = 'skip_thought_signature_validator';

export const geminiWire: ModelWire = {
  name: 'gemini',
  serves: (path) => path.includes(':streamGenerateContent'),
  objection,
  frames,
  eventFrames: function* ({ events }) {
    for (const event of events) yield dataFrame(event);
  },
  errorBody: ({ status, type, message, details }) =>
    JSON.stringify({
      error: {
        code: status,
        message: message ?? 'Refused.',
        status: type ?? statusNames[status] ?? 'UNKNOWN',
        ...(details === undefined ? {} : { details }),
      },
    }),
};

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function objection(body: JsonObject, seals: SealBook, path: string): string | undefined {
  const model = /models\/([^:]+):/u.exec(path)?.[1] ?? '';
  const refused = settingsObjection(body, model);
  if (refused !== undefined) return refused;
  const contents = objectsOf(body['contents']);
  if (contents.length === 0) return 'contents is not specified';
  if (contents[0]?.['role'] !== 'user') return 'the first content must come from the user';
  if (contents.at(-1)?.['role'] !== 'user') return 'the last content must come from the user';
  const needsSeals = /gemini-[3-9]/u.test(path);
  // Only the turn under way is checked for the very signatures it was given.
  const turnStart = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && responsesOf(objectsOf(parts)).length === 0,
  );
  for (const [place, content] of contents.entries()) {
    const parts = objectsOf(content['parts']);
    if (parts.length === 0) return `contents[${place}]: parts must not be empty`;
    const complaint =
      nameObjection(parts) ??
      (content['role'] === 'model'
        ? (sealObjection(parts, seals, needsSeals, place > turnStart) ??
          pairObjection(parts, contents[place + 1]))
        : strayObjection(parts, contents[place - 1]));
    if (complaint !== undefined) return `contents[${place}]: ${complaint}`;
  }
  return undefined;
}

/** What Gemini says against a function's name; dots and colons it takes. */
function nameObjection(parts: readonly JsonObject[]): string | undefined {
  for (const { name } of [...callsOf(parts), ...responsesOf(parts)]) {
    if (stringOf(name) === '') return 'GenerateContentRequest: Name cannot be empty.';
    if (!/^[A-Za-z_][\w.:-]{0,127}$/u.test(stringOf(name))) return 'Invalid function name.';
  }
  return undefined;
}

const callsOf = (parts: readonly JsonObject[]): readonly JsonObject[] =>
  parts.flatMap((part) => ('functionCall' in part ? [objectOf(part['functionCall'])] : []));
const responsesOf = (parts: readonly JsonObject[]): readonly JsonObject[] =>
  parts.flatMap((part) => ('functionResponse' in part ? [objectOf(part['functionResponse'])] : []));

function sealObjection(
  parts: readonly JsonObject[],
  seals: SealBook,
  needsSeals: boolean,
  isCurrent: boolean,
): string | undefined {
  let isFirst = true;
  for (const part of parts) {
    const seal = part['thoughtSignature'];
    const isCall = 'functionCall' in part;
    const content = contentKey(part);
    if (seal !== undefined && seal !== foreignSeal && seals.contentOf(stringOf(seal)) !== content) {
      return 'Corrupted thought signature.';
    }
    if ('inlineData' in part && needsSeals && seal === undefined) {
      return 'Image part is missing a thought_signature.';
    }
    if (isCall && isFirst && needsSeals && seal === undefined) {
      return 'Function call is missing a thought_signature in functionCall parts.';
    }
    if (isCall && isCurrent && seal === foreignSeal && seals.sealOf(content) !== undefined) {
      return 'Function call is missing the thought_signature it came with.';
    }
    if (isCall) isFirst = false;
  }
  return undefined;
}

/** What a seal is bound to: the very part. */
function contentKey(part: JsonObject): string {
  if ('inlineData' in part) return stringOf(objectOf(part['inlineData'])['data']);
  if (!('functionCall' in part)) return stringOf(part['text']);
  const { name, args } = objectOf(part['functionCall']);
  return JSON.stringify({ name, args });
}

function pairObjection(
  parts: readonly JsonObject[],
  next: JsonObject | undefined,
): string | undefined {
  const names = callsOf(parts).map((call) => call['name']);
  const answers = responsesOf(objectsOf(next?.['parts']));
  if (names.length !== answers.length) {
    return 'the number of function response parts must equal the number of function call parts';
  }
  const isPaired = answers.every((answer, place) => answer['name'] === names[place]);
  if (!isPaired) return 'function responses must follow in the order of their calls';
  const isObject = answers.every((answer) => typeof answer['response'] === 'object');
  return isObject ? undefined : 'function_response.response must be an object';
}

function strayObjection(
  parts: readonly JsonObject[],
  before: JsonObject | undefined,
): string | undefined {
  const calls = callsOf(objectsOf(before?.['parts']));
  return responsesOf(parts).length > calls.length
    ? 'function response parts must follow a function call turn'
    : undefined;
}

function* frames(answer: MessageAnswer, seals: SealBook, model: string): Iterable<Frame> {
  const usage = usageOfAnswer(answer);
  const response = (parts: readonly JsonObject[], rest: JsonObject = {}): Frame =>
    dataFrame({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }],
      usageMetadata: {
        promptTokenCount: usage.input + usage.cacheRead,
        cachedContentTokenCount: usage.cacheRead,
        candidatesTokenCount: usage.output,
        thoughtsTokenCount: usage.reasoning,
      },
      modelVersion: model,
    });
  const hasReasoning = answer.pieces.some((piece) => piece.kind === 'reasoning');
  let callCount = 0;
  for (const piece of answer.pieces) {
    yield* pieceFrames(piece, callCount === 0, seals, response);
    if (piece.kind === 'error' || piece.kind === 'cut' || piece.kind === 'end') return;
    if (piece.kind === 'call') callCount += 1;
  }
  const stops = {
    end: 'STOP',
    tool_calls: 'STOP',
    output_limit: 'MAX_TOKENS',
    refused: 'SAFETY',
  };
  // A message without calls carries its signature on an empty text at the end.
  const isSealedText = hasReasoning && callCount === 0;
  const tail = isSealedText ? [{ text: '', thoughtSignature: seals.give('') }] : [];
  yield response(tail, { finishReason: stops[stopOfAnswer(answer)] });
}

function* pieceFrames(
  piece: AnswerPiece,
  isFirstCall: boolean,
  seals: SealBook,
  response: (parts: readonly JsonObject[]) => Frame,
): Iterable<Frame> {
  switch (piece.kind) {
    case 'text':
      for (const text of textsOf(piece)) yield response([{ text }]);
      return;
    case 'reasoning':
      if (piece.text !== '') yield response([{ text: piece.text, thought: true }]);
      return;
    case 'call': {
      const functionCall = { name: piece.name, args: piece.input };
      const seal = isFirstCall
        ? { thoughtSignature: seals.give(JSON.stringify(functionCall)) }
        : {};
      yield response([{ functionCall: { id: piece.id, ...functionCall }, ...seal }]);
      return;
    }
    case 'image': {
      const inlineData = { mimeType: piece.mediaType, data: piece.base64 };
      yield response([{ inlineData, thoughtSignature: seals.give(piece.base64) }]);
      return;
    }
    case 'ping':
      yield { kind: 'data', text: ': still here\n\n' };
      return;
    case 'error':
      yield dataFrame({ error: { code: 503, message: piece.message, status: piece.type } });
      yield { kind: 'end' };
      return;
    case 'wait':
    case 'cut':
    case 'end':
      yield piece;
      return;
  }
}
