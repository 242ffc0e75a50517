/**
 * Any server that speaks Chat Completions. The official OpenAI SDK carries the request; reading
 * starts at its raw chunks. Retries, timeouts and silence are ours.
 */

import type { ChatProvider } from '../../messages/chat.ts';
import { createAdaptations, dueWhen } from '../adaptations.ts';
import { type CallTrace, idleMsOf, sdkTimeoutMs, type Wire, wireEvents } from '../call.ts';
import type { ProviderDeps } from '../deps.ts';
import { endpointOf } from '../transport.ts';
import { chatRequest, type ServerProfile } from './request.ts';
import { chatEvents, createInsiders } from './stream.ts';

export interface CompatibleOptions {
  /** Ends where `/chat/completions` begins; usually in `/v1`. */
  readonly baseUrl: string;
  /** Local servers need none. */
  readonly apiKey?: string;
}

export function createCompatibleProvider(
  deps: ProviderDeps,
  options: CompatibleOptions,
): ChatProvider {
  // The SDK insists on a key; servers without keys ignore it.
  const { baseUrl, apiKey = 'none' } = options;
  const endpoint = endpointOf(baseUrl);
  const profile = profileOf(baseUrl);
  const insiders = createInsiders();
  const adaptations = createAdaptations(deps, endpoint, [
    dueWhen(
      'swap_limit',
      /max_(?:completion_)?tokens.{0,40}(?:unsupported|not supported)|unsupported.{0,40}max_(?:completion_)?tokens/iu,
    ),
    dueWhen('no_stream_options', /stream_options/u),
    // Mistral: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9."
    dueWhen('nine_char_ids', /tool call id.{0,120}length of 9/iu),
    dueWhen('empty_content', /content.{0,60}(?:null|none|must be a string|required)/iu),
  ]);
  const open = async ({ fetch, signal }: Wire, body: ReturnType<typeof chatRequest>) => {
    const { OpenAI } = await import('openai');
    const client = new OpenAI({
      apiKey,
      baseURL: baseUrl,
      organization: null,
      project: null,
      adminAPIKey: null,
      webhookSecret: null,
      fetch,
      maxRetries: 0,
      timeout: sdkTimeoutMs,
      logLevel: 'off',
    });
    return client.chat.completions.create(body, { signal });
  };
  return {
    name: 'compatible',
    stream: (request, signal) => {
      const origin = { provider: 'compatible', endpoint, model: request.model };
      const headers = { authorization: `Bearer ${apiKey}` };
      const call = { ...origin, idleMs: idleMsOf(baseUrl), headers };
      const toolNames = new Set(request.tools.map((tool) => tool.name));
      return adaptations.stream(request, (learned) => {
        const body = chatRequest(request, origin, profile, learned);
        const trace: CallTrace = { sawDone: false };
        const raw = wireEvents(deps, call, signal, (wire) => open(wire, body), trace);
        return chatEvents(raw, deps, { origin, toolNames, trace, insiders });
      });
    },
  };
}

function profileOf(baseUrl: string): ServerProfile {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return {
    limitField: host === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens',
    alwaysReasoning: host === 'api.deepseek.com',
  };
}
