/** The check-up of Slack: what each token is worth, without connecting or receiving anything. */

import { z } from 'zod';
import type { Finding } from '../../src/base/finding.ts';
import { openTransport } from './open-transport.ts';
import type { ProxySettings } from './proxy.ts';
import { botScopes } from './scopes.ts';
import type { SlackSettings } from './settings.ts';
import type { Transport } from './transport.ts';

const defaultApiUrl = 'https://slack.com/api/';
const timeoutMs = 10_000;

const answerSchema = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  user: z.string().optional(),
  team: z.string().optional(),
});

interface Answer extends z.infer<typeof answerSchema> {
  /** Undefined where the server does not tell. */
  readonly scopes: readonly string[] | undefined;
}

/** The settings name at least a bot token. */
export async function checkSlack(
  deps: { readonly proxy?: ProxySettings },
  { botToken = '', appToken, signingSecret, apiUrl = defaultApiUrl }: SlackSettings,
): Promise<readonly Finding[]> {
  const transport = await openTransport(deps.proxy);
  try {
    const findings = [await checkBotToken(transport, apiUrl, botToken)];
    if (appToken !== undefined) findings.push(await checkAppToken(transport, apiUrl, appToken));
    if (signingSecret !== undefined) {
      findings.push({
        state: 'ok',
        what: 'slack signing secret',
        text: 'SLACK_SIGNING_SECRET is set; only a signed request can show that it is right.',
      });
    }
    return findings;
  } finally {
    await transport.close();
  }
}

async function checkBotToken(
  transport: Transport,
  apiUrl: string,
  token: string,
): Promise<Finding> {
  const what = 'slack bot token';
  const answer = await ask(transport, apiUrl, 'auth.test', token);
  if (answer === undefined) return unreachable(what, apiUrl);
  if (!answer.ok) {
    return {
      state: 'problem',
      what,
      text: `Slack refused it (${answer.error ?? 'no reason given'}): look at SLACK_BOT_TOKEN; it begins with xoxb- and is shown under "OAuth & Permissions" of the app.`,
    };
  }
  const missing = answer.scopes && botScopes.filter((scope) => !answer.scopes?.includes(scope));
  if (missing !== undefined && missing.length > 0) {
    return {
      state: 'problem',
      what,
      text: `It lacks the scopes ${missing.join(', ')}: add them under "OAuth & Permissions" (or paste the manifest of \`deckhand manifest slack\` anew) and install the app again.`,
    };
  }
  return {
    state: 'ok',
    what,
    text: `It is ${answer.user ?? 'a bot'} of ${answer.team ?? 'a workspace'}, with all scopes.`,
  };
}

async function checkAppToken(
  transport: Transport,
  apiUrl: string,
  token: string,
): Promise<Finding> {
  const what = 'slack app token';
  const answer = await ask(transport, apiUrl, 'apps.connections.open', token);
  if (answer === undefined) return unreachable(what, apiUrl);
  if (answer.ok) return { state: 'ok', what, text: 'Socket Mode is open to it.' };
  return {
    state: 'problem',
    what,
    text: `Slack refused it (${answer.error ?? 'no reason given'}): look at SLACK_APP_TOKEN; it begins with xapp-, has the scope connections:write, and Socket Mode is on for the app.`,
  };
}

function unreachable(what: string, apiUrl: string): Finding {
  return {
    state: 'problem',
    what,
    text: `Slack could not be reached at ${apiUrl}: look at the network, HTTPS_PROXY and SLACK_API_URL.`,
  };
}

/** Undefined when there was no answer that could be read. */
async function ask(
  transport: Transport,
  apiUrl: string,
  method: string,
  token: string,
): Promise<Answer | undefined> {
  try {
    const response = await transport.fetch(new URL(method, apiUrl).href, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = answerSchema.parse(JSON.parse(await response.text()));
    const scopes = response.headers.get('x-oauth-scopes');
    return { ...answer, scopes: scopes?.split(',').map((scope) => scope.trim()) };
  } catch {
    return undefined;
  }
}
