/** Turns → Chat Completions messages, by the rules of the server spoken to. */

import type OpenAI from 'openai';
import type {
  AssistantPart,
  DocumentPart,
  ImagePart,
  Raw,
  UserPart,
} from '../../messages/parts.ts';
import { fileText, resultText, type Turn } from '../normalise.ts';
import { textField } from '../raw.ts';
import { detailsOf } from './reasoning-details.ts';

export type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Content = OpenAI.Chat.ChatCompletionContentPart;
type AssistantMessage = OpenAI.Chat.ChatCompletionAssistantMessageParam;

export interface MessageRules {
  readonly emptyContent: null | '';
  /** Every assistant message carries its thoughts, if only as an empty text. */
  readonly alwaysReasoning: boolean;
  readonly answersTools: boolean;
}

/** What stands between results and a person's message where the server wants an answer there. */
const betweenText = 'Understood.';

export function messagesOf(turn: Turn, rules: MessageRules): readonly Message[] {
  if (turn.role === 'assistant') return [assistantMessage(turn.parts, rules)];
  const results = turn.results.map((result): Message => {
    return { role: 'tool', tool_call_id: result.callId, content: resultText(result) };
  });
  // Tool messages hold text only: their images and files follow in a person's message.
  const beside = turn.results.flatMap(({ name, parts }) => {
    const found = parts.flatMap((part): Content[] => {
      if (part.kind === 'image') return [imageContent(part)];
      return part.kind === 'document' ? [fileContent(part)] : [];
    });
    return found.length === 0
      ? []
      : [{ type: 'text', text: `Images from ${name}:` } as const, ...found];
  });
  const content = [...beside, ...turn.parts.map(contentOf)];
  if (content.length === 0) return results;
  const between: Message[] =
    rules.answersTools && results.length > 0 ? [{ role: 'assistant', content: betweenText }] : [];
  return [...results, ...between, { role: 'user', content: flatten(content) }];
}

/** One text where there is nothing but text: small servers take no parts. */
function flatten(content: readonly Content[]): string | Content[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === content.length ? texts.join('\n\n') : [...content];
}

function assistantMessage(parts: readonly AssistantPart[], rules: MessageRules): Message {
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
  const message: AssistantMessage & Record<string, unknown> = {
    role: 'assistant',
    content: text === '' ? rules.emptyContent : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return Object.assign(message, reasoningFields(parts, rules), thinkingContent(parts, text));
}

/** Thoughts go back under the name they came under. */
function reasoningFields(
  parts: readonly AssistantPart[],
  rules: MessageRules,
): Record<string, unknown> {
  const fields: Record<string, unknown> = rules.alwaysReasoning ? { reasoning_content: '' } : {};
  for (const part of parts) {
    if (part.kind !== 'reasoning') continue;
    const field = fieldOf(part.raw);
    if (field !== undefined) {
      const before = fields[field];
      fields[field] = (typeof before === 'string' ? before : '') + part.text;
    }
  }
  const details = detailsOf(parts);
  return details.length === 0 ? fields : { ...fields, reasoning_details: details };
}

function fieldOf(raw: Raw | undefined): string | undefined {
  const field = textField(raw, 'field');
  return field === 'reasoning' || field === 'reasoning_content' ? field : undefined;
}

/** Thoughts that came as parts of the content (Mistral) go back as such. */
function thinkingContent(parts: readonly AssistantPart[], text: string): Record<string, unknown> {
  const thoughts = parts.flatMap((part) =>
    part.kind === 'reasoning' && textField(part.raw, 'field') === 'thinking'
      ? [{ type: 'thinking', thinking: [{ type: 'text', text: part.text }] }]
      : [],
  );
  if (thoughts.length === 0) return {};
  return { content: text === '' ? thoughts : [...thoughts, { type: 'text', text }] };
}

function contentOf(part: UserPart): Content {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return imageContent(part);
    case 'document':
      return fileContent(part);
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

function fileContent(part: DocumentPart): Content {
  return {
    type: 'file',
    file: { filename: part.name, file_data: `data:${part.mediaType};base64,${part.base64}` },
  };
}
