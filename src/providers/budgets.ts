/**
 * What is asked of a model's thinking: an effort that it knows, and, where thinking is steered by a
 * budget, how many tokens. Thoughts count as output, so that a budget takes at most half of it, in
 * steps: near the end of the window each call leaves less room than the one before, and another
 * budget makes Anthropic read all messages anew instead of from its cache (Claude API, "Prompt
 * caching", "What invalidates the cache").
 */

import type { ChatRequest } from '../messages/chat.ts';
import { type Effort, fitEffort } from '../messages/model.ts';

type Asked = Pick<ChatRequest, 'reasoning' | 'abilities' | 'mostOutputTokens'>;

/**
 * Google's own equivalents for models that know budgets only (Gemini API, "OpenAI compatibility",
 * November 2026); the highest take what the model allows.
 */
const budgetOfEffort: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: Number.MAX_SAFE_INTEGER,
  max: Number.MAX_SAFE_INTEGER,
};

/**
 * The effort that this model is asked for; undefined when none is wished or none can be named. No
 * tokens of thought are a wish not to think.
 */
export function askedEffort({ reasoning, abilities }: Asked): Effort | undefined {
  const wantsNone = reasoning.budgetTokens === 0 && abilities.thinking.includes('budget');
  const wanted = wantsNone ? 'none' : reasoning.effort;
  return wanted === undefined ? undefined : fitEffort(wanted, abilities);
}

/**
 * Undefined where thinking is not steered by a budget, nothing is wished, the wish is not to think,
 * or the least budget would take more than half of the answer.
 */
export function askedBudget(request: Asked): number | undefined {
  const { reasoning, abilities, mostOutputTokens } = request;
  // A model may have a budget and no names for it.
  const effort = askedEffort(request) ?? reasoning.effort;
  if (!abilities.thinking.includes('budget') || effort === 'none') return undefined;
  const wanted = reasoning.budgetTokens ?? (effort === undefined ? effort : budgetOfEffort[effort]);
  if (wanted === undefined) return undefined;
  const { least, most } = abilities.budgetTokens ?? { least: 0, most: Number.MAX_SAFE_INTEGER };
  const half = Math.floor(mostOutputTokens / 2);
  if (Math.min(most, half) < least) return undefined;
  const room = Math.min(most, Math.max(least, stepWithin(half)));
  return Math.min(Math.max(wanted, least), room);
}

/** Limits are round in tens or in twos: halves of 32,000 and of 32,768 are steps, and stay whole. */
const firstSteps: readonly number[] = [1_000, 1_024];

/** The highest step that is at most `tokens`; a step is a first one, doubled or halved. */
function stepWithin(tokens: number): number {
  const steps = firstSteps.map((first) => first * 2 ** Math.floor(Math.log2(tokens / first)));
  return Math.floor(Math.max(...steps));
}
