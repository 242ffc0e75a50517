/**
 * Gemini generateContent responses → ChatStreamEvent. A call comes whole in one response, so it is
 * ready at once. Signatures stay on the very part they came with, empty texts included.
 */

import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { BotError } from '../../base/errors.ts';
import { fileTypeOf, headBytes } from '../../base/file-types.ts';
import type { NewId } from '../../base/ids.ts';
import type { ChatStreamEvent, StopReason } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import type { Usage } from '../../messages/usage.ts';
import type { WireEvents } from '../call.ts';
import { connectionLost, errorOfFailure, MalformedAnswer } from '../errors.ts';
import { rawOf } from '../raw.ts';
import { createReasoningTimer, type ReasoningTimer } from '../reasoning-timer.ts';
import { translated } from '../translated.ts';
import { createWireReader } from '../wire-reader.ts';
import { createGrounding, type Grounding, groundingSchema } from './grounding.ts';

const text = z.string().nullish().catch(null);
const count = z.number().nullish().catch(null);
/** Google's own tools, called and answered within the message. */
const serverCallSchema = z
  .looseObject({ id: text, toolType: text, args: z.unknown().optional() })
  .nullish()
  .catch(null);
const partSchema = z.looseObject({
  text,
  thought: z.boolean().nullish().catch(null),
  thoughtSignature: text,
  functionCall: z
    .looseObject({ id: text, name: text, args: z.record(z.string(), z.unknown()).nullish() })
    .nullish()
    .catch(null),
  inlineData: z.looseObject({ mimeType: text, data: text }).nullish().catch(null),
  toolCall: serverCallSchema,
  toolResponse: serverCallSchema,
});
const usageSchema = z.looseObject({
  promptTokenCount: count,
  cachedContentTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  toolUsePromptTokenCount: count,
});
const responseSchema = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z
          .looseObject({ parts: z.array(partSchema).nullish().catch(null) })
          .nullish()
          .catch(null),
        finishReason: text,
        groundingMetadata: groundingSchema.nullish().catch(null),
        urlContextMetadata: z
          .looseObject({ urlMetadata: z.array(z.unknown()).nullish().catch(null) })
          .nullish()
          .catch(null),
      }),
    )
    .nullish()
    .catch(null),
  promptFeedback: z.looseObject({ blockReason: text }).nullish().catch(null),
  usageMetadata: usageSchema.nullish().catch(null),
});
type WirePart = z.infer<typeof partSchema>;
type WireResponse = z.infer<typeof responseSchema>;
const readResponse = createWireReader(responseSchema);

interface State {
  readonly origin: Origin;
  readonly newId: NewId;
  readonly timer: ReasoningTimer;
  readonly callIds: Set<string>;
  readonly grounding: Grounding;
  /** What Google's own tools were asked, by id. */
  readonly serverCalls: Map<string, unknown>;
  /** All text of the message. */
  said: string;
  /** Unsigned text is open: a signed part must not join it. */
  hasOpenText: boolean;
  hasContent: boolean;
  finish: string | undefined;
}

/** Translates a whole message. Throws connection_lost when no finish reason came. */
export function geminiEvents(
  raw: WireEvents,
  deps: { readonly clock: Clock; readonly newId: NewId },
  origin: Origin,
): AsyncIterable<ChatStreamEvent> {
  const state: State = {
    origin,
    newId: deps.newId,
    timer: createReasoningTimer(deps.clock),
    callIds: new Set(),
    grounding: createGrounding(),
    serverCalls: new Map(),
    said: '',
    hasOpenText: false,
    hasContent: false,
    finish: undefined,
  };
  let hasStarted = false;
  const read = function* (value: unknown): Generator<ChatStreamEvent> {
    const response = readResponse(value);
    if (response === undefined) return; // Not a response we know the shape of.
    // The SDK throws for errors with a number, and makes an empty response of all others.
    const failure = isEmpty(response) ? raw.unseenFailure() : undefined;
    if (failure !== undefined) throw errorOfFailure(origin, failure);
    if (!hasStarted) yield { kind: 'message_start', origin };
    hasStarted = true;
    const isLate = isFinal(state.finish) && hasContent(response);
    yield* responseEvents(response, state);
    if (isLate) raw.doubtEnd();
    else if (isFinal(state.finish)) raw.expectEnd('finished');
  };
  const end = function* (): Generator<ChatStreamEvent> {
    if (state.finish === undefined) {
      throw connectionLost(origin, 'the stream ended before the message did.');
    }
    checkFinish(state.finish, state);
    yield* state.grounding.events(state.said, state.serverCalls.size > 0);
    yield {
      kind: 'message_end',
      stop: stopOf(state.finish, state.callIds.size > 0),
      reasoningMs: state.timer.total(),
    };
  };
  return translated(raw, read, end);
}

