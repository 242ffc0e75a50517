/**
 * Any server that speaks Chat Completions. The official OpenAI SDK carries the request; reading
 * starts at its raw chunks. Retries, timeouts and silence are ours. A model of OpenAI's that refuses
 * its tools here is asked by the Responses API from then on.
 */

import { createAdaptations } from '../adaptations.ts';
import { type CallTrace, idleMsOf, sdkTimeoutMs, type Wire, wireEvents } from '../call.ts';
import type { ListingProvider } from '../catalog.ts';
import { keySettingOf, type ProviderDeps } from '../deps.ts';
import { headersOver } from '../headers.ts';
import { listFrom } from '../listing.ts';
import { createOpenaiProvider } from '../openai/provider.ts';
import { endpointOf } from '../transport.ts';
import { chatAdaptations, eitherAdaptations, usesResponses } from './adaptations.ts';
import { listedModels } from './list-models.ts';
import { knownServers, plainProfile, type ServerProfile, serverAt } from './profiles.ts';
import { chatRequest, requestHeaders, seenBy } from './request.ts';
import { chatEvents, createInsiders } from './stream.ts';

export interface CompatibleOptions {
  /** Ends where `/chat/completions` begins; usually in `/v1`. */
  readonly baseUrl: string;
  /** Local servers need none. */
  readonly apiKey?: string;
  /** The word before the slash of its models. Default: compatible. */
  readonly name?: string;
  /** Sent with each request, over ours where the names are the same. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the key is set, for people. */
  readonly keySetting?: string;
  /** Default: by the address, else the plain rules. */
  readonly profile?: ServerProfile;
}

export function createCompatibleProvider(
  deps: ProviderDeps,
  options: CompatibleOptions,
): ListingProvider {
  // The SDK insists on a key; servers without keys ignore it.
  const { baseUrl, apiKey = 'none', name = 'compatible' } = options;
  const endpoint = endpointOf(baseUrl);
  const keySetting = keySettingOf(options);
  const known = serverAt(baseUrl);
  const profile = options.profile ?? (known === undefined ? plainProfile : knownServers[known]);
  const insiders = createInsiders();
  // Under the same name and address, so that what it says is this server's own.
  const responses = profile.hasResponses
    ? createOpenaiProvider(deps, { ...options, apiKey, name })
    : undefined;
  const adaptations = createAdaptations(
    deps,
    endpoint,
    responses === undefined ? chatAdaptations : eitherAdaptations,
  );
  const authorization = { authorization: `Bearer ${apiKey}` };
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
    name,
    stream: (request, signal) => {
      const origin = { provider: name, endpoint, model: request.model };
      const ours = { ...authorization, ...requestHeaders(request, profile) };
      const headers = headersOver(ours, options.headers);
      const call = { ...origin, idleMs: idleMsOf(baseUrl), headers, ...keySetting };
      const toolNames = new Set(request.tools.map((tool) => tool.name));
      // What the server never sees cannot be what it refuses.
      return adaptations.stream(seenBy(request, profile), (learned) => {
        // One try: cures around cures would multiply.
        if (responses !== undefined && usesResponses(learned)) {
          return responses.streamOnce(request, signal, learned);
        }
        const body = chatRequest(request, origin, profile, learned);
        const trace: CallTrace = { sawDone: false };
        const raw = wireEvents(deps, call, signal, (wire) => open(wire, body), trace);
        return chatEvents(raw, deps, { origin, toolNames, trace, insiders });
      });
    },
    listModels: (signal) => {
      const headers = headersOver(authorization, options.headers);
      const today = new Date(deps.clock.now()).toISOString().slice(0, 10);
      return listFrom(
        deps,
        { provider: name, endpoint, headers, ...keySetting },
        signal,
        async function* (wire) {
          const response = await wire.fetch(`${endpoint}/models`, { signal: wire.signal });
          yield* listedModels(await response.json(), today);
        },
      );
    },
  };
}
