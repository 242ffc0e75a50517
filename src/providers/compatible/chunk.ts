/** The shape of a Chat Completions chunk, read leniently: every field may be absent, null or odd. */

import { z } from 'zod';
import type { Citation } from '../../messages/chat.ts';
import { createWireReader } from '../wire-reader.ts';
import type { CallPiece } from './call-assembler.ts';

const text = z.string().nullish().catch(null);
const count = z.number().nullish().catch(null);

const usageSchema = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  /** OpenRouter: US dollars. */
  cost: count,
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
const functionSchema = z
  .looseObject({ name: text, arguments: z.unknown().optional() })
  .nullish()
  .catch(null);
const callSchema = z.looseObject({ index: count, id: text, function: functionSchema });

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

/** Sources as OpenAI and OpenRouter name them. */
const annotationsSchema = z
  .array(
    z.looseObject({
      url_citation: z.looseObject({ url: text, title: text }).nullish().catch(null),
    }),
  )
  .nullish()
  .catch(null);

const deltaSchema = z.looseObject({
  content: z.unknown().optional(),
  refusal: text,
  reasoning: text,
  reasoning_content: text,
  reasoning_details: z.array(z.looseObject({})).nullish().catch(null),
  tool_calls: z.array(callSchema).nullish().catch(null),
  /** The one call of servers that speak the format of 2023. */
  function_call: functionSchema,
  annotations: annotationsSchema,
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
  /** Z.ai's search results. */
  web_search: z
    .array(z.looseObject({ link: text, title: text }))
    .nullish()
    .catch(null),
});
type WireChunk = z.infer<typeof chunkSchema>;
export type WireDelta = z.infer<typeof deltaSchema>;

/** Content as a text, or as parts of type text and thinking (Mistral); other parts are left out. */
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

/** Sources that a chunk names. */
export function citationsIn(chunk: WireChunk, delta: WireDelta | undefined): readonly Citation[] {
  const annotated = (delta?.annotations ?? []).map(({ url_citation: source }) => source);
  const found = (chunk.web_search ?? []).map(({ link, title }) => ({ url: link, title }));
  return [...annotated, ...found].flatMap((source) =>
    source?.url ? [{ url: source.url, title: source.title || source.url }] : [],
  );
}

/** The chunk, or undefined when it is no object. */
export const parseChunk = createWireReader(chunkSchema);

const noPieces: readonly CallPiece[] = [];

/** The tool call pieces of a delta; empty texts count as absent. */
export function callPieces(delta: WireDelta): readonly CallPiece[] {
  const { tool_calls: calls, function_call: legacy } = delta;
  if (!calls || calls.length === 0) return legacy ? [functionPiece(legacy)] : noPieces;
  return calls.map((call) => ({
    ...functionPiece(call.function),
    ...(typeof call.index === 'number' ? { index: call.index } : {}),
    ...(call.id ? { id: call.id } : {}),
  }));
}

function functionPiece(called: z.infer<typeof functionSchema>): CallPiece {
  return {
    json: argumentsOf(called?.arguments),
    ...(called?.name ? { name: called.name } : {}),
  };
}
