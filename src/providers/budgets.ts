/**
 * How many tokens a model may think, where thinking is steered by a budget: the wished one, else the
 * one that an effort stands for. Thoughts count as output, so that a budget never takes more than
 * half of it unless the least one does.
 */

import type { ChatRequest } from '../messages/chat.ts';
import type { Effort } from '../messages/model.ts';

/** What an effort is worth. No vendor names such numbers; these double from step to step. */
const budgetOfEffort: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/**
 * Undefined when nothing is wished, when the wish is not to think, or when there is no room: the
 * least budget would leave no token for the answer.
 */
export function budgetTokensOf({
  reasoning,
  abilities,
  mostOutputTokens,
}: Pick<ChatRequest, 'reasoning' | 'abilities' | 'mostOutputTokens'>): number | undefined {
  const { effort, budgetTokens } = reasoning;
  if (effort === 'none') return undefined;
  const wanted = budgetTokens ?? (effort === undefined ? undefined : budgetOfEffort[effort]);
  if (wanted === undefined) return undefined;
  const { least, most } = abilities.budgetTokens ?? { least: 0, most: Number.MAX_SAFE_INTEGER };
  const room = Math.max(least, Math.min(most, Math.floor(mostOutputTokens / 2)));
  const budget = Math.min(Math.max(wanted, least), room);
  return budget < mostOutputTokens ? budget : undefined;
}
