/** Which model answers in a conversation and how it thinks: what was chosen here, else the profile. */

import type { Choice } from '../conversations/choices.ts';
import type { ReasoningOptions } from '../messages/model.ts';
import type { Profile } from './settings.ts';

/** Where the model's name comes from; undefined: the default model. */
export function modelSource(profile: Profile, choice: Choice): string | undefined {
  return choice.model ? `chosen here by ${choice.model.by.name}` : profile.model?.source;
}

/** The nearer setting wins for each field; an effort chosen here wins over all, a budget included. */
export function reasoningOf(profile: Profile, choice: Choice): ReasoningOptions {
  const settings: ReasoningOptions = Object.assign(
    {},
    ...profile.reasoning.map(({ value }) => value),
  );
  if (!choice.effort) return settings;
  const { budgetTokens: _budget, ...rest } = settings;
  return { ...rest, effort: choice.effort.value };
}