/** At a continuation mark the SDK makes one more request, which may take its time. */
function isFinal(finish: string | undefined): boolean {
  return finish !== undefined && finish !== 'CONTINUATION';
}

function isEmpty({ candidates, usageMetadata, promptFeedback }: WireResponse): boolean {
  return candidates == null && usageMetadata == null && promptFeedback == null;
}

function hasContent({ candidates }: WireResponse): boolean {
  const [candidate] = candidates ?? [];
  return (candidate?.content?.parts ?? []).some((part) => part.text !== '');
}

/** A call was wanted and could not be made. */
const lostCall =
  /^MALFORMED|^UNEXPECTED_TOOL_CALL$|^TOO_MANY_TOOL_CALLS$|^MISSING_THOUGHT_SIGNATURE$/u;

/** Ends without anything said: some are worth one more try, one means that our request was bad. */
function checkFinish(finish: string, { origin, hasContent }: State): void {
  if (hasContent) return;
  if (finish === 'MISSING_THOUGHT_SIGNATURE') {
    throw errorOfFailure(origin, { type: 'invalid_request', message: 'A signature is missing.' });
  }
  if (!lostCall.test(finish)) return;
  throw new BotError(
    'overloaded',
    `${origin.provider} wrote a call that it could not finish itself.`,
    { facts: { ...origin, finishReason: finish }, cause: new MalformedAnswer() },
  );
}

function* responseEvents(response: WireResponse, state: State): Generator<ChatStreamEvent> {
  const [candidate] = response.candidates ?? [];
  for (const part of candidate?.content?.parts ?? []) yield* partEvents(part, state);
  if (candidate?.groundingMetadata) state.grounding.add(candidate.groundingMetadata);
  const pages = candidate?.urlContextMetadata?.urlMetadata ?? [];
  if (pages.length > 0) {
    yield { kind: 'server_tool', name: 'url_context', input: {}, result: pages };
  }
  if (response.usageMetadata) yield { kind: 'usage', usage: usageOf(response.usageMetadata) };
  // Some servers set it on every response: what counts is that one came, and the last one.
  state.finish = candidate?.finishReason ?? state.finish;
  if (response.promptFeedback?.blockReason) state.finish ??= 'PROMPT_BLOCKED';
}

function* partEvents(part: WirePart, state: State): Generator<ChatStreamEvent> {
  const { thoughtSignature } = part;
  if (part.functionCall) {
    state.timer.pause();
    state.hasOpenText = false;
    state.hasContent = true;
    yield* callEvents(part, state);
    return;
  }
  if (part.thought === true) {
    state.timer.think();
    state.hasOpenText = false;
    if (part.text) yield { kind: 'reasoning_delta', text: part.text };
    if (thoughtSignature) {
      yield { kind: 'reasoning_signature', raw: rawOf(state.origin, { thoughtSignature }) };
    }
    return;
  }
  state.timer.pause();
  const image = imageOf(part, state.origin);
  if (image !== undefined) {
    state.hasOpenText = false;
    state.hasContent = true;
    yield image;
    return;
  }
  if (typeof part.text !== 'string') {
    state.hasOpenText = false;
    yield { kind: 'raw_part', part: 'own', raw: rawOf(state.origin, withoutNulls(part)) };
    yield* serverToolEvents(part, state);
    return;
  }
  state.said += part.text;
  if (part.text.trim() !== '') state.hasContent = true;
  if (!thoughtSignature) {
    if (part.text === '') return;
    state.hasOpenText = true;
    yield { kind: 'text_delta', text: part.text };
    return;
  }
  if (state.hasOpenText) yield { kind: 'raw_part', part: 'text', raw: rawOf(state.origin, {}) };
  state.hasOpenText = false;
  if (part.text !== '') yield { kind: 'text_delta', text: part.text };
  yield { kind: 'raw_part', part: 'text', raw: rawOf(state.origin, { thoughtSignature }) };
}

