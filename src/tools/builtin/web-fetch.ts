/**
 * WebFetch: a web page as readable Markdown. A fetch also sends (its address), so without approval
 * it goes only to allowed hosts, to addresses that a person wrote in this conversation and to what
 * a search of this run found (rule 16).
 */

import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { MediaLimits } from '../../messages/settings.ts';
import type { Assessment, Tool, ToolOutcome, ToolScene } from '../contract.ts';
import { textOutcome } from '../text-result.ts';
import type { GuardedAnswer, GuardedFetch } from '../web/guarded-fetch.ts';
import { hostMatches } from '../web/hosts.ts';
import { type DocumentText, documentText } from '../web/page.ts';

const input = z.strictObject({
  url: z.url({ protocol: /^https?$/u }).describe('The whole address, https://… or http://…'),
});

/** Addresses that may be fetched without approval: written by people here, or found by a search. */
export type KnownAddresses = (scene: ToolScene) => Promise<readonly string[]>;

export interface WebFetchDeps {
  readonly clock: Clock;
  readonly fetch: GuardedFetch;
  readonly media: () => MediaLimits;
  readonly knownAddresses: KnownAddresses;
}

export interface WebFetchOptions {
  /** Hosts like `docs.example.org` or `*.example.org`. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

const mostBytes = 10_000_000;
const mostRedirects = 5;
const timeoutMs = 45_000;
const freshMs = 15 * 60_000;
const mostCached = 50;
const userAgent = 'Mozilla/5.0 (compatible; Deckhand)';

interface Cached {
  readonly at: number;
  readonly outcome: ToolOutcome;
}

export function createWebFetchTool(
  deps: WebFetchDeps,
  options: () => WebFetchOptions,
): Tool<z.infer<typeof input>> {
  const cache = new Map<string, Cached>();
  const isDenied = (host: string): boolean =>
    options().deny.some((pattern) => hostMatches(pattern, host));

  const load = async (address: URL, signal: AbortSignal): Promise<ToolOutcome> => {
    let url = address;
    for (let hop = 0; hop <= mostRedirects; hop += 1) {
      if (isDenied(url.hostname)) return deniedOutcome(url);
      const answer = await deps.fetch.get(url, { headers: headers(), mostBytes, signal });
      const target = redirectOf(url, answer);
      if (!target) return await outcomeOf(url, answer, deps.media(), signal);
      if (!isSameSite(url, target)) return leadsAway(url, target);
      url = target;
    }
    return { kind: 'error', text: `${address.href} redirects too often. Try another address.` };
  };

  return {
    name: 'WebFetch',
    description:
      'Fetches a web address and gives its text: HTML as Markdown, PDFs as text, images to look at. Private addresses cannot be fetched. Addresses that nobody here wrote and no search found may need approval.',
    input,
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: true,
    timeoutMs: () => timeoutMs,
    describe: ({ url }) => (url ? `Reading ${shortAddress(url)}` : 'Reading a web page'),
    assess: async ({ url }, scene) => assess(new URL(url), scene, options(), deps.knownAddresses),
    preview: ({ url }) => ({ language: '', text: `GET ${url}` }),
    invoke: async ({ url }, { signal }) => {
      const address = withoutFragment(url);
      if (isDenied(address.hostname)) return deniedOutcome(address);
      const known = cache.get(address.href);
      if (known && deps.clock.now() - known.at < freshMs) return known.outcome;
      const outcome = await load(address, signal);
      if (outcome.kind !== 'done') return outcome;
      cache.delete(address.href);
      cache.set(address.href, { at: deps.clock.now(), outcome });
      const [oldest] = cache.keys();
      if (cache.size > mostCached && oldest !== undefined) cache.delete(oldest);
      return outcome;
    },
  };
}

async function assess(
  url: URL,
  scene: ToolScene,
  { allow }: WebFetchOptions,
  knownAddresses: KnownAddresses,
): Promise<Assessment> {
  const host = url.hostname;
  const isAllowed =
    allow.some((pattern) => hostMatches(pattern, host)) ||
    (await knownAddresses(scene)).some((known) => isSameAddress(known, url));
  return {
    isReadOnly: true,
    needsApproval: !isAllowed,
    why: isAllowed
      ? 'it reads an allowed address'
      : `nobody here wrote this address, and no search found it; asking ${host} for it also tells ${host} what stands in it`,
    subjects: [host],
    match: 'text',
    isWhole: true,
    alwaysAsks: false,
    grant: host,
  };
}

function headers(): Readonly<Record<string, string>> {
  return {
    'user-agent': userAgent,
    accept: 'text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5',
  };
}

function withoutFragment(url: string | URL): URL {
  const address = new URL(url);
  address.hash = '';
  return address;
}

function isSameAddress(known: string, url: URL): boolean {
  return URL.canParse(known) && withoutFragment(known).href === withoutFragment(url).href;
}

function redirectOf(url: URL, { status, headers: given }: GuardedAnswer): URL | undefined {
  const location = given.get('location');
  if (status < 300 || status > 399 || location === undefined) return undefined;
  return URL.canParse(location, url.href) ? new URL(location, url) : undefined;
}

/** The same host, with or without www, and no step back to http. */
function isSameSite(from: URL, to: URL): boolean {
  const bare = (host: string): string => host.replace(/^www\./u, '');
  const isDowngrade = from.protocol === 'https:' && to.protocol !== 'https:';
  return bare(from.hostname) === bare(to.hostname) && from.port === to.port && !isDowngrade;
}

function leadsAway(from: URL, to: URL): ToolOutcome {
  return {
    kind: 'error',
    text: `${from.href} redirects to another site: ${to.href}\nCall WebFetch with that address if you want to read it.`,
  };
}

function deniedOutcome({ hostname }: URL): ToolOutcome {
  return {
    kind: 'error',
    text: `${hostname} must not be fetched here (tools.web.deny). Find another source.`,
  };
}

async function outcomeOf(
  url: URL,
  { status, headers: given, body, isCut }: GuardedAnswer,
  limits: MediaLimits,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (status < 200 || status > 299) {
    return { kind: 'error', text: `${url.href} answered with HTTP ${status}. ${adviceOf(status)}` };
  }
  const contentType = given.get('content-type') ?? '';
  const document = await documentText({ url: url.href, contentType, body }, limits, signal);
  return shown(url, document, isCut);
}

function shown(url: URL, document: DocumentText, isCut: boolean): ToolOutcome {
  switch (document.kind) {
    case 'problem':
      return { kind: 'error', text: `${url.href}: ${document.text}` };
    case 'media':
      return { kind: 'done', parts: [{ kind: 'text', text: `${url.href}:` }, ...document.parts] };
    case 'text': {
      const title = document.title === '' ? '' : `# ${document.title}\n`;
      const note = isCut ? `\n(only the first ${mostBytes} bytes were read)` : '';
      const text = document.text.trim() === '' ? '(the page has no text)' : document.text;
      return textOutcome(`${title}${url.href}\n\n${text}${note}`);
    }
  }
}

function adviceOf(status: number): string {
  if (status === 401 || status === 403) return 'It is not public, or refuses programs.';
  if (status === 404 || status === 410)
    return 'It is not there (any more); look for another address.';
  if (status === 429) return 'It asks to wait; try another source.';
  return 'Try again later or another source.';
}

function shortAddress(url: string): string {
  if (!URL.canParse(url)) return 'a web page';
  const { host, pathname } = new URL(url);
  const path = pathname.length > 40 ? `${pathname.slice(0, 40)}…` : pathname;
  return `\`${host}${path === '/' ? '' : path.replaceAll('`', '')}\``;
}
