/**
 * Fetching that never reaches a private address (rule 16). Names are looked up here, all their
 * addresses must be public, and the connection goes to an address that was checked: a second look-up
 * cannot lead elsewhere. Redirects are not followed here.
 */

import { lookup } from 'node:dns/promises';
import net from 'node:net';
import { Agent, buildConnector, ProxyAgent, request } from 'undici';
import { abortReasonOf } from '../../base/abort.ts';
import { BotError, botErrorOf } from '../../base/errors.ts';
import { isPublicAddress } from './addresses.ts';

export interface GuardedAnswer {
  readonly status: number;
  /** Lower-case names; of repeated ones the first. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  /** The body went on beyond what was read. */
  readonly isCut: boolean;
}

export interface GuardedFetch {
  /** Rejects with tool_failed: a sentence that says what is wrong, for the model. */
  get(
    url: URL,
    options: {
      readonly headers: Readonly<Record<string, string>>;
      readonly mostBytes: number;
      readonly signal: AbortSignal;
    },
  ): Promise<GuardedAnswer>;
  close(): Promise<void>;
}

export interface GuardedFetchDeps {
  /** All addresses of a name. Default: the system's resolver. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Address of a proxy that all goes through; it must refuse private addresses itself. */
  readonly proxy?: string;
  /** Where a checked address is really connected to; tests stand a server there. */
  readonly dial?: (
    address: string,
    port: number,
  ) => { readonly host: string; readonly port: number };
}

const connectTimeoutMs = 10_000;

export function createGuardedFetch(deps: GuardedFetchDeps = {}): GuardedFetch {
  const resolve = deps.resolve ?? systemResolve;
  const dial = deps.dial ?? ((host, port) => ({ host, port }));
  const plainConnect = buildConnector({ timeout: connectTimeoutMs });
  const connectChecked = async (
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Promise<void> => {
    const name = options.hostname.replace(/^\[|\]$/gu, '');
    const address = await checkedAddress(resolve, name).catch((thrown: unknown) =>
      botErrorOf(thrown),
    );
    if (typeof address !== 'string') {
      callback(address, null);
      return;
    }
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const { host, port: dialled } = dial(address, port);
    const servername = net.isIP(name) === 0 ? { servername: name } : {};
    plainConnect(
      { ...options, ...servername, hostname: host, host, port: String(dialled) },
      callback,
    );
  };
  const direct = new Agent({
    // Each connection is checked anew.
    connections: 4,
    keepAliveTimeout: 1000,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
    connect: (options, callback) => {
      void connectChecked(options, callback);
    },
  });
  const agent = deps.proxy === undefined ? direct : new ProxyAgent({ uri: deps.proxy });
  return {
    get: async (url, { headers, mostBytes, signal }) => {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        throw new BotError(
          'tool_failed',
          `Only http and https can be fetched, not ${url.protocol}`,
        );
      }
      if (deps.proxy !== undefined) await checkBeforeProxy(resolve, url);
      try {
        const answer = await request(url, { dispatcher: agent, headers, signal, method: 'GET' });
        const { bytes, isCut } = await readAtMost(answer.body, mostBytes);
        return {
          status: answer.statusCode,
          headers: headersOf(answer.headers),
          body: bytes,
          isCut,
        };
      } catch (thrown) {
        if (signal.aborted) throw abortReasonOf(signal);
        throw failureOf(url, thrown);
      }
    },
    close: () => agent.close(),
  };
}

async function systemResolve(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** One address of the name, when all of them are public. */
async function checkedAddress(
  resolve: (name: string) => Promise<readonly string[]>,
  name: string,
): Promise<string> {
  const addresses = net.isIP(name) === 0 ? await resolve(name) : [name];
  const [first] = addresses;
  if (first === undefined) throw new BotError('tool_failed', `${name} has no address.`);
  const wrong = addresses.find((address) => !isPublicAddress(address));
  if (wrong !== undefined) {
    throw new BotError(
      'tool_failed',
      `${name} is not on the public internet; such addresses cannot be fetched.`,
    );
  }
  return first;
}

/** What can be known here; names that only the proxy can look up are left to it. */
async function checkBeforeProxy(
  resolve: (name: string) => Promise<readonly string[]>,
  url: URL,
): Promise<void> {
  const name = url.hostname.replace(/^\[|\]$/gu, '');
  const addresses = net.isIP(name) === 0 ? await resolve(name).catch(() => []) : [name];
  if (addresses.length > 0) await checkedAddress(async () => addresses, name);
}

async function readAtMost(
  body: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<{ readonly bytes: Uint8Array; readonly isCut: boolean }> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    const room = mostBytes - size;
    pieces.push(piece.length > room ? piece.subarray(0, room) : piece);
    size += Math.min(piece.length, room);
    // Leaving the loop ends the download.
    if (piece.length > room) return { bytes: Buffer.concat(pieces), isCut: true };
  }
  return { bytes: Buffer.concat(pieces), isCut: false };
}

function headersOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value;
      return first === undefined ? [] : [[name.toLowerCase(), first] as const];
    }),
  );
}

function failureOf(url: URL, thrown: unknown): BotError {
  if (thrown instanceof BotError) return thrown;
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  return new BotError('tool_failed', `${url.host} could not be reached (${code}).`, { cause });
}
