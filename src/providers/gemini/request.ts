/** ChatRequest → Gemini generateContent parameters (without signal and transport). */

import type {
  Content,
  GenerateContentConfig,
  GenerateContentParameters,
  ImageConfig,
  Part,
} from '@google/genai';
import type { ChatRequest } from '../../messages/chat.ts';
import type {
  DocumentPart,
  ImagePart,
  MadeImagePart,
  Origin,
  Raw,
  ToolResult,
  UserPart,
} from '../../messages/parts.ts';
import { knownRequest } from '../known-request.ts';
import { fitMedia } from '../media.ts';
import { fileText, normaliseMessages, resultText, type SentPart, type Turn } from '../normalise.ts';
import { fieldsOf, textField } from '../raw.ts';
import { thoughtsFrom } from '../stale-thoughts.ts';
import { thinkingConfigOf } from './thinking.ts';
import { toolConfigOf } from './tools.ts';

/** Google's documented stand-in for calls that another model made. */
const foreignSignature = 'skip_thought_signature_validator';

export interface GeminiRequest extends GenerateContentParameters {
  readonly config: GenerateContentConfig;
}

/** `learned` names what this server refused before (see the provider's adaptations). */
export function geminiRequest(
  given: ChatRequest,
  origin: Origin,
  learned: ReadonlySet<string>,
): GeminiRequest {
  const request = knownRequest(given, learned);
  const turns = normaliseMessages(fitMedia(request, learned), {
    origin,
    isContent,
    thoughtsFrom: thoughtsFrom(request.messages, learned),
    keepsSealedText: true,
    ...(request.abilities.imageOutput ? { imageRaw: (image) => imageRaw(image, origin) } : {}),
    bindsNames: true,
  });
  const rules = rulesOf(request, turns);
  const thinkingConfig = thinkingConfigOf(request, learned);
  const imageConfig = imageConfigOf(request);
  return {
    model: request.model,
    contents: turns.map((turn) =>
      turn.role === 'assistant' ? modelContent(turn.parts, rules) : userContent(turn, rules),
    ),
    config: {
      maxOutputTokens: request.mostOutputTokens,
      automaticFunctionCalling: { disable: true },
      ...(request.system === '' ? {} : { systemInstruction: request.system }),
      ...toolConfigOf(request, learned),
      ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
      ...(imageConfig === undefined ? {} : { imageConfig }),
    },
  };
}

/** What a family of models wants in its history. */
interface Rules {
  /** Calls that another model made carry the stand-in for a signature. */
  readonly needsSignatures: boolean;
  readonly mediaInResults: boolean;
  /** The ids Gemini gave, by ours. */
  readonly ids: ReadonlyMap<string, string>;
}

/**
 * Budgets steer the models before Gemini 3, levels those from it on. Of a model that nobody
 * described no more is taken for granted than that it is no older one.
 */
function rulesOf({ abilities }: ChatRequest, turns: readonly Turn[]): Rules {
  return {
    needsSignatures: !abilities.thinking.includes('budget'),
    mediaInResults: abilities.thinking.includes('level'),
    ids: vendorIds(turns),
  };
}

function imageConfigOf({ abilities, reasoning }: ChatRequest): ImageConfig | undefined {
  const { imageRatio, imageResolution } = reasoning;
  if (!abilities.imageOutput || (imageRatio ?? imageResolution) === undefined) return undefined;
  return {
    ...(imageRatio === undefined ? {} : { aspectRatio: imageRatio }),
    ...(imageResolution === undefined ? {} : { imageSize: imageResolution }),
  };
}

/** Its models want each image under the signature it came with. */
function imageRaw({ mediaType, base64, raw }: MadeImagePart, origin: Origin): Raw {
  const thoughtSignature = textField(raw, 'thoughtSignature') ?? foreignSignature;
  return { origin, data: { inlineData: { mimeType: mediaType, data: base64 }, thoughtSignature } };
}

function isContent(raw: Raw): boolean {
  return textField(raw, 'thought') === undefined;
}

/** Only these are sent back: some servers refuse others. */
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

function modelContent(parts: readonly SentPart[], { needsSignatures }: Rules): Content {
  const content = parts.map(modelPart);
  const first = content.find((part) => part.functionCall !== undefined);
  if (needsSignatures && first !== undefined && first.thoughtSignature === undefined) {
    first.thoughtSignature = foreignSignature;
  }
  return { role: 'model', parts: content };
}

function modelPart(part: SentPart): Part {
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

function userContent(turn: Extract<Turn, { role: 'user' }>, rules: Rules): Content {
  const responses = turn.results.map((result) => responsePart(result, rules));
  // Older models take media of results only beside them.
  const beside = rules.mediaInResults ? [] : turn.results.flatMap(mediaOf);
  return { role: 'user', parts: [...responses, ...beside, ...turn.parts.map(userPart)] };
}

function responsePart(result: ToolResult, rules: Rules): Part {
  const id = rules.ids.get(result.callId);
  const text = resultText(result);
  const media = rules.mediaInResults ? mediaOf(result) : [];
  return {
    functionResponse: {
      name: result.name,
      response: result.outcome === 'ok' ? { output: text } : { error: text },
      ...(id === undefined ? {} : { id }),
      ...(media.length === 0 ? {} : { parts: media }),
    },
  };
}

interface Media {
  readonly inlineData: { readonly mimeType: string; readonly data: string };
}

function mediaOf(result: ToolResult): Media[] {
  return result.parts.flatMap((part) => (part.kind === 'text' ? [] : [mediaPart(part)]));
}

function mediaPart(part: ImagePart | DocumentPart): Media {
  return { inlineData: { mimeType: part.mediaType, data: part.base64 } };
}

function userPart(part: UserPart): Part {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'image':
    case 'document':
      return mediaPart(part);
    case 'file':
      return { text: fileText(part) };
  }
}
