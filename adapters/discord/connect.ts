/**
 * The connection: a discord.js client whose raw dispatches are handed on. Its REST client neither
 * tries again nor waits for rate limits; its session is resumed by the library, and a session that
 * could not be resumed is reported.
 */

import {
  Client,
  Events,
  GatewayIntentBits,
  Options,
  Partials,
  PermissionFlagsBits,
  RequestMethod,
  type ResponseLike,
  SimpleShardingStrategy,
} from 'discord.js';
import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import { BotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { createDirectory, type Directory } from './directory.ts';
import { createLimitsBook, type LimitsBook } from './limits-book.ts';
import { type CallDiscord, createCallDiscord } from './rest.ts';
import type { Answer, Request, Transport } from './transport.ts';
import { dispatchSchema, readySchema, type Self } from './wire.ts';

export interface Connection {
  readonly self: Self;
  readonly call: CallDiscord;
  readonly limits: LimitsBook;
  readonly directory: Directory;
  /** Hands on what came so far and comes from now on. */
  listen(handlers: ConnectionHandlers): void;
  /** Null while the gateway is connected. */
  trouble(): { readonly since: number; readonly final: string | null } | null;
  close(): Promise<void>;
}

interface ConnectionHandlers {
  dispatch(type: string, raw: unknown): void;
  /** Messages may have been missed since then (ms since the epoch). */
  gap(since: number): void;
}

const startTimeoutMs = 30_000;
const closeTimeoutMs = 4_000;
const restTimeoutMs = 30_000;
/** Guilds that are out of order may not hold up the others. */
const mostGuildWaitMs = 2_000;

/** Close codes after which the gateway takes no new try (topics/opcodes-and-status-codes). */
const finalCodes: Readonly<Record<number, string>> = {
  4004: 'Discord refused the bot token. Check DISCORD_TOKEN.',
  4010: 'Discord refused the connection: invalid shard.',
  4011: 'The bot is in too many servers for one connection (sharding is required).',
  4012: 'Discord refused the connection: invalid API version.',
  4013: 'Discord refused the connection: invalid intents.',
  4014: 'Discord refused the bot’s intents. Open the developer portal, choose the application, then Bot, and switch on "Message Content Intent".',
};

const tokenInvalidSchema = z.object({ code: z.literal('TokenInvalid') });

export async function connectDiscord(
  deps: { readonly clock: Clock; readonly log: Log; readonly transport: Transport },
  options: { readonly token: string; readonly apiUrl: string },
): Promise<Connection> {
  const { clock, log, transport } = deps;
  let isStopped = false;
  let self: Self | null = null;
  let handlers: ConnectionHandlers | null = null;
  let lostSince: number | null = clock.now();
  let finalCode: number | null = null;
  /** What came before somebody listened. */
  const early: { readonly type: string; readonly raw: unknown }[] = [];

  const limits = createLimitsBook(clock);
  const client = new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.GuildMessageReactions,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.DirectMessageReactions,
      GatewayIntentBits.MessageContent,
    ],
    partials: [Partials.Channel, Partials.Message],
    waitGuildTimeout: mostGuildWaitMs,
    // Messages are read from the dispatches: none is kept by the library.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: 0,
      ReactionManager: 0,
      UserManager: { maxSize: 200, keepOverLimit: (user) => user.id === user.client.user.id },
    }),
    rest: {
      api: options.apiUrl.replace(/\/+$/u, ''),
      retries: 0,
      rejectOnRateLimit: () => true,
      timeout: restTimeoutMs,
      offset: 0,
      // The library's own way to fetch breaks once another undici is the global dispatcher.
      makeRequest: async (url, init) => {
        const answer = await transport.fetch(url, await requestOf(init));
        limits.note(init.method ?? 'GET', url, answer.headers);
        return responseOf(answer);
      },
    },
    ws: {
      buildStrategy: (manager) => {
        const retrieve = manager.options.retrieveSessionInfo.bind(manager.options);
        manager.options.retrieveSessionInfo = async (shardId) => {
          // A shard that waits to connect again is not ended by the library: it ends here.
          if (isStopped) return await new Promise(() => undefined);
          const info = await retrieve(shardId);
          if (info === null) return null;
          return { ...info, resumeURL: await transport.socketUrl(info.resumeURL) };
        };
        const fetchInformation = manager.fetchGatewayInformation.bind(manager);
        manager.fetchGatewayInformation = async (force) => {
          const information = await fetchInformation(force);
          return { ...information, url: await transport.socketUrl(information.url) };
        };
        return new SimpleShardingStrategy(manager);
      },
    },
  });

  const up = (): void => {
    lostSince = null;
  };
  const down = (): void => {
    lostSince ??= clock.now();
  };

  const onReady = (raw: unknown): void => {
    const ready = readySchema.safeParse(raw);
    if (!ready.success) return;
    const { user, application } = ready.data;
    const isFirst = self === null;
    self = {
      userId: user.id,
      name: user.global_name ?? user.username,
      applicationId: application.id,
    };
    const lostAt = lostSince ?? clock.now();
    up();
    // A second READY: the session could not be resumed, what was said meanwhile is not replayed.
    if (!isFirst) handlers?.gap(lostAt);
  };

  client.on(Events.Raw, (packet: unknown) => {
    const parsed = dispatchSchema.safeParse(packet);
    if (isStopped || !parsed.success) return;
    const { t: type, d: raw } = parsed.data;
    if (type === 'READY') onReady(raw);
    else if (type === 'RESUMED') up();
    else if (handlers === null) early.push({ type, raw });
    else handlers.dispatch(type, raw);
  });
  client.on(Events.ShardReconnecting, () => {
    if (!isStopped) log.info('discord_connection_lost');
    down();
  });
  client.on(Events.ShardDisconnect, ({ code }) => {
    finalCode = code;
    down();
    log.error('discord_connection_refused', { closeCode: code });
  });
  client.on(Events.Invalidated, () => {
    down();
    log.error('discord_session_invalidated');
  });
  // Without listeners these would end the process; the library connects again by itself.
  client.on(Events.Error, (error) => log.warn('discord_client_failed', errorFacts(error)));
  client.on(Events.ShardError, (error) => log.warn('discord_socket_failed', errorFacts(error)));

  const close = async (): Promise<void> => {
    isStopped = true;
    down();
    await withinMs(clock, closeTimeoutMs, client.destroy()).catch((error: unknown) =>
      log.warn('discord_close_failed', errorFacts(error)),
    );
  };

  try {
    await withinMs(clock, startTimeoutMs, readyOf(client, options.token));
    if (self === null) throw new BotError('surface_unavailable', 'Discord did not get ready.');
  } catch (error) {
    await close();
    throw startErrorOf(error, finalCode);
  }
  const call = createCallDiscord(client.rest, {
    GET: RequestMethod.Get,
    POST: RequestMethod.Post,
    PUT: RequestMethod.Put,
    PATCH: RequestMethod.Patch,
    DELETE: RequestMethod.Delete,
  });
  const viewChannel = PermissionFlagsBits.ViewChannel;
  return {
    self,
    call,
    limits,
    directory: createDirectory({ client, call, clock, self, viewChannel }),
    listen: (given) => {
      handlers = given;
      for (const { type, raw } of early.splice(0)) given.dispatch(type, raw);
    },
    trouble: () => {
      if (lostSince === null) return null;
      return {
        since: lostSince,
        final: finalCode === null ? null : (finalCodes[finalCode] ?? `close code ${finalCode}`),
      };
    },
    close,
  };
}

