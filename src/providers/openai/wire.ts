/** The raw events of the Responses API, as far as we read them. */

import { z } from 'zod';
import type { Usage } from '../../messages/usage.ts';

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
  summary: z.array(z.looseObject({ text })).nullish().catch(null),
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
export const eventSchema = z.looseObject({
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
      output: z.array(itemSchema).nullish().catch(null),
    })
    .optional(),
});
export type WireEvent = z.infer<typeof eventSchema>;
export type WireItem = z.infer<typeof itemSchema>;

/** The texts of a list of parts under a name, as far as there are any. */
export function textsUnder(parts: unknown, name: string): readonly string[] {
  return partsSchema.parse(parts).flatMap((part) => {
    const value = part[name];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
}

const partsSchema = z.array(z.looseObject({})).catch([]);

export function usageOf(usage: z.infer<typeof usageSchema>): Usage {
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
