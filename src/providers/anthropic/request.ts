/** ChatRequest → Anthropic Messages request (version 2026-10-21: no temperature, no prefill). */

import type Anthropic from '@anthropic-ai/sdk';
import type { ChatRequest } from '../../messages/chat.ts';
import type { AssistantPart, Origin, Raw, ToolResult, UserPart } from '../../messages/parts.ts';
import { fitMedia } from '../media.ts';
import { documentText, fileText, normaliseMessages, resultText, type Turn } from '../normalise.ts';
import { fieldsOf, textField } from '../raw.ts';
import { fitSchema } from '../schema.ts';

type Params = Anthropic.MessageCreateParamsStreaming;
type Block = Anthropic.ContentBlockParam;
type ImageBlock = Anthropic.ImageBlockParam;

/** Generations that think adaptively by default; asking for summaries changes nothing else. */
const thinksByDefault = /^claude-(?:opus|sonnet|haiku|fable|mythos)-5(?:-|$)/u;

/** `learned` names what this server refused before (see the provider's adaptations). */
export function anthropicRequest(
  request: ChatRequest,
  origin: Origin,
  learned: ReadonlySet<string>,
): Params {
  const withReasoning = !learned.has('no_reasoning');
  const turns = normaliseMessages(fitMedia(request, learned), {
    origin,
    isContent,
    isPaused,
    withReasoning,
  });
  const asksSummaries = thinksByDefault.test(request.model) && !learned.has('no_thinking_field');
  return {
    model: request.model,
    max_tokens: request.mostOutputTokens,
    stream: true,
    messages: turns.map(messageOf),
    ...(request.system === '' ? {} : { system: request.system }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolOf) }),
    ...(learned.has('no_cache_control') ? {} : { cache_control: { type: 'ephemeral' } }),
    // Without it these models think behind empty blocks, and people see nothing move.
    ...(asksSummaries ? { thinking: { type: 'adaptive', display: 'summarized' } } : {}),
  };
}

function isContent(raw: Raw): boolean {
  return textField(raw, 'type') !== 'redacted_thinking';
}

/** `pause_turn` ends with a server tool's block and wants exactly the same messages again. */
function isPaused(parts: readonly AssistantPart[]): boolean {
  const last = parts.at(-1);
  return last?.kind === 'raw' && isContent(last.raw);
}

function toolOf(tool: ChatRequest['tools'][number]): Anthropic.Tool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...fitSchema(tool.inputSchema, 'plain'), type: 'object' },
  };
}

function messageOf(turn: Turn): Anthropic.MessageParam {
  if (turn.role === 'assistant') return { role: 'assistant', content: turn.parts.map(blockOf) };
  // All results of the turn stand together, before anything else.
  return {
    role: 'user',
    content: [
      ...turn.results.map(resultBlock),
      ...turn.results.flatMap(imagesBeside),
      ...turn.parts.map(userBlock),
    ],
  };
}

function blockOf(part: AssistantPart): Block {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
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
      return { type: 'text', text: documentText(part) };
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

function imagesOf(result: ToolResult): ImageBlock[] {
  return result.parts.flatMap((part) => (part.kind === 'image' ? [imageBlock(part)] : []));
}

/** A result with `is_error` may hold text only: its images follow the results. */
function imagesBeside(result: ToolResult): Block[] {
  const images = result.outcome === 'ok' ? [] : imagesOf(result);
  return images.length === 0
    ? []
    : [{ type: 'text', text: `Images from ${result.name}:` }, ...images];
}

function resultBlock(result: ToolResult): Anthropic.ToolResultBlockParam {
  const images = result.outcome === 'ok' ? imagesOf(result) : [];
  const text = resultText(result);
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    content: images.length === 0 ? text : [{ type: 'text', text }, ...images],
    ...(result.outcome === 'ok' ? {} : { is_error: true }),
  };
}
