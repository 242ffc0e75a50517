/** The platforms' limits, switched on in their emulators: whoever breaks one is refused. */

import type { DiscordGuild } from '../emulators/discord/guild.ts';
import type { SlackWorkspace } from '../emulators/slack/workspace.ts';

const minute = 60_000;

/** https://docs.slack.dev/apis/web-api/rate-limits, by method and workspace; posts to one channel. */
export const slackLimits: Readonly<Record<string, number>> = {
  ...{ 'chat.update': 50, 'chat.postMessage': 60 },
  ...{ 'chat.startStream': 20, 'chat.appendStream': 100, 'chat.stopStream': 20 },
};

export function keepSlackLimits(workspace: SlackWorkspace): void {
  for (const [method, calls] of Object.entries(slackLimits)) {
    workspace.limit(method, calls, minute);
  }
}

/** Seen, not promised: about five calls in five seconds, each kind in each channel. */
export function keepDiscordLimits(guild: DiscordGuild): void {
  guild.limit('POST /channels/:id/messages', 5, 5_000);
  guild.limit('PATCH /channels/:id/messages/:id', 5, 5_000);
}
