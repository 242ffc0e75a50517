/** Thinking that is steered by a number of tokens: which number a wish comes to. */

import type { ChatRequest } from '../messages/chat.ts';
import { type Effort, fitEffort } from '../messages/model.ts';

/**
 * Google's own equivalents for models that know budgets only (Gemini API, "OpenAI compatibility",
 * November 2026); what is above them is as much as the model allows.
 */
const budgetOfEffort: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: Number.MAX_SAFE_INTEGER,
  max: Number.MAX_SAFE_INTEGER,
};

/** The effort that this model is asked for; undefined when none is wished or none can be named. */
export function askedEffort({ reasoning, abilities }: ChatRequest): Effort | undefined {
  return reasoning.effort === undefined ? undefined : fitEffort(reasoning.effort, abilities);
}

/**
 * Most tokens of thought to ask for: within what the model takes, and at most half of the answer, so
 * that something is left to be said. Undefined when nothing is wished, or nothing fits.
 */
export function askedBudget(request: ChatRequest): number | undefined {
  const { reasoning, abilities, mostOutputTokens } = request;
  const range = abilities.budgetTokens;
  if (range === undefined || !abilities.thinking.includes('budget')) return undefined;
  const effort = askedEffort(request);
  const wanted = reasoning.budgetTokens ?? (effort === undefined ? effort : budgetOfEffort[effort]);
  const most = Math.min(range.most, Math.floor(mostOutputTokens / 2));
  if (wanted === undefined || most < range.least) return undefined;
  return Math.max(range.least, Math.min(wanted, most));
}
