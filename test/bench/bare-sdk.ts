/** The raw streams of the SDKs, opened as the providers open them, with nothing around them. */

import { Anthropic } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { OpenAI } from 'openai';
import type { ModelFetch } from '../../src/providers/transport.ts';
import type { WireName } from '../emulators/model-server.ts';

interface BareOptions {
  readonly fetch: ModelFetch;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

type OpenBare = (options: BareOptions) => Promise<AsyncIterable<unknown>>;

const user = { role: 'user', content: 'Hello' } as const;
const quiet = { maxRetries: 0, logLevel: 'off' } as const;

export const bareStreams: Readonly<Record<WireName, OpenBare>> = {
  anthropic: ({ fetch, baseUrl, apiKey, model }) =>
    new Anthropic({ apiKey, authToken: null, baseURL: baseUrl, fetch, ...quiet }).messages.create({
      model,
      max_tokens: 1_000,
      messages: [user],
      stream: true,
    }),
  openai: ({ fetch, baseUrl, apiKey, model }) =>
    new OpenAI({ apiKey, baseURL: baseUrl, fetch, ...quiet }).responses.create({
      model,
      input: [user],
      stream: true,
    }),
  compatible: ({ fetch, baseUrl, apiKey, model }) =>
    new OpenAI({ apiKey, baseURL: baseUrl, fetch, ...quiet }).chat.completions.create({
      model,
      messages: [user],
      stream: true,
    }),
  gemini: ({ fetch, baseUrl, apiKey, model }) =>
    new GoogleGenAI({
      apiKey,
      vertexai: false,
      httpOptions: { baseUrl },
    }).models.generateContentStream({
      model,
      contents: 'Hello',
      config: { httpOptions: { fetch } },
    }),
};
