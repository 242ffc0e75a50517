/** What a model call costs, in US dollars. A missing price makes it unknown, never a guess. */

import type { Usage } from '../messages/usage.ts';
import type { Prices } from './settings.ts';

const perMillion = 1_000_000;

/** Undefined when tokens were used whose price is unknown. What the server itself reports wins. */
export function costOf(usage: Usage, prices: Prices | undefined): number | undefined {
  if (usage.reportedUsd !== undefined) return usage.reportedUsd;
  const used: readonly (readonly [tokens: number, price: number | undefined])[] = [
    [usage.input, prices?.input],
    [usage.cacheRead, prices?.cacheRead],
    [usage.cacheWrite, prices?.cacheWrite],
    [usage.output + usage.reasoning, prices?.output],
  ];
  let usd = 0;
  for (const [tokens, price] of used) {
    if (tokens === 0) continue;
    if (price === undefined) return undefined;
    usd += (tokens * price) / perMillion;
  }
  return usd;
}
