/**
 * Gemini by generateContent. The official SDK carries the request (its automatic function calling
 * is off); reading starts at its raw responses. Retries, timeouts and silence are ours. When a long
 * answer stops at one of Gemini's continuation marks, the SDK goes on from it; nothing is replayed.
 */

import type { GoogleGenAI } from '@google/genai';
import type { ChatProvider } from '../../messages/chat.ts';
import { createAdaptations, dueWhen } from '../adaptations.ts';
import { idleMsOf, type Wire, wireEvents } from '../call.ts';
import type { ProviderDeps, ProviderOptions } from '../deps.ts';
import { endpointOf } from '../transport.ts';
import { type GeminiRequest, geminiRequest } from './request.ts';
import { geminiEvents } from './stream.ts';

/** `baseUrl` without the API version. */
export function createGeminiProvider(deps: ProviderDeps, options: ProviderOptions): ChatProvider {
  const baseUrl = options.baseUrl ?? 'https://generativelanguage.googleapis.com';
  const endpoint = endpointOf(baseUrl);
  const adaptations = createAdaptations(deps, endpoint, [
    dueWhen('no_reasoning', /thought[_ ]?signature/iu, 'request'),
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
  return {
    name: 'gemini',
    stream: (request, signal) => {
      const origin = { provider: 'gemini', endpoint, model: request.model };
      const headers = { 'x-goog-api-key': options.apiKey };
      const call = { ...origin, idleMs: idleMsOf(baseUrl), headers };
      return adaptations.stream(request, (learned) => {
        const body = geminiRequest(request, origin, learned);
        const raw = wireEvents(deps, call, signal, (wire) => open(wire, body));
        return geminiEvents(raw, deps, origin);
      });
    },
  };
}