async function readyOf(client: Client, token: string): Promise<void> {
  const ready = new Promise<void>((resolve) => client.once(Events.ClientReady, () => resolve()));
  await client.login(token);
  await ready;
}

function startErrorOf(error: unknown, finalCode: number | null): BotError {
  if (tokenInvalidSchema.safeParse(error).success) {
    return new BotError('config_invalid', finalCodes[4004] ?? '', { cause: error });
  }
  const sentence = finalCode === null ? undefined : finalCodes[finalCode];
  if (sentence !== undefined) {
    return new BotError('config_invalid', sentence, {
      facts: { closeCode: finalCode },
      cause: error,
    });
  }
  if (error instanceof BotError) return error;
  return new BotError('surface_unavailable', 'Discord could not be reached at start.', {
    cause: error,
  });
}

type MakeRequest = NonNullable<
  NonNullable<ConstructorParameters<typeof Client>[0]['rest']>['makeRequest']
>;

async function requestOf(init: Parameters<MakeRequest>[1]): Promise<Request> {
  const { method, body, headers, signal } = init;
  const common = {
    ...(method === undefined ? {} : { method }),
    headers: headersOf(headers),
    ...(signal === undefined || signal === null ? {} : { signal }),
  };
  if (body === undefined || body === null) return common;
  if (typeof body === 'string') return { ...common, body };
  // A form is written out here: the proxy's client would not know the form of another library.
  if (!(body instanceof FormData)) throw new TypeError('Only texts and forms are sent to Discord.');
  const form = new Response(body);
  return {
    ...common,
    headers: { ...common.headers, 'content-type': form.headers.get('content-type') ?? '' },
    body: new Uint8Array(await form.arrayBuffer()),
  };
}

/** The library reads bodies as a whole. */
function responseOf(answer: Answer): ResponseLike {
  const { bodyUsed, headers, ok, status, statusText } = answer;
  return {
    ...{ bodyUsed, headers, ok, status, statusText },
    arrayBuffer: () => answer.arrayBuffer(),
    json: () => answer.json(),
    text: () => answer.text(),
    body: null,
  };
}

const headersSchema = z.record(z.string(), z.string());

function headersOf(headers: unknown): Record<string, string> {
  return headers === undefined ? {} : headersSchema.parse(headers);
}

function withinMs<Result>(clock: Clock, mostMs: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(mostMs, () =>
      reject(
        new BotError('surface_unavailable', `Discord did not answer within ${mostMs / 1000} s.`),
      ),
    );
    work.then(resolve, reject).finally(cancel).catch(reject);
  });
}
