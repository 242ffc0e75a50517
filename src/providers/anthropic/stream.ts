/** Raw Anthropic Messages events → ChatStreamEvent. */

import type { Clock } from '../../base/clock.ts';
import { BotError } from '../../base/errors.ts';
import type { NewId } from '../../base/ids.ts';
import type { ChatStreamEvent, StopReason } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import { cutArguments, type ParsedArguments, parseArguments } from '../arguments.ts';
import type { WireEvents } from '../call.ts';
import { idMark } from '../call-ids.ts';
import { connectionLost } from '../errors.ts';
import { rawOf } from '../raw.ts';
import { createReasoningTimer, type ReasoningTimer } from '../reasoning-timer.ts';
import { translated } from '../translated.ts';
import { createWireReader } from '../wire-reader.ts';
import { answeredCall, type ServerCall, toolOfResult } from './server-tools.ts';
import {
  citationsSchema,
  eventSchema,
  fieldOf,
  stopOf,
  usageOf,
  type WireBlock,
  type WireCitation,
  type WireEvent,
  type WireUsage,
} from './wire.ts';

const readEvent = createWireReader(eventSchema);

interface OpenBlock {
  readonly block: WireBlock;
  readonly callId: string;
  readonly citations: WireCitation[];
  json: string;
  signature: string;
  hasText: boolean;
}

interface State {
  readonly origin: Origin;
  readonly newId: NewId;
  readonly timer: ReasoningTimer;
  readonly blocks: Map<number, OpenBlock>;
  /** The vendor's own calls, for their results. */
  readonly serverCalls: Map<string, ServerCall>;
  /** Calls whose block is closed but whose arguments may have been cut. */
  closed: OpenBlock[];
  /** The block before this one was a text that nothing closed: the next text would run into it. */
  endsInOpenText: boolean;
  /** Something came that people may have seen. */
  hasContent: boolean;
  usage: WireUsage;
  stop: StopReason | undefined;
}

/**
 * Translates a whole message. Throws connection_lost when `message_stop` never came, and refused when
 * the vendor's filter stopped it before anything was said.
 */
export function anthropicEvents(
  raw: WireEvents,
  deps: { readonly clock: Clock; readonly newId: NewId },
  origin: Origin,
  serverCalls: ReadonlyMap<string, ServerCall> = new Map(),
): AsyncIterable<ChatStreamEvent> {
  const state: State = {
    origin,
    newId: deps.newId,
    timer: createReasoningTimer(deps.clock),
    blocks: new Map(),
    serverCalls: new Map(serverCalls),
    closed: [],
    endsInOpenText: false,
    hasContent: false,
    usage: {},
    stop: undefined,
  };
  let isOver = false;
  const read = (value: unknown): Iterable<ChatStreamEvent> => {
    const event = isOver ? undefined : readEvent(value);
    if (event === undefined) return []; // Behind the end, or of no shape that we know.
    if (event.type === 'message_stop') {
      isOver = true;
      raw.expectEnd('whole');
      return endEvents(state);
    }
    // Nearly all are deltas: they take the short way.
    return event.type === 'content_block_delta'
      ? deltaEvents(event, state)
      : translate(event, state);
  };
  const end = (): readonly ChatStreamEvent[] => {
    if (!isOver) throw connectionLost(origin, 'the stream ended before the message did.');
    return []; // Told with its terminal event.
  };
  return translated(raw, read, end);
}

function* endEvents(state: State): Generator<ChatStreamEvent> {
  yield* closeBlocks(state);
  yield* readyClosed(state, false);
  yield { kind: 'message_end', stop: state.stop ?? 'unknown', reasoningMs: state.timer.total() };
}

function* translate(event: WireEvent, state: State): Generator<ChatStreamEvent> {
  switch (event.type) {
    case 'message_start':
      yield { kind: 'message_start', origin: state.origin };
      yield* usageEvents(event.message?.usage, state);
      return;
    case 'content_block_start':
      if (event.content_block !== undefined) {
        yield* startBlock(event.index ?? 0, event.content_block, state);
      }
      return;
    case 'content_block_delta':
      yield* deltaEvents(event, state);
      return;
    case 'content_block_stop':
      yield* stopBlock(event.index ?? 0, state);
      return;
    case 'message_delta':
      yield* messageDelta(event, state);
      return;
    default: // ping, and types of later versions
  }
}

