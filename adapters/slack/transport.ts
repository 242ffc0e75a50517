/** How requests and the socket leave: directly, or through a proxy. */

import type { WebClientOptions } from '@slack/web-api';
import type { Dispatcher } from 'undici';

/** The part of fetch that is used here. */
export interface Request {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly redirect?: 'error' | 'follow' | 'manual';
  readonly signal?: AbortSignal;
}
export type SdkFetch = NonNullable<WebClientOptions['fetch']>;

export type Answer = Awaited<ReturnType<SdkFetch>> & { readonly body: ByteStream | null };
interface ByteStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
}

/** How requests leave: the platform's fetch, or one that goes through a proxy. */
export interface Transport {
  fetch(url: string, request: Request): Promise<Answer>;
  /** For the socket; null without a proxy. */
  readonly dispatcher: Dispatcher | null;
  close(): Promise<void>;
}

export const directTransport: Transport = {
  fetch: (url, request) => globalThis.fetch(url, request),
  dispatcher: null,
  close: () => Promise.resolve(),
};
