/**
 * The platforms: one entry each. The only file that imports adapters; an SDK is loaded when its
 * platform is on.
 */

import { createDiscordAdapter } from '../../adapters/discord/adapter.ts';
import { checkDiscord } from '../../adapters/discord/doctor.ts';

import { discordInviteUrl } from '../../adapters/discord/invite.ts';

import { type DiscordSettings, discordSettingsSchema } from '../../adapters/discord/settings.ts';
import { createSlackAdapter } from '../../adapters/slack/adapter.ts';
import { checkSlack } from '../../adapters/slack/doctor.ts';
import { type SlackSettings, slackSettingsSchema } from '../../adapters/slack/settings.ts';
import { createWebAdapter, type WebArchive } from '../../adapters/web/adapter.ts';
import { type WebSettings, webSettingsSchema } from '../../adapters/web/settings.ts';
import type { Clock } from '../base/clock.ts';
import type { Finding } from '../base/finding.ts';
import type { NewId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Adapter } from '../surface/adapter.ts';
import type { CommandSummary } from '../surface/command.ts';

/** Schemas of the `platforms` section. */
export const platformSchemas = {
  slack: slackSettingsSchema.prefault({}),
  discord: discordSettingsSchema.prefault({}),
  web: webSettingsSchema.prefault({}),
};

export interface PlatformSettings {
  readonly slack: SlackSettings;
  readonly discord: DiscordSettings;
  readonly web: WebSettings;
}

export interface AdapterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly botName: string;
  readonly proxy: { readonly httpsProxy: string; readonly noProxy: string } | undefined;
  /** Known once the runs are put together; asked when a platform starts. */
  readonly commands: () => readonly CommandSummary[];
  /** Where the local page keeps its channels and messages. */
  readonly archive: WebArchive;
}

export interface Platform {
  readonly name: string;
  /** Undefined when it is off. */
  readonly adapter: Adapter | undefined;
  /** For people: why it is on or off. */
  readonly why: string;
}

export function createPlatforms(
  deps: AdapterDeps,
  { slack, discord, web }: PlatformSettings,
): readonly Platform[] {
  const { clock, log, newId, proxy, commands } = deps;
  const common = { clock, log, newId, ...(proxy ? { proxy } : {}) };
  const why = { slack: slackWhy(slack), discord: discordWhy(discord), web: webWhy(web) };
  return [
    {
      name: 'slack',
      adapter: why.slack.on ? createSlackAdapter(common, slack) : undefined,
      why: why.slack.why,
    },
    {
      name: 'discord',
      adapter: why.discord.on ? createDiscordAdapter({ ...common, commands }, discord) : undefined,
      why: why.discord.why,
    },
    {
      name: 'web',
      adapter: why.web.on
        ? createWebAdapter(
            { clock, log, newId, commands, archive: deps.archive, botName: deps.botName },
            web,
          )
        : undefined,
      why: why.web.why,
    },
  ];
}

interface Why {
  readonly on: boolean;
  readonly why: string;
}

function slackWhy({ enabled, botToken, appToken, signingSecret }: SlackSettings): Why {
  if (enabled === false) return { on: false, why: 'platforms.slack.enabled is false' };
  if (botToken === undefined) return { on: false, why: 'SLACK_BOT_TOKEN is not set' };
  const ways = [
    ...(appToken === undefined ? [] : ['Socket Mode (SLACK_APP_TOKEN)']),
    ...(signingSecret === undefined ? [] : ['HTTP events (SLACK_SIGNING_SECRET)']),
  ];
  return { on: true, why: `SLACK_BOT_TOKEN is set; ${ways.join(' and ')}` };
}

function discordWhy({ enabled, token }: DiscordSettings): Why {
  if (enabled === false) return { on: false, why: 'platforms.discord.enabled is false' };
  if (token === undefined) return { on: false, why: 'DISCORD_TOKEN is not set' };
  return { on: true, why: 'DISCORD_TOKEN is set' };
}

function webWhy({ enabled }: WebSettings): Why {
  return enabled === false
    ? { on: false, why: 'platforms.web.enabled is false' }
    : { on: true, why: 'it needs no token' };
}

/** The check-up of each platform; one that is off is told as such. */
export async function platformFindings(
  deps: Pick<AdapterDeps, 'log' | 'proxy'>,
  { slack, discord, web }: PlatformSettings,
): Promise<readonly Finding[]> {
  const proxy = deps.proxy ? { proxy: deps.proxy } : {};
  const off = (what: string, { why }: Why): Finding => ({
    state: 'off',
    what,
    text: `off: ${why}.`,
  });
  const why = { slack: slackWhy(slack), discord: discordWhy(discord), web: webWhy(web) };
  return [
    ...(why.slack.on ? await checkSlack(proxy, slack) : [off('slack', why.slack)]),
    ...(why.discord.on
      ? await checkDiscord({ ...proxy, log: deps.log }, discord)
      : [off('discord', why.discord)]),
    why.web.on ? { state: 'ok', what: 'local page', text: 'on.' } : off('local page', why.web),
  ];
}

/** The address that invites the bot to a Discord server. */
export const inviteUrlOf = (applicationId: string): string => discordInviteUrl(applicationId);

/** Settings of platforms that do not fit together, each with what to do. */
export function platformProblems(
  { slack, web }: PlatformSettings,
  server: { readonly host: string },
): readonly string[] {
  const problems: string[] = [];
  const isSlackOff = slack.enabled === false;
  const hasWay = slack.appToken !== undefined || slack.signingSecret !== undefined;
  if (!isSlackOff && slack.botToken !== undefined && !hasWay) {
    problems.push(
      'SLACK_BOT_TOKEN is set, but not how events arrive: set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP events)',
    );
  }
  if (!isSlackOff && slack.botToken === undefined && hasWay) {
    problems.push('SLACK_APP_TOKEN or SLACK_SIGNING_SECRET is set, but SLACK_BOT_TOKEN is missing');
  }
  if (web.enabled !== false && !isLoopback(server.host) && web.token === undefined) {
    problems.push(
      `HOST is ${server.host}, so others could open the local page: set platforms.web.token, or platforms.web.enabled: false`,
    );
  }
  return problems;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./u.test(host);
}
