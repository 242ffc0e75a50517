/** The providers with a server, each as the contract suite is to test it. */

import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { knownServers } from '../../src/providers/compatible/profiles.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import type { ProviderUnderTest } from './provider-bench.ts';

export const providersUnderTest: readonly ProviderUnderTest[] = [
  {
    wire: 'anthropic',
    model: 'claude-sonnet-5-5',
    create: (deps, baseUrl) => createAnthropicProvider(deps, { apiKey: 'key-1', baseUrl }),
    unmarkedEnd: 'connection_lost',
    overflow: {
      kind: 'status',
      status: 400,
      message: 'prompt is too long: 1000001 tokens > 1000000 maximum',
    },
  },
  {
    wire: 'openai',
    model: 'gpt-6.2-sol',
    create: (deps, baseUrl) => createOpenaiProvider(deps, { apiKey: 'key-1', baseUrl }),
    unmarkedEnd: 'connection_lost',
    overflow: {
      kind: 'status',
      status: 400,
      code: 'context_length_exceeded',
      message: 'Too much.',
    },
  },
  {
    wire: 'compatible',
    model: 'qwen3.8-max',
    create: (deps, baseUrl) => createCompatibleProvider(deps, { apiKey: 'key-1', baseUrl }),
    giftedServer: (deps, url) =>
      createCompatibleProvider(deps, {
        ...{ apiKey: 'key-1', baseUrl: `${url}/openrouter`, name: 'openrouter' },
        profile: knownServers.openrouter,
      }),
    unmarkedEnd: 'unknown',
    overflow: {
      kind: 'status',
      status: 400,
      type: 'exceed_context_size_error',
      message: 'the request exceeds the available context size',
    },
  },
  {
    wire: 'gemini',
    model: 'gemini-3.6-flash',
    create: (deps, baseUrl) => createGeminiProvider(deps, { apiKey: 'key-1', baseUrl }),
    unmarkedEnd: 'connection_lost',
    overflow: {
      kind: 'status',
      status: 400,
      message:
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    },
  },
];
