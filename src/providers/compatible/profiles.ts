/**
 * What sets one Chat Completions server apart from the others, as data. Sources: the vendors' API
 * references as of November 2026 (DeepSeek "Thinking Mode", xAI "Grok 4.6", Model Studio "OpenAI
 * compatible - Chat", Z.ai "Thinking Mode" and "Web Search", OpenRouter "Reasoning Tokens" and
 * "Server Tools", Mistral "Reasoning", Ollama "OpenAI compatibility", llama.cpp server README).
 */

/** How thinking is asked for. What a model does not list among its abilities is never sent. */
export type ThinkingParameters =
  /** `reasoning_effort`, also to turn it off. */
  | { readonly kind: 'effort' }
  /**
   * `thinking.type: enabled` with `reasoning_effort` beside it, or `disabled` without one.
   * `kept` goes into `thinking` whenever the model thinks.
   */
  | { readonly kind: 'thinking_type'; readonly kept?: Readonly<Record<string, boolean>> }
  /** `enable_thinking` and `thinking_budget`, or `reasoning_effort` where the model has efforts. */
  | { readonly kind: 'enable_thinking' }
  /** `reasoning: {effort | max_tokens, exclude}`. */
  | { readonly kind: 'reasoning_object' }
  /** `chat_template_kwargs`: what the model's own template understands. */
  | { readonly kind: 'template' };

/** How the server is told that it may search the web. */
export type SearchSwitch =
  | { readonly kind: 'none' }
  /** One more entry of `tools`. */
  | { readonly kind: 'tool'; readonly tool: Readonly<Record<string, unknown>> }
  /** Fields of the body. */
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, unknown>> };

export interface ServerProfile {
  readonly thinking: ThinkingParameters;
  readonly search: SearchSwitch;
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  readonly systemRole: 'system' | 'developer';
  /** The content of an assistant message that is nothing but calls. */
  readonly emptyContent: null | '';
  /** nine_chars: Mistral's ids of calls are nine letters and digits. */
  readonly callIds: 'plain' | 'nine_chars';
  /** Every assistant message carries `reasoning_content` while thinking is on, if only an empty one. */
  readonly alwaysReasoning: boolean;
  /** A person's message may not follow results: a short answer is put between them. */
  readonly answersTools: boolean;
  /** PDFs are taken as `file` parts, where the model can read them. */
  readonly takesFiles: boolean;
  /** The Responses API stands beside it, for models that want their tools there. */
  readonly hasResponses: boolean;
  /** Where the key of a conversation goes that leads its requests to the same cache. */
  readonly cacheKey?: { readonly place: 'body' | 'header'; readonly name: string };
  /** Fields that go with every request that declares tools. */
  readonly withTools?: Readonly<Record<string, unknown>>;
}

/** A server that is known by its name: `deepseek/…`. */
export interface KnownServer extends ServerProfile {
  readonly baseUrl: string;
  /** Hosts by which the profile is recognised; subdomains count. */
  readonly hosts: readonly string[];
  /** The port on this machine or network by which it is recognised. */
  readonly port?: string;
  /** The environment variable of its key; local servers need none. */
  readonly keyVariable?: string;
  readonly baseUrlVariable?: string;
  /** Used when its key is the only one. Absent: a model must be named. */
  readonly defaultModel?: string;
}

/** What most servers take. */
export const plainProfile: ServerProfile = {
  thinking: { kind: 'effort' },
  search: { kind: 'none' },
  limitField: 'max_tokens',
  systemRole: 'system',
  emptyContent: null,
  callIds: 'plain',
  alwaysReasoning: false,
  answersTools: false,
  takesFiles: false,
  hasResponses: false,
};

/** Templates of small models stumble over null. */
const localProfile: ServerProfile = { ...plainProfile, emptyContent: '' };

/** Names in the order in which a default model is looked for. */
export const serverNames = [
  'deepseek',
  'xai',
  'qwen',
  'glm',
  'mistral',
  'openrouter',
  'openai-chat',
  'ollama',
  'vllm',
  'llamacpp',
] as const;
export type ServerName = (typeof serverNames)[number];

