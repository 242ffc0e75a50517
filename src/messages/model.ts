/**
 * What a model can do and how it may be asked to think: the same words for every vendor. Providers
 * map them to their wire; what a model does not list is never sent.
 */

import { z } from 'zod';

/** Weakest first. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const effortSchema = z.enum(efforts);
export type Effort = z.infer<typeof effortSchema>;

/** How a model is asked to think and write. What is left out is the model's own default. */
export const reasoningOptionsSchema = z.strictObject({
  effort: effortSchema.exactOptional(),
  /** Most tokens of thought; used only by models that are steered by a budget. */
  budgetTokens: z.int().min(0).exactOptional(),
  /** How much of the thoughts comes back in readable form. Default: auto. */
  summary: z.enum(['none', 'auto', 'concise', 'detailed']).exactOptional(),
  verbosity: z.enum(['low', 'medium', 'high']).exactOptional(),
  /** False: no cache marks and no cache key are sent. */
  caching: z.boolean().exactOptional(),
  /** True: the vendor may read web addresses of the prompt by itself (Gemini). */
  urlContext: z.boolean().exactOptional(),
  /** For models that draw: `16:9`, and `1K`, `2K` or `4K`. */
  imageRatio: z
    .string()
    .regex(/^\d{1,2}:\d{1,2}$/u, 'must be like 16:9')
    .exactOptional(),
  imageResolution: z.enum(['1K', '2K', '4K']).exactOptional(),
});
export type ReasoningOptions = Readonly<z.infer<typeof reasoningOptionsSchema>>;

/**
 * How thinking is steered on the wire. adaptive: the model decides, an effort may be named ·
 * budget: so many tokens · effort: by a named effort alone · level: Gemini's thinkingLevel · off: it
 * can be turned off · between_tools: what Anthropic has in place of off.
 */
export const thinkingFormSchema = z.enum([
  'adaptive',
  'budget',
  'effort',
  'level',
  'off',
  'between_tools',
]);
export type ThinkingForm = z.infer<typeof thinkingFormSchema>;

export const abilitiesSchema = z.strictObject({
  /** Empty: it does not think, or cannot be steered. */
  thinking: z.array(thinkingFormSchema).readonly().default([]),
  /** Efforts that can be named, weakest first; `none` where it is a level of its own. */
  efforts: z.array(effortSchema).readonly().default([]),
  /** What the model does when nothing is named. */
  defaultEffort: effortSchema.exactOptional(),
  /** Where thinking is steered by a budget: what may be asked for. */
  budgetTokens: z.strictObject({ least: z.int(), most: z.int() }).exactOptional(),
  /** Thoughts can be asked for in readable form. */
  summary: z.boolean().default(false),
  verbosity: z.boolean().default(false),
  tools: z.boolean().default(true),
  /** What it can look at in a message. */
  images: z.boolean().default(false),
  documents: z.boolean().default(false),
  /** Tools that the vendor runs by itself. */
  webSearch: z.boolean().default(false),
  urlContext: z.boolean().default(false),
  imageOutput: z.boolean().default(false),
});
export type Abilities = Readonly<z.infer<typeof abilitiesSchema>>;

/** Of a model that nobody described: tools and images are tried, nothing else is asked for. */
export const unknownAbilities: Abilities = abilitiesSchema.parse({ images: true });

/** What people may choose from, weakest first. Empty: this model's thinking cannot be changed. */
export function offeredEfforts({ thinking, efforts: named }: Abilities): readonly Effort[] {
  const canRest = thinking.includes('off') || thinking.includes('between_tools');
  return efforts.filter((effort) => named.includes(effort) || (effort === 'none' && canRest));
}

/**
 * The offered effort nearest to the wanted one: itself, else the next weaker, else the weakest. Only a
 * wish for `none` becomes `none`: whoever wants thoughts gets some. Undefined when the model offers
 * none that fits.
 */
export function fitEffort(wanted: Effort, abilities: Abilities): Effort | undefined {
  return nearestEffort(wanted, offeredEfforts(abilities));
}

/** The same among given efforts, weakest first. */
export function nearestEffort(wanted: Effort, offered: readonly Effort[]): Effort | undefined {
  const fitting = wanted === 'none' ? offered : offered.filter((effort) => effort !== 'none');
  const rank = efforts.indexOf(wanted);
  return fitting.findLast((effort) => efforts.indexOf(effort) <= rank) ?? fitting[0];
}
