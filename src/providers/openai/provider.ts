/**
 * OpenAI by the Responses API, which current models need for tools with reasoning. The official SDK
 * carries the request; reading starts at its raw events. Retries, timeouts and silence are ours.
 */

import type { ChatProvider } from '../../messages/chat.ts';
import { createAdaptations, dueWhen } from '../adaptations.ts';
import { idleMsOf, sdkTimeoutMs, type Wire, wireEvents } from '../call.ts';
import type { ProviderDeps, ProviderOptions } from '../deps.ts';
import { endpointOf } from '../transport.ts';
import { openaiRequest } from './request.ts';
import { openaiEvents } from './stream.ts';

/** `baseUrl` ends in `/v1`. */
export function createOpenaiProvider(deps: ProviderDeps, options: ProviderOptions): ChatProvider {
  const baseUrl = options.baseUrl ?? 'https://api.openai.com/v1';
  const endpoint = endpointOf(baseUrl);
  const adaptations = createAdaptations(deps, endpoint, [
    dueWhen(
      'no_reasoning',
      /encrypted[_ ]content.{0,60}(?:could not|invalid|verif)|without its required|items are not persisted/iu,
      'request',
    ),
    // Summaries need a verified organisation, sealed thoughts a reasoning model.
    dueWhen('no_summary', /reasoning\.summary|reasoning summar/iu),
    dueWhen('no_include', /^include\b|'include'|encrypted content is not supported/iu),
    dueWhen('no_cache_key', /prompt_cache_key/u),
  ]);
  const open = async ({ fetch, signal }: Wire, body: ReturnType<typeof openaiRequest>) => {
    const { OpenAI } = await import('openai');
    const client = new OpenAI({
      apiKey: options.apiKey,
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
    return client.responses.create(body, { signal });
  };
  return {
    name: 'openai',
    stream: (request, signal) => {
      const origin = { provider: 'openai', endpoint, model: request.model };
      const headers = { authorization: `Bearer ${options.apiKey}` };
      const call = { ...origin, idleMs: idleMsOf(baseUrl), headers };
      return adaptations.stream(request, (learned) => {
        const body = openaiRequest(request, origin, learned);
        const raw = wireEvents(deps, call, signal, (wire) => open(wire, body));
        return openaiEvents(raw, deps, origin);
      });
    },
  };
}
