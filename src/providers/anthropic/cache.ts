/**
 * Cache marks, of which the API takes four. Three are used: one behind tools and system prompt, which
 * other conversations share; one that the API puts on the last block by itself and moves along; and,
 * after a step that added so many blocks that the look-back from the end would not reach it, one where
 * the request before ended. Marks are no part of what is cached.
 */

import type Anthropic from '@anthropic-ai/sdk';

/** A message as we write it: always a list of blocks. */
export interface BlockMessage {
  readonly role: 'user' | 'assistant';
  readonly content: Anthropic.ContentBlockParam[];
}
type Marked = Pick<
  Anthropic.MessageCreateParams,
  'cache_control' | 'system' | 'tools' | 'messages'
>;

/** From a mark the API looks back over this many blocks for an earlier one (prompt-caching guide). */
const mostLookBackBlocks = 20;

const mark: Anthropic.CacheControlEphemeral = { type: 'ephemeral' };

/** The same fields with marks. */
export function withCacheMarks(fields: {
  readonly system?: string;
  readonly tools?: readonly Anthropic.ToolUnion[];
  readonly messages: readonly BlockMessage[];
}): Marked {
  const { system, tools, messages } = fields;
  return {
    cache_control: mark,
    // Tools come before the system prompt: a mark on the one is behind the other too.
    ...(system === undefined
      ? {}
      : { system: [{ type: 'text', text: system, cache_control: mark }] }),
    ...(tools === undefined
      ? {}
      : { tools: system === undefined ? markedLast(tools) : [...tools] }),
    messages: withMiddleMark(messages),
  };
}

function markedLast(tools: readonly Anthropic.ToolUnion[]): Anthropic.ToolUnion[] {
  return tools.map((tool, place) =>
    place === tools.length - 1 ? { ...tool, cache_control: mark } : tool,
  );
}

function withMiddleMark(messages: readonly BlockMessage[]): BlockMessage[] {
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  const added = messages.slice(answer).reduce((sum, { content }) => sum + content.length, 0);
  if (answer < 1 || added < mostLookBackBlocks) return [...messages];
  return messages.map((message, place) =>
    place === answer - 1 ? { ...message, content: markedEnd(message.content) } : message,
  );
}

function markedEnd(content: BlockMessage['content']): BlockMessage['content'] {
  return content.map((block, place) =>
    place === content.length - 1 ? { ...block, cache_control: mark } : block,
  );
}
