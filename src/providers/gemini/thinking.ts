/** What is asked of a Gemini model's thinking: a level or a budget, never both. */

import type { ThinkingConfig, ThinkingLevel } from '@google/genai';
import type { ChatRequest } from '../../messages/chat.ts';
import { askedBudget, askedEffort } from '../budgets.ts';

/** Undefined when nothing is to be said about thinking. */
export function thinkingConfigOf(
  request: ChatRequest,
  learned: ReadonlySet<string>,
): ThinkingConfig | undefined {
  const steering = learned.has('no_thinking_steer') ? {} : steeringOf(request);
  const { abilities, reasoning } = request;
  const wantsSummary = abilities.summary && reasoning.summary !== 'none';
  // Thoughts of a model that does not think are refused.
  const isOff = steering.thinkingBudget === 0;
  const includeThoughts = wantsSummary && !isOff && !learned.has('no_thoughts');
  const config = { ...(includeThoughts ? { includeThoughts } : {}), ...steering };
  return Object.keys(config).length === 0 ? undefined : config;
}

function steeringOf(request: ChatRequest): ThinkingConfig {
  const { thinking } = request.abilities;
  const effort = askedEffort(request);
  if (thinking.includes('level')) {
    // The SDK's list of levels lags behind the API's (XHIGH); a text passes as it is.
    return effort === undefined || effort === 'none'
      ? {}
      : { thinkingLevel: effort.toUpperCase() as ThinkingLevel };
  }
  if (effort === 'none') return thinking.includes('off') ? { thinkingBudget: 0 } : {};
  const budget = askedBudget(request);
  return budget === undefined ? {} : { thinkingBudget: budget };
}
