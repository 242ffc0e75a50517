/**
 * Anthropic Messages, and servers that speak it. The official SDK carries the request; reading
 * starts at its raw events. Retries, timeouts and silence are ours.
 */

import type { ChatRequest } from '../../messages/chat.ts';
import { createAdaptations } from '../adaptations.ts';
import { idleMsOf, sdkTimeoutMs, type Wire, wireEvents } from '../call.ts';
import type { ListingProvider } from '../catalog.ts';
import { keySettingOf, type ProviderDeps, type ProviderOptions } from '../deps.ts';
import { headersOver } from '../headers.ts';
import { listFrom } from '../listing.ts';
import { endpointOf, type ModelFetch } from '../transport.ts';
import { listedModel } from './models.ts';
import { anthropicRefusals } from './refusals.ts';
import { anthropicRequest } from './request.ts';
import { serverCallsIn } from './server-tools.ts';
import { anthropicEvents } from './stream.ts';

const defaultBaseUrl = 'https://api.anthropic.com';
/** The one that request.ts writes for. */
const apiVersion = '2026-10-21';
/** The most that the list endpoint gives at once. */
const modelsOfPage = 1_000;

/** `baseUrl` without `/v1`. */
export function createAnthropicProvider(
  deps: ProviderDeps,
  options: ProviderOptions,
): ListingProvider {
  const name = options.name ?? 'anthropic';
  const baseUrl = options.baseUrl ?? defaultBaseUrl;
  const endpoint = endpointOf(baseUrl);
  const keySetting = keySettingOf(options);
  const ours = {
    authorization: `Bearer ${options.apiKey}`,
    'anthropic-version': apiVersion,
    // Gateways and older compatible servers know only this header.
    ...(baseUrl === defaultBaseUrl ? {} : { 'x-api-key': options.apiKey }),
  };
  const headers = headersOver(ours, options.headers);
  const adaptations = createAdaptations(deps, endpoint, anthropicRefusals);
  const clientOf = async (fetch: ModelFetch) => {
    const { Anthropic } = await import('@anthropic-ai/sdk');
    return new Anthropic({
      apiKey: options.apiKey,
      authToken: null,
      webhookKey: null,
      baseURL: baseUrl,
      fetch,
      maxRetries: 0,
      timeout: sdkTimeoutMs,
      logLevel: 'off',
    });
  };
  // Not by messages.create, which writes to the console about each request of an older model.
  const open = async ({ fetch, signal }: Wire, body: ReturnType<typeof anthropicRequest>) => {
    const client = await clientOf(fetch);
    const options = { body, signal, stream: true };
    return client.post<AsyncIterable<unknown>>('/v1/messages', options);
  };
  const streamOnce = (request: ChatRequest, signal: AbortSignal, learned: ReadonlySet<string>) => {
    const origin = { provider: name, endpoint, model: request.model };
    const body = anthropicRequest(request, origin, learned);
    const call = { ...origin, idleMs: idleMsOf(baseUrl), headers, ...keySetting };
    const raw = wireEvents(deps, call, signal, (wire) => open(wire, body));
    return anthropicEvents(raw, deps, origin, serverCallsIn(request.messages));
  };
  return {
    name,
    stream: (request, signal) =>
      adaptations.stream(request, (learned) => streamOnce(request, signal, learned)),
    listModels: (signal) =>
      listFrom(
        deps,
        { provider: name, endpoint, headers, ...keySetting },
        signal,
        async function* (wire) {
          const client = await clientOf(wire.fetch);
          const pages = client.models.list({ limit: modelsOfPage }, { signal: wire.signal });
          for await (const model of pages) yield listedModel(model);
        },
      ),
  };
}
