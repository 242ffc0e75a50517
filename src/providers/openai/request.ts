/** ChatRequest → OpenAI Responses request. Nothing is stored at OpenAI; reasoning travels sealed. */

import { createHash } from 'node:crypto';
import type OpenAI from 'openai';
import type { ChatRequest } from '../../messages/chat.ts';
import type {
  AssistantPart,
  DocumentPart,
  Origin,
  Raw,
  ResultPart,
  ToolResult,
  UserPart,
} from '../../messages/parts.ts';
import { isBareTool } from '../bare-schemas.ts';
import { askedEffort } from '../budgets.ts';
import { knownRequest } from '../known-request.ts';
import { fitMedia } from '../media.ts';
import { fileText, normaliseMessages, resultText, type SentPart, type Turn } from '../normalise.ts';
import { fieldsOf, textField } from '../raw.ts';
import { fitSchema } from '../schema.ts';
import { thoughtsFrom } from '../stale-thoughts.ts';

type Params = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem;

/** OpenAI's limit for prompt_cache_key. */
const mostCacheKeyChars = 64;

/** `learned` names what this server refused before (see refusals.ts). */
export function openaiRequest(
  given: ChatRequest,
  origin: Origin,
  learned: ReadonlySet<string>,
): Params {
  const request = knownRequest(given, learned);
  const { abilities, reasoning } = request;
  const turns = normaliseMessages(fitMedia(request, learned), {
    origin,
    isContent,
    thoughtsFrom: thoughtsFrom(request.messages, learned),
  });
  const isReasoning = abilities.thinking.length > 0;
  const tools = toolsOf(request, learned);
  const isCached = reasoning.caching !== false && !learned.has('no_cache_key');
  return {
    model: request.model,
    stream: true,
    store: false,
    input: turns.flatMap((turn) => itemsOf(turn, isReasoning)),
    max_output_tokens: request.mostOutputTokens,
    ...(request.system === '' ? {} : { instructions: request.system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(isCached ? { prompt_cache_key: cacheKeyOf(request.cacheKey) } : {}),
    ...(isReasoning && !learned.has('no_include')
      ? { include: ['reasoning.encrypted_content'] }
      : {}),
    ...reasoningField(request, learned),
    ...(abilities.verbosity && reasoning.verbosity !== undefined && !learned.has('no_verbosity')
      ? { text: { verbosity: reasoning.verbosity } }
      : {}),
  };
}

/** Summaries are asked for, or people see nothing of the thoughts; not where nothing is thought. */
function reasoningField(
  request: ChatRequest,
  learned: ReadonlySet<string>,
): { readonly reasoning?: NonNullable<Params['reasoning']> } {
  const { abilities, reasoning } = request;
  const takesEffort = abilities.thinking.includes('effort') && !learned.has('no_effort');
  const effort = takesEffort ? askedEffort(request) : undefined;
  const hasSummary = abilities.summary && effort !== 'none' && !learned.has('no_summary');
  const summary = reasoning.summary ?? 'auto';
  const field = {
    ...(effort === undefined ? {} : { effort }),
    ...(hasSummary && summary !== 'none' ? { summary } : {}),
  };
  return Object.keys(field).length === 0 ? {} : { reasoning: field };
}

/** Other items than thoughts (a provider's own tools) are content. */
function isContent(raw: Raw): boolean {
  return textField(raw, 'type') !== 'reasoning';
}

function cacheKeyOf(key: string): string {
  if (key.length <= mostCacheKeyChars) return key;
  return createHash('sha256').update(key).digest('hex');
}

/** Ours, and the vendor's own search where it is wished and possible. */
function toolsOf(request: ChatRequest, learned: ReadonlySet<string>): OpenAI.Responses.Tool[] {
  const own = request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    parameters: isBareTool(learned, name) ? { type: 'object' } : fitSchema(inputSchema, 'plain'),
    strict: false,
  }));
  const canSearch = request.abilities.webSearch && !learned.has('no_web_search');
  const isTaken = own.some(({ name }) => name === 'web_search');
  return request.webSearch && canSearch && !isTaken ? [...own, { type: 'web_search' }] : own;
}

function itemsOf(turn: Turn, isReasoning: boolean): Item[] {
  if (turn.role === 'assistant') return assistantItems(turn.parts, isReasoning);
  const results = turn.results.map(resultItem);
  if (turn.parts.length === 0) return results;
  const content = turn.parts.map(contentOf);
  return [...results, { role: 'user', content }];
}

/**
 * Items are taken under their ids only behind the thought they came with; without it texts and calls
 * go without an id. Items that are nothing but their id (searches) stay behind then, unless the
 * model never thinks.
 */
function assistantItems(parts: readonly SentPart[], isReasoning: boolean): Item[] {
  let hasIds = false;
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
        return hasIds || !isReasoning ? [fieldsOf(part.raw) as unknown as Item] : [];
      }
    }
  });
}

function messageItem(text: string, raw: Raw | undefined, hasIds: boolean): Item {
  const { id, content } = fieldsOf(raw);
  const phase = phaseOf(raw);
  if (typeof id !== 'string' || !hasIds) return { role: 'assistant', content: text, ...phase };
  const plain = [{ type: 'output_text', text, annotations: [] }];
  return {
    type: 'message',
    role: 'assistant',
    id,
    status: 'completed',
    // With its annotations, where it had any.
    content: (Array.isArray(content) ? content : plain) as OpenAI.Responses.ResponseOutputText[],
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
  const media = result.parts.flatMap(mediaOf);
  return {
    type: 'function_call_output',
    call_id: result.callId,
    output: media.length === 0 ? text : [{ type: 'input_text', text }, ...media],
  };
}

type Content =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

/** What a result shows; its texts are in the result's own. */
function mediaOf(part: ResultPart): Content[] {
  return part.kind === 'text' ? [] : [contentOf(part)];
}

function contentOf(part: UserPart): Content {
  switch (part.kind) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return {
        type: 'input_image',
        detail: 'auto',
        image_url: `data:${part.mediaType};base64,${part.base64}`,
      };
    case 'document':
      return fileContent(part);
    case 'file':
      return { type: 'input_text', text: fileText(part) };
  }
}

function fileContent({ name, mediaType, base64 }: DocumentPart): Content {
  return {
    type: 'input_file',
    filename: name,
    file_data: `data:${mediaType};base64,${base64}`,
  };
}
