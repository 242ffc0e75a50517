/** The check-up of Discord: whose token it is and what the application may see, without connecting. */

import { z } from 'zod';
import type { Finding } from '../../src/base/finding.ts';
import type { Log } from '../../src/base/log.ts';
import { discordInviteUrl } from './invite.ts';
import { openTransport } from './open-transport.ts';
import type { ProxySettings } from './proxy.ts';
import type { DiscordSettings } from './settings.ts';
import type { Transport } from './transport.ts';

const defaultApiUrl = 'https://discord.com/api';
const apiVersion = 'v10';
const timeoutMs = 10_000;
/** Application flags (resources/application): the message content intent, for large and small bots. */
const contentFlags = (1 << 18) | (1 << 19);

const userSchema = z.object({ username: z.string() });
const applicationSchema = z.object({ id: z.string(), flags: z.number().default(0) });
const guildsSchema = z.array(z.object({ name: z.string() }));

type Asked<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'unreachable' };

/** The settings name a token. */
export async function checkDiscord(
  deps: { readonly proxy?: ProxySettings; readonly log: Log },
  { token = '', apiUrl = defaultApiUrl }: DiscordSettings,
): Promise<readonly Finding[]> {
  const transport = await openTransport(deps.proxy, deps.log);
  const ask = <T>(route: string, schema: z.ZodType<T>): Promise<Asked<T>> =>
    askDiscord(transport, `${apiUrl}/${apiVersion}${route}`, token, schema);
  try {
    const user = await ask('/users/@me', userSchema);
    if (user.kind !== 'answer') return [tokenProblem(user, apiUrl)];
    const application = await ask('/applications/@me', applicationSchema);
    const guilds = await ask('/users/@me/guilds', guildsSchema);
    return [
      { state: 'ok', what: 'discord token', text: `It is the bot ${user.value.username}.` },
      intentFinding(application),
      guildFinding(guilds, application),
    ];
  } finally {
    await transport.close();
  }
}

function tokenProblem(asked: Exclude<Asked<unknown>, { kind: 'answer' }>, apiUrl: string): Finding {
  const what = 'discord token';
  if (asked.kind === 'refused' && (asked.status === 401 || asked.status === 403)) {
    return {
      state: 'problem',
      what,
      text: `Discord refused it (HTTP ${asked.status}): look at DISCORD_TOKEN; the developer portal shows a new one under Bot, "Reset Token".`,
    };
  }
  return {
    state: 'problem',
    what,
    text: `Discord did not answer at ${apiUrl}: look at the network, HTTPS_PROXY and DISCORD_API_URL.`,
  };
}

function intentFinding(application: Asked<z.infer<typeof applicationSchema>>): Finding {
  const what = 'discord message content';
  if (application.kind !== 'answer') {
    return {
      state: 'warning',
      what,
      text: 'Discord did not say whether the intent is on; the start will show it.',
    };
  }
  if ((application.value.flags & contentFlags) !== 0) {
    return { state: 'ok', what, text: 'The intent is on: the bot can read what people say.' };
  }
  return {
    state: 'problem',
    what,
    text: 'The bot may not read messages: open the developer portal, choose the application, then Bot, and switch on "Message Content Intent".',
  };
}

function guildFinding(
  guilds: Asked<z.infer<typeof guildsSchema>>,
  application: Asked<z.infer<typeof applicationSchema>>,
): Finding {
  const what = 'discord servers';
  if (guilds.kind !== 'answer') {
    return { state: 'warning', what, text: 'Discord did not list the servers of the bot.' };
  }
  if (guilds.value.length > 0) {
    return { state: 'ok', what, text: guilds.value.map(({ name }) => name).join(', ') };
  }
  const address = application.kind === 'answer' ? ` ${discordInviteUrl(application.value.id)}` : '';
  return { state: 'warning', what, text: `The bot is in no server yet. Invite it:${address}` };
}

async function askDiscord<T>(
  transport: Transport,
  url: string,
  token: string,
  schema: z.ZodType<T>,
): Promise<Asked<T>> {
  try {
    const response = await transport.fetch(url, {
      headers: { authorization: `Bot ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return response.status >= 500
        ? { kind: 'unreachable' }
        : { kind: 'refused', status: response.status };
    }
    return { kind: 'answer', value: schema.parse(await response.json()) };
  } catch {
    return { kind: 'unreachable' };
  }
}
