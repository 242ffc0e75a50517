/**
 * The fields at the top of a request that each API knows. For two of them the compiler holds the
 * list to the types of the installed SDK: a field that they gain or lose breaks the build here.
 * Gemini's body has other names than its SDK's parameters; its lists are what the SDK writes. Chat
 * Completions has a list for each vendor (chat-vendors.ts).
 */

import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

type Known<Params> = Readonly<Record<keyof Params, true>>;
type ResponsesParams = OpenAI.Responses.ResponseCreateParamsStreaming;

const anthropic: Known<Anthropic.MessageCreateParamsStreaming> = {
  cache_control: true,
  container: true,
  diagnostics: true,
  inference_geo: true,
  max_tokens: true,
  messages: true,
  metadata: true,
  model: true,
  output_config: true,
  service_tier: true,
  speed: true,
  stop_sequences: true,
  stream: true,
  system: true,
  thinking: true,
  tool_choice: true,
  tools: true,
  user_profile_id: true,
  workspace_id: true,
};

const openai: Known<ResponsesParams> = {
  background: true,
  context_management: true,
  conversation: true,
  include: true,
  input: true,
  instructions: true,
  max_output_tokens: true,
  metadata: true,
  model: true,
  moderation: true,
  parallel_tool_calls: true,
  previous_response_id: true,
  prompt: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning: true,
  safety_identifier: true,
  service_tier: true,
  store: true,
  stream: true,
  stream_options: true,
  temperature: true,
  text: true,
  tool_choice: true,
  tools: true,
  top_logprobs: true,
  top_p: true,
  truncation: true,
  user: true,
};

/** What compatible servers know beyond OpenAI: DeepSeek, Z.ai, Qwen, OpenRouter, vLLM, llama.cpp. */
const gemini = [
  'cachedContent',
  'contents',
  'continuationToken',
  'generationConfig',
  'labels',
  'safetySettings',
  'serviceTier',
  'store',
  'systemInstruction',
  'toolConfig',
  'tools',
];

export const knownFields = {
  anthropic: Object.keys(anthropic),
  openai: Object.keys(openai),
  gemini,
} as const;

/** Of Gemini's `generationConfig`. */
export const knownGenerationFields: readonly string[] = [
  'audioTranscriptionConfig',
  'candidateCount',
  'enableEnhancedCivicAnswers',
  'frequencyPenalty',
  'imageConfig',
  'logprobs',
  'maxOutputTokens',
  'mediaResolution',
  'presencePenalty',
  'responseJsonSchema',
  'responseLogprobs',
  'responseMimeType',
  'responseModalities',
  'responseSchema',
  'seed',
  'speechConfig',
  'stopSequences',
  'temperature',
  'thinkingConfig',
  'topK',
  'topP',
];
