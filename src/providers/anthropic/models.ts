/** What the list endpoint tells of a model, in our words. */

import { z } from 'zod';
import type { Abilities, Effort, ThinkingForm } from '../../messages/model.ts';
import type { ListedModel } from '../catalog.ts';

const support = z
  .looseObject({ supported: z.boolean() })
  .transform(({ supported }) => supported)
  .catch(false);
const positive = z.int().positive().optional().catch(undefined);

const capabilitiesSchema = z.looseObject({
  thinking: z.looseObject({
    supported: z.boolean(),
    types: z.looseObject({
      adaptive: support,
      enabled: support,
      disabled: support,
      between_tools: support,
    }),
  }),
  effort: z.looseObject({
    supported: z.boolean(),
    low: support,
    medium: support,
    high: support,
    xhigh: support,
    max: support,
  }),
  image_input: support,
  pdf_input: support,
  server_tools: z
    .looseObject({ web_search: support })
    .transform(({ web_search }) => web_search)
    .catch(false),
});
type Capabilities = z.infer<typeof capabilitiesSchema>;

const modelSchema = z.looseObject({
  id: z.string().min(1),
  max_input_tokens: positive,
  max_tokens: positive,
  capabilities: capabilitiesSchema.optional().catch(undefined),
});

/** The least budget the API takes. */
const leastBudgetTokens = 1_024;
const wireEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
/** Offered where an effort is made into a budget. */
const effortsOfBudget: readonly Effort[] = ['low', 'medium', 'high'];

/** Undefined for what has no id. What is not told is left out. */
export function listedModel(value: unknown): ListedModel | undefined {
  const { data: model } = modelSchema.safeParse(value);
  if (model === undefined) return undefined;
  const { id, capabilities, max_input_tokens: window, max_tokens: mostOutputTokens } = model;
  return {
    id,
    ...(window === undefined ? {} : { window }),
    ...(mostOutputTokens === undefined ? {} : { mostOutputTokens }),
    ...(capabilities === undefined
      ? {}
      : { abilities: abilitiesOf(capabilities, mostOutputTokens) }),
  };
}

/** What a model does when nothing is named is not told. */
function abilitiesOf(told: Capabilities, mostOutputTokens: number | undefined): Partial<Abilities> {
  const thinking = formsOf(told);
  const takesBudget = thinking.includes('budget');
  return {
    thinking,
    efforts: effortsOf(told, takesBudget),
    summary: thinking.includes('adaptive') || takesBudget,
    images: told.image_input,
    documents: told.pdf_input,
    webSearch: told.server_tools,
    ...(takesBudget && mostOutputTokens !== undefined
      ? { budgetTokens: { least: leastBudgetTokens, most: mostOutputTokens - 1 } }
      : {}),
  };
}

function formsOf({ thinking, effort }: Capabilities): readonly ThinkingForm[] {
  const { adaptive, enabled, disabled, between_tools } = thinking.types;
  const forms: Readonly<Record<ThinkingForm, boolean>> = {
    adaptive,
    budget: enabled,
    effort: effort.supported && !adaptive,
    level: false,
    // Where it cannot think there is nothing to turn off, though the API takes it.
    off: disabled && thinking.supported,
    between_tools,
  };
  const order = ['adaptive', 'budget', 'effort', 'off', 'between_tools'] as const;
  return order.filter((form) => forms[form]);
}

function effortsOf({ effort }: Capabilities, takesBudget: boolean): readonly Effort[] {
  if (effort.supported) return wireEfforts.filter((name) => effort[name]);
  return takesBudget ? effortsOfBudget : [];
}
