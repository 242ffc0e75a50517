/** Requests and sockets through HTTPS_PROXY; hosts that NO_PROXY names go directly. */

import { EnvHttpProxyAgent, fetch as proxiedFetch } from 'undici';
import type { Transport } from './transport.ts';

export interface ProxySettings {
  readonly httpsProxy: string;
  /** Comma-separated hosts, as in NO_PROXY. */
  readonly noProxy: string;
}

export function proxiedTransport(proxy: ProxySettings): Transport {
  // All three are given, so that the agent does not look at the environment.
  const agent = new EnvHttpProxyAgent({
    httpProxy: proxy.httpsProxy,
    httpsProxy: proxy.httpsProxy,
    noProxy: proxy.noProxy,
  });
  return {
    fetch: (url, request) => proxiedFetch(url, { ...request, dispatcher: agent }),
    dispatcher: agent,
    close: () => agent.destroy(),
  };
}
