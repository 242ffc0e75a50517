/** Which model answers in a conversation and how it thinks: what was chosen here, else the profile. */

import { isBotError } from '../base/errors.ts';
import type { Choice, Choices } from '../conversations/choices.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { ReasoningOptions } from '../messages/model.ts';
import { isAdmin } from './admins.ts';
import type { RunsDeps } from './deps.ts';
import type { Profile } from './settings.ts';

export interface Settled {
  readonly choice: Choice;
  /** What does not hold any more, to be taken back when people are told. */
  readonly ended: Choice;
  /** The same, each as a line for people. */
  readonly notices: readonly string[];
}

/**
 * The choice as far as it is still allowed: an operator may have narrowed who chooses, or what is
 * offered, since it was made.
 */
export async function settleChoice(
  deps: Pick<RunsDeps, 'choosableModel' | 'governance'> & { readonly choices: Choices },
  key: ConversationKey,
): Promise<Settled> {
  const { model, effort } = await deps.choices.read(key);
  const notices: string[] = [];
  const modelProblem = model && (whyNotBy(deps, model.by.id) ?? whyNotOffered(deps, model.value));
  if (model && modelProblem !== undefined) {
    notices.push(`${model.value} does not answer here any more: ${modelProblem}`);
  }
  const effortProblem = effort && whyNotBy(deps, effort.by.id);
  if (effort && effortProblem !== undefined) {
    notices.push(`Thinking here is as the settings say again: ${effortProblem}`);
  }
  const holds = {
    ...(model && modelProblem === undefined ? { model } : {}),
    ...(effort && effortProblem === undefined ? { effort } : {}),
  };
  const ended = {
    ...(model && modelProblem !== undefined ? { model } : {}),
    ...(effort && effortProblem !== undefined ? { effort } : {}),
  };
  return { choice: holds, ended, notices };
}

function whyNotBy(
  { governance }: Pick<RunsDeps, 'governance'>,
  person: string,
): string | undefined {
  const mayChoose = governance().modelChoice === 'everybody' || isAdmin(person, governance());
  return mayChoose ? undefined : 'only admins choose that now.';
}

/** A model that is offered but cannot be had now, say without its key, stays chosen. */
function whyNotOffered(
  { choosableModel }: Pick<RunsDeps, 'choosableModel'>,
  name: string,
): string | undefined {
  try {
    choosableModel(name);
    return undefined;
  } catch (thrown) {
    return isBotError(thrown, 'model_unknown') ? thrown.message : undefined;
  }
}

/** Where the model's name comes from; undefined: the default model. */
export function modelSource(profile: Profile, choice: Choice): string | undefined {
  return choice.model ? `chosen here by ${choice.model.by.name}` : profile.model?.source;
}

/** The nearer setting wins for each field; a nearer effort wins over a farther budget. */
export function reasoningOf(profile: Profile, choice: Choice): ReasoningOptions {
  const chosen = choice.effort ? [{ effort: choice.effort.value }] : [];
  let all: ReasoningOptions = {};
  for (const nearer of [...profile.reasoning.map(({ value }) => value), ...chosen]) {
    const { budgetTokens: _budget, ...rest } = all;
    all = { ...(nearer.effort === undefined ? all : rest), ...nearer };
  }
  return all;
}
