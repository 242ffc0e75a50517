/**
 * What a model server is told to answer: one vocabulary for all wire formats, so that the same
 * conversation can be played on each of them.
 */

import type { Usage } from '../../../src/messages/usage.ts';

/** One piece of a streamed message, in order. */
export type AnswerPiece =
  /** Text, in one or several deltas. */
  | { readonly kind: 'text'; readonly text: string | readonly string[] }
  | { readonly kind: 'reasoning'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      /** The arguments as they are written, where that is not the input's JSON. */
      readonly json?: string;
    }
  /** Sent by wires whose models make images (Gemini). */
  | { readonly kind: 'image'; readonly mediaType: string; readonly base64: string }
  /** Nothing is sent until it resolves. */
  | { readonly kind: 'wait'; readonly until: Promise<void> }
  | { readonly kind: 'ping' }
  /** An error inside the stream, after which it ends. */
  | { readonly kind: 'error'; readonly type: string; readonly message: string }
  /** The socket is destroyed. */
  | { readonly kind: 'cut' }
  /** The body ends in order, but the terminal event is missing. */
  | { readonly kind: 'end' };

export type ScriptStop = 'end' | 'tool_calls' | 'output_limit' | 'refused';

export interface MessageAnswer {
  readonly kind: 'message';
  readonly pieces: readonly AnswerPiece[];
  /** Default: `tool_calls` when there are calls, else `end`. */
  readonly stop?: ScriptStop;
  readonly usage?: Partial<Usage>;
  readonly bytes?: ByteControl;
}

/** Events as they stand, framed for the wire but not made by it. */
export interface EventsAnswer {
  readonly kind: 'events';
  readonly events: readonly unknown[];
  /** Chat Completions: `[DONE]` at the end. Default true. */
  readonly doneMark?: boolean;
  readonly bytes?: ByteControl;
}

/** A refusal, or any other answer that is no stream. */
export interface StatusAnswer {
  readonly kind: 'status';
  readonly status: number;
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
  readonly param?: string;
  readonly details?: readonly unknown[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent instead of the wire's own error body. */
  readonly body?: string;
  readonly contentType?: string;
}

/** No headers come before it resolves; then the connection is closed. */
interface HangAnswer {
  readonly kind: 'hang';
  readonly until: Promise<void>;
}

export type Answer = MessageAnswer | EventsAnswer | StatusAnswer | HangAnswer;

export interface ByteControl {
  /** Offsets in each event at which it is cut into separate writes; `each`: between all bytes. */
  readonly cutAt?: readonly number[] | 'each';
  /** End of line in the stream. */
  readonly lineEnd?: '\n' | '\r\n';
}

export const scriptUsage: Usage = {
  input: 100,
  cacheRead: 20,
  cacheWrite: 0,
  output: 30,
  reasoning: 5,
};

export function usageOfAnswer(answer: MessageAnswer): Usage {
  return { ...scriptUsage, ...answer.usage };
}

export function stopOfAnswer(answer: MessageAnswer): ScriptStop {
  const hasCalls = answer.pieces.some((piece) => piece.kind === 'call');
  return answer.stop ?? (hasCalls ? 'tool_calls' : 'end');
}

/** A message of text alone. */
export function say(...text: readonly string[]): MessageAnswer {
  return { kind: 'message', pieces: [{ kind: 'text', text }] };
}

export function message(...pieces: readonly AnswerPiece[]): MessageAnswer {
  return { kind: 'message', pieces };
}

export function call(
  id: string,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
): AnswerPiece {
  return { kind: 'call', id, name, input };
}

/** The deltas of a text piece. */
export function textsOf(piece: { readonly text: string | readonly string[] }): readonly string[] {
  return typeof piece.text === 'string' ? [piece.text] : piece.text;
}

/** Arguments as a model writes them, in two pieces where there is enough. */
export function jsonPieces(piece: Extract<AnswerPiece, { kind: 'call' }>): readonly string[] {
  const json = piece.json ?? JSON.stringify(piece.input);
  const middle = Math.ceil(json.length / 2);
  return [json.slice(0, middle), json.slice(middle)].filter((part) => part !== '');
}