/** What is no image (sound, a table) stays vendor data. Drafts made while thinking are thoughts. */
function imageOf(part: WirePart, origin: Origin): ChatStreamEvent | undefined {
  const { inlineData, thoughtSignature } = part;
  const base64 = inlineData?.data;
  if (!base64 || !inlineData.mimeType?.startsWith('image/')) return undefined;
  const head = Buffer.from(base64.slice(0, Math.ceil(headBytes / 3) * 4), 'base64');
  const mediaType = fileTypeOf(head) ?? inlineData.mimeType;
  const raw = thoughtSignature ? { raw: rawOf(origin, { thoughtSignature }) } : {};
  return { kind: 'image_made', mediaType, base64, ...raw };
}

function* callEvents(part: WirePart, state: State): Generator<ChatStreamEvent> {
  const { id, name, args } = part.functionCall ?? {};
  const callId = id && !state.callIds.has(id) ? id : state.newId('call');
  state.callIds.add(callId);
  const input = args ?? {};
  const data = {
    ...(id ? { id } : {}),
    ...(part.thoughtSignature ? { thoughtSignature: part.thoughtSignature } : {}),
  };
  yield { kind: 'tool_call_start', callId, name: name ?? '' };
  yield { kind: 'tool_call_delta', callId, json: JSON.stringify(input) };
  yield {
    kind: 'tool_call_ready',
    callId,
    name: name ?? '',
    input,
    ...(Object.keys(data).length === 0 ? {} : { raw: rawOf(state.origin, data) }),
  };
}

/** Told of once it is answered. */
function* serverToolEvents(
  { toolCall, toolResponse }: WirePart,
  { serverCalls }: State,
): Generator<ChatStreamEvent> {
  if (toolCall) serverCalls.set(toolCall.id ?? '', toolCall.args ?? {});
  if (!toolResponse) return;
  yield {
    kind: 'server_tool',
    name: (toolResponse.toolType ?? 'server_tool').toLowerCase(),
    input: serverCalls.get(toolResponse.id ?? '') ?? {},
    result: toolResponse['response'] ?? null,
  };
}

/** Fields the schema filled with null were not on the wire. */
function withoutNulls(part: WirePart): Record<string, unknown> {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value != null));
}

function usageOf(usage: z.infer<typeof usageSchema>): Usage {
  const cacheRead = usage.cachedContentTokenCount ?? 0;
  const prompt = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
  return {
    input: Math.max(0, prompt - cacheRead),
    cacheRead,
    cacheWrite: 0,
    output: usage.candidatesTokenCount ?? 0,
    reasoning: usage.thoughtsTokenCount ?? 0,
  };
}

function stopOf(finish: string, hasCalls: boolean): StopReason {
  switch (finish) {
    case 'MAX_TOKENS':
      return 'output_limit';
    case 'SAFETY':
    case 'RECITATION':
    case 'LANGUAGE':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
    case 'MODEL_ARMOR':
    case 'PROMPT_BLOCKED':
      return 'refused';
    case 'STOP':
    case 'FUNCTION_CALL':
      return hasCalls ? 'tool_calls' : 'end';
    default:
      // After words it is a call that was announced and did not come: the model is told so.
      return hasCalls || lostCall.test(finish) ? 'tool_calls' : 'unknown';
  }
}
