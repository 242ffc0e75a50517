/** ChatRequest → Gemini generateContent parameters (without signal and transport). */

import type {
  Content,
  FunctionDeclaration,
  GenerateContentConfig,
  GenerateContentParameters,
  Part,
} from '@google/genai';
import type { ChatRequest } from '../../messages/chat.ts';
import type {
  AssistantPart,
  ImagePart,
  Origin,
  Raw,
  ToolResult,
  UserPart,
} from '../../messages/parts.ts';
import { fitMedia } from '../media.ts';
import { documentText, fileText, normaliseMessages, resultText, type Turn } from '../normalise.ts';
import { fieldsOf, textField } from '../raw.ts';
import { fitSchema } from '../schema.ts';

/** Google's documented stand-in for calls that another model made. */
const foreignSignature = 'skip_thought_signature_validator';
/** From Gemini 3 on calls need their signature, and results may hold media. */
const isThirdOrLater = /^gemini-(?:[3-9]|\d\d)/u;
const thinks = /^gemini-(?:2\.5|[3-9]|\d\d)/u;

export interface GeminiRequest extends GenerateContentParameters {
  readonly config: GenerateContentConfig;
}

/** `learned` names what this server refused before (see the provider's adaptations). */
export function geminiRequest(
  request: ChatRequest,
  origin: Origin,
  learned: ReadonlySet<string>,
): GeminiRequest {
  const withReasoning = !learned.has('no_reasoning');
  const turns = normaliseMessages(fitMedia(request, learned), {
    origin,
    isContent,
    withReasoning,
    keepsSealedText: true,
    bindsNames: true,
  });
  const needsSignatures = isThirdOrLater.test(request.model);
  const idsOfCalls = vendorIds(turns);
  const includeThoughts = thinks.test(request.model) && !learned.has('no_thoughts');
  return {
    model: request.model,
    contents: turns.map((turn) =>
      turn.role === 'assistant'
        ? modelContent(turn.parts, needsSignatures)
        : userContent(turn, needsSignatures, idsOfCalls),
    ),
    config: {
      maxOutputTokens: request.mostOutputTokens,
      automaticFunctionCalling: { disable: true },
      ...(request.system === '' ? {} : { systemInstruction: request.system }),
      ...(request.tools.length === 0
        ? {}
        : { tools: [{ functionDeclarations: request.tools.map(declarationOf) }] }),
      ...(includeThoughts ? { thinkingConfig: { includeThoughts: true } } : {}),
    },
  };
}

function isContent(raw: Raw): boolean {
  return textField(raw, 'thought') === undefined;
}

function declarationOf(tool: ChatRequest['tools'][number]): FunctionDeclaration {
  return {
    name: tool.name,
    description: tool.description,
    // Never `parameters`: the SDK would convert that and lose half of it.
    parametersJsonSchema: fitSchema(tool.inputSchema, 'gemini'),
  };
}

/** The ids Gemini gave, by ours; only these are sent back, some servers refuse others. */
function vendorIds(turns: readonly Turn[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue;
    for (const part of turn.parts) {
      if (part.kind !== 'tool_call') continue;
      const id = textField(part.raw, 'id');
      if (id !== undefined) ids.set(part.callId, id);
    }
  }
  return ids;
}

function modelContent(parts: readonly AssistantPart[], needsSignatures: boolean): Content {
  const content = parts.map(modelPart);
  const first = content.find((part) => part.functionCall !== undefined);
  if (needsSignatures && first !== undefined && first.thoughtSignature === undefined) {
    first.thoughtSignature = foreignSignature;
  }
  return { role: 'model', parts: content };
}

function modelPart(part: AssistantPart): Part {
  const thoughtSignature = textField(part.raw, 'thoughtSignature');
  const sealed = thoughtSignature === undefined ? {} : { thoughtSignature };
  switch (part.kind) {
    case 'text':
      return { text: part.text, ...sealed };
    case 'reasoning':
      return { text: part.text, thought: true, ...sealed };
    case 'tool_call': {
      const id = textField(part.raw, 'id');
      return {
        functionCall: {
          name: part.name,
          args: argsOf(part.input),
          ...(id === undefined ? {} : { id }),
        },
        ...sealed,
      };
    }
    case 'raw':
      return { ...fieldsOf(part.raw) };
  }
}

function argsOf(input: unknown): Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? { ...input }
    : { input };
}

function userContent(
  turn: Extract<Turn, { role: 'user' }>,
  mediaInResults: boolean,
  ids: ReadonlyMap<string, string>,
): Content {
  const responses = turn.results.map((result) => responsePart(result, mediaInResults, ids));
  // Older models take media of results only beside them.
  const beside = mediaInResults ? [] : turn.results.flatMap(imagesOf);
  return { role: 'user', parts: [...responses, ...beside, ...turn.parts.map(userPart)] };
}

function responsePart(
  result: ToolResult,
  mediaInResults: boolean,
  ids: ReadonlyMap<string, string>,
): Part {
  const id = ids.get(result.callId);
  const text = resultText(result);
  const media = mediaInResults ? imagesOf(result) : [];
  return {
    functionResponse: {
      name: result.name,
      response: result.outcome === 'ok' ? { output: text } : { error: text },
      ...(id === undefined ? {} : { id }),
      ...(media.length === 0 ? {} : { parts: media }),
    },
  };
}

function imagesOf(result: ToolResult): { inlineData: { mimeType: string; data: string } }[] {
  return result.parts.flatMap((part) => (part.kind === 'image' ? [imagePart(part)] : []));
}

function imagePart(part: ImagePart): { inlineData: { mimeType: string; data: string } } {
  return { inlineData: { mimeType: part.mediaType, data: part.base64 } };
}

function userPart(part: UserPart): Part {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'image':
      return imagePart(part);
    case 'document':
      return { text: documentText(part) };
    case 'file':
      return { text: fileText(part) };
  }
}
