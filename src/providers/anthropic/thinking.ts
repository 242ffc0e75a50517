/**
 * How a model is asked to think: `thinking` and `output_config.effort`, from what it can do and what
 * is wished. Nothing is sent for a wish that the model cannot fulfil.
 */

import type Anthropic from '@anthropic-ai/sdk';
import type { ChatRequest } from '../../messages/chat.ts';
import type { Abilities, Effort } from '../../messages/model.ts';
import type { AssistantPart } from '../../messages/parts.ts';
import { askedBudget, askedEffort } from '../budgets.ts';
import type { Turn } from '../normalise.ts';
import { textField } from '../raw.ts';

type Thinking = Anthropic.ThinkingConfigParam;
type WireEffort = NonNullable<Anthropic.OutputConfig['effort']>;
type Display = NonNullable<Anthropic.ThinkingConfigAdaptive['display']>;

interface ThinkingFields {
  readonly thinking?: Thinking;
  readonly output_config?: { readonly effort: WireEffort };
}

/** `learned` names what this server refused before; `turns` is what is sent. */
export function thinkingFields(
  request: ChatRequest,
  turns: readonly Turn[],
  learned: ReadonlySet<string>,
): ThinkingFields {
  const mayBegin = !learned.has('no_thinking_now') && !isInThoughtlessTurn(turns);
  const refused = withoutRefused(request.abilities, learned);
  const abilities = mayBegin ? refused : withoutForms(refused, ['budget']);
  const effort = askedEffort({ ...request, abilities });
  if (effort === 'none') return resting(abilities);
  const thinking = thinkingOf({ ...request, abilities }, effort, learned);
  const named = learned.has('no_effort') ? undefined : wireEffortOf(effort, abilities);
  return {
    ...(thinking === undefined ? {} : { thinking }),
    ...(named === undefined ? {} : { output_config: { effort: named } }),
  };
}

function withoutRefused(abilities: Abilities, learned: ReadonlySet<string>): Abilities {
  const rests = learned.has('no_thinking_off') ? ['off', 'between_tools'] : [];
  const thinks = learned.has('no_thinking_field') ? ['adaptive', 'budget'] : [];
  return withoutForms(abilities, [...rests, ...thinks]);
}

function withoutForms(abilities: Abilities, forms: readonly string[]): Abilities {
  if (forms.length === 0) return abilities;
  return { ...abilities, thinking: abilities.thinking.filter((form) => !forms.includes(form)) };
}

/**
 * Calls are waiting for their results, and the turn they belong to was begun without thoughts of this
 * model: by another one, or by an answer whose thoughts were lost. With a budget the API wants each
 * turn to begin with a thought; then the model goes on without, until the next turn.
 */
function isInThoughtlessTurn(turns: readonly Turn[]): boolean {
  const begun = turns.findLastIndex((turn) => turn.role === 'user' && turn.results.length === 0);
  const answers = turns.slice(begun + 1).filter((turn) => turn.role === 'assistant');
  const isWaiting = turns.at(-1)?.role === 'user' && answers.length > 0;
  return isWaiting && !answers.some(({ parts }) => isThought(parts[0]));
}

function isThought(part: AssistantPart | undefined): boolean {
  if (part?.kind === 'raw') return textField(part.raw, 'type') === 'redacted_thinking';
  return part?.kind === 'reasoning';
}

/**
 * Not thinking. No effort stands beside it: some models take `disabled` only up to a certain one,
 * and `between_tools` likewise. Between tools, notes on the progress still come as thoughts.
 */
function resting({ thinking }: Abilities): ThinkingFields {
  if (thinking.includes('off')) return { thinking: { type: 'disabled' } };
  return thinking.includes('between_tools') ? { thinking: { type: 'between_tools' } } : {};
}

/**
 * Where nothing is wished, a model that thinks by itself is still asked to, for the sake of
 * `display`: current models think behind empty blocks by default, and put what they say between tool
 * calls there too, so that people would see nothing move.
 */
function thinkingOf(
  request: ChatRequest,
  effort: Effort | undefined,
  learned: ReadonlySet<string>,
): Thinking | undefined {
  const { abilities, reasoning } = request;
  const { thinking: forms, defaultEffort } = abilities;
  const display = displayOf(request, learned);
  const wantsBudget = !forms.includes('adaptive') || reasoning.budgetTokens !== undefined;
  if (forms.includes('budget') && wantsBudget) {
    const fitted = effort === undefined ? reasoning : { ...reasoning, effort };
    const budget = askedBudget({ ...request, reasoning: fitted });
    if (budget !== undefined) return { type: 'enabled', budget_tokens: budget, ...display };
  }
  if (!forms.includes('adaptive')) return undefined;
  const isAsked = effort !== undefined || defaultEffort !== 'none';
  return isAsked ? { type: 'adaptive', ...display } : undefined;
}

function displayOf(
  { abilities, reasoning }: ChatRequest,
  learned: ReadonlySet<string>,
): { readonly display?: Display } {
  if (!abilities.summary || learned.has('no_display')) return {};
  return { display: reasoning.summary === 'none' ? 'omitted' : 'summarized' };
}

/** On models that are steered by a budget alone an effort is a budget, and has no name there. */
function wireEffortOf(effort: Effort | undefined, { thinking }: Abilities): WireEffort | undefined {
  if (!thinking.includes('adaptive') && !thinking.includes('effort')) return undefined;
  switch (effort) {
    case 'low':
    case 'medium':
    case 'high':
    case 'xhigh':
    case 'max':
      return effort;
    case undefined:
    case 'none':
    case 'minimal':
      return undefined;
  }
}