function* messageDelta(event: WireEvent, state: State): Generator<ChatStreamEvent> {
  const reason = event.delta?.stop_reason;
  if (typeof reason === 'string') {
    state.stop = stopOf(reason);
    yield* closeBlocks(state);
    yield* readyClosed(state, reason === 'max_tokens');
  }
  yield* usageEvents(event.usage, state);
  if (state.stop === 'refused' && !state.hasContent) {
    throw refusedError(state.origin, event.delta?.stop_details?.category ?? undefined);
  }
}

/** Nobody has seen anything yet: it is a failure like others, and says which policy it was. */
function refusedError(
  { provider, model, endpoint }: Origin,
  category: string | undefined,
): BotError {
  const why = category === undefined ? '' : ` (${category})`;
  return new BotError('refused', `${provider} refused this content by its policy${why}.`, {
    facts: { provider, model, endpoint, category: category ?? null },
  });
}

/** Some servers say of no block that it stops: then the end of the message says so. */
function* closeBlocks(state: State): Generator<ChatStreamEvent> {
  for (const index of [...state.blocks.keys()]) yield* stopBlock(index, state);
}

/** So does a next block, but for calls: their arguments may come side by side. */
function* closeBefore(index: number, state: State): Generator<ChatStreamEvent> {
  for (const [place, { block }] of [...state.blocks]) {
    if (place === index || block.type !== 'tool_use') yield* stopBlock(place, state);
  }
}

function* startBlock(index: number, block: WireBlock, state: State): Generator<ChatStreamEvent> {
  yield* closeBefore(index, state);
  // A next block proves that the one before was whole.
  yield* readyClosed(state, false);
  if (block.type === 'text' && state.endsInOpenText) yield sealedText(state, {});
  state.endsInOpenText = false;
  const callId = fieldOf(block, 'id') || state.newId('call');
  const citations = citationsSchema.parse(block['citations'] ?? []);
  const signature = fieldOf(block, 'signature');
  const open = { block, callId, citations, json: '', signature, hasText: false };
  state.blocks.set(index, open);
  if (block.type === 'thinking') state.timer.think();
  else state.timer.pause();
  switch (block.type) {
    case 'text':
      yield* textEvents(open, fieldOf(block, 'text'), state);
      yield* citations.flatMap(citationEvents);
      return;
    case 'thinking':
      if (fieldOf(block, 'thinking') !== '') {
        yield { kind: 'reasoning_delta', text: fieldOf(block, 'thinking') };
      }
      return;
    case 'tool_use':
      state.hasContent = true;
      yield { kind: 'tool_call_start', callId, name: fieldOf(block, 'name') };
      return;
    default: // told at its end
  }
}

function textEvents(open: OpenBlock, text: string, state: State): ChatStreamEvent[] {
  if (text === '') return [];
  open.hasText = true;
  state.hasContent = true;
  return [{ kind: 'text_delta', text }];
}

function citationEvents({ url, title }: WireCitation): ChatStreamEvent[] {
  return url ? [{ kind: 'citations', citations: [{ url, title: title || url }] }] : [];
}

/** No generator: nearly all events are these. */
function deltaEvents({ index, delta }: WireEvent, state: State): ChatStreamEvent[] {
  const open = state.blocks.get(index ?? 0);
  if (open === undefined || !delta) return [];
  switch (delta.type ?? '') {
    case 'text_delta':
      return textEvents(open, delta.text ?? '', state);
    case 'thinking_delta':
      return delta.thinking ? [{ kind: 'reasoning_delta', text: delta.thinking }] : [];
    case 'signature_delta':
      open.signature += delta.signature ?? '';
      return [];
    case 'input_json_delta': {
      const json = delta.partial_json ?? '';
      open.json += json;
      const isTold = open.block.type === 'tool_use' && json !== '';
      return isTold ? [{ kind: 'tool_call_delta', callId: open.callId, json }] : [];
    }
    case 'citations_delta':
      if (!delta.citation) return [];
      open.citations.push(delta.citation);
      return citationEvents(delta.citation);
    default:
      return [];
  }
}

