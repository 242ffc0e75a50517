/**
 * Anthropic Messages, and servers that speak it. The official SDK carries the request; reading
 * starts at its raw events. Retries, timeouts and silence are ours.
 */

import type { ChatProvider } from '../../messages/chat.ts';
import { createAdaptations, dueWhen } from '../adaptations.ts';
import { idleMsOf, sdkTimeoutMs, type Wire, wireEvents } from '../call.ts';
import type { ProviderDeps, ProviderOptions } from '../deps.ts';
import { endpointOf } from '../transport.ts';
import { anthropicRequest } from './request.ts';
import { anthropicEvents } from './stream.ts';

const defaultBaseUrl = 'https://api.anthropic.com';
/** The one that request.ts writes for. */
const apiVersion = '2026-10-21';

/** `baseUrl` without `/v1`. */
export function createAnthropicProvider(
  deps: ProviderDeps,
  options: ProviderOptions,
): ChatProvider {
  const baseUrl = options.baseUrl ?? defaultBaseUrl;
  const endpoint = endpointOf(baseUrl);
  const headers = {
    authorization: `Bearer ${options.apiKey}`,
    'anthropic-version': apiVersion,
    // Gateways and older compatible servers know only this header.
    ...(baseUrl === defaultBaseUrl ? {} : { 'x-api-key': options.apiKey }),
  };
  const adaptations = createAdaptations(deps, endpoint, [
    // Thoughts are bound to all that stood before them; after an edit they must go.
    dueWhen('no_reasoning', /signature in thinking block|thinking block.{0,80}bound/iu, 'request'),
    dueWhen('no_thinking_field', /\bthinking(?:\.|:| is not)|adaptive thinking/iu),
    dueWhen('no_cache_control', /cache_control/u),
  ]);
  const open = async ({ fetch, signal }: Wire, body: ReturnType<typeof anthropicRequest>) => {
    const { Anthropic } = await import('@anthropic-ai/sdk');
    const client = new Anthropic({
      apiKey: options.apiKey,
      authToken: null,
      webhookKey: null,
      baseURL: baseUrl,
      fetch,
      maxRetries: 0,
      timeout: sdkTimeoutMs,
      logLevel: 'off',
    });
    return client.messages.create(body, { signal });
  };
  return {
    name: 'anthropic',
    stream: (request, signal) => {
      const origin = { provider: 'anthropic', endpoint, model: request.model };
      const call = { ...origin, idleMs: idleMsOf(baseUrl), headers };
      return adaptations.stream(request, (learned) => {
        const body = anthropicRequest(request, origin, learned);
        const raw = wireEvents(deps, call, signal, (wire) => open(wire, body));
        return anthropicEvents(raw, deps, origin);
      });
    },
  };
}
