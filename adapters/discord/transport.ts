/** How requests and the gateway's socket leave: directly, or through a proxy. */

import type { ResponseLike } from 'discord.js';

/** The part of fetch that is used here. */
export interface Request {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly redirect?: 'error';
  readonly signal?: AbortSignal;
}

interface ByteStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
  cancel(): Promise<void>;
}

export type Answer = Pick<
  ResponseLike,
  'arrayBuffer' | 'bodyUsed' | 'headers' | 'json' | 'ok' | 'status' | 'statusText' | 'text'
> & { readonly body: ByteStream | null };

export interface Transport {
  fetch(url: string, request: Request): Promise<Answer>;
  /** The address to connect the gateway's socket to instead of this one. */
  socketUrl(url: string): Promise<string>;
  close(): Promise<void>;
}

export const directTransport: Transport = {
  fetch: (url, request) => globalThis.fetch(url, request),
  socketUrl: (url) => Promise.resolve(url),
  close: () => Promise.resolve(),
};
