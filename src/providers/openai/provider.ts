/**
 * OpenAI by the Responses API, which current models need for tools with reasoning. The official SDK
 * carries the request; reading starts at its raw events. Retries, timeouts and silence are ours.
 */

import type { ChatRequest, ChatStreamEvent } from '../../messages/chat.ts';
import { createAdaptations } from '../adaptations.ts';
import { idleMsOf, sdkTimeoutMs, type Wire, wireEvents } from '../call.ts';
import type { ListingProvider } from '../catalog.ts';
import { keySettingOf, type ProviderDeps, type ProviderOptions } from '../deps.ts';
import { headersOver } from '../headers.ts';
import { listFrom } from '../listing.ts';
import { endpointOf, type ModelFetch } from '../transport.ts';
import { openaiRefusals } from './refusals.ts';
import { openaiRequest } from './request.ts';
import { openaiEvents } from './stream.ts';

export interface OpenaiProvider extends ListingProvider {
  /** One try, with what was learned; for a caller that cures refusals by itself. */
  streamOnce(
    request: ChatRequest,
    signal: AbortSignal,
    learned: ReadonlySet<string>,
  ): AsyncIterable<ChatStreamEvent>;
}

/** `baseUrl` ends in `/v1`. */
export function createOpenaiProvider(deps: ProviderDeps, options: ProviderOptions): OpenaiProvider {
  const name = options.name ?? 'openai';
  const baseUrl = options.baseUrl ?? 'https://api.openai.com/v1';
  const endpoint = endpointOf(baseUrl);
  const keySetting = keySettingOf(options);
  const headers = headersOver({ authorization: `Bearer ${options.apiKey}` }, options.headers);
  const adaptations = createAdaptations(deps, endpoint, openaiRefusals);
  const clientOf = async (fetch: ModelFetch) => {
    const { OpenAI } = await import('openai');
    return new OpenAI({
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
  };
  const open = async ({ fetch, signal }: Wire, body: ReturnType<typeof openaiRequest>) =>
    (await clientOf(fetch)).responses.create(body, { signal });
  const streamOnce = (request: ChatRequest, signal: AbortSignal, learned: ReadonlySet<string>) => {
    const origin = { provider: name, endpoint, model: request.model };
    const body = openaiRequest(request, origin, learned);
    const call = { ...origin, idleMs: idleMsOf(baseUrl), headers, ...keySetting };
    const raw = wireEvents(deps, call, signal, (wire) => open(wire, body));
    return openaiEvents(raw, deps, origin);
  };
  return {
    name,
    streamOnce,
    stream: (request, signal) =>
      adaptations.stream(request, (learned) => streamOnce(request, signal, learned)),
    // Ids are all that this list tells; it names models for images and sound too.
    listModels: (signal) =>
      listFrom(
        deps,
        { provider: name, endpoint, headers, ...keySetting },
        signal,
        async function* (wire) {
          const client = await clientOf(wire.fetch);
          for await (const { id } of client.models.list({ signal: wire.signal })) yield { id };
        },
      ),
  };
}