function* stopBlock(index: number, state: State): Generator<ChatStreamEvent> {
  const open = state.blocks.get(index);
  if (open === undefined) return;
  state.blocks.delete(index);
  switch (open.block.type) {
    case 'text':
      // The block goes back with its sources, and as a block of its own.
      if (open.hasText && open.citations.length > 0)
        yield sealedText(state, { citations: open.citations });
      else state.endsInOpenText = open.hasText;
      return;
    case 'thinking':
      state.timer.pause();
      if (open.signature !== '') {
        const raw = rawOf(state.origin, { signature: open.signature });
        yield { kind: 'reasoning_signature', raw };
      }
      return;
    case 'tool_use':
      if (isObject(parsedInput(open.json))) {
        yield readyEvent(open, parseArguments(open.json), state.origin);
      } else state.closed.push(open);
      return;
    default:
      yield* ownBlockEvents(open, state);
  }
}

/** Vendor data that closes the text before it. */
function sealedText(state: State, data: { citations?: readonly WireCitation[] }): ChatStreamEvent {
  return { kind: 'raw_part', part: 'text', raw: rawOf(state.origin, { type: 'text', ...data }) };
}

/** Blocks that are the vendor's alone: redacted thoughts, its own calls and their results. */
function* ownBlockEvents({ block, json }: OpenBlock, state: State): Generator<ChatStreamEvent> {
  const whole = json === '' ? block : { ...block, input: parsedInput(json) ?? {} };
  yield { kind: 'raw_part', part: 'own', raw: rawOf(state.origin, whole) };
  if (block.type === 'server_tool_use') {
    const call = { name: fieldOf(block, 'name'), input: whole['input'] ?? {} };
    state.serverCalls.set(fieldOf(block, 'id'), call);
  }
  const answered = answeredCall(block.type, fieldOf(block, 'tool_use_id'));
  if (answered === undefined) return;
  const call = state.serverCalls.get(answered) ?? { name: toolOfResult(block.type), input: {} };
  yield { kind: 'server_tool', ...call, result: block['content'] ?? null };
}

function parsedInput(json: string): unknown {
  const parsed = parseArguments(json);
  return json.trim() === '' || 'inputError' in parsed ? undefined : parsed.input;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Calls that closed without a whole object: empty means no arguments, unless the message was cut by
 * the token limit just there.
 */
function* readyClosed(state: State, isCut: boolean): Generator<ChatStreamEvent> {
  const closed = state.closed;
  state.closed = [];
  for (const open of closed) {
    const isEmpty = open.json.trim() === '';
    const given = isEmpty ? inputAtStart(open.block['input']) : undefined;
    const written = parseArguments(open.json);
    const isWhole = 'inputError' in written || !isCut;
    const parsed = given === undefined ? (isWhole ? written : cutArguments) : { input: given };
    yield readyEvent(open, parsed, state.origin);
  }
}

/** Some compatible servers give the arguments whole, with the block's start. */
function inputAtStart(input: unknown): unknown {
  const isGiven = typeof input === 'object' && input !== null && Object.keys(input).length > 0;
  return isGiven ? input : undefined;
}

function readyEvent(open: OpenBlock, parsed: ParsedArguments, origin: Origin): ChatStreamEvent {
  const mark = idMark(open.callId);
  return {
    kind: 'tool_call_ready',
    callId: open.callId,
    name: fieldOf(open.block, 'name'),
    ...parsed,
    ...(mark === undefined ? {} : { raw: rawOf(origin, mark) }),
  };
}

function* usageEvents(
  usage: WireUsage | null | undefined,
  state: State,
): Generator<ChatStreamEvent> {
  if (!usage) return;
  // Cumulative, and not every count is in both places: a later 0 says nothing.
  const told = Object.entries(usage).filter(([, count]) => count != null && count !== 0);
  state.usage = { ...state.usage, ...Object.fromEntries(told) };
  yield { kind: 'usage', usage: usageOf(state.usage) };
}
