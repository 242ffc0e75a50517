/** Raw OpenAI Responses events → ChatStreamEvent. */

import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { NewId } from '../../base/ids.ts';
import type { ChatStreamEvent, StopReason } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import type { Usage } from '../../messages/usage.ts';
import { cutArguments, isWholeJson, parseArguments } from '../arguments.ts';
import { isFitId } from '../call-ids.ts';
import { connectionLost, errorOfFailure } from '../errors.ts';
import { namedIn } from '../failure.ts';
import { rawOf } from '../raw.ts';
import { createReasoningTimer, type ReasoningTimer } from '../reasoning-timer.ts';
import { createWireReader } from '../wire-reader.ts';

const text = z.string().nullish().catch(null);
const count = z.number().nullish().catch(null);
const itemSchema = z.looseObject({
  type: z.string(),
  id: text,
  call_id: text,
  name: text,
  arguments: text,
  status: text,
  phase: text,
  encrypted_content: text,
  content: z
    .array(z.looseObject({ type: z.string() }))
    .nullish()
    .catch(null),
  action: z.looseObject({}).nullish().catch(null),
});
const usageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  input_tokens_details: z
    .looseObject({ cached_tokens: count, cache_write_tokens: count })
    .nullish()
    .catch(null),
  output_tokens_details: z.looseObject({ reasoning_tokens: count }).nullish().catch(null),
});
const eventSchema = z.looseObject({
  type: z.string(),
  item: itemSchema.optional(),
  item_id: text,
  output_index: count,
  summary_index: count,
  delta: text,
  annotation: z.looseObject({ url: text, title: text }).nullish().catch(null),
  response: z
    .looseObject({
      error: z.unknown().optional(),
      incomplete_details: z.looseObject({ reason: text }).nullish().catch(null),
      usage: usageSchema.nullish().catch(null),
    })
    .optional(),
});
type WireEvent = z.infer<typeof eventSchema>;
const readEvent = createWireReader(eventSchema);
type WireItem = z.infer<typeof itemSchema>;

interface OpenCall {
  readonly callId: string;
  readonly name: string;
  readonly item: WireItem;
  json: string;
}

interface State {
  readonly origin: Origin;
  readonly newId: NewId;
  readonly timer: ReasoningTimer;
  /** Calls under way by their place in the output. */
  readonly calls: Map<number, OpenCall>;
  hasStarted: boolean;
  hasCalls: boolean;
  hasRefusal: boolean;
  hasSummary: boolean;
  stop: StopReason | undefined;
}

/** Translates a whole message. Throws connection_lost when no terminal event came. */
export async function* openaiEvents(
  raw: AsyncIterable<unknown>,
  deps: { readonly clock: Clock; readonly newId: NewId },
  origin: Origin,
): AsyncGenerator<ChatStreamEvent, void> {
  const state: State = {
    origin,
    newId: deps.newId,
    timer: createReasoningTimer(deps.clock),
    calls: new Map(),
    hasStarted: false,
    hasCalls: false,
    hasRefusal: false,
    hasSummary: false,
    stop: undefined,
  };
  for await (const value of raw) {
    const event = readEvent(value);
    if (event === undefined) continue; // Not an event we know the shape of.
    if (event.type === 'error' || event.type === 'response.failed') {
      const named = namedIn(event.type === 'error' ? value : { error: event.response?.error });
      throw errorOfFailure(origin, named ?? { message: 'The response failed.' });
    }
    for (const translated of translate(event, state)) yield translated;
  }
  if (state.stop === undefined) {
    throw connectionLost(origin, 'the stream ended before the message did.');
  }
  yield { kind: 'message_end', stop: state.stop, reasoningMs: state.timer.total() };
}

function* translate(event: WireEvent, state: State): Generator<ChatStreamEvent> {
  if (!state.hasStarted && event.type.startsWith('response.')) {
    state.hasStarted = true;
    yield { kind: 'message_start', origin: state.origin };
  }
  switch (event.type) {
    case 'response.output_item.added':
      if (event.item !== undefined) yield* startItem(event.item, event.output_index ?? 0, state);
      return;
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      state.timer.pause();
      if (event.type === 'response.refusal.delta') state.hasRefusal = true;
      if (event.delta) yield { kind: 'text_delta', text: event.delta };
      return;
    case 'response.output_text.annotation.added':
      if (event.annotation?.url) {
        const { url, title } = event.annotation;
        yield { kind: 'citations', citations: [{ url, title: title ?? url }] };
      }
      return;
    case 'response.reasoning_summary_part.added':
      // Paragraphs of a summary come as parts of their own.
      if (state.hasSummary) yield { kind: 'reasoning_delta', text: '\n\n' };
      return;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      state.hasSummary = true;
      state.timer.think();
      if (event.delta) yield { kind: 'reasoning_delta', text: event.delta };
      return;
    case 'response.function_call_arguments.delta':
      yield* argumentsDelta(event, state);
      return;
    case 'response.output_item.done':
      if (event.item !== undefined) yield* finishItem(event.item, event.output_index ?? 0, state);
      return;
    case 'response.completed':
    case 'response.incomplete':
      yield* finishResponse(event, state);
      return;
    default: // created, in_progress, content_part, keepalive, and types of later versions
  }
}

