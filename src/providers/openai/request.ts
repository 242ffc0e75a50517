/** ChatRequest → OpenAI Responses request. Nothing is stored at OpenAI; reasoning travels sealed. */

import { createHash } from 'node:crypto';
import type OpenAI from 'openai';
import type { ChatRequest } from '../../messages/chat.ts';
import type { AssistantPart, Origin, Raw, ToolResult, UserPart } from '../../messages/parts.ts';
import { fitMedia } from '../media.ts';
import { documentText, fileText, normaliseMessages, resultText, type Turn } from '../normalise.ts';
import { fieldsOf, textField } from '../raw.ts';
import { fitSchema } from '../schema.ts';

type Params = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem;

const reasons = /^(?:gpt-(?:[5-9]|\d\d)|o\d)/u;
/** OpenAI's limit for prompt_cache_key. */
const mostCacheKeyChars = 64;

/** `learned` names what this server refused before (see the provider's adaptations). */
export function openaiRequest(
  request: ChatRequest,
  origin: Origin,
  learned: ReadonlySet<string>,
): Params {
  const withReasoning = !learned.has('no_reasoning');
  const turns = normaliseMessages(fitMedia(request, learned), { origin, isContent, withReasoning });
  const isReasoning = reasons.test(request.model);
  return {
    model: request.model,
    stream: true,
    store: false,
    input: turns.flatMap((turn) => itemsOf(turn, isReasoning)),
    max_output_tokens: request.mostOutputTokens,
    ...(request.system === '' ? {} : { instructions: request.system }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolOf) }),
    ...(learned.has('no_cache_key') ? {} : { prompt_cache_key: cacheKeyOf(request.cacheKey) }),
    ...(isReasoning && !learned.has('no_include')
      ? { include: ['reasoning.encrypted_content'] }
      : {}),
    ...(isReasoning && !learned.has('no_summary') ? { reasoning: { summary: 'auto' } } : {}),
  };
}

/** Other items than thoughts (a provider's own tools) are content. */
function isContent(raw: Raw): boolean {
  return textField(raw, 'type') !== 'reasoning';
}

function cacheKeyOf(key: string): string {
  if (key.length <= mostCacheKeyChars) return key;
  return createHash('sha256').update(key).digest('hex');
}

function toolOf(tool: ChatRequest['tools'][number]): OpenAI.Responses.FunctionTool {
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: fitSchema(tool.inputSchema, 'plain'),
    strict: false,
  };
}

function itemsOf(turn: Turn, isReasoning: boolean): Item[] {
  if (turn.role === 'assistant') return assistantItems(turn.parts, isReasoning);
  const results = turn.results.map(resultItem);
  if (turn.parts.length === 0) return results;
  return [...results, { role: 'user', content: turn.parts.map(contentOf) }];
}

/**
 * A model that reasons takes items under their ids only behind the thought they came with; without
 * it texts and calls go without an id, and items that are nothing but their id stay behind.
 */
function assistantItems(parts: readonly AssistantPart[], isReasoning: boolean): Item[] {
  let hasIds = !isReasoning;
  return parts.flatMap((part): Item[] => {
    switch (part.kind) {
      case 'text':
        return part.text === '' ? [] : [messageItem(part.text, part.raw, hasIds)];
      case 'tool_call':
        return [callItem(part, hasIds)];
      case 'reasoning':
      case 'raw': {
        if (part.raw === undefined) return [];
        if (!isContent(part.raw)) hasIds = true;
        // The vendor's own item, kept from the same server and model: its shape is theirs to know.
        return hasIds ? [fieldsOf(part.raw) as unknown as Item] : [];
      }
    }
  });
}

function messageItem(text: string, raw: Raw | undefined, hasIds: boolean): Item {
  const id = textField(raw, 'id');
  const phase = phaseOf(raw);
  if (id === undefined || !hasIds) return { role: 'assistant', content: text, ...phase };
  return {
    type: 'message',
    role: 'assistant',
    id,
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
    ...phase,
  };
}

function phaseOf(raw: Raw | undefined): { phase?: 'commentary' | 'final_answer' } {
  const phase = textField(raw, 'phase');
  return phase === 'commentary' || phase === 'final_answer' ? { phase } : {};
}

function callItem(part: Extract<AssistantPart, { kind: 'tool_call' }>, hasIds: boolean): Item {
  const id = hasIds ? textField(part.raw, 'id') : undefined;
  return {
    type: 'function_call',
    call_id: part.callId,
    name: part.name,
    // Kept as it was written when writing it anew would change its bytes, and with them the cache.
    arguments: textField(part.raw, 'arguments') ?? JSON.stringify(part.input),
    ...(id === undefined ? {} : { id }),
  };
}

function resultItem(result: ToolResult): Item {
  const text = resultText(result);
  const images = result.parts.flatMap((part) => (part.kind === 'image' ? [part] : []));
  return {
    type: 'function_call_output',
    call_id: result.callId,
    output:
      images.length === 0 ? text : [{ type: 'input_text', text }, ...images.map(imageContent)],
  };
}

function contentOf(part: UserPart): OpenAI.Responses.ResponseInputContent {
  switch (part.kind) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return imageContent(part);
    case 'document':
      return { type: 'input_text', text: documentText(part) };
    case 'file':
      return { type: 'input_text', text: fileText(part) };
  }
}

function imageContent(part: {
  readonly mediaType: string;
  readonly base64: string;
}): OpenAI.Responses.ResponseInputImage {
  return {
    type: 'input_image',
    detail: 'auto',
    image_url: `data:${part.mediaType};base64,${part.base64}`,
  };
}
