/** The raw events of Anthropic Messages, as far as we read them, and what their words mean to us. */

import { z } from 'zod';
import type { StopReason } from '../../messages/chat.ts';
import type { Usage } from '../../messages/usage.ts';

const count = z.number().nullish().catch(null);
const usageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens_details: z.looseObject({ thinking_tokens: count }).nullish().catch(null),
});
export type WireUsage = z.infer<typeof usageSchema>;

const text = z.string().nullish().catch(null);
/** Only the type is read here, so that a block can be kept exactly as it came. */
const blockSchema = z.looseObject({ type: z.string() });
export type WireBlock = z.infer<typeof blockSchema>;

const citationSchema = z.looseObject({ url: text, title: text });
export type WireCitation = z.infer<typeof citationSchema>;
export const citationsSchema = z.array(citationSchema).catch([]);

export const eventSchema = z.looseObject({
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
      stop_details: z.looseObject({ category: text }).nullish().catch(null),
      citation: citationSchema.nullish().catch(null),
    })
    .optional(),
  usage: usageSchema.nullish(),
});
export type WireEvent = z.infer<typeof eventSchema>;

/** A text field of a block, or an empty text. */
export function fieldOf(block: WireBlock, name: string): string {
  const value = block[name];
  return typeof value === 'string' ? value : '';
}

export function usageOf(usage: WireUsage): Usage {
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

export function stopOf(reason: string): StopReason {
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
