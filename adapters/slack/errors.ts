/**
 * What the Web API client throws, as a BotError with one of the surface's codes. An answer with
 * `ok: false` is a failure like any other. Codes come from the client's typed fields and Slack's
 * error words, never from a message text.
 */

import { z } from 'zod';
import { BotError, type ErrorCode } from '../../src/base/errors.ts';
import { methodScopes, type SlackMethod } from './methods.ts';

const thrownSchema = z.discriminatedUnion('code', [
  z.object({
    code: z.literal('slack_webapi_platform_error'),
    data: z.object({
      error: z.string(),
      needed: z.string().optional(),
      response_metadata: z.object({ retryAfter: z.number().optional() }).optional(),
    }),
  }),
  z.object({ code: z.literal('slack_webapi_rate_limited_error'), retryAfter: z.number() }),
  z.object({ code: z.literal('slack_webapi_http_error'), statusCode: z.number() }),
  z.object({ code: z.literal('slack_webapi_request_error') }),
]);

/** Wait when Slack says "too fast" without a number. */
const unsaidRetryMs = 30_000;

const codesByWord: Readonly<Record<string, ErrorCode>> = {
  message_not_found: 'message_gone',
  no_item_specified: 'message_gone',
  cant_update_message: 'message_uneditable',
  cant_delete_message: 'message_uneditable',
  edit_window_closed: 'message_uneditable',
  update_failed: 'message_uneditable',
  message_not_in_streaming_state: 'message_uneditable',
  msg_too_long: 'message_too_long',
  msg_blocks_too_long: 'message_too_long',
  file_upload_size_restricted: 'message_too_long',
  snippet_too_large: 'message_too_long',
  channel_not_found: 'surface_gone',
  not_in_channel: 'surface_gone',
  is_archived: 'surface_gone',
  thread_not_found: 'surface_gone',
  cannot_reply_to_message: 'surface_gone',
  restricted_action: 'surface_gone',
  restricted_action_read_only_channel: 'surface_gone',
  restricted_action_thread_locked: 'surface_gone',
  restricted_action_thread_only_channel: 'surface_gone',
  restricted_action_non_threadable_channel: 'surface_gone',
  user_not_in_channel: 'surface_gone',
  user_not_found: 'surface_gone',
  cannot_dm_bot: 'surface_gone',
  missing_scope: 'surface_gone',
  no_permission: 'surface_gone',
  access_denied: 'surface_gone',
  invalid_auth: 'surface_gone',
  not_authed: 'surface_gone',
  not_allowed_token_type: 'surface_gone',
  account_inactive: 'surface_gone',
  token_revoked: 'surface_gone',
  token_expired: 'surface_gone',
  ratelimited: 'rate_limited',
  rate_limited: 'rate_limited',
  message_limit_exceeded: 'rate_limited',
  internal_error: 'surface_unavailable',
  fatal_error: 'surface_unavailable',
  service_unavailable: 'surface_unavailable',
  request_timeout: 'surface_unavailable',
  team_added_to_org: 'surface_unavailable',
};

/** Slack's word for a refusal (`message_not_found`), or null where the failure has none. */
export function slackWordOf(thrown: unknown): string | null {
  if (thrown instanceof BotError) {
    const word = thrown.facts['word'];
    return typeof word === 'string' ? word : null;
  }
  const parsed = thrownSchema.safeParse(thrown);
  return parsed.success && parsed.data.code === 'slack_webapi_platform_error'
    ? parsed.data.data.error
    : null;
}

export function slackErrorOf(thrown: unknown, method: SlackMethod): BotError {
  if (thrown instanceof BotError) return thrown;
  const parsed = thrownSchema.safeParse(thrown);
  if (!parsed.success) {
    return new BotError('surface_unavailable', `Slack's answer to ${method} could not be read.`, {
      facts: { method },
      cause: thrown,
    });
  }
  const failure = parsed.data;
  switch (failure.code) {
    case 'slack_webapi_rate_limited_error':
      return rateLimited(method, failure.retryAfter * 1000, thrown);
    case 'slack_webapi_http_error':
      return new BotError(
        'surface_unavailable',
        `Slack answered ${method} with HTTP ${failure.statusCode}.`,
        { facts: { method, status: failure.statusCode }, cause: thrown },
      );
    case 'slack_webapi_request_error':
      return new BotError('surface_unavailable', `Slack could not be reached for ${method}.`, {
        facts: { method },
        cause: thrown,
      });
    case 'slack_webapi_platform_error':
      return refusal(method, failure.data, thrown);
  }
}

function rateLimited(method: SlackMethod, retryAfterMs: number, cause: unknown): BotError {
  return new BotError(
    'rate_limited',
    `Slack asked us to wait ${Math.ceil(retryAfterMs / 1000)} s before the next ${method}.`,
    { facts: { method }, retryAfterMs, cause },
  );
}

function refusal(
  method: SlackMethod,
  data: {
    readonly error: string;
    readonly needed?: string | undefined;
    readonly response_metadata?: { readonly retryAfter?: number | undefined } | undefined;
  },
  cause: unknown,
): BotError {
  // An answer that is no JSON arrives as its whole text in `error`: a proxy's page, for example.
  if (!/^[a-z0-9_]{2,80}$/u.test(data.error)) {
    return new BotError('surface_unavailable', `Slack's answer to ${method} was not JSON.`, {
      facts: { method },
    });
  }
  const word = data.error;
  const code = codesByWord[word] ?? 'message_refused';
  if (code === 'rate_limited') {
    const seconds = data.response_metadata?.retryAfter;
    return rateLimited(method, seconds === undefined ? unsaidRetryMs : seconds * 1000, cause);
  }
  return new BotError(code, `Slack refused ${method} (${word}).${adviceOf(word, method, data)}`, {
    facts: { method, word },
    cause,
  });
}

function adviceOf(
  word: string,
  method: SlackMethod,
  data: { readonly needed?: string | undefined },
): string {
  if (word === 'missing_scope') {
    const scopes: readonly string[] = methodScopes[method];
    return ` Add the scope ${data.needed ?? scopes.join(', ')} to the app and install it again.`;
  }
  if (word === 'not_in_channel' || word === 'channel_not_found') {
    return ' Invite the bot to the channel.';
  }
  if (word === 'file_uploads_disabled' || word === 'file_uploads_except_images_disabled') {
    return ' The workspace does not allow such uploads: its owner can, under "Settings & permissions".';
  }
  if (word === 'file_upload_size_restricted') return ' The file is too large for this workspace.';
  return '';
}
