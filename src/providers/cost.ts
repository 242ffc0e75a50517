/** What a model call costs, in US dollars. A missing price makes it unknown, never a guess. */

import type { Usage } from '../messages/usage.ts';
import type { Prices } from './settings.ts';

type Rates = Pick<Prices, 'input' | 'cacheRead' | 'cacheWrite' | 'output'>;

const perMillion = 1_000_000;

/** Undefined when tokens were used whose price is unknown. What the server itself reports wins. */
export function costOf(usage: Usage, prices: Prices | undefined): number | undefined {
  if (usage.reportedUsd !== undefined) return usage.reportedUsd;
  const rates = ratesFor(usage, prices);
  const used: readonly (readonly [tokens: number, price: number | undefined])[] = [
    [usage.input, rates?.input],
    [usage.cacheRead, rates?.cacheRead],
    [usage.cacheWrite, rates?.cacheWrite],
    [usage.output + usage.reasoning, rates?.output],
  ];
  let usd = 0;
  for (const [tokens, price] of used) {
    if (tokens === 0) continue;
    if (price === undefined) return undefined;
    usd += (tokens * price) / perMillion;
  }
  return usd;
}

/** Long prompts have rates of their own at some vendors. */
function ratesFor(usage: Usage, prices: Prices | undefined): Rates | undefined {
  const long = prices?.longPrompt;
  const promptTokens = usage.input + usage.cacheRead + usage.cacheWrite;
  return long !== undefined && promptTokens > long.aboveTokens ? long : prices;
}
