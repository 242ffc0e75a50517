/**
 * What discord.js throws for a REST call, as a BotError with one of the surface's codes. Codes come
 * from Discord's numbers (topics/opcodes-and-status-codes), never from a message text.
 */

import { z } from 'zod';
import { BotError, type ErrorCode } from '../../src/base/errors.ts';

const rateLimitSchema = z.object({
  retryAfter: z.number(),
  timeToReset: z.number(),
  /** The limit of all calls. */
  global: z.boolean().optional(),
});
const refusalSchema = z.object({
  status: z.number(),
  code: z.union([z.number(), z.string()]),
  rawError: z.object({ errors: z.unknown().optional() }),
});
const httpSchema = z.object({ status: z.number() });

const codesByNumber: Readonly<Record<number, ErrorCode>> = {
  10003: 'surface_gone', // unknown channel
  10004: 'surface_gone', // unknown guild
  10007: 'surface_gone', // unknown member
  10008: 'message_gone',
  10013: 'surface_gone', // unknown user
  10015: 'message_gone', // unknown webhook: an interaction's token that ran out
  10062: 'message_gone', // unknown interaction
  30046: 'message_uneditable',
  40005: 'message_too_long',
  40058: 'surface_gone', // a forum channel takes posts only
  40060: 'message_refused', // already acknowledged
  50001: 'surface_gone', // missing access
  50005: 'message_uneditable', // somebody else's message
  50008: 'surface_gone', // no text channel
  50013: 'surface_gone', // missing permissions
  50021: 'message_uneditable', // system message
  50027: 'message_gone', // an interaction's token is invalid
  50083: 'surface_gone', // archived thread that could not be opened
  160005: 'surface_gone', // locked thread
};

const advice: Readonly<Record<number, string>> = {
  50001: ' Let the bot see the channel.',
  50013:
    ' Give the bot the permissions View Channel, Send Messages, Send Messages in Threads, Create Public Threads and Attach Files.',
  50083: ' The thread is archived and locked: a moderator can open it.',
  160005: ' The thread is locked: a moderator can unlock it.',
};

/** Discord's number for a refusal, or null where the failure has none. */
export function discordNumberOf(thrown: unknown): number | null {
  if (!(thrown instanceof BotError)) return null;
  const number = thrown.facts['discordCode'];
  return typeof number === 'number' ? number : null;
}

export function isDiscordNumber(thrown: unknown, ...numbers: readonly number[]): boolean {
  const number = discordNumberOf(thrown);
  return number !== null && numbers.includes(number);
}

/** `call` names the request for people and the log: `POST messages`. */
export function discordErrorOf(thrown: unknown, call: string): BotError {
  if (thrown instanceof BotError) return thrown;
  const limited = rateLimitSchema.safeParse(thrown);
  if (limited.success) {
    const retryAfterMs = Math.max(0, Math.ceil(limited.data.retryAfter));
    return new BotError(
      'rate_limited',
      `Discord asked us to wait ${Math.ceil(retryAfterMs / 1000)} s before the next ${call}.`,
      { facts: { call, isGlobal: limited.data.global === true }, retryAfterMs, cause: thrown },
    );
  }
  const refusal = refusalSchema.safeParse(thrown);
  if (refusal.success) return refusalOf(refusal.data, call, thrown);
  const http = httpSchema.safeParse(thrown);
  if (http.success) {
    return new BotError('surface_unavailable', `Discord answered ${call} with an outage.`, {
      facts: { call, status: http.data.status },
      cause: thrown,
    });
  }
  return new BotError('surface_unavailable', `Discord could not be reached for ${call}.`, {
    facts: { call },
    cause: thrown,
  });
}

function refusalOf(
  { status, code, rawError }: z.infer<typeof refusalSchema>,
  call: string,
  cause: unknown,
): BotError {
  const number = typeof code === 'number' ? code : 0;
  const field = badFieldOf(rawError.errors);
  const facts = {
    call,
    status,
    discordCode: number,
    ...(field === null ? {} : { field: field.path, fieldCode: field.code }),
  };
  if (status === 401) {
    return new BotError(
      'surface_gone',
      `Discord refused the bot's token for ${call}. Check DISCORD_TOKEN.`,
      { facts, cause },
    );
  }
  const errorCode =
    number === 50035 ? codeOfInvalid(field) : (codesByNumber[number] ?? codeOfStatus(status));
  return new BotError(
    errorCode,
    `Discord refused ${call} (${number || status}).${advice[number] ?? ''}`,
    { facts, cause },
  );
}

function codeOfStatus(status: number): ErrorCode {
  return status === 403 || status === 404 ? 'surface_gone' : 'message_refused';
}

interface BadField {
  readonly path: string;
  readonly code: string;
}

function codeOfInvalid(field: BadField | null): ErrorCode {
  const isLength = field?.path === 'content' && field.code === 'BASE_TYPE_MAX_LENGTH';
  return isLength ? 'message_too_long' : 'message_refused';
}

const leafSchema = z.object({ _errors: z.array(z.object({ code: z.string() })).min(1) });

/** The first field that Discord found wrong, as a path: `components.0.components.1.label`. */
function badFieldOf(errors: unknown, path: readonly string[] = []): BadField | null {
  const leaf = leafSchema.safeParse(errors);
  if (leaf.success) return { path: path.join('.'), code: leaf.data._errors[0]?.code ?? '' };
  const record = z.record(z.string(), z.unknown()).safeParse(errors);
  if (!record.success) return null;
  for (const [name, inner] of Object.entries(record.data)) {
    const found = badFieldOf(inner, [...path, name]);
    if (found !== null) return found;
  }
  return null;
}