export const knownServers: Readonly<Record<ServerName, KnownServer>> = {
  deepseek: {
    ...plainProfile,
    baseUrl: 'https://api.deepseek.com',
    hosts: ['api.deepseek.com'],
    keyVariable: 'DEEPSEEK_API_KEY',
    defaultModel: 'deepseek-flash',
    thinking: { kind: 'thinking_type' },
    alwaysReasoning: true,
  },
  xai: {
    ...plainProfile,
    baseUrl: 'https://api.x.ai/v1',
    hosts: ['api.x.ai'],
    keyVariable: 'XAI_API_KEY',
    defaultModel: 'grok-4.6',
    cacheKey: { place: 'header', name: 'x-grok-conv-id' },
  },
  qwen: {
    ...plainProfile,
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    hosts: ['aliyuncs.com'],
    keyVariable: 'DASHSCOPE_API_KEY',
    baseUrlVariable: 'DASHSCOPE_BASE_URL',
    defaultModel: 'qwen3.8-max',
    thinking: { kind: 'enable_thinking' },
    search: { kind: 'fields', fields: { enable_search: true } },
  },
  glm: {
    ...plainProfile,
    baseUrl: 'https://api.z.ai/api/paas/v4',
    hosts: ['api.z.ai', 'open.bigmodel.cn'],
    keyVariable: 'ZAI_API_KEY',
    defaultModel: 'glm-5.3',
    // Otherwise it thinks everything anew at each step.
    thinking: { kind: 'thinking_type', kept: { clear_thinking: false } },
    search: {
      kind: 'tool',
      tool: {
        type: 'web_search',
        web_search: { enable: true, search_engine: 'search-prime', search_result: true },
      },
    },
    // Otherwise arguments come in one piece after minutes of silence.
    withTools: { tool_stream: true },
  },
  mistral: {
    ...plainProfile,
    baseUrl: 'https://api.mistral.ai/v1',
    hosts: ['api.mistral.ai'],
    keyVariable: 'MISTRAL_API_KEY',
    defaultModel: 'mistral-medium-latest',
    emptyContent: '',
    callIds: 'nine_chars',
    answersTools: true,
  },
  openrouter: {
    ...plainProfile,
    baseUrl: 'https://openrouter.ai/api/v1',
    hosts: ['openrouter.ai'],
    keyVariable: 'OPENROUTER_API_KEY',
    thinking: { kind: 'reasoning_object' },
    // Its older plugin `web` and the suffix `:online` are deprecated.
    search: { kind: 'tool', tool: { type: 'openrouter:web_search' } },
    takesFiles: true,
  },
  'openai-chat': {
    ...plainProfile,
    baseUrl: 'https://api.openai.com/v1',
    hosts: ['api.openai.com'],
    keyVariable: 'OPENAI_API_KEY',
    baseUrlVariable: 'OPENAI_BASE_URL',
    limitField: 'max_completion_tokens',
    systemRole: 'developer',
    takesFiles: true,
    hasResponses: true,
    cacheKey: { place: 'body', name: 'prompt_cache_key' },
  },
  ollama: {
    ...localProfile,
    baseUrl: 'http://127.0.0.1:11434/v1',
    hosts: ['ollama.com'],
    port: '11434',
    baseUrlVariable: 'OLLAMA_BASE_URL',
  },
  vllm: {
    ...localProfile,
    baseUrl: 'http://127.0.0.1:8000/v1',
    hosts: [],
    baseUrlVariable: 'VLLM_BASE_URL',
    thinking: { kind: 'template' },
  },
  llamacpp: {
    ...localProfile,
    baseUrl: 'http://127.0.0.1:8080/v1',
    hosts: [],
    baseUrlVariable: 'LLAMACPP_BASE_URL',
    thinking: { kind: 'template' },
  },
};

export function isServerName(name: string): name is ServerName {
  return serverNames.some((one) => one === name);
}

/** Whose server stands at this address; undefined when it is nobody's that is known. */
export function serverAt(baseUrl: string): ServerName | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { hostname, port } = new URL(baseUrl);
  return serverNames.find((name) => {
    const server = knownServers[name];
    const isHost = server.hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
    return isHost || (port !== '' && port === server.port);
  });
}
