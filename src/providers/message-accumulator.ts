/**
 * Folds the stream of one model message into the parts that are stored: order kept, vendor data on
 * the part it belongs to. A retry starts the message again.
 */

import type { ChatStreamEvent, StopReason } from '../messages/chat.ts';
import {
  type AssistantPart,
  type Origin,
  type ToolCallPart,
  textOf,
  toolCallPartSchema,
} from '../messages/parts.ts';
import type { Usage } from '../messages/usage.ts';
import type { CompletionEvent } from './completion.ts';

/** A call as the loop takes it: the stored part, and why its arguments could not be read. */
export interface AccumulatedCall {
  readonly part: ToolCallPart;
  readonly inputError?: string;
}

export interface MessageAccumulator {
  add(event: CompletionEvent): void;
  /** Parts so far; a call is among them once it is ready. */
  parts(): readonly AssistantPart[];
  /** The visible text so far. */
  text(): string;
  /** Ready calls, in order. */
  calls(): readonly AccumulatedCall[];
  /** Undefined until the message has ended. */
  readonly stop: StopReason | undefined;
  readonly usage: Usage | undefined;
  readonly origin: Origin | undefined;
  readonly reasoningMs: number;
}

interface Draft {
  parts: AssistantPart[];
  /** Place of each call, kept from its start so that order holds. */
  placeOfCall: Map<string, number>;
  waiting: Set<number>;
  inputErrors: Map<string, string>;
  /** The kind of part that further deltas join. */
  open: 'text' | 'reasoning' | undefined;
  stop: StopReason | undefined;
  usage: Usage | undefined;
  origin: Origin | undefined;
  reasoningMs: number;
}

function emptyDraft(): Draft {
  return {
    parts: [],
    placeOfCall: new Map(),
    waiting: new Set(),
    inputErrors: new Map(),
    open: undefined,
    stop: undefined,
    usage: undefined,
    origin: undefined,
    reasoningMs: 0,
  };
}

export function createMessageAccumulator(): MessageAccumulator {
  let draft = emptyDraft();
  const parts = (): readonly AssistantPart[] =>
    draft.parts.filter((_, place) => !draft.waiting.has(place));
  return {
    add: (event) => {
      // After both the message starts again from nothing.
      if (event.kind === 'retry_waiting' || event.kind === 'model_switched') draft = emptyDraft();
      else fold(draft, event);
    },
    parts,
    text: () => textOf(draft.parts),
    calls: () =>
      parts().flatMap((part) => {
        if (part.kind !== 'tool_call') return [];
        const inputError = draft.inputErrors.get(part.callId);
        return [inputError === undefined ? { part } : { part, inputError }];
      }),
    get stop() {
      return draft.stop;
    },
    get usage() {
      return draft.usage;
    },
    get origin() {
      return draft.origin;
    },
    get reasoningMs() {
      return draft.reasoningMs;
    },
  };
}

function fold(draft: Draft, event: ChatStreamEvent): void {
  switch (event.kind) {
    case 'message_start':
      draft.origin = event.origin;
      return;
    case 'text_delta':
      join(draft, 'text', event.text);
      return;
    case 'reasoning_delta':
      join(draft, 'reasoning', event.text);
      return;
    case 'reasoning_signature':
      seal(draft, 'reasoning', event.raw);
      return;
    case 'tool_call_start':
      draft.open = undefined;
      startCall(draft, event.callId, event.name);
      return;
    case 'tool_call_ready':
      finishCall(draft, event);
      return;
    case 'raw_part':
      if (event.part === 'text') seal(draft, 'text', event.raw);
      else {
        draft.open = undefined;
        draft.parts.push({ kind: 'raw', raw: event.raw });
      }
      return;
    case 'image_made': {
      const { mediaType, base64, raw } = event;
      draft.open = undefined;
      draft.parts.push({ kind: 'image', mediaType, base64, ...(raw === undefined ? {} : { raw }) });
      return;
    }
    case 'usage':
      draft.usage = event.usage;
      return;
    case 'message_end':
      draft.stop = event.stop;
      draft.reasoningMs = event.reasoningMs;
      return;
    case 'tool_call_delta':
    case 'citations':
    case 'server_tool':
      return;
  }
}

function join(draft: Draft, kind: 'text' | 'reasoning', text: string): void {
  if (text === '') return;
  const last = draft.parts.at(-1);
  if (draft.open === kind && last?.kind === kind) {
    draft.parts[draft.parts.length - 1] = { ...last, text: last.text + text };
    return;
  }
  draft.parts.push({ kind, text });
  draft.open = kind;
}

/** Puts vendor data on the open part of its kind, or on an empty one, and closes it. */
function seal(
  draft: Draft,
  kind: 'text' | 'reasoning',
  raw: NonNullable<ToolCallPart['raw']>,
): void {
  const last = draft.parts.at(-1);
  if (draft.open === kind && last?.kind === kind) {
    draft.parts[draft.parts.length - 1] = { ...last, raw };
  } else draft.parts.push({ kind, text: '', raw });
  draft.open = undefined;
}

function startCall(draft: Draft, callId: string, name: string): void {
  const place = draft.parts.push({ kind: 'tool_call', callId, name, input: {} }) - 1;
  draft.placeOfCall.set(callId, place);
  draft.waiting.add(place);
}

function finishCall(
  draft: Draft,
  event: Extract<ChatStreamEvent, { kind: 'tool_call_ready' }>,
): void {
  const { callId, name, raw, inputError } = event;
  if (!draft.placeOfCall.has(callId)) startCall(draft, callId, name);
  draft.open = undefined;
  const place = draft.placeOfCall.get(callId) ?? draft.parts.length;
  const input = toolCallPartSchema.shape.input.catch({}).parse(event.input);
  draft.parts[place] = {
    kind: 'tool_call',
    callId,
    name,
    input,
    ...(raw === undefined ? {} : { raw }),
  };
  draft.waiting.delete(place);
  if (inputError !== undefined) draft.inputErrors.set(callId, inputError);
}
