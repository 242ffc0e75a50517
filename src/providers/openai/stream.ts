/** Raw OpenAI Responses events → ChatStreamEvent. */

import type { Clock } from '../../base/clock.ts';
import type { NewId } from '../../base/ids.ts';
import type { ChatStreamEvent, StopReason } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import { cutArguments, isWholeJson, parseArguments } from '../arguments.ts';
import type { WireEvents } from '../call.ts';
import { isFitId } from '../call-ids.ts';
import { connectionLost, errorOfFailure } from '../errors.ts';
import { namedIn } from '../failure.ts';
import { rawOf } from '../raw.ts';
import { createReasoningTimer, type ReasoningTimer } from '../reasoning-timer.ts';
import { translated } from '../translated.ts';
import { createWireReader } from '../wire-reader.ts';
import { eventSchema, textsUnder, usageOf, type WireEvent, type WireItem } from './wire.ts';

const readEvent = createWireReader(eventSchema);

interface OpenCall {
  readonly callId: string;
  readonly name: string;
  readonly item: WireItem;
  /** Its place in the output, where the server tells it. */
  readonly place: number | undefined;
  json: string;
  isReady: boolean;
}

interface State {
  readonly origin: Origin;
  readonly newId: NewId;
  readonly timer: ReasoningTimer;
  readonly calls: OpenCall[];
  /** Items that are told: some servers say twice that one is done. */
  readonly finished: Set<string>;
  hasStarted: boolean;
  /** Some of the message under way was shown. */
  hasText: boolean;
  hasRefusal: boolean;
  hasSummary: boolean;
  stop: StopReason | undefined;
}

/** Translates a whole message. Throws connection_lost when no terminal event came. */
export function openaiEvents(
  raw: WireEvents,
  deps: { readonly clock: Clock; readonly newId: NewId },
  origin: Origin,
): AsyncIterable<ChatStreamEvent> {
  const state: State = {
    origin,
    newId: deps.newId,
    timer: createReasoningTimer(deps.clock),
    calls: [],
    finished: new Set(),
    hasStarted: false,
    hasText: false,
    hasRefusal: false,
    hasSummary: false,
    stop: undefined,
  };
  const read = (value: unknown): Iterable<ChatStreamEvent> => {
    const event = readEvent(value);
    // Not an event we know the shape of, or one behind the end.
    if (event === undefined || state.stop !== undefined) return [];
    if (event.type === 'error' || event.type === 'response.failed') {
      const named = namedIn(event.type === 'error' ? value : { error: event.response?.error });
      throw errorOfFailure(origin, named ?? { message: 'The response failed.' });
    }
    if (event.type === 'response.completed' || event.type === 'response.incomplete') {
      raw.expectEnd('whole');
    }
    return translate(event, state);
  };
  const end = (): readonly ChatStreamEvent[] => {
    if (state.stop === undefined) {
      throw connectionLost(origin, 'the stream ended before the message did.');
    }
    return []; // Told with its terminal event.
  };
  return translated(raw, read, end);
}

function* translate(event: WireEvent, state: State): Generator<ChatStreamEvent> {
  if (!state.hasStarted && event.type.startsWith('response.')) {
    state.hasStarted = true;
    yield { kind: 'message_start', origin: state.origin };
  }
  switch (event.type) {
    case 'response.output_item.added':
      if (event.item !== undefined) yield* startItem(event.item, placeOf(event), state);
      return;
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      state.timer.pause();
      if (event.type === 'response.refusal.delta') state.hasRefusal = true;
      yield* textEvents(event.delta, state);
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
      if (event.item !== undefined) yield* finishItem(event.item, placeOf(event), state);
      return;
    case 'response.completed':
    case 'response.incomplete':
      yield* finishResponse(event, state);
      return;
    default: // created, in_progress, content_part, keepalive, and types of later versions
  }
}

function placeOf({ output_index: place }: WireEvent): number | undefined {
  return place ?? undefined;
}

function* textEvents(text: string | null | undefined, state: State): Generator<ChatStreamEvent> {
  if (!text) return;
  state.hasText = true;
  yield { kind: 'text_delta', text };
}

function* startItem(
  item: WireItem,
  place: number | undefined,
  state: State,
): Generator<ChatStreamEvent> {
  if (item.type === 'reasoning') {
    state.hasSummary = false;
    state.timer.think();
    return;
  }
  state.timer.pause();
  if (item.type === 'message') state.hasText = false;
  if (item.type === 'function_call' && callOf(item, place, state) === undefined) {
    yield* startCall(item, place, state);
  }
}

function* startCall(
  item: WireItem,
  place: number | undefined,
  state: State,
): Generator<ChatStreamEvent> {
  const callId = item.call_id || state.newId('call');
  const name = item.name ?? '';
  state.calls.push({ callId, name, item, place, json: '', isReady: false });
  yield { kind: 'tool_call_start', callId, name };
}

