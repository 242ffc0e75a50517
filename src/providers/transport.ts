/**
 * One way to the network for all model servers: Node's fetch over a shared undici dispatcher without
 * the 300-second limits of the default one (a model may think for longer than that before its first
 * byte), through the proxy that was passed in. The environment is not read here.
 */

import { isIP } from 'node:net';
import { EnvHttpProxyAgent } from 'undici';

/** The standard fetch; every provider is given one. */
export type ModelFetch = typeof globalThis.fetch;

export interface ProxyOptions {
  /** Proxy for https addresses, `http://host:port`. Falls back to `httpProxy`. */
  readonly httpsProxy?: string;
  readonly httpProxy?: string;
  /** Hosts that are reached directly: names, `.domain`, `host:port`, `*`; separated by commas. */
  readonly noProxy?: string;
}

export interface ModelTransport {
  readonly fetch: ModelFetch;
  /** Closes kept connections; requests under way end first. */
  close(): Promise<void>;
}

/** Makes the shared fetch. `proxy` is optional; without it connections are direct. */
export function createModelFetch(options: { readonly proxy?: ProxyOptions } = {}): ModelTransport {
  const { httpsProxy, httpProxy, noProxy } = options.proxy ?? {};
  // Empty texts, not absent ones: absent values are read from the environment by undici.
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: noProxy ?? '',
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    fetch: (input, init) => {
      // Node's own types describe another version of undici's dispatcher; the fetch takes both.
      return globalThis.fetch(input, Object.assign({ ...init }, { dispatcher }));
    },
    close: () => dispatcher.close(),
  };
}

/** True for addresses of this machine and of private networks, where small models are served. */
export function isNearAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/gu, '');
  if (host === 'localhost' || host.endsWith('.localhost') || host.endsWith('.local')) return true;
  if (host === '::1' || /^f[cd][0-9a-f]{2}:/u.test(host) || /^fe80:/u.test(host)) return true;
  if (!host.includes('.') && !host.includes(':')) return host !== '';
  if (isIP(host) !== 4) return false;
  return /^(?:127|10)\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^169\.254\./u.test(host);
}

/** A base address without credentials and query, for origins and logs. */
export function endpointOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  return `${url.origin}${url.pathname}`.replace(/\/+$/u, '');
}
