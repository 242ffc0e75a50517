/** What Chat Completions servers refuse, and what helps. The first that fits counts. */

import { type Adaptation, dueWhen, dueWhile, ofMessages } from '../adaptation.ts';
import { openaiRefusals } from '../openai/refusals.ts';
import { noReasoning } from '../stale-thoughts.ts';

/**
 * Where the Responses API stands beside: "Function tools with reasoning_effort are not supported …
 * in /v1/chat/completions. Use /v1/responses instead."
 */
const useResponses = dueWhen(
  'use_responses',
  /function tools with reasoning_effort are not supported|supported in \/?v1\/responses/iu,
);

export const chatAdaptations: readonly Adaptation[] = [
  dueWhen(
    'swap_limit',
    /max_(?:completion_)?tokens.{0,40}(?:unsupported|not supported)|unsupported.{0,40}max_(?:completion_)?tokens/iu,
  ),
  dueWhen('no_stream_options', /stream_options/u),
  // OpenAI: "Function tools with reasoning_effort are not supported … in /v1/chat/completions."
  dueWhen('no_effort_with_tools', /function tools with reasoning_effort are not supported/iu),
  // DeepSeek: "The reasoning_content in the thinking mode must be passed back to the API."
  ofMessages(dueWhen('always_reasoning', /reasoning_content.{0,60}must be passed back/iu)),
  // "property 'messages.2.reasoning_content' is unsupported": some take no thoughts back.
  ofMessages(
    dueWhen(
      noReasoning,
      /messages\S{0,20}reasoning\S*.{0,40}(?:unsupported|not supported|not permitted|unknown|unrecognized)/iu,
    ),
  ),
  // Mistral: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9."
  ofMessages(dueWhen('nine_char_ids', /tool call id.{0,120}length of 9/iu)),
  // Mistral: "Unexpected role 'user' after role 'tool'."
  ofMessages(dueWhen('answer_after_tools', /unexpected role \W?user\W? after role \W?tool/iu)),
  ofMessages(
    dueWhen(
      'system_role',
      /\bdeveloper\b.{0,60}(?:role|not|unknown|unsupported)|role.{0,40}developer/iu,
    ),
  ),
  ofMessages(
    dueWhen('null_content', /content.{0,40}(?:must not be empty|cannot be empty|empty string)/iu),
  ),
  ofMessages(dueWhen('empty_content', /content.{0,60}(?:null|none|must be a string|required)/iu)),
  dueWhen('no_tool_fields', /tool_stream/u),
  dueWhen('no_cache_key', /prompt_cache_key/u),
  dueWhen('no_search', /enable_search|web_search/u),
  dueWhen(
    'no_thinking',
    /^(?:thinking|reasoning)$|reasoning_effort|enable_thinking|thinking_budget|chat_template_kwargs|clear_thinking|(?:thinking|reasoning)\b.{0,40}(?:unsupported|not support|unrecognized|unknown|mandatory|cannot be disabled)|(?:unsupported|unrecognized|unknown).{0,40}\b(?:thinking|reasoning)\b/iu,
  ),
];

/** Is the model asked by the Responses API, from what was learned? */
export function usesResponses(learned: ReadonlySet<string>): boolean {
  return learned.has('use_responses');
}

/** Where the Responses API stands beside: what helps by the one has no meaning by the other. */
export const eitherAdaptations: readonly Adaptation[] = [
  useResponses,
  ...chatAdaptations.map((one) => dueWhile((learned) => !usesResponses(learned), one)),
  ...openaiRefusals.map((one) => dueWhile(usesResponses, one)),
];
