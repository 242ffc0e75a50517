/** Raw Chat Completions chunks → ChatStreamEvent, with the quirks of many servers. */

import type { Clock } from '../../base/clock.ts';
import type { NewId } from '../../base/ids.ts';
import type { ChatStreamEvent, StopReason } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import type { Usage } from '../../messages/usage.ts';
import type { CallTrace, WireEvents } from '../call.ts';
import { connectionLost, errorOfFailure } from '../errors.ts';
import { rawOf } from '../raw.ts';
import { createReasoningTimer, type ReasoningTimer } from '../reasoning-timer.ts';
import { translated } from '../translated.ts';
import { type CallAssembler, createCallAssembler } from './call-assembler.ts';
import {
  callPieces,
  citationsIn,
  contentOf,
  parseChunk,
  type WireDelta,
  type WireUsage,
} from './chunk.ts';
import { addDetails } from './reasoning-details.ts';
import {
  createThinkSplitter,
  type LoneCloseVerdict,
  type ThinkPiece,
  type ThinkSplitter,
} from './think-tags.ts';

export interface ChatStreamSetting {
  readonly origin: Origin;
  readonly toolNames: ReadonlySet<string>;
  readonly trace: CallTrace;
  /** Which models leave the opening think tag out; kept by the provider. */
  readonly insiders: Insiders;
}

/** What is known of models that begin inside their thoughts, without the opening tag. */
export interface Insiders {
  has(model: string): boolean;
  learn(model: string, verdict: LoneCloseVerdict): void;
}

/** A lone closing tag behind words proves something only when the next message has one too. */
export function createInsiders(): Insiders {
  const suspicions = new Map<string, number>();
  const enough = 2;
  return {
    has: (model) => (suspicions.get(model) ?? 0) >= enough,
    learn: (model, verdict) => {
      if (verdict === 'yes') suspicions.set(model, enough);
      if (verdict === 'maybe') suspicions.set(model, (suspicions.get(model) ?? 0) + 1);
      if (verdict === 'no') suspicions.delete(model);
    },
  };
}

/**
 * Where the thoughts of a message came from: they go back under the same name. `thinking`: parts of
 * the content; `content`: think tags, which stay with us.
 */
type ReasoningField = 'reasoning' | 'reasoning_content' | 'thinking' | 'content';

interface State {
  readonly origin: Origin;
  readonly timer: ReasoningTimer;
  readonly calls: CallAssembler;
  readonly splitter: ThinkSplitter;
  reasoningField: ReasoningField | undefined;
  details: readonly Readonly<Record<string, unknown>>[];
  hasOpenReasoning: boolean;
  /** Words are the last that came. */
  hasOpenText: boolean;
  hasContent: boolean;
  finish: string | undefined;
}

/** Translates a whole message. A server that sends no end mark at all gets the stop `unknown`. */
export function chatEvents(
  raw: WireEvents,
  deps: { readonly clock: Clock; readonly newId: NewId },
  setting: ChatStreamSetting,
): AsyncIterable<ChatStreamEvent> {
  const { origin, trace, insiders } = setting;
  const state: State = {
    origin,
    timer: createReasoningTimer(deps.clock),
    calls: createCallAssembler(deps.newId, setting.toolNames, origin),
    splitter: createThinkSplitter(insiders.has(origin.model)),
    reasoningField: undefined,
    details: [],
    hasOpenReasoning: false,
    hasOpenText: false,
    hasContent: false,
    finish: undefined,
  };
  let hasStarted = false;
  const read = (value: unknown): readonly ChatStreamEvent[] => {
    const chunk = parseChunk(value);
    if (chunk === undefined) return []; // Not a chunk we know the shape of.
    const events: ChatStreamEvent[] = hasStarted ? [] : [{ kind: 'message_start', origin }];
    hasStarted = true;
    const [choice] = chunk.choices ?? [];
    const delta = choice?.delta ?? choice?.message;
    if (delta) addDelta(events, delta, state);
    const citations = citationsIn(chunk, delta ?? undefined);
    if (citations.length > 0) events.push({ kind: 'citations', citations });
    const usage = chunk.usage ?? choice?.usage;
    if (usage) events.push({ kind: 'usage', usage: usageOf(usage) });
    if (state.finish !== undefined && events.some(isContent)) raw.doubtEnd();
    else if (choice?.finish_reason) raw.expectEnd('finished');
    state.finish = choice?.finish_reason || state.finish;
    return events;
  };
  const end = function* (): Generator<ChatStreamEvent> {
    yield* endText(state);
    insiders.learn(origin.model, state.splitter.verdict);
    checkEnd(state, trace);
    yield* endParts(state);
    yield {
      kind: 'message_end',
      stop: stopOf(state.finish, state.calls.count > 0, trace.sawDone),
      reasoningMs: state.timer.total(),
    };
  };
  return translated(raw, read, end);
}

function isContent({ kind }: ChatStreamEvent): boolean {
  return kind !== 'usage' && kind !== 'citations';
}

