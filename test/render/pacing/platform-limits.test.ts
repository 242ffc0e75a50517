/** The plans of the platforms against what they take: a crowd that wants all at once. */

import { describe, expect, it } from 'vitest';
import { discordCapabilities } from '../../../adapters/discord/adapter.ts';
import { slackCapabilities } from '../../../adapters/slack/adapter.ts';
import { createPacer } from '../../../src/render/pacing/pacer.ts';
import type { CallBudget, CallKind } from '../../../src/surface/calls.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const minuteMs = 60_000;
const urgencies = ['end', 'first', 'progress'] as const;

/** Most calls in any window of this length, where 300 threads want two each. */
async function mostCallsOf(
  budgets: readonly CallBudget[],
  kinds: readonly CallKind[],
  windowMs: number,
): Promise<number> {
  const clock = createFakeClock();
  const pacer = createPacer({ clock }, budgets);
  const times: number[] = [];
  for (let index = 0; index < 600; index += 1) {
    const thread = `t${index % 300}`;
    const conversation = { adapter: 'a', space: 's', channel: `c${index % 300}`, thread };
    const kind = kinds[index % kinds.length] ?? 'edit';
    const urgency = urgencies[index % urgencies.length] ?? 'end';
    void pacer.slot({ kind, conversation, urgency }).then(() => times.push(clock.now()));
  }
  await clock.advance(2.5 * windowMs);
  expect(times.length).toBeGreaterThan(20);
  return Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length),
  );
}

describe('the calls of an account', () => {
  // platform-limits: Slack's tiers by method and workspace; Discord's 50 a second in all.
  it.each<[string, readonly CallBudget[], readonly CallKind[], number, number]>([
    ['Slack edits', slackCapabilities.budgets, ['edit'], minuteMs, 50],
    ['Slack deletions', slackCapabilities.budgets, ['remove'], minuteMs, 50],
    ['Slack posts', slackCapabilities.budgets, ['post'], minuteMs, 300],
    ['Slack stream starts', slackCapabilities.budgets, ['stream_start'], minuteMs, 20],
    ['Slack stream ends', slackCapabilities.budgets, ['stream_stop'], minuteMs, 20],
    ['Slack appends', slackCapabilities.budgets, ['stream_append'], minuteMs, 100],
    ['Discord calls', discordCapabilities.budgets, ['post', 'edit', 'remove'], 1000, 50],
  ])('%s stay within its limit', async (_what, budgets, kinds, windowMs, limit) => {
    expect(await mostCallsOf(budgets, kinds, windowMs)).toBeLessThanOrEqual(limit);
  });
});
