/** The way out: directly, or through the proxy that was passed in. */

import type { ProxySettings } from './proxy.ts';
import { directTransport, type Transport } from './transport.ts';

/** The proxy's client is loaded only where there is one. */
export async function openTransport(proxy: ProxySettings | undefined): Promise<Transport> {
  if (proxy === undefined) return directTransport;
  const { proxiedTransport } = await import('./proxy.ts');
  return proxiedTransport(proxy);
}