/** Without finish reason and end mark, only an end with whole content can be trusted. */
function checkEnd(state: State, trace: CallTrace): void {
  if (state.finish === 'error') {
    throw errorOfFailure(state.origin, { message: 'The server broke the message off.' });
  }
  if (state.finish !== undefined || (trace.sawDone && state.hasContent)) return;
  if (!state.hasContent || state.calls.hasBrokenCall) {
    throw connectionLost(state.origin, 'the stream ended before the message did.');
  }
}

/** No generator: they come by the thousand. */
function addDelta(events: ChatStreamEvent[], delta: WireDelta, state: State): void {
  const content = contentOf(delta);
  // Both fields with the same text have been seen: the first one that has any counts.
  const field = delta.reasoning_content ? 'reasoning_content' : 'reasoning';
  const reasoning = delta.reasoning_content || delta.reasoning || '';
  if (reasoning !== '') events.push(reasoningEvent(reasoning, field, state));
  else if (content.thinking !== '') {
    events.push(reasoningEvent(content.thinking, 'thinking', state));
  }
  if (delta.reasoning_details) state.details = addDetails(state.details, delta.reasoning_details);
  addPieces(events, state.splitter.add(content.text + (delta.refusal ?? '')), state);
  const pieces = callPieces(delta);
  if (pieces.length === 0) return;
  addPieces(events, state.splitter.end(), state);
  events.push(...sealReasoning(state));
  state.timer.pause();
  state.hasOpenText = false;
  state.hasContent = true;
  events.push(...state.calls.add(pieces));
}

function reasoningEvent(text: string, field: ReasoningField, state: State): ChatStreamEvent {
  state.timer.think();
  state.reasoningField = field;
  state.hasOpenReasoning = true;
  state.hasOpenText = false;
  return { kind: 'reasoning_delta', text };
}

function addPieces(events: ChatStreamEvent[], pieces: readonly ThinkPiece[], state: State): void {
  for (const piece of pieces) {
    if (piece.kind === 'reasoning') events.push(reasoningEvent(piece.text, 'content', state));
    else {
      // Details that come in the middle of a text wait for its end.
      if (!state.hasOpenText) events.push(...sealReasoning(state));
      state.timer.pause();
      state.hasOpenText = true;
      state.hasContent = true;
      events.push({ kind: 'text_delta', text: piece.text });
    }
  }
}

function endText(state: State): readonly ChatStreamEvent[] {
  const events: ChatStreamEvent[] = [];
  addPieces(events, state.splitter.end(), state);
  return events;
}

/**
 * Closes what is open. At the end of a message thoughts do not go back, so details that came behind
 * the last words or call ride on those.
 */
function* endParts(state: State): Generator<ChatStreamEvent> {
  const hasCalls = state.calls.count > 0;
  const { details } = state;
  const late = details.length > 0 && (hasCalls || state.hasOpenText) ? { details } : undefined;
  if (late !== undefined) state.details = [];
  yield* sealReasoning(state);
  yield* state.calls.finish(state.finish === 'length', late);
  if (late !== undefined && !hasCalls) {
    yield { kind: 'raw_part', part: 'text', raw: rawOf(state.origin, late) };
  }
}

/** Thoughts from think tags stay with us; those of a field of their own can go back. */
function* sealReasoning(state: State): Generator<ChatStreamEvent> {
  const hasDetails = state.details.length > 0;
  if (!state.hasOpenReasoning && !hasDetails) return;
  const field = state.reasoningField ?? 'reasoning';
  state.hasOpenReasoning = false;
  const data = { field, ...(hasDetails ? { details: state.details } : {}) };
  state.details = [];
  if (field === 'content' && !hasDetails) return;
  yield { kind: 'reasoning_signature', raw: rawOf(state.origin, data) };
}

function stopOf(finish: string | undefined, hasCalls: boolean, sawDone: boolean): StopReason {
  switch (finish ?? '') {
    case 'length':
      return 'output_limit';
    case 'content_filter':
      return 'refused';
    case 'stop':
    case 'tool_calls':
    case 'function_call':
    case 'eos':
    case 'end_turn':
      return hasCalls ? 'tool_calls' : 'end';
    default:
      if (hasCalls) return 'tool_calls';
      return finish === undefined && sawDone ? 'end' : 'unknown';
  }
}

/** xAI counts thoughts beside the completion, all others within it: the total tells them apart. */
function usageOf(usage: WireUsage): Usage {
  const cacheRead =
    usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  const cacheWrite = usage.prompt_tokens_details?.cache_write_tokens ?? 0;
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  const thoughts = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const isBeside = thoughts > 0 && usage.total_tokens === prompt + completion + thoughts;
  const reasoning = isBeside ? thoughts : Math.min(thoughts, completion);
  return {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: isBeside ? completion : completion - reasoning,
    reasoning,
    ...(typeof usage.cost === 'number' ? { reportedUsd: usage.cost } : {}),
  };
}
