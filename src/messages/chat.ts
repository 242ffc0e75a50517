/**
 * What a model is sent and what it answers: ChatRequest and ChatStreamEvent, the same for every
 * provider. The loop never knows which one speaks.
 */

import type { Abilities, ReasoningOptions } from './model.ts';
import type { AssistantPart, Origin, Raw, ToolResult, UserPart } from './parts.ts';
import type { Usage } from './usage.ts';

export interface ToolSpec {
  /** [A-Za-z_][A-Za-z0-9_-]{0,63} */
  readonly name: string;
  /** Written for a model. */
  readonly description: string;
  /** JSON Schema of the input: an object at the root. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export type ChatMessage =
  | { readonly role: 'user'; readonly parts: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  /** The results of the assistant message before it, in call order, each call exactly once. */
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

/** What the loop asks, whoever answers. */
export interface ChatPrompt {
  /** System prompt; the same bytes from step to step. */
  readonly system: string;
  /** Starts with a user message; user and assistant/tool alternate as the wire formats need. */
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolSpec[];
  /** Wishes; what the model does not list among its abilities is not sent. */
  readonly reasoning: ReasoningOptions;
  /** The vendor may search the web by itself, where the model can. */
  readonly webSearch: boolean;
  /** Stable per conversation; helps caches that can be keyed. */
  readonly cacheKey: string;
}

/** A prompt for one model. */
export interface ChatRequest extends ChatPrompt {
  /** The vendor's model id, without the provider: `claude-sonnet-5-5`. */
  readonly model: string;
  readonly abilities: Abilities;
  readonly mostOutputTokens: number;
}

export type StopReason =
  | 'end' // the model is done
  | 'tool_calls' // it waits for results
  | 'output_limit' // cut by mostOutputTokens
  | 'context_limit' // cut by the window
  | 'refused' // the provider's filter stopped it
  | 'paused' // the provider wants the same messages again to go on
  | 'unknown';

/** A source of the text before it. */
export interface Citation {
  readonly url: string;
  readonly title: string;
}

export type ChatStreamEvent =
  | { readonly kind: 'message_start'; readonly origin: Origin }
  | { readonly kind: 'text_delta'; readonly text: string }
  | { readonly kind: 'reasoning_delta'; readonly text: string }
  /** Vendor data bound to the reasoning before it. */
  | { readonly kind: 'reasoning_signature'; readonly raw: Raw }
  | { readonly kind: 'tool_call_start'; readonly callId: string; readonly name: string }
  /** A piece of the arguments' JSON text. */
  | { readonly kind: 'tool_call_delta'; readonly callId: string; readonly json: string }
  /** The call is complete and may run. `inputError` is set when its arguments are no JSON. */
  | {
      readonly kind: 'tool_call_ready';
      readonly callId: string;
      readonly name: string;
      readonly input: unknown;
      readonly inputError?: string;
      readonly raw?: Raw;
    }
  | {
      readonly kind: 'citations';
      readonly citations: readonly Citation[];
    }
  /** A tool the provider ran by itself, complete; `result` is the vendor's own value. */
  | {
      readonly kind: 'server_tool';
      readonly name: string;
      readonly input: unknown;
      readonly result: unknown;
    }
  /**
   * Vendor data to keep. `part: 'own'` is a part of its own at this place; `part: 'text'` belongs to
   * the text streamed since the last other part.
   */
  | { readonly kind: 'raw_part'; readonly part: 'own' | 'text'; readonly raw: Raw }
  /** An image that the model made, whole; its bytes say what it is. */
  | {
      readonly kind: 'image_made';
      readonly mediaType: string;
      readonly base64: string;
      readonly raw?: Raw;
    }
  /** Cumulative for this message: the last one counts. */
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'message_end'; readonly stop: StopReason; readonly reasoningMs: number };

/**
 * A vendor of models. `stream` yields events in order and ends after `message_end`. It throws a
 * BotError: context_overflow, model_rate_limited (retryAfterMs), overloaded, refused, auth_failed,
 * quota_exhausted, model_unknown, bad_request, connection_lost; the signal's reason when aborted. It
 * never retries.
 */
export interface ChatProvider {
  readonly name: string;
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatStreamEvent>;
}