/** Some servers tell no places, or the same one for all; some give an item another id each time. */
function callOf(
  { call_id: callId, id }: Pick<WireItem, 'call_id' | 'id'>,
  place: number | undefined,
  { calls }: State,
): OpenCall | undefined {
  const sameCall = callId ? calls.find(({ item }) => item.call_id === callId) : undefined;
  if (sameCall !== undefined) return sameCall;
  // Of another call it cannot be.
  const others = callId ? calls.filter(({ item }) => !item.call_id) : calls;
  const sameItem = id ? others.find(({ item }) => item.id === id) : undefined;
  return (
    sameItem ?? (place === undefined ? undefined : others.findLast((one) => one.place === place))
  );
}

function* argumentsDelta(event: WireEvent, state: State): Generator<ChatStreamEvent> {
  const place = placeOf(event);
  const named = callOf({ id: event.item_id }, place, state);
  // Nothing says whose they are: they follow their call.
  const isNamed = place !== undefined || Boolean(event.item_id);
  const call = named ?? (isNamed ? undefined : state.calls.at(-1));
  if (call === undefined || call.isReady || !event.delta) return;
  call.json += event.delta;
  yield { kind: 'tool_call_delta', callId: call.callId, json: event.delta };
}

function* finishItem(
  item: WireItem,
  place: number | undefined,
  state: State,
): Generator<ChatStreamEvent> {
  if (item.type === 'function_call') {
    yield* finishCall(item, place, state);
    return;
  }
  const key = item.id || (place === undefined ? JSON.stringify(item) : `${item.type} ${place}`);
  if (state.finished.has(key)) return;
  state.finished.add(key);
  switch (item.type) {
    case 'message':
      yield* finishMessage(item, state);
      return;
    case 'reasoning':
      yield* finishReasoning(item, state);
      return;
    default:
      yield { kind: 'raw_part', part: 'own', raw: rawOf(state.origin, withoutNulls(item)) };
      if (item.type === 'web_search_call') yield searchEvent(item);
  }
}

function* finishMessage(item: WireItem, state: State): Generator<ChatStreamEvent> {
  // What came in no pieces is here as a whole.
  if (!state.hasText) {
    const refusals = textsUnder(item.content, 'refusal');
    if (refusals.length > 0) state.hasRefusal = true;
    yield* textEvents([...textsUnder(item.content, 'text'), ...refusals].join(''), state);
  }
  state.hasText = false;
  // The id and the phase go back with the text, or the model loses its thread.
  if ((item.id || item.phase) && !state.hasRefusal) {
    yield { kind: 'raw_part', part: 'text', raw: rawOf(state.origin, messageData(item)) };
  }
}

function* finishReasoning(item: WireItem, state: State): Generator<ChatStreamEvent> {
  state.timer.pause();
  if (!state.hasSummary) {
    const summary = textsUnder(item.summary, 'text').join('\n\n');
    if (summary !== '') yield { kind: 'reasoning_delta', text: summary };
  }
  // The next one may be told as a whole, too.
  state.hasSummary = false;
  // Without its sealed content a thought cannot be sent back.
  if (item.encrypted_content) {
    const { status: _status, ...data } = withoutNulls(item);
    yield { kind: 'reasoning_signature', raw: rawOf(state.origin, data) };
  }
}

function* finishCall(
  item: WireItem,
  place: number | undefined,
  state: State,
): Generator<ChatStreamEvent> {
  if (callOf(item, place, state) === undefined) yield* startCall(item, place, state);
  const call = callOf(item, place, state) ?? state.calls.at(-1);
  if (call !== undefined && item.status !== 'incomplete') {
    yield* readyCall(call, item.arguments ?? '', state, false);
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
  call: OpenCall,
  given: string,
  state: State,
  isCut: boolean,
): Generator<ChatStreamEvent> {
  if (call.isReady) return;
  call.isReady = true;
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
  // Some servers tell of no item, or of no call, before the end.
  const isNew = state.calls.length === 0 && state.finished.size === 0 && !state.hasText;
  for (const [place, item] of (event.response?.output ?? []).entries()) {
    if (isNew || item.call_id) yield* finishItem(item, place, state);
  }
  for (const call of state.calls) yield* readyCall(call, '', state, isCut);
  const usage = event.response?.usage;
  if (usage) yield { kind: 'usage', usage: usageOf(usage) };
  state.stop = stopOf(isCut, reason ?? undefined, state);
  yield { kind: 'message_end', stop: state.stop, reasoningMs: state.timer.total() };
}

function stopOf(isCut: boolean, reason: string | undefined, state: State): StopReason {
  if (isCut) {
    if (reason === 'max_output_tokens') return 'output_limit';
    // Not in the types of today; newer servers send others than the two.
    if (/context/iu.test(reason ?? '')) return 'context_limit';
    return reason === 'content_filter' ? 'refused' : 'unknown';
  }
  if (state.calls.length > 0) return 'tool_calls';
  return state.hasRefusal ? 'refused' : 'end';
}
