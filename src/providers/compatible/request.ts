/** ChatRequest → Chat Completions request, in the form that most servers take. */

import type OpenAI from 'openai';
import type { ChatRequest } from '../../messages/chat.ts';
import type { AssistantPart, ImagePart, Origin, Raw, UserPart } from '../../messages/parts.ts';
import { nineCharId } from '../call-ids.ts';
import { fitMedia } from '../media.ts';
import { documentText, fileText, normaliseMessages, resultText, type Turn } from '../normalise.ts';
import { fieldsOf, textField } from '../raw.ts';
import { fitSchema } from '../schema.ts';

type Params = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Content = OpenAI.Chat.ChatCompletionContentPart;

/** What sets one server apart from the others, as data. */
export interface ServerProfile {
  /** `max_completion_tokens` where `max_tokens` is refused. */
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  /** DeepSeek: every assistant message carries its thoughts, if only as an empty text. */
  readonly alwaysReasoning: boolean;
}

/** `learned` names what this server refused before (see the provider's adaptations). */
export function chatRequest(
  request: ChatRequest,
  origin: Origin,
  profile: ServerProfile,
  learned: ReadonlySet<string>,
): Params {
  const turns = normaliseMessages(fitMedia(request, learned), {
    origin,
    isContent: neverContent,
    ...(learned.has('nine_char_ids') ? { fitId: nineCharId } : {}),
  });
  const system: Message[] =
    request.system === '' ? [] : [{ role: 'system', content: request.system }];
  const isSwapped = learned.has('swap_limit');
  const usesCompletion = (profile.limitField === 'max_completion_tokens') !== isSwapped;
  const limit = request.mostOutputTokens;
  return {
    model: request.model,
    stream: true,
    messages: [...system, ...turns.flatMap((turn) => messagesOf(turn, profile, learned))],
    ...(usesCompletion ? { max_completion_tokens: limit } : { max_tokens: limit }),
    ...(learned.has('no_stream_options') ? {} : { stream_options: { include_usage: true } }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolOf) }),
  };
}

const neverContent = (): boolean => false;

function toolOf(tool: ChatRequest['tools'][number]): OpenAI.Chat.ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: fitSchema(tool.inputSchema, 'plain'),
    },
  };
}

function messagesOf(
  turn: Turn,
  profile: ServerProfile,
  learned: ReadonlySet<string>,
): readonly Message[] {
  if (turn.role === 'assistant') return [assistantMessage(turn.parts, profile, learned)];
  const results = turn.results.map(
    (result): Message => ({
      role: 'tool',
      tool_call_id: result.callId,
      content: resultText(result),
    }),
  );
  // Tool messages hold text only: their images follow in a person's message.
  const images = turn.results.flatMap(({ name, parts }) => {
    const found = parts.flatMap((part) => (part.kind === 'image' ? [imageContent(part)] : []));
    return found.length === 0
      ? []
      : [{ type: 'text', text: `Images from ${name}:` } as const, ...found];
  });
  const content = [...images, ...turn.parts.map(contentOf)];
  return content.length === 0 ? results : [...results, { role: 'user', content: flatten(content) }];
}

/** One text where there is nothing but text: small servers take no parts. */
function flatten(content: readonly Content[]): string | Content[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === content.length ? texts.join('\n\n') : [...content];
}

type AssistantMessage = OpenAI.Chat.ChatCompletionAssistantMessageParam;

function assistantMessage(
  parts: readonly AssistantPart[],
  profile: ServerProfile,
  learned: ReadonlySet<string>,
): Message {
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const calls = parts.flatMap((part) =>
    part.kind === 'tool_call'
      ? [
          {
            id: part.callId,
            type: 'function' as const,
            function: { name: part.name, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  );
  const empty = learned.has('empty_content') ? '' : null;
  const message: AssistantMessage & Record<string, unknown> = {
    role: 'assistant',
    content: text === '' ? empty : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return Object.assign(message, reasoningFields(parts, profile));
}

/** Thoughts go back under the name they came under. */
function reasoningFields(
  parts: readonly AssistantPart[],
  profile: ServerProfile,
): Record<string, unknown> {
  const fields: Record<string, unknown> = profile.alwaysReasoning ? { reasoning_content: '' } : {};
  for (const part of parts) {
    if (part.kind !== 'reasoning') continue;
    const field = fieldOf(part.raw);
    if (field !== undefined) {
      const before = fields[field];
      fields[field] = (typeof before === 'string' ? before : '') + part.text;
    }
    const details = fieldsOf(part.raw)['details'];
    if (details !== undefined) fields['reasoning_details'] = details;
  }
  return fields;
}

function fieldOf(raw: Raw | undefined): string | undefined {
  const field = textField(raw, 'field');
  return field === 'reasoning' || field === 'reasoning_content' ? field : undefined;
}

function contentOf(part: UserPart): Content {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return imageContent(part);
    case 'document':
      return { type: 'text', text: documentText(part) };
    case 'file':
      return { type: 'text', text: fileText(part) };
  }
}

function imageContent(part: ImagePart): Content {
  return {
    type: 'image_url',
    image_url: { url: `data:${part.mediaType};base64,${part.base64}` },
  };
}
