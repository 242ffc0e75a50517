/** The limits of the platforms, as they hold here and as a planner who knows all may use them. */

import { discordCapabilities } from '../../../adapters/discord/adapter.ts';
import { slackCapabilities } from '../../../adapters/slack/adapter.ts';
import type { CallKind } from '../../../src/surface/calls.ts';
import type { Capabilities } from '../../../src/surface/surface.ts';

export interface Limit {
  readonly calls: readonly CallKind[];
  readonly per: 'account' | 'space' | 'channel' | 'thread';
  /** At most so many in any window: more are refused. */
  readonly most: number;
  readonly windowMs: number;
  /** The ideal's burst: what comes back evenly besides it is most / windowMs. */
  readonly burst: number;
}

export interface BenchPlatform {
  readonly name: 'Slack native' | 'Slack edit' | 'Discord';
  readonly isDiscord: boolean;
  readonly streams: boolean;
  readonly capabilities: Capabilities;
  readonly limits: readonly Limit[];
  /** Length of a message, for the ideal. */
  readonly pageLength: number;
  /** Most geometric mean of staleness, times the ideal. */
  readonly goal: number;
}

const minute = 60_000;

const slackLimits: readonly Limit[] = [
  { calls: ['edit'], per: 'space', most: 50, windowMs: minute, burst: 10 },
  { calls: ['post'], per: 'channel', most: 60, windowMs: minute, burst: 5 },
  { calls: ['stream_append'], per: 'space', most: 100, windowMs: minute, burst: 20 },
  { calls: ['stream_start'], per: 'space', most: 20, windowMs: minute, burst: 20 },
  { calls: ['stream_stop'], per: 'space', most: 20, windowMs: minute, burst: 20 },
];

export const platforms: readonly BenchPlatform[] = [
  {
    ...{ name: 'Slack native', isDiscord: false, streams: true, capabilities: slackCapabilities },
    ...{ limits: slackLimits, pageLength: 11_000, goal: 1.5 },
  },
  {
    ...{ name: 'Slack edit', isDiscord: false, streams: false, capabilities: slackCapabilities },
    ...{ limits: slackLimits, pageLength: 11_000, goal: 1.6 },
  },
  {
    ...{ name: 'Discord', isDiscord: true, streams: false, capabilities: discordCapabilities },
    ...{ pageLength: 2_000, goal: 1.35 },
    limits: [
      // A window that is told to the caller: the ideal spreads its five calls evenly over it.
      { calls: ['edit'], per: 'thread', most: 5, windowMs: 5_000, burst: 1 },
      { calls: ['post'], per: 'thread', most: 5, windowMs: 5_000, burst: 1 },
      { calls: ['edit', 'post'], per: 'account', most: 50, windowMs: 1_000, burst: 50 },
    ],
  },
];

/** From a call to its effect, and from there to its answer. */
export const onewayMs = 30;

export function scopeOf(
  { per }: Limit,
  { channel, thread }: { readonly channel: string; readonly thread: string },
): string {
  if (per === 'channel') return channel;
  return per === 'thread' ? thread : '';
}
