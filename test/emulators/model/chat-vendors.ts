/**
 * What each Chat Completions vendor refuses beyond what all of them do. The vendor is the first word
 * of the path: `/deepseek/chat/completions`.
 */

import { type JsonObject, objectOf, objectsOf, stringOf } from './wire.ts';

export interface ChatVendor {
  /** Fields of the body; any other is refused. */
  readonly fields: readonly string[];
  readonly systemRoles: readonly string[];
  objection(body: JsonObject, messages: readonly JsonObject[]): string | undefined;
}

const common = ['model', 'messages', 'tools', 'tool_choice', 'stream', 'stream_options'];
const vendor = (
  fields: readonly string[],
  objection: ChatVendor['objection'],
  systemRoles: readonly string[] = ['system'],
): ChatVendor => ({ fields: [...common, ...fields], objection, systemRoles });

const plain = vendor(
  ['max_tokens', 'max_completion_tokens', 'temperature', 'reasoning_effort'],
  () => undefined,
);

const vendors: Readonly<Record<string, ChatVendor>> = {
  deepseek: vendor(['max_tokens', 'thinking', 'reasoning_effort'], (body, messages) => {
    const isOff = objectOf(body['thinking'])['type'] === 'disabled';
    if (isOff && 'reasoning_effort' in body) {
      return 'thinking options type cannot be disabled when reasoning_effort is set';
    }
    const isBare = ({ role, ...rest }: JsonObject): boolean =>
      role === 'assistant' && typeof rest['reasoning_content'] !== 'string';
    return !isOff && messages.some(isBare)
      ? 'The `reasoning_content` in the thinking mode must be passed back to the API.'
      : undefined;
  }),
  xai: vendor(['max_tokens', 'reasoning_effort'], ({ model, reasoning_effort: effort }) => {
    if (effort === undefined) return undefined;
    return /^grok-4\.20/u.test(stringOf(model)) ||
      !/^(?:low|medium|x?high)$/u.test(stringOf(effort))
      ? `Argument not supported on this model: reasoning_effort`
      : undefined;
  }),
  qwen: vendor(
    ['max_tokens', 'enable_thinking', 'thinking_budget', 'reasoning_effort', 'enable_search'],
    (body) =>
      'thinking_budget' in body && body['enable_thinking'] !== true
        ? 'parameter.thinking_budget needs enable_thinking'
        : undefined,
  ),
  glm: vendor(
    ['max_tokens', 'thinking', 'reasoning_effort', 'tool_stream'],
    ({ model, thinking }) =>
      model === 'glm-5.3' && objectOf(thinking)['type'] === 'disabled'
        ? 'thinking.type disabled is not supported by this model'
        : undefined,
  ),
  mistral: vendor(['max_tokens', 'reasoning_effort'], (body, messages) => {
    const effort = body['reasoning_effort'];
    if (effort !== undefined && effort !== 'none' && effort !== 'high') return 'Invalid effort.';
    for (const [place, { role, tool_calls: calls }] of messages.entries()) {
      if (role === 'user' && messages[place - 1]?.['role'] === 'tool') {
        return "Unexpected role 'user' after role 'tool'";
      }
      const odd = objectsOf(calls).find(({ id }) => !/^[A-Za-z0-9]{9}$/u.test(stringOf(id)));
      if (odd !== undefined) {
        return `Tool call id was ${stringOf(odd['id'])} but must be a-z, A-Z, 0-9, with a length of 9.`;
      }
    }
    return undefined;
  }),
  openrouter: vendor(['max_tokens', 'reasoning', 'verbosity'], (body) => {
    const reasoning = objectOf(body['reasoning']);
    return 'effort' in reasoning && 'max_tokens' in reasoning
      ? 'Only one of "reasoning.effort" and "reasoning.max_tokens" may be specified'
      : undefined;
  }),
  openai: vendor(
    ['max_completion_tokens', 'reasoning_effort', 'verbosity', 'prompt_cache_key'],
    ({ model, tools, reasoning_effort: effort }) =>
      /^gpt-6/u.test(stringOf(model)) && tools !== undefined && effort !== 'none'
        ? `Function tools with reasoning_effort are not supported for ${stringOf(model)} in /v1/chat/completions.`
        : undefined,
    ['system', 'developer'],
  ),
  /** A proxy in front of vendors that want each called tool declared. */
  proxy: vendor(['max_tokens'], ({ tools }, messages) =>
    tools === undefined && messages.some((message) => objectsOf(message['tool_calls']).length > 0)
      ? 'tools must be declared when the messages have tool calls'
      : undefined,
  ),
  ollama: vendor(['max_tokens', 'reasoning_effort'], () => undefined),
  vllm: vendor(['max_tokens', 'chat_template_kwargs'], (_body, messages) =>
    messages.some(({ content }) => content === null)
      ? 'content: the chat template cannot render null'
      : undefined,
  ),
};

/** Whose rules hold for a request to this path; at `/v1/…` those that all have in common. */
export function chatVendorAt(path: string): ChatVendor {
  return vendors[path.split('/')[1] ?? ''] ?? plain;
}
