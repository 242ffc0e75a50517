/**
 * Who may speak to the page's server. The page has no password on this machine, so other sites that
 * are open in the same browser must be kept out: by the Host header (a foreign name that points
 * here), and on everything that acts by Origin or Sec-Fetch-Site and JSON (a form of another site).
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSettings } from './settings.ts';

/** Null: it may. Otherwise the status and what to tell. */
export type Refusal = { readonly status: number; readonly told: string } | null;

export interface Guard {
  /** The page and its assets. */
  page(request: IncomingMessage): Refusal;
  /** Everything that reads or changes messages. */
  api(request: IncomingMessage): Refusal;
  /** The right token in the address? Then the cookie to set. */
  cookieFor(token: string): string | null;
  readonly needsToken: boolean;
}

const cookieName = 'deckhand_page';

export function createGuard({ token, origins }: WebSettings): Guard {
  const hosts = origins.map((origin) => new URL(origin).host);
  const expected = token === undefined ? undefined : digest(token);

  const hostRefusal = (request: IncomingMessage): Refusal => {
    const { host = '' } = request.headers;
    if (isLoopback(host) || hosts.includes(host)) return null;
    return {
      status: 403,
      told: 'This name is not allowed for the page. Add its address to platforms.web.origins.',
    };
  };
  const tokenRefusal = (request: IncomingMessage): Refusal => {
    if (expected === undefined) return null;
    const given = cookieOf(request);
    if (given !== undefined && isSame(given, expected)) return null;
    return { status: 401, told: 'Open the page once with ?token=… (platforms.web.token).' };
  };

  return {
    needsToken: expected !== undefined,
    page: (request) => hostRefusal(request) ?? tokenRefusal(request),
    api: (request) => hostRefusal(request) ?? siteRefusal(request) ?? tokenRefusal(request),
    cookieFor: (given) => {
      if (expected === undefined || !isSame(digest(given), expected)) return null;
      return `${cookieName}=${expected}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000`;
    },
  };
}

/** Something that acts must come from the page itself, as JSON. */
function siteRefusal(request: IncomingMessage): Refusal {
  const { origin, host = '' } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const isOwnOrigin = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  const isOwnSite = origin === undefined && site === 'same-origin';
  if (!isOwnOrigin && !isOwnSite) {
    return { status: 403, told: 'Only the page itself may do this.' };
  }
  const type = request.headers['content-type']?.split(';')[0]?.trim();
  if (request.method === 'POST' && type !== 'application/json') {
    return { status: 415, told: 'Send JSON.' };
  }
  return null;
}

function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d+)?$/u.test(host);
}

function cookieOf(request: IncomingMessage): string | undefined {
  const cookies = request.headers.cookie?.split(';') ?? [];
  const own = cookies
    .map((cookie) => cookie.trim())
    .find((one) => one.startsWith(`${cookieName}=`));
  return own?.slice(cookieName.length + 1);
}

/** The token itself never goes into a cookie. */
function digest(token: string): string {
  return createHash('sha256').update(`deckhand page ${token}`).digest('hex');
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
