/** REST calls: one function, answers checked by schema, failures as BotErrors, no second try. */

import type { REST, RequestMethod } from 'discord.js';
import { z } from 'zod';
import { BotError } from '../../src/base/errors.ts';
import { discordErrorOf } from './errors.ts';

export interface OutgoingFile {
  readonly name: string;
  readonly content: Uint8Array;
}

export interface CallOptions<Schema extends z.ZodType> {
  readonly schema: Schema;
  readonly body?: Readonly<Record<string, unknown>> | readonly unknown[];
  /** With it the body goes as `payload_json` of a form (reference, uploading files). */
  readonly file?: OutgoingFile;
  readonly query?: Readonly<Record<string, string>>;
  /** Calls with an interaction's token carry no bot token. */
  readonly auth?: false;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type CallDiscord = <Schema extends z.ZodType>(
  method: Method,
  route: `/${string}`,
  options: CallOptions<Schema>,
) => Promise<z.infer<Schema>>;

/** For calls whose answer does not matter. */
export const anyAnswer = z.unknown();

export function createCallDiscord(
  rest: REST,
  methods: Readonly<Record<Method, RequestMethod>>,
): CallDiscord {
  let isTokenRefused = false;
  return async (method, route, options) => {
    const name = `${method} ${nameOf(route)}`;
    // Refused requests are counted: 10,000 in 10 minutes ban the address.
    if (isTokenRefused && options.auth !== false) {
      throw new BotError(
        'surface_gone',
        'Discord refused the bot’s token before. Check DISCORD_TOKEN and start again.',
        { facts: { call: name } },
      );
    }
    const answer = await send(rest, methods[method], route, options).catch((error: unknown) => {
      const failure = discordErrorOf(error, name);
      if (failure.facts['status'] === 401 && options.auth !== false) isTokenRefused = true;
      throw failure;
    });
    const parsed = options.schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new BotError('surface_unavailable', `Discord's answer to ${name} could not be read.`, {
      facts: { call: name },
      cause: parsed.error,
    });
  };
}

function send(
  rest: REST,
  method: RequestMethod,
  route: `/${string}`,
  options: CallOptions<z.ZodType>,
): Promise<unknown> {
  return rest.request({
    method,
    fullRoute: route,
    ...(options.body === undefined ? {} : { body: options.body }),
    ...(options.file === undefined
      ? {}
      : { files: [{ name: options.file.name, data: options.file.content }] }),
    ...(options.query === undefined ? {} : { query: new URLSearchParams(options.query) }),
    ...(options.auth === false ? { auth: false } : {}),
  });
}

/** The route without ids and tokens. */
function nameOf(route: string): string {
  return route
    .split('/')
    .filter((piece) => /^[a-z@-]{1,30}$/u.test(piece))
    .join('/');
}
