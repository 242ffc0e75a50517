/**
 * Gemini by generateContent. The official SDK carries the request (its automatic function calling
 * is off); reading starts at its raw responses. Retries, timeouts and silence are ours. When a long
 * answer stops at one of Gemini's continuation marks, the SDK goes on from it; nothing is replayed.
 */

import type { GoogleGenAI } from '@google/genai';
import { dueWhen } from '../adaptation.ts';
import { createAdaptations } from '../adaptations.ts';
import { idleMsOf, type Wire, wireEvents } from '../call.ts';
import type { ListingProvider } from '../catalog.ts';
import { keySettingOf, type ProviderDeps, type ProviderOptions } from '../deps.ts';
import { headersOver } from '../headers.ts';
import { listFrom } from '../listing.ts';
import { noReasoning } from '../stale-thoughts.ts';
import { endpointOf } from '../transport.ts';
import { geminiModels } from './list-models.ts';
import { type GeminiRequest, geminiRequest } from './request.ts';
import { geminiEvents } from './stream.ts';

/** `baseUrl` without the API version. */
export function createGeminiProvider(
  deps: ProviderDeps,
  options: ProviderOptions,
): ListingProvider {
  const name = options.name ?? 'gemini';
  const baseUrl = options.baseUrl ?? 'https://generativelanguage.googleapis.com';
  const endpoint = endpointOf(baseUrl);
  const keySetting = keySettingOf(options);
  const adaptations = createAdaptations(deps, endpoint, [
    dueWhen(noReasoning, /thought[_ ]?signature/iu, 'history'),
    // "Built-in tools … and Function Calling cannot be combined in the same request."
    dueWhen('no_mixed_tools', /server_?side_?tool|cannot be combined|tool use with function/iu),
    // A budget that does not fit says nothing about others.
    dueWhen(
      'no_thinking_steer',
      /thinking[_ ]?budget(?:\W{1,3}-?\d|.{0,80}(?:between|range|at least|at most|must be))/iu,
      'request',
    ),
    dueWhen('no_thinking_steer', /thinking[_ ]?(?:level|budget)/iu),
    dueWhen('no_thoughts', /include_?thoughts|thinking_?config|thinking is not/iu),
  ]);
  let client: Promise<GoogleGenAI> | undefined;
  const open = async ({ fetch, signal }: Wire, body: GeminiRequest) => {
    // One for all requests: making it looks at the environment, and may warn on the console.
    client ??= import('@google/genai').then(
      ({ GoogleGenAI: Client }) =>
        new Client({ apiKey: options.apiKey, vertexai: false, httpOptions: { baseUrl } }),
    );
    return (await client).models.generateContentStream({
      ...body,
      config: { ...body.config, abortSignal: signal, httpOptions: { fetch } },
    });
  };
  const headers = headersOver({ 'x-goog-api-key': options.apiKey }, options.headers);
  return {
    name,
    stream: (request, signal) => {
      const origin = { provider: name, endpoint, model: request.model };
      const idleMs = idleMsOf(baseUrl);
      const call = { ...origin, idleMs, headers, ...keySetting, hidesErrors: true };
      return adaptations.stream(request, (learned) => {
        const body = geminiRequest(request, origin, learned);
        const raw = wireEvents(deps, call, signal, (wire) => open(wire, body));
        return geminiEvents(raw, deps, origin);
      });
    },
    listModels: (signal) =>
      listFrom(deps, { provider: name, endpoint, headers, ...keySetting }, signal, (wire) =>
        geminiModels(wire, `${endpoint}/v1beta/models`),
      ),
  };
}
