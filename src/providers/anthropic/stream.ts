/** Raw Anthropic Messages events → ChatStreamEvent. */

import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { NewId } from '../../base/ids.ts';
import type { ChatStreamEvent, StopReason } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import type { Usage } from '../../messages/usage.ts';
import { cutArguments, isWholeJson, type ParsedArguments, parseArguments } from '../arguments.ts';
import { idMark } from '../call-ids.ts';
import { connectionLost } from '../errors.ts';
import { rawOf } from '../raw.ts';
import { createReasoningTimer, type ReasoningTimer } from '../reasoning-timer.ts';
import { createWireReader } from '../wire-reader.ts';

const count = z.number().nullish().catch(null);
const usageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens_details: z.looseObject({ thinking_tokens: count }).nullish().catch(null),
});
const text = z.string().nullish().catch(null);
const blockSchema = z.looseObject({
  type: z.string(),
  id: text,
  name: text,
  text,
  thinking: text,
  signature: text,
  input: z.unknown().optional(),
});
const eventSchema = z.looseObject({
  type: z.string(),
  index: z.number().optional(),
  message: z.looseObject({ usage: usageSchema.nullish() }).optional(),
  content_block: blockSchema.optional(),
  delta: z
    .looseObject({
      type: text,
      text,
      partial_json: text,
      thinking: text,
      signature: text,
      stop_reason: text,
      citation: z.looseObject({ url: text, title: text }).nullish().catch(null),
    })
    .optional(),
  usage: usageSchema.nullish(),
});
type WireEvent = z.infer<typeof eventSchema>;
const readEvent = createWireReader(eventSchema);
type WireBlock = z.infer<typeof blockSchema>;

interface OpenBlock {
  readonly block: WireBlock;
  readonly callId: string;
  json: string;
  signature: string;
}

interface State {
  readonly origin: Origin;
  readonly newId: NewId;
  readonly timer: ReasoningTimer;
  readonly blocks: Map<number, OpenBlock>;
  /** Calls whose block is closed but whose arguments may have been cut. */
  closed: OpenBlock[];
  usage: z.infer<typeof usageSchema>;
  stop: StopReason | undefined;
}

/** Translates a whole message. Throws connection_lost when `message_stop` never came. */
export async function* anthropicEvents(
  raw: AsyncIterable<unknown>,
  deps: { readonly clock: Clock; readonly newId: NewId },
  origin: Origin,
): AsyncGenerator<ChatStreamEvent, void> {
  const state: State = {
    origin,
    newId: deps.newId,
    timer: createReasoningTimer(deps.clock),
    blocks: new Map(),
    closed: [],
    usage: {},
    stop: undefined,
  };
  let isOver = false;
  for await (const value of raw) {
    const event = readEvent(value);
    if (event === undefined) continue; // Not an event we know the shape of.
    if (event.type === 'message_stop') isOver = true;
    // Nearly all are deltas: they take the short way.
    const isDelta = event.type === 'content_block_delta';
    for (const translated of (isDelta ? deltaEvents : translate)(event, state)) yield translated;
  }
  if (!isOver) throw connectionLost(spokenOf(origin), 'the stream ended before the message did.');
  yield* readyClosed(state, false);
  yield {
    kind: 'message_end',
    stop: state.stop ?? 'unknown',
    reasoningMs: state.timer.total(),
  };
}

function spokenOf({ provider, model, endpoint }: Origin): Origin {
  return { provider, model, endpoint };
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
    case 'message_delta': {
      const reason = event.delta?.stop_reason;
      if (typeof reason === 'string') {
        state.stop = stopOf(reason);
        yield* readyClosed(state, reason === 'max_tokens');
      }
      yield* usageEvents(event.usage, state);
      return;
    }
    default: // ping, message_stop, and types of later versions
  }
}

