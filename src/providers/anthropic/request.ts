/** ChatRequest → Anthropic Messages request (version 2026-10-21: no temperature, no prefill). */

import type Anthropic from '@anthropic-ai/sdk';
import type { ChatRequest } from '../../messages/chat.ts';
import type { DocumentPart, Origin, Raw, ToolResult, UserPart } from '../../messages/parts.ts';
import { isBareTool } from '../bare-schemas.ts';
import { formerTools } from '../former-tools.ts';
import { knownRequest } from '../known-request.ts';
import { fitMedia } from '../media.ts';
import { fileText, normaliseMessages, resultText, type SentPart, type Turn } from '../normalise.ts';
import { fieldsOf, textField } from '../raw.ts';
import { fitSchema } from '../schema.ts';
import { thoughtsFrom } from '../stale-thoughts.ts';
import { type BlockMessage, withCacheMarks } from './cache.ts';
import { searchTools, withPairedServerTools } from './server-tools.ts';
import { thinkingFields } from './thinking.ts';

type Params = Anthropic.MessageCreateParamsStreaming;
type Block = Anthropic.ContentBlockParam;
type ImageBlock = Anthropic.ImageBlockParam;
type DocumentBlock = Anthropic.DocumentBlockParam;

/** `learned` names what this server refused before (see refusals.ts). */
export function anthropicRequest(
  given: ChatRequest,
  origin: Origin,
  learned: ReadonlySet<string>,
): Params {
  const request = knownRequest(given, learned);
  const search = searchTools(request, learned);
  const turns = normaliseMessages(
    withPairedServerTools(fitMedia(request, learned), search.length > 0),
    {
      origin,
      isContent,
      isPaused,
      thoughtsFrom: thoughtsFrom(request.messages, learned),
    },
  );
  const former = request.tools.length === 0 ? formerTools(turns) : [];
  const own = [...request.tools, ...former].map((tool) => toolOf(tool, learned));
  const tools = [...own, ...search];
  const fields = {
    ...(request.system === '' ? {} : { system: request.system }),
    ...(tools.length === 0 ? {} : { tools }),
    messages: turns.map(messageOf),
  };
  const isCached = request.reasoning.caching !== false && !learned.has('no_cache_control');
  return {
    model: request.model,
    max_tokens: request.mostOutputTokens,
    stream: true,
    ...(isCached ? withCacheMarks(fields) : fields),
    ...(former.length > 0 && search.length === 0 ? { tool_choice: { type: 'none' } } : {}),
    ...thinkingFields(request, turns, learned),
  };
}

function isContent(raw: Raw): boolean {
  return textField(raw, 'type') !== 'redacted_thinking';
}

/** `pause_turn` ends with a server tool's block and wants exactly the same messages again. */
function isPaused(parts: readonly SentPart[]): boolean {
  const last = parts.at(-1);
  return last?.kind === 'raw' && isContent(last.raw);
}

function toolOf(
  { name, description, inputSchema }: ChatRequest['tools'][number],
  learned: ReadonlySet<string>,
): Anthropic.Tool {
  const schema = isBareTool(learned, name) ? {} : fitSchema(inputSchema, 'plain');
  return { name, description, input_schema: { ...schema, type: 'object' } };
}

function messageOf(turn: Turn): BlockMessage {
  if (turn.role === 'assistant') return { role: 'assistant', content: turn.parts.map(blockOf) };
  // All results of the turn stand together, before anything else.
  return {
    role: 'user',
    content: [
      ...turn.results.map(resultBlock),
      ...turn.results.flatMap(mediaBeside),
      ...turn.parts.map(userBlock),
    ],
  };
}

function blockOf(part: SentPart): Block {
  switch (part.kind) {
    case 'text':
      return textBlock(part.text, part.raw);
    case 'reasoning':
      return {
        type: 'thinking',
        thinking: part.text,
        signature: textField(part.raw, 'signature') ?? '',
      };
    case 'tool_call':
      return { type: 'tool_use', id: part.callId, name: part.name, input: inputOf(part.input) };
    case 'raw':
      // The vendor's own block, kept from the same server and model: its shape is theirs to know.
      return fieldsOf(part.raw) as unknown as Block;
  }
}

/** Citations go back as they came; their index is sealed. */
function textBlock(text: string, raw: Raw | undefined): Block {
  const { citations } = fieldsOf(raw);
  // Likewise the vendor's own; the API checks them.
  return (
    Array.isArray(citations) ? { type: 'text', text, citations } : { type: 'text', text }
  ) as Anthropic.TextBlockParam;
}

/** The API takes objects only. */
function inputOf(input: unknown): unknown {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { input };
}

function userBlock(part: UserPart): Block {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return imageBlock(part);
    case 'document':
      return documentBlock(part);
    case 'file':
      return { type: 'text', text: fileText(part) };
  }
}

type MediaType = Anthropic.Base64ImageSource['media_type'];
const mediaTypes: readonly MediaType[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function imageBlock(part: { readonly mediaType: string; readonly base64: string }): ImageBlock {
  const mediaType = mediaTypes.find((known) => known === part.mediaType) ?? 'image/png';
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: part.base64 } };
}

function documentBlock({ name, mediaType, base64 }: DocumentPart): DocumentBlock {
  return {
    type: 'document',
    title: name,
    source: { type: 'base64', media_type: mediaType, data: base64 },
  };
}

/** What a result shows. */
function mediaOf(result: ToolResult): (ImageBlock | DocumentBlock)[] {
  return result.parts.flatMap((part): (ImageBlock | DocumentBlock)[] => {
    if (part.kind === 'image') return [imageBlock(part)];
    return part.kind === 'document' ? [documentBlock(part)] : [];
  });
}

/** A result with `is_error` may hold text only: what it shows follows the results. */
function mediaBeside(result: ToolResult): Block[] {
  const media = result.outcome === 'ok' ? [] : mediaOf(result);
  return media.length === 0 ? [] : [{ type: 'text', text: `Shown by ${result.name}:` }, ...media];
}

function resultBlock(result: ToolResult): Anthropic.ToolResultBlockParam {
  const media = result.outcome === 'ok' ? mediaOf(result) : [];
  const text = resultText(result);
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    content: media.length === 0 ? text : [{ type: 'text', text }, ...media],
    ...(result.outcome === 'ok' ? {} : { is_error: true }),
  };
}