function* startItem(item: WireItem, place: number, state: State): Generator<ChatStreamEvent> {
  if (item.type === 'reasoning') {
    state.hasSummary = false;
    state.timer.think();
    return;
  }
  state.timer.pause();
  if (item.type === 'function_call') yield* startCall(item, place, state);
}

function* startCall(item: WireItem, place: number, state: State): Generator<ChatStreamEvent> {
  const call = {
    callId: item.call_id || state.newId('call'),
    name: item.name ?? '',
    item,
    json: '',
  };
  state.calls.set(place, call);
  state.hasCalls = true;
  yield { kind: 'tool_call_start', callId: call.callId, name: call.name };
}

function* argumentsDelta(event: WireEvent, state: State): Generator<ChatStreamEvent> {
  const call =
    state.calls.get(event.output_index ?? -1) ??
    [...state.calls.values()].find(({ item }) => item.id === event.item_id);
  if (call === undefined || !event.delta) return;
  call.json += event.delta;
  yield { kind: 'tool_call_delta', callId: call.callId, json: event.delta };
}

function* finishItem(item: WireItem, place: number, state: State): Generator<ChatStreamEvent> {
  switch (item.type) {
    case 'message':
      // The id and the phase go back with the text, or the model loses its thread.
      if ((item.id || item.phase) && !state.hasRefusal) {
        yield { kind: 'raw_part', part: 'text', raw: rawOf(state.origin, messageData(item)) };
      }
      return;
    case 'reasoning':
      state.timer.pause();
      // Without its sealed content a thought cannot be sent back.
      if (item.encrypted_content) {
        const { status: _status, ...data } = withoutNulls(item);
        yield { kind: 'reasoning_signature', raw: rawOf(state.origin, data) };
      }
      return;
    case 'function_call':
      if (!state.calls.has(place)) yield* startCall(item, place, state);
      if (item.status !== 'incomplete') yield* readyCall(place, item.arguments ?? '', state, false);
      return;
    default:
      yield { kind: 'raw_part', part: 'own', raw: rawOf(state.origin, withoutNulls(item)) };
      if (item.type === 'web_search_call') yield searchEvent(item);
  }
}

/** What goes back with a text: its parts too, where they hold more than the text. */
function messageData({ id, phase, content }: WireItem): Record<string, unknown> {
  const parts = (content ?? []).map(({ logprobs: _logprobs, ...part }) => part);
  const isPlain = parts.length < 2 && !parts.some((part) => hasAnnotations(part));
  return {
    ...(id ? { id } : {}),
    ...(phase ? { phase } : {}),
    ...(isPlain ? {} : { content: parts }),
  };
}

function hasAnnotations({ annotations }: Record<string, unknown>): boolean {
  return Array.isArray(annotations) && annotations.length > 0;
}

/** The item tells what was searched for, and where it was found only on request. */
function searchEvent({ action, status }: WireItem): ChatStreamEvent {
  const { sources, ...input } = action ?? {};
  const result = { status: status ?? 'completed', ...(sources === undefined ? {} : { sources }) };
  return { kind: 'server_tool', name: 'web_search', input, result };
}

/** Fields the schema filled with null were not on the wire. */
function withoutNulls(item: WireItem): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value != null));
}

function* readyCall(
  place: number,
  given: string,
  state: State,
  isCut: boolean,
): Generator<ChatStreamEvent> {
  const call = state.calls.get(place);
  if (call === undefined) return;
  state.calls.delete(place);
  const json = given === '' ? call.json : given;
  const parsed = isCut && !isWholeJson(json) ? cutArguments : parseArguments(json);
  const isSameBytes = 'inputError' in parsed || JSON.stringify(parsed.input) === json;
  const data = {
    ...(isFitId(call.callId) ? {} : { callId: call.callId }),
    ...(call.item.id ? { id: call.item.id } : {}),
    ...(isSameBytes || json === '' ? {} : { arguments: json }),
  };
  yield {
    kind: 'tool_call_ready',
    callId: call.callId,
    name: call.name,
    ...parsed,
    ...(Object.keys(data).length === 0 ? {} : { raw: rawOf(state.origin, data) }),
  };
}

function* finishResponse(event: WireEvent, state: State): Generator<ChatStreamEvent> {
  const reason = event.response?.incomplete_details?.reason;
  const isCut = event.type === 'response.incomplete';
  for (const place of [...state.calls.keys()]) yield* readyCall(place, '', state, isCut);
  const usage = event.response?.usage;
  if (usage) yield { kind: 'usage', usage: usageOf(usage) };
  state.stop = stopOf(isCut, reason ?? undefined, state);
}

function stopOf(isCut: boolean, reason: string | undefined, state: State): StopReason {
  if (isCut) {
    if (reason === 'max_output_tokens') return 'output_limit';
    // Not in the types of today; newer servers send others than the two.
    if (/context/iu.test(reason ?? '')) return 'context_limit';
    return reason === 'content_filter' ? 'refused' : 'unknown';
  }
  if (state.hasCalls) return 'tool_calls';
  return state.hasRefusal ? 'refused' : 'end';
}

function usageOf(usage: z.infer<typeof usageSchema>): Usage {
  const cacheRead = usage.input_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage.input_tokens_details?.cache_write_tokens ?? 0;
  const output = usage.output_tokens ?? 0;
  const reasoning = Math.min(usage.output_tokens_details?.reasoning_tokens ?? 0, output);
  return {
    input: Math.max(0, (usage.input_tokens ?? 0) - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: output - reasoning,
    reasoning,
  };
}
