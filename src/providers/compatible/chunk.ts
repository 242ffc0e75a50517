/** The shape of a Chat Completions chunk, read leniently: every field may be absent, null or odd. */

import { z } from 'zod';
import { createWireReader } from '../wire-reader.ts';
import type { CallPiece } from './call-assembler.ts';

const text = z.string().nullish().catch(null);
const count = z.number().nullish().catch(null);

const usageSchema = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_cache_hit_tokens: count,
  prompt_tokens_details: z
    .looseObject({ cached_tokens: count, cache_write_tokens: count })
    .nullish()
    .catch(null),
  completion_tokens_details: z.looseObject({ reasoning_tokens: count }).nullish().catch(null),
});
export type WireUsage = z.infer<typeof usageSchema>;

/** Some servers give the object itself. */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value == null ? '' : JSON.stringify(value);
}
const callSchema = z.looseObject({
  index: count,
  id: text,
  function: z.looseObject({ name: text, arguments: z.unknown().optional() }).nullish().catch(null),
});

const thinkingSchema = z
  .union([
    z.string().transform((whole) => [{ text: whole }]),
    z.array(z.looseObject({ text: z.string().optional() })),
  ])
  .catch([]);
const contentPartSchema = z.looseObject({
  type: text,
  text: z.string().optional().catch(undefined),
  thinking: thinkingSchema,
});

const deltaSchema = z.looseObject({
  content: z.unknown().optional(),
  refusal: text,
  reasoning: text,
  reasoning_content: text,
  reasoning_details: z.array(z.looseObject({})).nullish().catch(null),
  tool_calls: z.array(callSchema).nullish().catch(null),
});

const chunkSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: deltaSchema.nullish().catch(null),
        // Some servers answer a stream request with whole messages.
        message: deltaSchema.nullish().catch(null),
        finish_reason: text,
        usage: usageSchema.nullish().catch(null),
      }),
    )
    .nullish()
    .catch(null),
  usage: usageSchema.nullish().catch(null),
});
export type WireDelta = z.infer<typeof deltaSchema>;

/** Content as a text, or as parts of type text and thinking (Mistral). */
export function contentOf({ content }: WireDelta): { text: string; thinking: string } {
  if (typeof content === 'string') return { text: content, thinking: '' };
  const joined = { text: '', thinking: '' };
  if (content == null) return joined;
  for (const part of z.array(contentPartSchema).safeParse(content).data ?? []) {
    if (part.type === 'thinking') {
      joined.thinking += part.thinking.map((piece) => piece.text ?? '').join('');
    } else joined.text += part.text ?? '';
  }
  return joined;
}

/** The chunk, or undefined when it is no object. */
export const parseChunk = createWireReader(chunkSchema);

/** The tool call pieces of a delta; empty texts count as absent. */
export function callPieces(delta: WireDelta): readonly CallPiece[] {
  return (delta.tool_calls ?? []).map((call) => ({
    json: argumentsOf(call.function?.arguments),
    ...(typeof call.index === 'number' ? { index: call.index } : {}),
    ...(call.id ? { id: call.id } : {}),
    ...(call.function?.name ? { name: call.function.name } : {}),
  }));
}