function* startBlock(index: number, block: WireBlock, state: State): Generator<ChatStreamEvent> {
  // A next block proves that the one before was whole.
  yield* readyClosed(state, false);
  const callId = block.id || state.newId('call');
  state.blocks.set(index, { block, callId, json: '', signature: block.signature ?? '' });
  if (block.type === 'thinking') state.timer.think();
  else state.timer.pause();
  if (block.type === 'text' && block.text) yield { kind: 'text_delta', text: block.text };
  if (block.type === 'thinking' && block.thinking) {
    yield { kind: 'reasoning_delta', text: block.thinking };
  }
  if (block.type === 'tool_use') {
    yield { kind: 'tool_call_start', callId, name: block.name ?? '' };
  }
}

function* deltaEvents({ index, delta }: WireEvent, state: State): Generator<ChatStreamEvent> {
  const open = state.blocks.get(index ?? 0);
  if (open === undefined || !delta) return;
  switch (delta.type ?? '') {
    case 'text_delta':
      if (delta.text) yield { kind: 'text_delta', text: delta.text };
      return;
    case 'thinking_delta':
      if (delta.thinking) yield { kind: 'reasoning_delta', text: delta.thinking };
      return;
    case 'signature_delta':
      open.signature += delta.signature ?? '';
      return;
    case 'input_json_delta': {
      const json = delta.partial_json ?? '';
      open.json += json;
      if (open.block.type === 'tool_use' && json !== '') {
        yield { kind: 'tool_call_delta', callId: open.callId, json };
      }
      return;
    }
    case 'citations_delta':
      if (delta.citation?.url) {
        const { url, title } = delta.citation;
        yield { kind: 'citations', citations: [{ url, title: title ?? url }] };
      }
      return;
    default:
  }
}

function* stopBlock(index: number, state: State): Generator<ChatStreamEvent> {
  const open = state.blocks.get(index);
  if (open === undefined) return;
  state.blocks.delete(index);
  const { block, signature } = open;
  switch (block.type) {
    case 'text':
      return;
    case 'thinking':
      state.timer.pause();
      if (signature !== '') {
        yield { kind: 'reasoning_signature', raw: rawOf(state.origin, { signature }) };
      }
      return;
    case 'tool_use':
      if (isWholeJson(open.json)) yield readyEvent(open, parseArguments(open.json), state.origin);
      else state.closed.push(open);
      return;
    default: {
      const data = open.json === '' ? block : { ...block, ...parseArguments(open.json) };
      yield { kind: 'raw_part', part: 'own', raw: rawOf(state.origin, withoutNulls(data)) };
    }
  }
}

/** Fields the schema filled with null were not on the wire. */
function withoutNulls(block: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value != null));
}

/**
 * Calls that closed without whole JSON: empty means no arguments, unless the message was cut by the
 * token limit just there.
 */
function* readyClosed(state: State, isCut: boolean): Generator<ChatStreamEvent> {
  const closed = state.closed;
  state.closed = [];
  for (const open of closed) {
    const isEmpty = open.json.trim() === '';
    const given = isEmpty ? inputAtStart(open.block.input) : undefined;
    const cut = isEmpty && isCut ? cutArguments : undefined;
    const parsed = given === undefined ? (cut ?? parseArguments(open.json)) : { input: given };
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
    name: open.block.name ?? '',
    ...parsed,
    ...(mark === undefined ? {} : { raw: rawOf(origin, mark) }),
  };
}

function* usageEvents(
  usage: z.infer<typeof usageSchema> | null | undefined,
  state: State,
): Generator<ChatStreamEvent> {
  if (!usage) return;
  // Cumulative, and not every count is in both places.
  state.usage = { ...state.usage, ...withoutNulls(usage) };
  yield { kind: 'usage', usage: usageOf(state.usage) };
}

function usageOf(usage: z.infer<typeof usageSchema>): Usage {
  const output = usage.output_tokens ?? 0;
  const reasoning = Math.min(usage.output_tokens_details?.thinking_tokens ?? 0, output);
  return {
    input: usage.input_tokens ?? 0,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
    output: output - reasoning,
    reasoning,
  };
}

function stopOf(reason: string): StopReason {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return 'end';
    case 'tool_use':
      return 'tool_calls';
    case 'max_tokens':
      return 'output_limit';
    case 'model_context_window_exceeded':
      return 'context_limit';
    case 'refusal':
      return 'refused';
    case 'pause_turn':
      return 'paused';
    default:
      return 'unknown';
  }
}
