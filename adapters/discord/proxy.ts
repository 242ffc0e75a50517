/**
 * Requests and the gateway's socket through HTTPS_PROXY; hosts that NO_PROXY names go directly. The
 * library gives its socket no proxy, so the socket connects to a local door that leads through one.
 */

import { EnvHttpProxyAgent, fetch as proxiedFetch } from 'undici';
import type { Log } from '../../src/base/log.ts';
import type { Transport } from './transport.ts';
import { createTunnels } from './tunnel.ts';

export interface ProxySettings {
  readonly httpsProxy: string;
  /** Comma-separated hosts, as in NO_PROXY. */
  readonly noProxy: string;
}

export function proxiedTransport(proxy: ProxySettings, log: Log): Transport {
  // All three are given, so that the agent does not look at the environment.
  const agent = new EnvHttpProxyAgent({
    httpProxy: proxy.httpsProxy,
    httpsProxy: proxy.httpsProxy,
    noProxy: proxy.noProxy,
  });
  const tunnels = createTunnels(new URL(proxy.httpsProxy), log);
  return {
    fetch: (url, request) => proxiedFetch(url, { ...request, dispatcher: agent }),
    socketUrl: (url) =>
      goesDirectly(new URL(url), proxy.noProxy) ? Promise.resolve(url) : tunnels.doorTo(url),
    close: async () => {
      await tunnels.close();
      await agent.destroy();
    },
  };
}

/** NO_PROXY: `*`, or names that match a host and what is below it, with or without a port. */
export function goesDirectly(url: URL, noProxy: string): boolean {
  const host = url.hostname.toLowerCase();
  const port = url.port === '' ? (url.protocol === 'wss:' ? '443' : '80') : url.port;
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/u)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = '', onlyPort] = /^\*?\.?(.*?)(?::(\d+))?$/u.exec(entry) ?? [];
      if (onlyPort !== undefined && onlyPort !== port) return false;
      return host === name || host.endsWith(`.${name}`);
    });
}
